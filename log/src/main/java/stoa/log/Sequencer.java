package stoa.log;

import stoa.LogAddress;
import stoa.base.Check;

/// Issues the addresses of a log within one epoch (vCorfu, section 3.2).
///
/// One owner calls it. It is soft state: a new owner continues, in a later epoch, behind the last
/// address that it finds in the log. In Stoa the leader that proposes a batch also issues its
/// addresses, so that no client can leave a hole by failing between the two.
public final class Sequencer {
  /*
   * Invariants:
   * (1) `counter` is the last counter issued; a newer epoch's sequencer begins above every one used.
   * (2) No address is issued twice; one is taken back only while nothing was written under it.
   */

  private final long epoch;
  private long counter;

  /// A sequencer of an epoch that continues behind a counter.
  public Sequencer(long epoch, long counter) {
    this.epoch = epoch;
    this.counter = counter;
  }

  /// The epoch in which addresses are issued.
  public long epoch() {
    return epoch;
  }

  /// The counter of the last address that was issued or skipped.
  public long last() {
    return counter;
  }

  /// Issues no address up to a counter any more: other groups of servers have those addresses.
  public void skip(long to) {
    counter = Math.max(counter, to);
  }

  /// Issues the addresses of a batch.
  public Token grant(int count) {
    Check.that(count > 0, "a batch has entries");
    var first = new LogAddress(epoch, counter + 1);
    counter += count;
    return new Token(first, count);
  }

  /// Takes back the addresses of a batch of which nothing was written, when none was issued since.
  public void takeBack(Token token) {
    Check.that(
        token.first().epoch() == epoch && token.first().counter() + token.count() - 1 == counter,
        "%s is the last token issued",
        token);
    counter -= token.count();
  }
}

package stoa.log;

import stoa.LogAddress;
import stoa.base.Check;

/// Issues the addresses of a log within one epoch (vCorfu, section 3.2).
///
/// One owner calls it. Its state is not logged: a new owner continues, in a later epoch, after the
/// last address in the log. In Stoa the leader that proposes a batch also issues its addresses, so
/// no client can leave a hole by failing between the two.
public final class Sequencer {
  /*
   * Invariants:
   * (1) `counter` is the last counter issued; a newer epoch's sequencer begins above every one used.
   * (2) No address is issued twice; one is taken back only while nothing was written under it.
   */

  private final long epoch;
  private long counter;

  /// Creates a sequencer of an epoch that continues after a counter.
  public Sequencer(long epoch, long counter) {
    this.epoch = epoch;
    this.counter = counter;
  }

  /// Returns the epoch of the addresses.
  public long epoch() {
    return epoch;
  }

  /// Returns the counter of the last issued or skipped address.
  public long last() {
    return counter;
  }

  /// Skips all addresses up to a counter: other groups of servers have them.
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

  /// Takes back the addresses of an unwritten batch, if no later ones were issued.
  public void takeBack(Token token) {
    Check.that(
        token.first().epoch() == epoch && token.first().counter() + token.count() - 1 == counter,
        "%s is the last token issued",
        token);
    counter -= token.count();
  }
}

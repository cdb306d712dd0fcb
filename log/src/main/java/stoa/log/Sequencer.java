package stoa.log;

import stoa.LogAddress;
import stoa.base.Check;

/// Issues the addresses of the global log (vCorfu, section 2.2).
///
/// One owner calls it. It is soft state: what it has issued is found again in the log.
public final class Sequencer {
  /*
   * Invariants:
   * (1) counter is the last one issued; a newer epoch's sequencer begins above it.
   * (2) No address is issued twice; one is taken back only while nothing was written under it.
   */
  private final long epoch;
  private long counter;

  /// A sequencer of an epoch that continues behind an address.
  public Sequencer(long epoch, long counter) {
    this.epoch = epoch;
    this.counter = counter;
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

  /// The counter of the last address that was issued.
  public long last() {
    return counter;
  }

  /// The epoch in which addresses are issued.
  public long epoch() {
    return epoch;
  }
}

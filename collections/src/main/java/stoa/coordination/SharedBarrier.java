package stoa.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeSet;
import java.util.concurrent.BrokenBarrierException;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A barrier that opens when a number of parties have arrived, and is then ready for the next round
/// ([java.util.concurrent.CyclicBarrier]).
///
/// Create it with its parties: `stoa.create(SharedBarrier.class, name, 3)`. A party calls
/// [#await(SharedBarrier, Duration)], which consists of two calls: [#arrive] notes the arrival, and
/// [#awaitOpening] waits for the others.
///
/// A party says how long it waits at most. The first call past the end of that time breaks the
/// barrier for all parties of the round. So does a party that leaves while it waits: its client is
/// gone for longer than its session lasts, its time by [stoa.Stoa#within] is over, or an operator
/// cancels its call. For a party that comes too late, or is gone before it arrives, the time of
/// those that have arrived ends. A broken barrier stays broken until [#reset]. Callers that wait
/// notice the end of a time within about half a second.
@Shared(name = "stoa.Barrier")
public class SharedBarrier implements Forkable<SharedBarrier> {
  private static final int BROKEN_MAX = 1_000;

  private int parties;
  private long round = 1;
  private int arrived;

  // When the first party of the round that has arrived stops waiting.
  private Instant end = Instant.MAX;

  private boolean isBroken;

  // The rounds that a reset has ended, and the one up to which they are forgotten.
  private TreeSet<Long> brokenRounds = new TreeSet<>();
  private long forgotten;

  /// For the store: a barrier of one party.
  protected SharedBarrier() {
    this(1);
  }

  /// Creates a barrier.
  ///
  /// @throws IllegalArgumentException when the number of parties is not positive
  public SharedBarrier(int parties) {
    if (parties <= 0) {
      throw new IllegalArgumentException(parties + " parties; there must be at least one");
    }
    this.parties = parties;
  }

  /// Arrives at a barrier and waits for the other parties.
  ///
  /// @param time how long to wait at most; positive
  /// @return how many parties were still missing when the caller arrived: 0 for the last one
  /// @throws BrokenBarrierException when the barrier is broken, or breaks meanwhile
  public static int await(SharedBarrier barrier, Duration time) throws BrokenBarrierException {
    Arrival arrival = barrier.arrive(time);
    barrier.awaitOpening(arrival.round());
    return arrival.missing();
  }

  /// The arrival of a party.
  ///
  /// @param round the number of the round, from 1
  /// @param missing how many parties were missing after it
  public record Arrival(long round, int missing) {}

  /// Notes the arrival of a party. The last one opens the barrier.
  ///
  /// @param time how long the party waits at most; positive
  /// @throws BrokenBarrierException when the barrier is broken
  /// @throws IllegalArgumentException when the time is not positive
  public Arrival arrive(Duration time) throws BrokenBarrierException {
    Leases.check(time);
    Instant now = Call.now();
    Instant mineEnds = Leases.end(now, time);
    breakAfter(now);
    if (isBroken) throw broken(round);
    long mine = round;
    int missing = parties - ++arrived;
    if (mineEnds.isBefore(end)) end = mineEnds;
    if (missing == 0) next();
    return new Arrival(mine, missing);
  }

  /// Waits until the barrier has opened in a round.
  ///
  /// @param ofRound the number of the round
  /// @throws BrokenBarrierException when the barrier has broken in that round
  /// @throws IllegalArgumentException when no party has arrived in that round
  @Awaits(left = "leave")
  public void awaitOpening(long ofRound) throws BrokenBarrierException {
    if (ofRound > round || ofRound < 1 || (ofRound == round && arrived == 0 && !isBroken)) {
      throw new IllegalArgumentException("round " + ofRound + " of a barrier in round " + round);
    }
    Instant now = Call.now();
    Call.await(() -> ofRound < round || isBroken || !now.isBefore(end));
    if (ofRound == round) breakAfter(now);
    if (ofRound == round || ofRound <= forgotten || brokenRounds.contains(ofRound)) {
      throw broken(ofRound);
    }
  }

  /// Breaks the barrier if it has not opened in a round: a party that has arrived waits no longer.
  /// The store calls it for a party that is gone.
  ///
  /// @param ofRound the number of the round
  public void leave(long ofRound) {
    if (ofRound == round && arrived > 0) isBroken = true;
  }

  /// Breaks the barrier for the parties that have arrived, and begins a new round.
  public void reset() {
    brokenRounds.add(round);
    if (brokenRounds.size() > BROKEN_MAX) forgotten = brokenRounds.removeFirst();
    next();
    isBroken = false;
  }

  /// Returns whether the barrier is broken.
  @Accessor
  public boolean isBroken() {
    return isBroken;
  }

  /// Returns how many parties open the barrier.
  @Accessor
  public int getParties() {
    return parties;
  }

  /// Returns how many parties of the round have arrived.
  @Accessor
  public int getNumberWaiting() {
    return arrived;
  }

  private void next() {
    round++;
    arrived = 0;
    end = Instant.MAX;
  }

  private void breakAfter(Instant now) {
    if (!now.isBefore(end)) isBroken = true;
  }

  private BrokenBarrierException broken(long ofRound) {
    return new BrokenBarrierException(
        "the barrier is broken in round "
            + ofRound
            + ", as a party left, its time was over, or it was reset; reset() begins another round");
  }

  @Override
  public SharedBarrier fork() {
    var copy = new SharedBarrier(parties);
    copy.round = round;
    copy.arrived = arrived;
    copy.end = end;
    copy.isBroken = isBroken;
    copy.brokenRounds = new TreeSet<>(brokenRounds);
    copy.forgotten = forgotten;
    return copy;
  }
}

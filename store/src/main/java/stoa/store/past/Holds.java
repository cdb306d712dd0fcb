package stoa.store.past;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.calls.Neighbors;
import stoa.store.leading.LogClock;
import stoa.store.leading.ReadMoments;
import stoa.store.records.Records;
import stoa.store.running.Timeline;
import stoa.store.running.Unfinished;

/// Tells which entries of the past a reader or a call may still need, so that the store must not
/// release them. See the invariants of [Retention]. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Holds {
  // How long the store keeps the puts of other stores' handlers, and the log in which it looks up
  // times: one hour.
  private static final long VISITED_MICROS = 3_600_000_000L;

  // The safety margin of that time: the clocks of successive leaders differ.
  private static final long CLOCKS_MICROS = 1_800_000_000L;

  private final Streams streams;
  private final Timeline timeline;
  private final ReadMoments moments;
  private final Unfinished unfinished;
  private final LogClock clock;
  private final Pins pins;
  private final ReentrantReadWriteLock releasing = new ReentrantReadWriteLock();

  // Null when all keys are here.
  private final @Nullable Neighbors neighbors;

  // No reader reads in front of this counter, in any store with the same order.
  private final AtomicLong horizon;

  /// @param moments tells which log counters can be read now
  /// @param unfinished the calls that find their puts in the log
  /// @param neighbors null when all keys are here
  public Holds(
      Streams streams,
      Timeline timeline,
      ReadMoments moments,
      Unfinished unfinished,
      LogClock clock,
      @Nullable Neighbors neighbors) {
    this.streams = streams;
    this.timeline = timeline;
    this.moments = moments;
    this.unfinished = unfinished;
    this.clock = clock;
    this.neighbors = neighbors;
    this.pins = new Pins(clock::nowMicros);
    this.horizon = new AtomicLong(moments.isOrdered() ? 0 : Long.MAX_VALUE);
  }

  /// Returns the pins.
  public Pins pins() {
    return pins;
  }

  /// Pins a place of the past. A release in progress ends before this pins, so that its effect
  /// shows at once, and everything that can be read then stays readable.
  ///
  /// @param pinning makes the pin
  public Pins.Pin pin(Supplier<Pins.Pin> pinning) {
    releasing.readLock().lock();
    try {
      return pinning.get();
    } finally {
      releasing.readLock().unlock();
    }
  }

  /// Runs a release. No thread can pin the past between the release's look at the holds and its
  /// end.
  void releasing(Runnable release) {
    releasing.writeLock().lock();
    try {
      release.run();
    } finally {
      releasing.writeLock().unlock();
    }
  }

  /// Returns the log counter in front of which no reader reads in any store with the same order, as
  /// far as this store knows.
  long horizon() {
    return horizon.get();
  }

  /// Returns the same as [#horizon], after asking the other stores.
  long leastNow() {
    return Math.max(horizon.get(), moments.horizon());
  }

  /// Returns the log counter at which, and behind which, a reader may read the log itself.
  long logLimit() {
    long limit = limit(horizon.get());
    return neighbors == null ? limit : Math.min(limit, since(VISITED_MICROS) - 1);
  }

  /// Returns the last version, up to a given one, in front of which the invariants allow a release.
  long allowed(Key key, long before, long least) {
    long limit = limit(least);
    StoredEntry entry = streams.read(key.stream(), before);
    if (entry != null && entry.log().counter() <= limit) return withPut(key, before);
    long seen = timeline.firstBehind(key.stream(), limit) - 1;
    return withPut(key, Math.min(before, seen));
  }

  /// Returns a version that keeps a put which began a generation and was taken back: a caller that
  /// asks which entry changed a key last gets this put, and not the verdict that ended the
  /// generation.
  private long withPut(Key key, long before) {
    StoredEntry base = streams.read(key.stream(), streams.base(key.stream(), before));
    if (base == null || base.kind() != Records.VERDICT) return before;
    return Math.min(before, Records.verdict(base.payload()).call());
  }

  /// Returns the log counter at which, and behind which, a reader may read.
  ///
  /// @param least the same counter of other stores with the same order
  private long limit(long least) {
    long moment = moments.moment(); // first: a later pin of the present is no less
    long held = Math.min(pins.least(), unfinished.leastCounter());
    return Math.min(Math.min(moment, least), held);
  }

  /// Notes that no reader reads in front of a log counter, in any store with the same order.
  public void raiseHorizon(long counter) {
    horizon.accumulateAndGet(counter, Math::max);
  }

  /// Returns the last version, up to a given one, in front of recent puts and refusals for which
  /// handlers of other stores may look.
  long unvisited(Key key, long before) {
    if (neighbors == null) return before;
    StreamId stream = key.stream();
    long lately = timeline.firstBehind(stream, since(VISITED_MICROS) - 1);
    var found = new long[] {before};
    streams.scan(
        stream,
        Math.max(lately, timeline.oldest(key)),
        before,
        entry -> {
          boolean visited =
              switch (entry.kind()) {
                case Records.PUT -> isOfHandler(Records.originOf(entry.payload()));
                case Records.REFUSED -> true;
                default -> false;
              };
          if (visited) found[0] = entry.address() - 1;
          return !visited;
        });
    return found[0];
  }

  private static boolean isOfHandler(Records.@Nullable Origin origin) {
    return origin != null && origin.isHandler();
  }

  /// Returns whether the store still has all puts of other stores' handlers behind a log counter.
  public boolean keepsVisits(long counter) {
    long certain = VISITED_MICROS - CLOCKS_MICROS;
    return counter >= streams.lastBefore(clock.nowMicros() - certain);
  }

  /// Returns the last version that is at least so old, 0 when there is none: it is the oldest
  /// version that a reader could see since then. This uses the times in the log, where an entry of
  /// a transaction has the time at which the transaction began.
  long lastBefore(Key key, long micros) {
    return timeline.firstBehind(key.stream(), since(micros) - 1) - 1;
  }

  /// Returns the last log counter of the entries that are at least so old; 0 when there are none.
  public long endBefore(long micros) {
    return streams.lastBefore(clock.nowMicros() - micros);
  }

  /// Returns the first log counter of the entries of a recent time.
  long since(long micros) {
    return streams.firstSince(clock.nowMicros() - micros);
  }
}

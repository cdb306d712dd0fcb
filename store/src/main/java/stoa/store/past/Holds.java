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
import stoa.store.leading.Moments;
import stoa.store.records.Records;
import stoa.store.running.Timeline;
import stoa.store.running.Unfinished;

/// What of the past a reader or a call may still need, so that it is not released. See the
/// invariants of [Retention]. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Holds {
  /// So long what handlers of other stores have put is kept for them, and the log in which times
  /// are looked up: an hour.
  private static final long VISITED_MICROS = 3_600_000_000L;

  /// So much less is counted on: the clocks of those who lead one after the other differ.
  private static final long CLOCKS_MICROS = 1_800_000_000L;

  private final Streams streams;
  private final Timeline timeline;
  private final Moments moments;
  private final Unfinished unfinished;
  private final LogClock clock;
  private final Pins pins;
  private final ReentrantReadWriteLock releasing = new ReentrantReadWriteLock();

  /// Null when all keys are here.
  private final @Nullable Neighbors neighbors;

  /// No reader reads in front of it, in any store with the same order.
  private final AtomicLong horizon;

  /// @param moments what can be read now
  /// @param unfinished the calls that find in the log what they have put
  /// @param neighbors null when all keys are here
  public Holds(
      Streams streams,
      Timeline timeline,
      Moments moments,
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

  /// The log counters that are held.
  public Pins pins() {
    return pins;
  }

  /// Pins a place of the past. What is being released meanwhile is released when this returns, so
  /// that it shows at once, and what can be read then stays readable.
  ///
  /// @param pinning pins it
  public Pins.Pin pin(Supplier<Pins.Pin> pinning) {
    releasing.readLock().lock();
    try {
      return pinning.get();
    } finally {
      releasing.readLock().unlock();
    }
  }

  /// Releases. No place of the past is pinned from the question what is held until the release.
  void releasing(Runnable release) {
    releasing.writeLock().lock();
    try {
      release.run();
    } finally {
      releasing.writeLock().unlock();
    }
  }

  /// The log counter in front of which no reader reads in any store with the same order, as far as
  /// is known here.
  long horizon() {
    return horizon.get();
  }

  /// As [#horizon], and asks the other stores.
  long leastNow() {
    return Math.max(horizon.get(), moments.horizon());
  }

  /// The log counter at which, and behind which, the log itself may be read.
  long logLimit() {
    long limit = limit(horizon.get());
    return neighbors == null ? limit : Math.min(limit, since(VISITED_MICROS) - 1);
  }

  /// The last version up to one of whose release the invariants allow.
  long allowed(Key key, long before, long least) {
    long limit = limit(least);
    StoredEntry entry = streams.read(key.stream(), before);
    if (entry != null && entry.log().counter() <= limit) return withPut(key, before);
    long seen = timeline.firstBehind(key.stream(), limit) - 1;
    return withPut(key, Math.min(before, seen));
  }

  /// A version in front of which the put need not go that began a generation and was taken back:
  /// who asks what changed a key last is told of that, and not of the verdict that ended it.
  private long withPut(Key key, long before) {
    StoredEntry base = streams.read(key.stream(), streams.base(key.stream(), before));
    if (base == null || base.kind() != Records.VERDICT) return before;
    return Math.min(before, Records.verdict(base.payload()).call());
  }

  /// The log counter at which, and behind which, a reader may read.
  ///
  /// @param least of other stores with the same order
  private long limit(long least) {
    long moment = moments.moment(); // first: who pins the present later, pins no less
    long held = Math.min(pins.least(), unfinished.leastCounter());
    return Math.min(Math.min(moment, least), held);
  }

  /// No reader reads in front of a log counter, in any store with the same order.
  public void raiseHorizon(long counter) {
    horizon.accumulateAndGet(counter, Math::max);
  }

  /// The last version up to one in front of what handlers of other stores may look for: what
  /// methods have put lately, or were refused.
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

  /// Whether all that handlers of other stores have put behind a log counter is there still.
  public boolean keepsVisits(long counter) {
    long certain = VISITED_MICROS - CLOCKS_MICROS;
    return counter >= streams.lastBefore(clock.nowMicros() - certain);
  }

  /// The last version that was logged so long ago, 0 when there is none: its state is the oldest
  /// that was seen since. Goes by the log's own times: an entry of a transaction has the time at
  /// which that began.
  long lastBefore(Key key, long micros) {
    return timeline.firstBehind(key.stream(), since(micros) - 1) - 1;
  }

  /// The first log counter of what was logged lately.
  long since(long micros) {
    return streams.firstSince(clock.nowMicros() - micros);
  }
}

package stoa.store;

import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Keep;
import stoa.TooOld;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.records.Records;
import stoa.store.threads.Threads;

/// The oldest version that can be read of each key, and what is in front of it: nobody else
/// releases anything of a key's stream. Thread-safe.
final class Retention {
  /*
   * What is released is in front of a version whose state can be made from what stays: from the last
   * checkpoint up to there, or from where the generation began. The checkpoint stands in front of the
   * trim in the device's log, so a crash that leaves the trim leaves the checkpoint.
   *
   * Invariants:
   * (1) oldest only grows, and what trim answers is durable. What the policy released may come back
   *     after a crash, to be released again.
   * (2) oldest is not above the last executed version: the present can be loaded.
   * (3) Nothing is released that is seen at limit or behind it:
   *       - the moment at which a transaction or snapshot may begin now, before it has pinned that;
   *       - what is pinned;
   *       - the first nested put of a call whose answers are not all in the log: after a crash the call
   *         finds there what it has put, and would put it again. While a call of an earlier process has
   *         not gone on, nobody knows what it has put, and nothing is released at all;
   *       - what is read in other stores with the same order, at the horizon or behind it: who reads here as of
   *         a moment that he has pinned there, has not come here yet.
   * (4) Of several stores, what handlers of others have put here lately is not released: they look for it (IncomingCalls).
   * (5) Of a key that was trimmed up to its last version and then deleted, that version goes too: whoever
   *     trims so far keeps the present, and the deletion is the present now.
   * (6) Who reads the past asks for oldest before and after: what was released meanwhile may have been
   *     missed.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  /// As many log addresses are kept at least, and released at a time.
  private static final long LOG_ADDRESSES_MIN = 65_536;

  private static final long LOG_STEP = 1_024;

  /// So long what handlers of other stores have put is kept for them, and the log in which times
  /// are looked up: an hour.
  private static final long VISITED_MICROS = 3_600_000_000L;

  /// So much less is counted on: the clocks of those who lead one after the other differ.
  private static final long CLOCKS_MICROS = 1_800_000_000L;

  /// As many bytes of entries, or as many as the last checkpoint, stay in front of the last version
  /// that a key is trimmed to.
  private static final int REST_BYTES_MAX = 1 << 10;

  /// What an entry takes beside its payload.
  private static final int REST_ENTRY_BYTES = 32;

  /// As many deleted keys are remembered whose past cannot go yet. The past of others goes when
  /// they are used again.
  private static final int DELETED_MAX = 65_536;

  private static final int DELETED_TURNS = 2;

  /// How many deleted keys are looked at when nothing else happens.
  private static final int IDLE_TURNS = 1_024;

  /// How often they are: once a second.
  private static final int IDLE_TICKS = 1_000 / Threads.TICK_MILLIS;

  /// A stream is looked at after so many entries.
  private static final long STREAM_STEP = 256;

  private static final Keep NOTHING = Keep.versions(0);

  private final Engine engine;
  private final Intake intake;
  private final Pins pins;
  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantReadWriteLock releasing = new ReentrantReadWriteLock();
  private final ArrayDeque<Deleted> deleted = new ArrayDeque<>(); // guarded by lock
  private final AtomicBoolean turning = new AtomicBoolean();
  private int ticks; // of the watch
  private volatile Keep keep = Keep.all();

  /// Nobody reads in front of it in any store with the same order.
  private final AtomicLong horizon;

  /// A key that was deleted, and since when its past may go.
  private record Deleted(Key key, long address, long micros) {}

  Retention(Engine engine, Intake intake) {
    this.engine = engine;
    this.intake = intake;
    this.pins = new Pins(engine::nowMicros);
    this.horizon = new AtomicLong(intake.moments().isOrdered() ? 0 : Long.MAX_VALUE);
  }

  /// What is to be kept from now on.
  void keep(Keep policy) {
    keep = policy;
  }

  /// The log counters that are held.
  Pins pins() {
    return pins;
  }

  /// Pins a place of the past. What is being released meanwhile is released when this returns, so
  /// that it shows at once, and what can be read then stays readable.
  ///
  /// @param pinning pins it
  Pins.Pin pin(Supplier<Pins.Pin> pinning) {
    releasing.readLock().lock();
    try {
      return pinning.get();
    } finally {
      releasing.readLock().unlock();
    }
  }

  /// The oldest version of a key that can be read; 0 when all can.
  long oldest(Key key) {
    return streams().oldest(key.stream());
  }

  /// Refuses a version that was released.
  ///
  /// @throws TooOld when it was
  void check(Key key, long version) {
    long oldest = oldest(key);
    if (version < oldest) throw new TooOld(key, version, oldest);
  }

  /// Releases the versions of a key in front of one, but for what is held.
  ///
  /// @param before not above the last executed version
  /// @return the oldest version that can be read now
  long trim(Key key, long before) {
    long least = Math.max(horizon.get(), intake.moments().horizon());
    if (before >= oldest(key)) shorten(key, unvisited(key, allowed(key, before, least)));
    return trim(key, before, least);
  }

  /// Has a checkpoint made of the last version, when much more than its state would stay in front
  /// of it otherwise.
  ///
  /// @param before up to where the key is to be trimmed
  private void shorten(Key key, long before) {
    StreamId stream = key.stream();
    Streams.At mark = streams().lastMark(stream, before);
    if (mark == null || !Records.mark(mark.data()).alive()) return;
    Streams.At last = streams().lastCheckpoint(stream, before);
    if (last != null && last.address() < mark.address()) last = null;
    long base = last == null ? mark.address() : last.address() + 1;
    long worth = Math.max(REST_BYTES_MAX, last == null ? 0 : last.data().length);
    var bytes = new long[1];
    streams()
        .scan(
            stream,
            base,
            streams().last(stream),
            entry -> {
              boolean changes = Versions.isChange(entry);
              if (changes && entry.address() > before) bytes[0] = 0; // it is not the last version
              else bytes[0] += entry.payload().length + REST_ENTRY_BYTES;
              return !changes || entry.address() <= before;
            });
    if (bytes[0] < worth) return;
    if (engine.quarantine().refusal(key, mark.address()) != null) return;
    engine.leader().checkpoint(key);
  }

  /// As [#trim], and goes by what is known of other stores, which may be behind.
  void forget(Key key, long before) {
    var _ = trim(key, before, horizon.get());
  }

  private long trim(Key key, long before, long least) {
    if (before > oldest(key)) {
      long free = unvisited(key, allowed(key, before, least));
      releasing(() -> streams().trim(key.stream(), allowed(key, free, least)));
    }
    streams().sync();
    return oldest(key);
  }

  /// A checkpoint of a key was made: a good time to release what the policy does not keep.
  ///
  /// @param position the version of the checkpoint
  void checkpointed(Key key, long position) {
    attempt(
        key,
        () -> {
          long before = bound(key, policy(key), position);
          if (before > 0) release(key, before);
          rest();
        });
  }

  /// The last version of a key in front of which a policy of one type keeps nothing; 0 for none.
  private long bound(Key key, Keep policy, long position) {
    return switch (policy) {
      case Keep.All() -> 0;
      case Keep.Versions(long count) -> position - count;
      case Keep.Age age -> Math.min(position, lastBefore(key, micros(age)));
      case Keep.ByType both -> throw new IllegalStateException(both + " is of no single type");
    };
  }

  /// A stream was appended to: now and then, releases what the policy does not keep of it.
  ///
  /// @param address of the last entry
  void appended(Key stream, long address) {
    if (address % STREAM_STEP != 0) return;
    Keep policy = streams(keep);
    if (policy instanceof Keep.All) return;
    try {
      engine
          .threads()
          .answer(() ->
              attempt(
                  stream,
                  () -> {
                    long before = bound(stream, policy, address);
                    if (before > 1) releasing(() -> streams().trim(stream.stream(), before));
                    if (!keepsAll(keep)) releaseLog();
                  }));
    } catch (RejectedExecutionException closed) {
      // The store is being closed, and goes on at the next append.
    }
  }

  private static Keep streams(Keep policy) {
    return policy instanceof Keep.ByType by
        ? by.types().getOrDefault(Keep.STREAMS, Keep.all())
        : Keep.all();
  }

  /// Whether anything is kept for ever.
  private static boolean keepsAll(Keep policy) {
    return policies(policy).anyMatch(Keep.All.class::isInstance);
  }

  private static Stream<Keep> policies(Keep policy) {
    return policy instanceof Keep.ByType by
        ? Stream.concat(Stream.of(by.others()), by.types().values().stream())
        : Stream.of(policy);
  }

  /// A tick has passed: now and then, releases the past of deleted keys that was held before.
  void tick() {
    if (++ticks < IDLE_TICKS) return;
    ticks = 0;
    if (deletedCount() == 0 || !turning.compareAndSet(false, true)) return;
    try {
      engine.threads().answer(this::turn);
    } catch (RejectedExecutionException closed) {
      turning.set(false);
    }
  }

  private void turn() {
    try {
      for (int left = Math.min(deletedCount(), IDLE_TURNS); left > 0; left--) {
        if (engine.health().isClosed() || engine.health().hasFailed()) return;
        if (!releaseNext()) return;
      }
    } catch (RuntimeException failure) {
      // Of a store that closes, or whose log fails: it stays, and a trim releases it.
      LOG.debug("nothing is released of deleted keys: {}", failure.toString());
    } finally {
      turning.set(false);
    }
  }

  private int deletedCount() {
    lock.lock();
    try {
      return deleted.size();
    } finally {
      lock.unlock();
    }
  }

  private Keep policy(Key key) {
    if (!engine.spaces().factory(key.space()).hasPast()) return NOTHING;
    Keep now = keep;
    return now instanceof Keep.ByType by ? by.types().getOrDefault(key.space(), by.others()) : now;
  }

  /// A key was deleted: its past goes as the policy says, and at once when it was trimmed up to its
  /// last version.
  ///
  /// @param address the stream address of the deletion
  void deleted(Key key, long address) {
    attempt(
        key,
        () -> {
          Keep policy = policy(key);
          boolean stays = policy instanceof Keep.All;
          if (stays && !isTrimmedToLast(key, address)) return;
          long now = engine.nowMicros();
          long when = policy instanceof Keep.Age age ? now + micros(age) : now;
          remember(new Deleted(key, address, when));
          rest();
        });
  }

  /// Whether a key was trimmed so far that only the version right before its deletion can be read.
  private boolean isTrimmedToLast(Key key, long deletion) {
    long oldest = oldest(key);
    if (oldest == 0) return false;
    var changed = new boolean[1];
    streams()
        .scan(
            key.stream(),
            oldest + 1,
            deletion - 1,
            entry -> {
              changed[0] = Versions.isChange(entry);
              return !changed[0];
            });
    return !changed[0];
  }

  private void attempt(Key key, Runnable release) {
    try {
      release.run();
    } catch (RuntimeException failure) {
      // It stays, until the next time. What is wrong shows at the next put.
      LOG.warn("nothing is released of {}: {}", key, failure.getMessage());
    }
  }

  private void remember(Deleted key) {
    lock.lock();
    try {
      if (deleted.size() < DELETED_MAX) deleted.add(key);
    } finally {
      lock.unlock();
    }
  }

  /// Releases something of what was deleted before, and of the log.
  private void rest() {
    for (int turn = 0; turn < DELETED_TURNS && releaseNext(); turn++) {
      // One key each.
    }
    if (!keepsAll(keep)) releaseLog();
  }

  /// Releases the past of the next deleted key, or has it wait when it is held; answers whether
  /// there was one.
  private boolean releaseNext() {
    Deleted next = nextDeleted();
    if (next == null) return false;
    long allowed = release(next.key, next.address);
    if (allowed < next.address) remember(next); // held yet
    return true;
  }

  private @Nullable Deleted nextDeleted() {
    long now = engine.nowMicros();
    lock.lock();
    try {
      Deleted first = deleted.peek();
      return first == null || first.micros > now ? null : deleted.poll();
    } finally {
      lock.unlock();
    }
  }

  /// Releases what is in front of the checkpoint or beginning from which a version is made; answers
  /// the last version up to that of which this was allowed.
  private long release(Key key, long before) {
    if (before <= Math.max(1, oldest(key))) return before;
    long least = horizon.get();
    long free = unvisited(key, allowed(key, before, least));
    var allowed = new long[1];
    releasing(() -> {
      allowed[0] = allowed(key, free, least);
      long base = streams().base(key.stream(), allowed[0]);
      if (base > 1) streams().trim(key.stream(), base);
    });
    return allowed[0];
  }

  private void releaseLog() {
    releasing(this::releaseLogAlone);
  }

  /// Releases, while nobody pins the past: from when it is asked what is held.
  private void releasing(Runnable release) {
    releasing.writeLock().lock();
    try {
      release.run();
    } finally {
      releasing.writeLock().unlock();
    }
  }

  private void releaseLogAlone() {
    long limit = limit(horizon.get());
    if (engine.hasNeighbors()) limit = Math.min(limit, since(VISITED_MICROS) - 1);
    long most = limit;
    long before = policies(keep).mapToLong(policy -> logBound(policy, most)).min().orElse(0);
    if (before - streams().firstInLog() >= LOG_STEP) streams().trimLog(before);
  }

  /// The first log address that a policy of one type keeps.
  private long logBound(Keep policy, long limit) {
    return switch (policy) {
      case Keep.All() -> 0;
      case Keep.Versions(long count) -> limit - Math.max(count, LOG_ADDRESSES_MIN);
      case Keep.Age age -> {
        boolean worth = limit - streams().firstInLog() > LOG_STEP;
        yield worth ? Math.min(limit, since(micros(age))) : 0;
      }
      case Keep.ByType both -> throw new IllegalStateException(both + " is of no single type");
    };
  }

  /// The last version up to one of whose release the invariants allow.
  private long allowed(Key key, long before, long least) {
    long limit = limit(least);
    StoredEntry entry = streams().read(key.stream(), before);
    if (entry != null && entry.log().counter() <= limit) return withPut(key, before);
    long seen = engine.nesting().firstBehind(key.stream(), limit) - 1;
    return withPut(key, Math.min(before, seen));
  }

  /// A version in front of which the put need not go that began a generation and was taken back:
  /// who asks what changed a key last is told of that, and not of the verdict that ended it.
  private long withPut(Key key, long before) {
    StoredEntry base = streams().read(key.stream(), streams().base(key.stream(), before));
    if (base == null || base.kind() != Records.VERDICT) return before;
    return Math.min(before, Records.verdict(base.payload()).call());
  }

  /// The log counter at which, and behind which, somebody may read.
  ///
  /// @param least of other stores with the same order
  private long limit(long least) {
    long moment = intake.moments().moment(); // first: who pins the present later, pins no less
    long held = Math.min(pins.least(), intake.unfinished().leastCounter());
    return Math.min(Math.min(moment, least), held);
  }

  /// Nobody reads in front of a log counter in any store with the same order.
  void raiseHorizon(long counter) {
    horizon.accumulateAndGet(counter, Math::max);
  }

  /// The last version up to one in front of what handlers of other stores may look for: what
  /// methods have put lately, or were refused.
  private long unvisited(Key key, long before) {
    if (!engine.hasNeighbors()) return before;
    StreamId stream = key.stream();
    long lately = engine.nesting().firstBehind(stream, since(VISITED_MICROS) - 1);
    var found = new long[] {before};
    streams()
        .scan(
            stream,
            Math.max(lately, oldest(key)),
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
  boolean keepsVisits(long counter) {
    long certain = VISITED_MICROS - CLOCKS_MICROS;
    return counter >= streams().lastBefore(engine.nowMicros() - certain);
  }

  /// The last version that was logged so long ago, 0 when there is none: its state is the oldest
  /// that was seen since. Goes by the log's own times: an entry of a transaction has the time at
  /// which that began.
  private long lastBefore(Key key, long micros) {
    return engine.nesting().firstBehind(key.stream(), since(micros) - 1) - 1;
  }

  /// The first log counter of what was logged lately.
  private long since(long micros) {
    return streams().firstSince(engine.nowMicros() - micros);
  }

  private static long micros(Keep.Age age) {
    return TimeUnit.MICROSECONDS.convert(age.age());
  }

  private Streams streams() {
    return engine.streams();
  }
}

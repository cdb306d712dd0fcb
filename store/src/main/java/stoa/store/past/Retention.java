package stoa.store.past;

import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Keep;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.leading.LogClock;
import stoa.store.records.Records;
import stoa.store.running.Bans;
import stoa.store.running.SpaceRegistry;
import stoa.store.running.Timeline;
import stoa.store.threads.Tasks;
import stoa.store.threads.Threads;

/// Releases the past of keys, in front of the oldest version that can be read. No other class
/// releases entries of a key's stream. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Retention {
  /*
   * A release ends in front of a version whose state the store can make from the remaining entries:
   * from the last checkpoint up to there, or from the beginning of the generation. The checkpoint
   * stands in front of the trim in the device's log, so a crash that keeps the trim keeps the
   * checkpoint.
   *
   * Invariants:
   * (1) oldest only grows, and the result of trim is durable. Entries that the policy released may
   *     come back after a crash; the policy then releases them again.
   * (2) oldest is not above the last executed version: the present can be loaded.
   * (3) The store releases nothing that a reader sees at limit or behind it. limit is at or in
   *     front of
   *       - the moment at which a transaction or snapshot may begin now, before it pins that
   *         moment;
   *       - every pin;
   *       - the first nested put of a call whose answers are not all in the log: after a crash the
   *         call finds its puts there, and would otherwise repeat them. While this process has not
   *         resumed every call of an earlier process, it does not know their puts, and releases
   *         nothing at all;
   *       - the horizon, the least counter at which readers read in other stores with the same
   *         order: a reader that has pinned a moment there may come here later to read as of that
   *         moment.
   * (4) Among several stores, recent puts of other stores' handlers are not released: those
   *     handlers look for them (IncomingCalls).
   * (5) When a key was trimmed up to its last version and then deleted, the store releases that
   *     version, too: a user who trims so far keeps only the present, and the deletion is the
   *     present now.
   * (6) A reader of the past asks for oldest before and after it reads: it may have missed entries
   *     that were released in between.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

  // How many log addresses are kept at least, and released at a time.
  private static final long LOG_ADDRESSES_MIN = 65_536;

  private static final long LOG_STEP = 1_024;

  // A trim leaves up to this many bytes of entries in front of the last version, or as many as the
  // last checkpoint has, before it makes a new checkpoint.
  private static final int REST_BYTES_MAX = 1 << 10;

  // The weight of an entry beside its payload.
  private static final int REST_ENTRY_BYTES = 32;

  // How many deleted keys are remembered whose past is still held. The past of further keys is
  // released when those keys are used again.
  private static final int DELETED_MAX = 65_536;

  private static final int DELETED_TURNS = 2;

  // How many deleted keys an idle pass looks at.
  private static final int IDLE_TURNS = 1_024;

  // The time between idle passes: one second.
  private static final int IDLE_TICKS = 1_000 / Threads.TICK_MILLIS;

  // How many entries a stream gets before this looks at it again.
  private static final long STREAM_STEP = 256;

  private static final Keep NOTHING = Keep.versions(0);

  private final Holds holds;
  private final BatchWriter writer;
  private final SpaceRegistry spaces;
  private final Bans bans;
  private final Streams streams;
  private final Timeline timeline;
  private final LogClock clock;
  private final Tasks tasks;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Deleted> deleted = new ArrayDeque<>(); // guarded by lock
  private final AtomicBoolean turning = new AtomicBoolean();
  private int ticks; // of the watch
  private volatile Keep keep = Keep.all();

  /// A deleted key, and the time from which on its past may be released.
  private record Deleted(Key key, long address, long micros) {}

  /// The parts that a release uses.
  ///
  /// @param writer logs checkpoints
  /// @param spaces tells of which keys users read the past
  /// @param bans tells which keys take no checkpoints
  /// @param clock tells the age of entries
  /// @param tasks release the past of deleted keys
  public record Parts(
      BatchWriter writer, SpaceRegistry spaces, Bans bans, LogClock clock, Tasks tasks) {}

  /// @param holds tells which entries must not be released
  public Retention(Holds holds, Streams streams, Timeline timeline, Parts parts) {
    this.holds = holds;
    this.streams = streams;
    this.timeline = timeline;
    this.writer = parts.writer;
    this.spaces = parts.spaces;
    this.bans = parts.bans;
    this.clock = parts.clock;
    this.tasks = parts.tasks;
  }

  /// Sets the policy from now on.
  public void keep(Keep policy) {
    keep = policy;
  }

  /// Releases the versions of a key in front of a given one, except those that are held.
  ///
  /// @param before not above the last executed version
  /// @return the oldest version that can be read now
  public long trim(Key key, long before) {
    long least = holds.leastNow();
    if (before >= timeline.oldest(key))
      shorten(key, holds.unvisited(key, holds.allowed(key, before, least)));
    return trim(key, before, least);
  }

  /// Makes a checkpoint of the last version when the trim would otherwise leave much more than its
  /// state in front of it.
  ///
  /// @param before the version up to which the caller trims the key
  private void shorten(Key key, long before) {
    StreamId stream = key.stream();
    Streams.At mark = streams.lastMark(stream, before);
    if (mark == null || !Records.mark(mark.data()).alive()) return;
    Streams.At last = streams.lastCheckpoint(stream, before);
    if (last != null && last.address() < mark.address()) last = null;
    long base = last == null ? mark.address() : last.address() + 1;
    long worth = Math.max(REST_BYTES_MAX, last == null ? 0 : last.data().length);
    var bytes = new long[1];
    streams.scan(
        stream,
        base,
        streams.last(stream),
        entry -> {
          boolean changes = Records.isChange(entry);
          if (changes && entry.address() > before) bytes[0] = 0; // not the last version
          else bytes[0] += entry.payload().length + REST_ENTRY_BYTES;
          return !changes || entry.address() <= before;
        });
    if (bytes[0] < worth) return;
    if (bans.refusal(key, mark.address()) != null) return;
    writer.checkpoint(key);
  }

  /// Releases versions, like [#trim], but does not ask other stores; its knowledge of them may be
  /// old.
  public void forget(Key key, long before) {
    var _ = trim(key, before, holds.horizon());
  }

  private long trim(Key key, long before, long least) {
    if (before > timeline.oldest(key)) {
      long free = holds.unvisited(key, holds.allowed(key, before, least));
      holds.releasing(() -> streams.trim(key.stream(), holds.allowed(key, free, least)));
    }
    streams.sync();
    return timeline.oldest(key);
  }

  /// Releases entries that the policy does not keep, after a checkpoint of a key.
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

  /// Returns the last version of a key in front of which a policy of one type keeps nothing; 0 for
  /// none.
  private long bound(Key key, Keep policy, long position) {
    return switch (policy) {
      case Keep.All() -> 0;
      case Keep.Versions(long count) -> position - count;
      case Keep.Age age -> Math.min(position, holds.lastBefore(key, micros(age)));
      case Keep.ByType both -> throw new IllegalStateException(both + " is of no single type");
    };
  }

  /// Notes an append to a stream. Sometimes releases entries of it that the policy does not keep.
  ///
  /// @param address the address of the last entry
  public void appended(Key stream, long address) {
    if (address % STREAM_STEP != 0) return;
    Keep policy = streams(keep);
    if (policy instanceof Keep.All) return;
    try {
      tasks.answer(() ->
          attempt(
              stream,
              () -> {
                long before = bound(stream, policy, address);
                if (before > 1) holds.releasing(() -> streams.trim(stream.stream(), before));
                if (!keepsAll(keep)) releaseLog();
              }));
    } catch (RejectedExecutionException closed) {
      // The store is being closed; the next append after it opens releases the entries.
    }
  }

  private static Keep streams(Keep policy) {
    return policy instanceof Keep.ByType by
        ? by.types().getOrDefault(Keep.STREAMS, Keep.all())
        : Keep.all();
  }

  /// Returns whether the policy keeps any type of entry for ever.
  private static boolean keepsAll(Keep policy) {
    return policies(policy).anyMatch(Keep.All.class::isInstance);
  }

  private static Stream<Keep> policies(Keep policy) {
    return policy instanceof Keep.ByType by
        ? Stream.concat(Stream.of(by.others()), by.types().values().stream())
        : Stream.of(policy);
  }

  /// Notes a tick. Sometimes releases the past of deleted keys that was held before.
  public void tick() {
    if (++ticks < IDLE_TICKS) return;
    ticks = 0;
    if (deletedCount() == 0 || !turning.compareAndSet(false, true)) return;
    try {
      tasks.answer(this::turn);
    } catch (RejectedExecutionException closed) {
      turning.set(false);
    }
  }

  private void turn() {
    try {
      for (int left = Math.min(deletedCount(), IDLE_TURNS); left > 0; left--) {
        if (!writer.mayLog()) return;
        if (!releaseNext()) return;
      }
    } catch (RuntimeException failure) {
      // The store closes, or its log fails: the past stays, and a later trim releases it.
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
    if (!spaces.factory(key.space()).hasPast()) return NOTHING;
    Keep now = keep;
    return now instanceof Keep.ByType by ? by.types().getOrDefault(key.space(), by.others()) : now;
  }

  /// Notes the deletion of a key. Its past is released as the policy says, and at once when the key
  /// was trimmed up to its last version.
  ///
  /// @param address the stream address of the deletion
  void deleted(Key key, long address) {
    attempt(
        key,
        () -> {
          Keep policy = policy(key);
          boolean stays = policy instanceof Keep.All;
          if (stays && !isTrimmedToLast(key, address)) return;
          long now = clock.nowMicros();
          long when = policy instanceof Keep.Age age ? now + micros(age) : now;
          remember(new Deleted(key, address, when));
          rest();
        });
  }

  /// Returns whether a key was trimmed so far that only the version right before its deletion is
  /// left.
  private boolean isTrimmedToLast(Key key, long deletion) {
    long oldest = timeline.oldest(key);
    if (oldest == 0) return false;
    var changed = new boolean[1];
    streams.scan(
        key.stream(),
        oldest + 1,
        deletion - 1,
        entry -> {
          changed[0] = Records.isChange(entry);
          return !changed[0];
        });
    return !changed[0];
  }

  private void attempt(Key key, Runnable release) {
    try {
      release.run();
    } catch (RuntimeException failure) {
      // The entries stay until the next attempt. A lasting error shows at the next put.
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

  /// Releases part of the past of deleted keys, and of the log.
  private void rest() {
    for (int turn = 0; turn < DELETED_TURNS && releaseNext(); turn++) {
      // Each turn releases the past of one key.
    }
    if (!keepsAll(keep)) releaseLog();
  }

  /// Releases the past of the next deleted key, or requeues the key when its past is held; returns
  /// whether there was a key.
  private boolean releaseNext() {
    Deleted next = nextDeleted();
    if (next == null) return false;
    long allowed = release(next.key, next.address);
    if (allowed < next.address) remember(next); // held yet
    return true;
  }

  private @Nullable Deleted nextDeleted() {
    long now = clock.nowMicros();
    lock.lock();
    try {
      Deleted first = deleted.peek();
      return first == null || first.micros > now ? null : deleted.poll();
    } finally {
      lock.unlock();
    }
  }

  /// Releases the entries in front of the checkpoint or beginning from which a version is made.
  /// Returns the last version, up to the given one, for which the holds allowed this.
  private long release(Key key, long before) {
    if (before <= Math.max(1, timeline.oldest(key))) return before;
    long least = holds.horizon();
    long free = holds.unvisited(key, holds.allowed(key, before, least));
    var allowed = new long[1];
    holds.releasing(() -> {
      allowed[0] = holds.allowed(key, free, least);
      long base = streams.base(key.stream(), allowed[0]);
      if (base > 1) streams.trim(key.stream(), base);
    });
    return allowed[0];
  }

  private void releaseLog() {
    holds.releasing(this::releaseLogAlone);
  }

  private void releaseLogAlone() {
    long limit = holds.logLimit();
    long before = policies(keep).mapToLong(policy -> logBound(policy, limit)).min().orElse(0);
    if (before - streams.firstInLog() >= LOG_STEP) streams.trimLog(before);
  }

  /// Returns the first log address that a policy of one type keeps.
  private long logBound(Keep policy, long limit) {
    return switch (policy) {
      case Keep.All() -> 0;
      case Keep.Versions(long count) -> limit - Math.max(count, LOG_ADDRESSES_MIN);
      case Keep.Age age -> {
        boolean worth = limit - streams.firstInLog() > LOG_STEP;
        yield worth ? Math.min(limit, holds.since(micros(age))) : 0;
      }
      case Keep.ByType both -> throw new IllegalStateException(both + " is of no single type");
    };
  }

  private static long micros(Keep.Age age) {
    return TimeUnit.MICROSECONDS.convert(age.age());
  }
}

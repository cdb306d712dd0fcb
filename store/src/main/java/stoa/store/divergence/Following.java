package stoa.store.divergence;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.Entry;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.records.Records;
import stoa.store.replicas.Announced;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.FollowerWork;
import stoa.store.replicas.KeyNames;
import stoa.store.running.Execution;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.SpaceRegistry;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;

/// The work of a replica that does not lead: it executes the keys whose states the leader
/// announces, makes the same checkpoints, and compares the states. Thread-safe.
///
/// It writes only checkpoints. Its runs call no other key: the log has the answers.
public final class Following implements FollowerWork {
  /*
   * The replica brings a key to the address of its last announcement, from the state in memory or
   * the last checkpoint here. A later announcement of a key replaces an earlier one; so the number
   * of keys, and JOBS_MAX, bound the waiting announcements.
   *
   * Invariants:
   * (1) One worker at a time executes a key; it has taken the key's state out of `warm`.
   * (2) A state in `warm` reflects the log up to its position. The replica drops it after a
   *     failure, and when the log has decided about a diverged key in the meantime.
   */
  private static final int JOBS_MAX = 65_536;
  private static final int PARALLEL_MAX = 2;
  private static final int METHODS_MAX = 8;
  private static final int TOLD_MAX = 1_000;

  // How many ticks pass before this reports a divergence again that the leader has not logged.
  private static final int REPEAT_TICKS = 40;

  // How many bytes this encodes to find the first version at which a key differs from itself.
  private static final long SEARCH_BYTES_MAX = 256 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(Following.class);

  private final Quarantine quarantine;
  private final Loader loader;
  private final SpaceRegistry spaces;
  private final Streams streams;
  private final Runnable close;
  private final Threads threads;
  private final KeyNames names;
  private final Consumer<Divergence> told;
  private final long warmBytesMax;
  private final ReentrantLock lock = new ReentrantLock();

  // The spaces with a key that could not be followed: this warns once for each.
  private final Set<String> unfollowed = ConcurrentHashMap.newKeySet();

  // Guarded by lock.
  private final LinkedHashMap<StreamId, Announced> jobs = new LinkedHashMap<>();
  private final LinkedHashSet<StreamId> underWay = new LinkedHashSet<>();
  private final LinkedHashMap<StreamId, Warm> warm = new LinkedHashMap<>(16, 0.75f, true);
  private final LinkedHashMap<StreamId, Divergence> untold = new LinkedHashMap<>();
  private long warmBytes;
  private long announcedLast;
  private long decisions;
  private int workers;
  private int ticks;
  private long compared;
  private long diverged;
  private boolean closed;

  /// A key in memory.
  ///
  /// @param state its state
  /// @param agreed the last address at which it is known to equal the leader's state
  /// @param weight its weight in memory
  private record Warm(Materialized state, long agreed, long weight) {}

  /// The parts of the store with which a replica follows.
  ///
  /// @param quarantine the keys about which it reports nothing more
  /// @param loader makes states
  /// @param spaces tells the form of states
  /// @param streams the log
  /// @param close closes that store
  public record Store(
      Quarantine quarantine,
      Loader loader,
      SpaceRegistry spaces,
      Streams streams,
      Runnable close) {}

  /// Begins to follow.
  ///
  /// @param warmBytesMax the bound on the encoded size of the states in memory
  /// @param told gets each divergence, on a worker's thread
  public Following(
      Store store, Threads threads, KeyNames names, long warmBytesMax, Consumer<Divergence> told) {
    this.quarantine = store.quarantine;
    this.loader = store.loader;
    this.spaces = store.spaces;
    this.streams = store.streams;
    this.close = store.close;
    this.threads = threads;
    this.names = names;
    this.warmBytesMax = warmBytesMax;
    this.told = told;
    quarantine.load();
    lock.lock();
    try {
      catchUp(Long.MAX_VALUE);
      pump();
    } finally {
      lock.unlock();
    }
    threads.every(this::tick);
  }

  // ---- the queue

  @Override
  public void applied(Batch batch) {
    for (Entry entry : batch.entries()) {
      if (entry.stream().equals(Announced.KEY.stream())) {
        announced(entry.address(), entry.payload());
      } else if (entry.stream().equals(Quarantine.KEY.stream())) {
        decided(entry.payload());
      }
    }
  }

  private void announced(long address, byte[] payload) {
    lock.lock();
    try {
      if (closed || address <= announcedLast) return;
      catchUp(address - 1);
      announcedLast = address;
      add(Announced.of(payload));
      pump();
    } finally {
      lock.unlock();
    }
  }

  /// Queues the announcements up to an address that [#applied] did not get.
  private void catchUp(long end) {
    StreamId stream = Announced.KEY.stream();
    long last = Math.min(end, streams.last(stream));
    if (last <= announcedLast) return;
    long first = Math.max(announcedLast + 1, last - JOBS_MAX);
    streams.scan(
        stream,
        Math.max(first, streams.firstKept(stream)),
        last,
        entry -> {
          add(Announced.of(entry.payload()));
          return true;
        });
    announcedLast = last;
  }

  private void add(Announced announced) {
    StreamId stream = announced.stream();
    jobs.remove(stream); // the last one waits behind the others
    jobs.put(stream, announced);
    if (jobs.size() > JOBS_MAX) jobs.pollFirstEntry();
  }

  private void decided(byte[] payload) {
    StreamId stream = quarantine.apply(payload);
    lock.lock();
    try {
      untold.remove(stream);
      // An operator accepted a state, or a state was wrong. Both are rare, so this makes all states
      // anew.
      decisions++;
      warm.clear();
      warmBytes = 0;
    } finally {
      lock.unlock();
    }
  }

  private void pump() {
    while (!closed && workers < Math.min(PARALLEL_MAX, jobs.size())) {
      workers++;
      try {
        threads.work(this::work);
      } catch (RejectedExecutionException ended) {
        workers--;
        return;
      }
    }
  }

  // ---- the work

  private void work() {
    Announced job = take();
    try {
      if (job != null) follow(job);
    } finally {
      lock.lock();
      try {
        if (job != null) underWay.remove(job.stream());
        workers--;
        pump();
      } finally {
        lock.unlock();
      }
    }
  }

  private @Nullable Announced take() {
    lock.lock();
    try {
      if (closed) return null;
      for (StreamId stream : jobs.keySet()) {
        if (!underWay.add(stream)) continue;
        return jobs.remove(stream);
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private void follow(Announced job) {
    try {
      compare(job);
    } catch (RuntimeException | Execution.Unwinding | StackOverflowError failure) {
      if (loader.health.isClosed()) return;
      // For instance, the key's class is missing here, or differs from the form in the log, or the
      // store has released the key's past. The next announcement may succeed.
      LOG.atLevel(unfollowed.add(job.space()) ? Level.WARN : Level.DEBUG)
          .log("{} is not followed to {}: {}", name(job), job.address(), failure.toString());
    }
  }

  private static String name(Announced job) {
    return job.space() + " " + job.stream();
  }

  private void compare(Announced job) {
    Key key = names.key(job.space(), job.name());
    if (quarantine.refusal(key, job.generation()) != null) return;
    if (quarantine.isAccepted(key.stream(), job.address())) return;
    long began = decisions();
    Warm known = takeWarm(key.stream());
    long agreed = known == null ? 0 : known.agreed();
    Materialized state = known == null ? null : known.state();
    if (known != null && known.state().position() > job.address()) {
      putWarm(key.stream(), known, began);
      return; // a later announcement has brought it here
    }
    long end = streams.last(key.stream());
    if (state == null || !state.advance(job.address(), end)) {
      state = loader.following(key);
      state.load(job.address(), end);
      agreed = 0;
    }
    StreamId own = hash(key, job, state);
    if (own == null) return;
    boolean comparable =
        spaces.form(key) == job.form()
            && (job.checkpoint() || !isShortened(key, job.address(), end));
    boolean same = !comparable || own.equals(job.hash());
    lock.lock();
    try {
      if (comparable) compared++;
      if (!same) diverged++;
    } finally {
      lock.unlock();
    }
    if (same) putWarm(key.stream(), new Warm(state, job.address(), state.weight()), began);
    else tell(evidence(key, job, own, agreed));
  }

  /// Returns whether the stream has a logged checkpoint of a version. The leader may have announced
  /// the state of that version before or after it made the checkpoint.
  private boolean isShortened(Key key, long address, long end) {
    var found = new boolean[1];
    streams.scan(
        key.stream(),
        address + 1,
        end,
        entry -> {
          found[0] = entry.kind() == Records.CHECKPOINT;
          return !found[0] && !Records.isChange(entry);
        });
    return found[0];
  }

  /// Returns the hash of this replica's state at an announcement; null when it has none there.
  private @Nullable StreamId hash(Key key, Announced job, Materialized state) {
    if (state.position() != job.address() || state.generation() != job.generation()) return null;
    if (!job.checkpoint()) return StreamId.of(state.encoded());
    Streams.At kept = streams.lastCheckpoint(key.stream(), job.address());
    return kept == null || kept.address() != job.address() ? null : StreamId.of(kept.data());
  }

  // ---- memory

  private @Nullable Warm takeWarm(StreamId stream) {
    lock.lock();
    try {
      return drop(stream);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Warm drop(StreamId stream) {
    Warm found = warm.remove(stream);
    if (found != null) warmBytes -= found.weight();
    return found;
  }

  private long decisions() {
    lock.lock();
    try {
      return decisions;
    } finally {
      lock.unlock();
    }
  }

  /// @param began the number of decisions when the caller took the state
  private void putWarm(StreamId stream, Warm state, long began) {
    lock.lock();
    try {
      if (closed || decisions != began) return;
      warm.put(stream, state);
      warmBytes += state.weight();
      while (warmBytes > warmBytesMax && !warm.isEmpty()) drop(warm.firstEntry().getKey());
    } finally {
      lock.unlock();
    }
  }

  // ---- evidence

  private Divergence evidence(Key key, Announced job, StreamId own, long agreed) {
    long base = Math.max(agreed, streams.checkpointAt(key.stream(), job.address() - 1));
    long from = Math.max(base, job.generation() - 1);
    long first = 0;
    try {
      first = firstDifference(key, job.address());
    } catch (RuntimeException | Execution.Unwinding | StackOverflowError failure) {
      LOG.warn("what {} does twice is not compared: {}", key, failure.toString());
    }
    List<String> methods =
        first > 0 ? methods(key, first, first) : methods(key, from + 1, job.address());
    return new Divergence(
        key.space(),
        key.name(),
        key.toString(),
        job.generation(),
        from,
        job.address(),
        first,
        job.hash(),
        own,
        methods);
  }

  /// Returns the first address at which two runs of the same puts lead to different states; 0 when
  /// they do not, or when the search would take too long.
  private long firstDifference(Key key, long target) {
    long end = streams.last(key.stream());
    Materialized one = loader.trying(key);
    Materialized other = loader.trying(key);
    Materialized.Part part = one.begin(target, end);
    var _ = other.begin(target, end);
    long left = SEARCH_BYTES_MAX;
    for (StoredEntry entry : part.changes()) {
      one.execute(entry, part.logged());
      other.execute(entry, part.logged());
      byte[] state = one.encoded();
      left -= state.length;
      if (left < 0) return 0;
      if (!java.util.Arrays.equals(state, other.encoded())) return entry.address();
    }
    return 0;
  }

  private List<String> methods(Key key, long from, long to) {
    var methods = new LinkedHashSet<String>();
    streams.scan(
        key.stream(),
        from,
        to,
        entry -> {
          if (entry.kind() == Records.PUT) {
            Records.Put put = Records.put(entry.payload());
            String method = put.begins() && put.value().length == 0 ? "" : method(key, put);
            if (!method.isEmpty()) methods.add(method);
          }
          return methods.size() < METHODS_MAX;
        });
    return new ArrayList<>(methods);
  }

  private String method(Key key, Records.Put put) {
    return names.method(key, put.value());
  }

  private void tell(Divergence evidence) {
    LOG.error("{}: {}; the leader is told", evidence.object(), evidence.words());
    lock.lock();
    try {
      if (closed || quarantine.knows(evidence)) return;
      untold.put(evidence.stream(), evidence);
      if (untold.size() > TOLD_MAX) untold.pollFirstEntry();
    } finally {
      lock.unlock();
    }
    told.accept(evidence);
  }

  private void tick() {
    List<Divergence> again = List.of();
    lock.lock();
    try {
      if (closed || ++ticks % REPEAT_TICKS != 0) return;
      untold.values().removeIf(this::isOver);
      again = List.copyOf(untold.values());
    } catch (RuntimeException failure) {
      LOG.debug("nobody is told again: {}", failure.toString()); // the device may be closed
    } finally {
      lock.unlock();
    }
    for (Divergence evidence : again) {
      threads.work(() -> told.accept(evidence));
    }
  }

  private boolean isOver(Divergence known) {
    if (quarantine.knows(known)) return true;
    Streams.At mark = streams.lastMark(known.stream(), Long.MAX_VALUE);
    return mark != null && mark.address() != known.generation();
  }

  // ---- for the process that opened it

  @Override
  public Progress progress() {
    lock.lock();
    try {
      return new Progress(jobs.size() + underWay.size(), compared, diverged);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      jobs.clear();
      warm.clear();
      untold.clear();
    } finally {
      lock.unlock();
    }
    close.run();
  }
}

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
import stoa.store.replicas.Backup;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.KeyNames;
import stoa.store.running.Execution;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.Spaces;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;

/// What a replica does that does not lead: it executes the keys of which the leader announces the
/// state, makes the same checkpoints, and compares. Thread-safe.
///
/// It writes nothing but checkpoints. Its runs call no other key: the log has the answers.
public final class Following implements Backup {
  /*
   * A key is brought to the address of its last announcement, from the state in memory or the last
   * checkpoint here. Announcements of one key take the place of each other; so what waits is bounded by
   * the number of keys, and by JOBS_MAX.
   *
   * Invariants:
   * (1) A key is executed by one worker at a time, which has taken its state out of `warm`.
   * (2) A state in `warm` reflects what the log says up to its position: after a failure, and when
   *     anything was decided about diverged keys meanwhile, it is dropped.
   */
  private static final int JOBS_MAX = 65_536;
  private static final int PARALLEL_MAX = 2;
  private static final int METHODS_MAX = 8;
  private static final int TOLD_MAX = 1_000;

  /// How many ticks pass until the leader is told again of a divergence that it has not logged.
  private static final int REPEAT_TICKS = 40;

  /// How many bytes are encoded to find the first version at which a key differs from itself.
  private static final long SEARCH_BYTES_MAX = 256 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(Following.class);

  private final Quarantine quarantine;
  private final Loader loader;
  private final Spaces spaces;
  private final Streams streams;
  private final Runnable close;
  private final Threads threads;
  private final KeyNames names;
  private final Consumer<Divergence> told;
  private final long warmBytesMax;
  private final ReentrantLock lock = new ReentrantLock();

  /// Of which something could not be followed: that is said once.
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

  /// A key that is in memory.
  ///
  /// @param state its state
  /// @param agreed the last address at which it was the same as the leader's, as far as is known
  /// @param weight what it counts for
  private record Warm(Materialized state, long agreed, long weight) {}

  /// What a replica follows with.
  ///
  /// @param quarantine the keys of which it says nothing more
  /// @param loader makes its states
  /// @param spaces says in what form they are
  /// @param streams the log
  /// @param close ends the store that it follows with
  public record Store(
      Quarantine quarantine, Loader loader, Spaces spaces, Streams streams, Runnable close) {}

  /// Begins to follow.
  ///
  /// @param warmBytesMax encoded size of the states that are kept in memory
  /// @param told is told of each divergence, on a worker's thread
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

  // ---- what is to be done

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

  /// Takes in what is announced up to an address and was not told to [#applied].
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
      // A state was the wrong one, or another one is accepted. That is rare: all are made anew.
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

  // ---- doing it

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
      // Its class is not here, say, or in another form than the log knows of; or its past was
      // released. The next
      // announcement may do.
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
      return; // it was brought here for a later announcement
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

  /// Whether the stream has a logged checkpoint of a version. The leader may have announced the
  /// state of that version before or after it made the checkpoint.
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

  /// The hash of the state that was announced, as it is here; null when there is none.
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

  /// @param began how many decisions there were when it was taken
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

  /// The first address at which two runs of the same puts come to different states; 0 when they do
  /// not, or when it takes too long to tell.
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
      LOG.debug("nobody is told again: {}", failure.toString()); // the device was closed, say
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

  // ---- for who opened it

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

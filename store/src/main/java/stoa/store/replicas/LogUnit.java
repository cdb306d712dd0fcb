package stoa.store.replicas;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.CatchUp;
import stoa.log.Entry;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;

/// A replica that keeps the whole log and executes nothing: the log replica of vCorfu (section
/// 3.1), where the leader is the stream replica. Thread-safe.
///
/// It copies the checkpoints that the leader announces, and writes nothing else. It can therefore
/// release the entries in front of them. When it becomes the leader, a key executes only the
/// entries behind its checkpoint, when a caller asks for the key (vCorfu, Figure 10).
public final class LogUnit implements FollowerWork {
  /*
   * A later announcement of a key replaces an earlier one: so the number of keys, and JOBS_MAX,
   * bound the waiting announcements. When an announcement is lost, or the leader no longer has its
   * checkpoint, another one follows; until then this replica keeps the entries in front of it.
   */
  private static final int JOBS_MAX = 65_536;

  // How many ticks pass until this asks the leader again for missing checkpoints.
  private static final int REPEAT_TICKS = 4;

  private static final Logger LOG = LoggerFactory.getLogger(LogUnit.class);

  /// The source of checkpoints.
  public interface Source {
    /// Asks the leader for checkpoints, and waits for them.
    ///
    /// @param each gets each checkpoint in turn, with its state; null when the leader does not have
    ///   it
    /// @throws IOException when no leader answers
    void checkpoints(
        List<CatchUp.Wanted> wanted, BiConsumer<CatchUp.Wanted, byte @Nullable []> each)
        throws IOException;
  }

  private final Streams streams;
  private final Threads threads;
  private final Source source;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final LinkedHashMap<StreamId, Announced> jobs = new LinkedHashMap<>();
  private int underWay;
  private int ticks;
  private boolean closed;

  /// @param streams the streams of the replica
  /// @param threads threads of its own, which it closes with itself
  public LogUnit(Streams streams, Threads threads, Source source) {
    this.streams = streams;
    this.threads = threads;
    this.source = source;
    lock.lock();
    try {
      StreamId stream = Announced.KEY.stream();
      long last = streams.last(stream);
      long first = Math.max(last - JOBS_MAX, streams.firstKept(stream));
      streams.scan(stream, Math.max(1, first), last, this::add);
      pump();
    } finally {
      lock.unlock();
    }
    threads.every(this::tick);
  }

  private boolean add(StoredEntry entry) {
    add(Announced.of(entry.payload()));
    return true;
  }

  private void add(Announced announced) {
    if (!announced.checkpoint()) return; // only for comparison
    StreamId stream = announced.stream();
    jobs.remove(stream); // the last one waits behind the others
    jobs.put(stream, announced);
    if (jobs.size() > JOBS_MAX) jobs.pollFirstEntry();
  }

  @Override
  public void applied(Batch batch) {
    for (Entry entry : batch.entries()) {
      if (!entry.stream().equals(Announced.KEY.stream())) continue;
      lock.lock();
      try {
        add(Announced.of(entry.payload()));
        pump();
      } finally {
        lock.unlock();
      }
    }
  }

  /// Fetches the next page of checkpoints, if none is in progress. The caller holds the lock.
  private void pump() {
    if (closed || underWay > 0 || jobs.isEmpty()) return;
    var page = new ArrayList<Announced>();
    while (page.size() < CatchUp.WANTED_MAX && !jobs.isEmpty()) {
      page.add(jobs.pollFirstEntry().getValue());
    }
    try {
      threads.work(() -> get(page));
      underWay = page.size();
    } catch (RejectedExecutionException ended) {
      LOG.debug("no checkpoints are got any more", ended);
    }
  }

  private void get(List<Announced> page) {
    var wanted = new LinkedHashMap<CatchUp.Wanted, Announced>();
    boolean reached = false;
    try {
      for (Announced one : page) {
        if (streams.checkpointAt(one.stream(), one.address()) == one.address()) continue;
        wanted.put(new CatchUp.Wanted(one.stream(), one.address()), one);
      }
      if (!wanted.isEmpty()) {
        source.checkpoints(
            List.copyOf(wanted.keySet()),
            (asked, state) -> {
              Announced one = wanted.remove(asked);
              if (one != null && state != null) keep(one, state);
            });
      }
      reached = true;
    } catch (IOException | RuntimeException later) {
      LOG.debug("{} checkpoints are got later: {}", wanted.size(), later.toString());
    } finally {
      lock.lock();
      try {
        underWay = 0;
        // A newer announcement takes the place of these; the next tick asks again.
        if (!closed) wanted.values().forEach(one -> jobs.putIfAbsent(one.stream(), one));
        if (reached) pump();
      } finally {
        lock.unlock();
      }
    }
  }

  private void keep(Announced announced, byte[] state) {
    if (!StreamId.of(state).equals(announced.hash())) {
      LOG.error(
          "the checkpoint of {} {} at {} is not what was announced; it is not kept",
          announced.space(),
          announced.stream(),
          announced.address());
      return;
    }
    lock.lock();
    try {
      // The next leader on this device must have it to itself.
      if (closed) return;
      streams.checkpointAndRelease(announced.stream(), announced.address(), state);
    } finally {
      lock.unlock();
    }
  }

  private void tick() {
    lock.lock();
    try {
      if (++ticks % REPEAT_TICKS == 0) pump();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Progress progress() {
    lock.lock();
    try {
      return new Progress(jobs.size() + underWay, 0, 0);
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
    } finally {
      lock.unlock();
    }
    threads.close();
  }
}

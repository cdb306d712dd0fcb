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
/// 3.1), where the one that leads is the stream replica. Thread-safe.
///
/// It gets the checkpoints that the leader announces from there, and writes nothing else. So what
/// they stand for can be released here as well, and whoever leads from here executes what is behind
/// them only, when it is asked for (vCorfu, Figure 10).
public final class LogUnit implements Backup {
  /*
   * Announcements of one key take the place of each other: so what waits is bounded by the number of keys, and by
   * JOBS_MAX. One that is lost, or that the leader has no more, is followed by another one; until then the entries
   * that it stands for are kept.
   */
  private static final int JOBS_MAX = 65_536;

  /// How many ticks pass until the leader is asked again for what it did not give.
  private static final int REPEAT_TICKS = 4;

  private static final Logger LOG = LoggerFactory.getLogger(LogUnit.class);

  /// Where checkpoints come from.
  public interface Source {
    /// Asks who leads. Waits.
    ///
    /// @param each is given each of them in turn, with its state; null when it is not there
    /// @throws IOException when nobody is reached
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

  /// @param streams of the replica
  /// @param threads its own: closed with it
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
    if (!announced.checkpoint()) return; // it is there to be compared
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

  /// Called with the lock held.
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
        // Newer ones take their place; the next tick asks again.
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
      // Whoever leads from here next has this device to itself.
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

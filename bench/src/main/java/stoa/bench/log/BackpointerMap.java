package stoa.bench.log;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.base.Encoder;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;

/// A map composed of many maps over a [BackpointerLog], as Tango and the vCorfu paper's baseline
/// have it: each child is a stream of puts, and each client has a view of its own of each child.
/// Before a client reads, it asks the sequencer for the last entry of the child's stream, and plays
/// back the entries that its view lacks; it finds them one by one, backwards.
///
/// Log, sequencer and clients are in this process, without a network. Thread-safe, except for
/// [#close()].
public final class BackpointerMap implements AutoCloseable {
  /*
   * Puts that arrive while a batch is written wait in the next batch. The first of them whose batch
   * may be written writes it, for all of them, with one sync.
   *
   * 1. The log is used by the thread that has set `writing`, except for BackpointerLog.follow.
   * 2. `lasts` has the addresses of durable entries only, and has a put's before the put returns.
   */

  /// Puts that are written with one sync.
  private static final class Batch {
    final List<BackpointerLog.Addition> entries =
        new ArrayList<>(); // guarded by lock until written
    boolean done; // guarded by lock
    @Nullable Throwable failure; // guarded by lock
  }

  /// A client's view of a child. Its own monitor guards it.
  private static final class View {
    final Map<String, byte[]> values = new HashMap<>();
    // The address of the last entry that it has played back.
    long played;
  }

  private final BackpointerLog log;
  private final AtomicLongArray lasts;

  // By client, then by child.
  private final List<List<View>> views = new ArrayList<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition written = lock.newCondition();
  private Batch next = new Batch(); // guarded by lock
  private boolean writing; // guarded by lock

  /// Creates an empty map.
  ///
  /// @param folder an empty folder for the log
  /// @param children how many maps it consists of
  /// @param clients how many clients it has
  public BackpointerMap(Path folder, int children, int clients) throws IOException {
    var device = Device.open(new FileDisk(folder), DeviceConfig.standard());
    log = new BackpointerLog(device, AppendLog.ids(children));
    lasts = new AtomicLongArray(children);
    for (int client = 0; client < clients; client++) {
      var own = new ArrayList<View>();
      for (int child = 0; child < children; child++) own.add(new View());
      views.add(own);
    }
  }

  private int child(String key) {
    return Math.floorMod(key.hashCode() * 0x9e3779b9, lasts.length());
  }

  /// Returns the value of a key as a client reads it; null when there is none.
  public byte @Nullable [] get(int client, String key) {
    int child = child(key);
    View view = views.get(client).get(child);
    synchronized (view) {
      playBack(child, view);
      return view.values.get(key);
    }
  }

  private void playBack(int child, View view) {
    long last = lasts.get(child);
    if (last == view.played) return;
    record Put(String key, byte[] value) {}
    Deque<Put> newer = new ArrayDeque<>();
    var _ = log.follow(child, view.played, last, in -> newer.push(new Put(in.text(), in.sized())));
    for (Put put : newer) view.values.put(put.key, put.value);
    view.played = last;
  }

  /// Sets the value of a key. It is on the disk, forced, on return. It reads nothing, so the
  /// putting client does not matter.
  public void put(String key, byte[] value) {
    var payload = new Encoder(value.length + key.length() + 8).text(key).sized(value).toBytes();
    append(new BackpointerLog.Addition(child(key), payload));
  }

  private void append(BackpointerLog.Addition entry) {
    Batch own;
    lock.lock();
    try {
      own = next;
      own.entries.add(entry);
      while (writing && !own.done) written.awaitUninterruptibly();
      if (own.done) {
        check(own);
        return;
      }
      writing = true;
      next = new Batch();
    } finally {
      lock.unlock();
    }
    @Nullable Throwable failure = null;
    try {
      log.append(own.entries);
      for (var each : own.entries) lasts.set(each.stream(), log.last(each.stream()));
    } catch (RuntimeException | Error failed) {
      failure = failed;
    }
    lock.lock();
    try {
      own.failure = failure;
      own.done = true;
      writing = false;
      written.signalAll();
      check(own);
    } finally {
      lock.unlock();
    }
  }

  private static void check(Batch batch) {
    Throwable failure = batch.failure;
    if (failure != null) throw new IllegalStateException("a batch was not appended", failure);
  }

  @Override
  public void close() {
    log.close();
  }
}

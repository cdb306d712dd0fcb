package stoa.storage;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The present runs of the process that has a device open, on the device's objects, in memory that
/// outlives the process: the next opener knows the runs in progress when the process was killed or
/// crashed, and how often that has happened. The memory does not survive a power loss, which no run
/// causes.
///
/// An object and a number name a run. Thread-safe; each [Slot] belongs to one thread.
public final class RunningCalls {
  /*
   * The bytes, numbers in the order of the disk formats:
   *
   *   offset           size  content
   *        0              8  "STOARUNN"
   *        8              8  version, 3
   *       64        64 each  slots: object 16, number 8, combined with the object; 0 while nothing runs
   *   then          32 each  failures: object 16, number 8, how often 8; 0 for a free place
   *
   * To note a run costs one store to memory that the operating system keeps for the file, three when the
   * run is on another object than the thread's last one, and its end costs one: no call to the operating
   * system, and no sync. A process that ends between two stores leaves the number of one run beside the
   * object of another. The combination makes of them a number that no run has.
   */
  private static final long MAGIC = 0x53544f4152554e4eL; // STOARUNN
  private static final long VERSION = 3;
  private static final int HEADER = 64;
  private static final int SLOT = 64;
  private static final int FAILURE = 32;

  /// The most threads whose runs are noted; others run unnoted.
  static final int SLOTS_MAX = 512;

  /// The most failures to remember; the oldest are forgotten first.
  static final int FAILURES_MAX = 256;

  private static final int FAILURES = HEADER + SLOTS_MAX * SLOT;

  /// The size of the memory in bytes.
  static final int BYTES = FAILURES + FAILURES_MAX * FAILURE;

  /// A run during which a process has ended.
  ///
  /// @param object the object of the run
  /// @param number the number of the run on the object
  /// @param times how often, without an end of the run in between
  public record Failure(StreamId object, long number, long times) {}

  private record Run(StreamId object, long number) {}

  private final ByteBuffer bytes;

  // Guarded by this.
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final LinkedHashMap<Run, Long> failures = new LinkedHashMap<>();
  private boolean closed;

  private volatile boolean hasFailures;

  private RunningCalls(ByteBuffer bytes) {
    this.bytes = bytes;
    for (int i = 0; i < SLOTS_MAX; i++) free.add(i);
  }

  /// Takes over the memory of an earlier process.
  static RunningCalls open(ByteBuffer bytes) {
    var running = new RunningCalls(bytes);
    if (bytes.getLong(0) == MAGIC && bytes.getLong(8) == VERSION) {
      running.takeOver();
      return running;
    }
    for (int at = 0; at < BYTES; at += 8) bytes.putLong(at, 0);
    bytes.putLong(0, MAGIC).putLong(8, VERSION);
    return running;
  }

  private synchronized void takeOver() {
    for (int i = 0; i < FAILURES_MAX; i++) {
      int at = FAILURES + i * FAILURE;
      long times = bytes.getLong(at + 24);
      if (times > 0) failures.put(run(at), times);
    }
    var left = new LinkedHashMap<Run, Long>();
    for (int i = 0; i < SLOTS_MAX; i++) {
      int at = HEADER + i * SLOT;
      if (bytes.getLong(at + 16) == 0) continue;
      Run noted = run(at);
      left.put(new Run(noted.object(), combined(noted.object(), noted.number())), 1L);
      bytes.putLong(at + 16, 0);
    }
    left.forEach((run, _) -> {
      Long before = failures.remove(run);
      failures.put(run, before == null ? 1 : before + 1);
    });
    keep();
  }

  private Run run(int at) {
    var object = new StreamId(bytes.getLong(at), bytes.getLong(at + 8));
    return new Run(object, bytes.getLong(at + 16));
  }

  /// Combines the number of a run with its object; the combination of the result is the number.
  private static long combined(StreamId object, long number) {
    return number ^ object.high() ^ object.low();
  }

  /// Writes the failures. The caller holds this.
  private void keep() {
    if (closed) return; // the memory is the next opener's
    while (failures.size() > FAILURES_MAX) failures.pollFirstEntry();
    int at = FAILURES;
    for (Map.Entry<Run, Long> failure : failures.entrySet()) {
      var object = failure.getKey().object();
      bytes.putLong(at, object.high()).putLong(at + 8, object.low());
      bytes.putLong(at + 16, failure.getKey().number()).putLong(at + 24, failure.getValue());
      at += FAILURE;
    }
    for (; at < BYTES; at += FAILURE) bytes.putLong(at + 24, 0);
    hasFailures = !failures.isEmpty();
  }

  /// The place of one thread.
  public final class Slot {
    private final int number;
    private final int at;

    // The object in the memory, also while nothing runs: often the next run is on the same object.
    private @Nullable StreamId object;

    // Whether another thread may have the slot now.
    private volatile boolean released;

    private Slot(int number) {
      this.number = number;
      this.at = HEADER + number * SLOT;
    }

    /// Notes that the thread begins a run, in place of its present one, unless the slot is
    /// released.
    @SuppressWarnings("ReferenceEquality") // an equal id is at worst written again
    public void begin(StreamId object, long run) {
      if (released) return;
      if (object != this.object) {
        this.object = object;
        bytes.putLong(at, object.high());
        bytes.putLong(at + 8, object.low());
      }
      bytes.putLong(at + 16, combined(object, run));
    }

    /// Notes that the thread is in no run, unless the slot is released.
    public void end() {
      if (!released) bytes.putLong(at + 16, 0);
    }

    /// Releases the slot, on any thread: later runs of its thread are not noted. Idempotent.
    public void release() {
      synchronized (RunningCalls.this) {
        if (released) return;
        released = true;
        bytes.putLong(at + 16, 0);
        free.addLast(number);
      }
    }
  }

  /// Returns a slot for a thread; null when there are too many.
  public synchronized @Nullable Slot slot() {
    Integer number = free.poll();
    return number == null ? null : new Slot(number);
  }

  /// Returns whether there is any failure. Costs nothing.
  public boolean hasFailures() {
    return hasFailures;
  }

  /// Returns how often a process has ended during a run, without an end of the run in between.
  public synchronized long failures(StreamId object, long number) {
    return failures.getOrDefault(new Run(object, number), 0L);
  }

  /// Returns all failures.
  public synchronized List<Failure> failures() {
    var all = new ArrayList<Failure>();
    failures.forEach((run, times) -> all.add(new Failure(run.object(), run.number(), times)));
    return all;
  }

  /// Notes that a run has ended, with any result: it ends no process.
  public synchronized void passed(StreamId object, long number) {
    if (failures.remove(new Run(object, number)) != null) keep();
  }

  /// Forgets the failures of an object, so that its runs may be tried again.
  public synchronized void forget(StreamId object) {
    if (failures.keySet().removeIf(run -> run.object().equals(object))) keep();
  }

  /// Notes an orderly end of the process, and writes nothing more about failures.
  synchronized void close() {
    closed = true;
    for (int i = 0; i < SLOTS_MAX; i++) bytes.putLong(HEADER + i * SLOT + 16, 0);
  }
}

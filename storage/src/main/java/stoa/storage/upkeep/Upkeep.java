package stoa.storage.upkeep;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DiskFull;

/// Maintains a device in idle time: a thread that takes maintenance steps when the device is idle,
/// or when so much was written since the last time that waiting would cost too much room (VOSD
/// paper, section III: idle time between bursts). Thread-safe.
public final class Upkeep implements AutoCloseable {
  /*
   * A device is idle when other threads have appended nothing between two looks. While others are
   * at work, a step in progress, or an urgent one, pauses after every write, so that they have most
   * of the disk. It does not pause when there is little room left, for then they would soon have
   * none.
   *
   * The work left by an earlier process is unknown, so the thread examines a device with data once
   * when it is idle.
   */
  private static final System.Logger LOG = System.getLogger("stoa.storage");
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int LOOKS_WHEN_FULL = 40;

  // The share of a device's bytes that must have been written or given up since the last time: when
  // the device is idle, and when it never is; then also a share of the remaining room.
  private static final long IDLE_SHARE = 16;

  private static final long URGENT_SHARE = 2;

  // Less room than this share of the device's bytes is little.
  private static final long SCARCE_SHARE = 4;

  private static final long BYTES_LEAST = 8 << 20;

  /// The maintained device.
  public interface Maintained {
    /// Takes a step; returns whether there is another one to take.
    ///
    /// @param pace runs after every write
    boolean maintain(Runnable pace);
  }

  private final Maintained device;
  private final LongSupplier appended;
  private final LongSupplier dirt;
  private final LongSupplier held;
  private final LongSupplier room;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ending = lock.newCondition();
  private boolean closed; // guarded by lock

  // Only the thread uses the rest.
  // Its value at the last look.
  private long seen;
  // Its value at the last pause.
  private long paced;
  private long doneTo;
  private int rest; // looks to skip

  /// @param appended returns the number of operations that others have appended
  /// @param dirt returns about how many bytes they have written or given up
  /// @param held returns about how many bytes the device holds
  /// @param room returns how many more bytes it may hold
  public Upkeep(
      Maintained device,
      LongSupplier appended,
      LongSupplier dirt,
      LongSupplier held,
      LongSupplier room) {
    this.device = device;
    this.appended = appended;
    this.dirt = dirt;
    this.held = held;
    this.room = room;
    this.doneTo = begin(held.getAsLong());
    this.thread = new Thread(this::run, "stoa-storage-upkeep");
    thread.setDaemon(true);
    thread.start();
  }

  private static long begin(long held) {
    return held < BYTES_LEAST ? 0 : -Math.max(BYTES_LEAST, held / IDLE_SHARE);
  }

  private void run() {
    try {
      while (!await(LOOK_NANOS)) {
        long now = appended.getAsLong();
        boolean idle = now == seen;
        seen = now;
        if (rest > 0) {
          rest--;
          continue;
        }
        long since = dirt.getAsLong() - doneTo;
        if (since < BYTES_LEAST) continue;
        boolean urgent = since >= Math.min(held.getAsLong(), room.getAsLong()) / URGENT_SHARE;
        if (urgent || (idle && since >= held.getAsLong() / IDLE_SHARE)) work(urgent);
      }
    } catch (DeviceClosed ended) {
      // Nothing is left to do.
    }
  }

  private void work(boolean urgent) {
    try {
      while (device.maintain(this::pace)) {
        if (!urgent && appended.getAsLong() != seen) return; // others came; later
      }
      doneTo = dirt.getAsLong();
    } catch (DeviceClosed e) {
      throw e;
    } catch (DiskFull e) {
      rest = LOOKS_WHEN_FULL; // there may be room later, and the dead bytes remain
    } catch (RuntimeException e) {
      // The device serves on as it is; the next attempt comes after more writes.
      LOG.log(System.Logger.Level.WARNING, "the device could not be kept in order", e);
      doneTo = dirt.getAsLong();
    }
  }

  private void pace() {
    long now = appended.getAsLong();
    boolean alone = now == paced;
    boolean scarce = room.getAsLong() < held.getAsLong() / SCARCE_SHARE;
    paced = now;
    if (await(alone || scarce ? 0 : PAUSE_NANOS)) throw new DeviceClosed("the device was closed");
  }

  /// Waits for the end. Returns whether it came.
  private boolean await(long nanos) {
    lock.lock();
    try {
      long left = nanos;
      while (!closed && left > 0) left = ending.awaitNanos(left);
      return closed;
    } catch (InterruptedException e) {
      return true; // only the end interrupts this thread
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      ending.signalAll();
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }
}

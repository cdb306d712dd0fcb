package stoa.storage.upkeep;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DiskFull;

/// Has a device kept in order while nobody needs it: a thread that takes maintenance steps when the
/// device is idle, or when so much was written since the last time that waiting would cost too much
/// room (VOSD paper, section III: idle time between bursts). Thread-safe.
public final class Upkeep implements AutoCloseable {
  /*
   * A device is idle when nothing was appended by others between two looks. While others are at work,
   * a step that is under way, or urgent, pauses after every write, so that they have most of the disk;
   * but not when there is little room left, for then they would soon have none.
   *
   * What an earlier process left to be done is not known, so a device that holds something is looked
   * through once when it is idle.
   */
  private static final System.Logger LOG = System.getLogger("stoa.storage");
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int LOOKS_WHEN_FULL = 40;

  /// Of what a device holds, one in this many bytes must have been written or given up since the
  /// last time, when it is idle, and when it never is; then, of the room that is left as well.
  private static final long IDLE_SHARE = 16;

  private static final long URGENT_SHARE = 2;

  /// Less room than one in so many bytes of what the device holds is little.
  private static final long SCARCE_SHARE = 4;

  private static final long BYTES_LEAST = 8 << 20;

  /// What is kept in order.
  public interface Kept {
    /// Takes a step; answers whether there is another one to take.
    ///
    /// @param pace is called after every write
    boolean maintain(Runnable pace);
  }

  private final Kept device;
  private final LongSupplier appended;
  private final LongSupplier dirt;
  private final LongSupplier held;
  private final LongSupplier room;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ending = lock.newCondition();
  private boolean closed; // guarded by lock

  // The rest is the thread's.
  private long seen; // at the last look
  private long paced; // at the last pause
  private long doneTo;
  private int rest; // looks to let pass

  /// @param appended how many operations others have appended
  /// @param dirt how many bytes they have written or given up, about
  /// @param held how many bytes the device holds, about
  /// @param room how many bytes more it may hold
  public Upkeep(
      Kept device, LongSupplier appended, LongSupplier dirt, LongSupplier held, LongSupplier room) {
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
      rest = LOOKS_WHEN_FULL; // room may come, and what is dead is still there
    } catch (RuntimeException e) {
      // The device serves on as it is; the next time is when more was written.
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

  /// Waits for the end. Answers whether it came.
  private boolean await(long nanos) {
    lock.lock();
    try {
      long left = nanos;
      while (!closed && left > 0) left = ending.awaitNanos(left);
      return closed;
    } catch (InterruptedException e) {
      return true; // nobody interrupts this thread but to end it
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

package stoa.test;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;

/// The disk of a store or a server, in the memory of this process, with the faults that the test
/// gives it. A fault holds until [#mend()].
///
/// A store whose disk has failed takes no more calls: it must be killed or stopped, and started
/// again. A full disk refuses calls and harms nothing else.
///
/// Thread-safe.
public final class StoaDisk {
  /* So small that a test fills segments, and that little is reserved on a disk that gets full. */
  private static final DeviceConfig CONFIG = new DeviceConfig(8 << 20, 16 << 10, 1 << 20, 4 << 20);

  /// How many bytes a disk takes at most, unless the test sets another limit: 512 MiB.
  public static final long BYTES_MAX = 512L << 20;

  private static final int SEED = 1;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition resumed = lock.newCondition();

  // Guarded by lock: the devices of this disk by their names.
  private final Map<String, SimulatedDisk> parts = new TreeMap<>();
  private long bytesMax = BYTES_MAX;
  private boolean paused;

  private volatile long delayNanos;
  private volatile boolean failing;

  // Whether a device may have failed since it was opened.
  private volatile boolean broken;

  StoaDisk() {}

  // ---- faults

  /// Makes each write and each sync take longer.
  ///
  /// @param delay how much longer
  public void slow(Duration delay) {
    delayNanos = delay.toNanos();
  }

  /// Makes all writes and syncs fail from now on, as on a disk that is broken.
  public void fail() {
    broken = true;
    failing = true;
  }

  /// Makes the next sync fail. The writes before it never become durable.
  public void failNextSync() {
    lock.lock();
    try {
      broken = true;
      parts.values().forEach(part -> part.failSync(0));
    } finally {
      lock.unlock();
    }
  }

  /// Makes the next write fail half done.
  public void failNextWrite() {
    lock.lock();
    try {
      broken = true;
      parts.values().forEach(part -> part.failWrite(0));
    } finally {
      lock.unlock();
    }
  }

  /// Makes the disk full: it has no room beyond what it has taken so far.
  public void fill() {
    lock.lock();
    try {
      parts.values().forEach(part -> part.limit(part.bytes()));
    } finally {
      lock.unlock();
    }
  }

  /// Ends all faults, and gives a full disk its room back.
  public void mend() {
    lock.lock();
    try {
      delayNanos = 0;
      failing = false;
      for (SimulatedDisk part : parts.values()) {
        part.limit(bytesMax);
        part.failSync(Integer.MAX_VALUE / 2);
        part.failWrite(Integer.MAX_VALUE / 2);
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- what the kit does

  /// Opens a device on this disk.
  ///
  /// @param name the same for the same device
  Device open(String name) {
    return Device.open(new FaultyDisk(this, part(name)), CONFIG);
  }

  private SimulatedDisk part(String name) {
    lock.lock();
    try {
      return parts.computeIfAbsent(
          name,
          _ -> {
            var made = new SimulatedDisk(SEED);
            made.limit(bytesMax);
            return made;
          });
    } finally {
      lock.unlock();
    }
  }

  /// Returns a copy of a device's disk as it is now, all of it durable.
  SimulatedDisk copy(String name) {
    return part(name).copy();
  }

  /// Deletes a device.
  void delete(String name) {
    lock.lock();
    try {
      parts.remove(name);
    } finally {
      lock.unlock();
    }
  }

  /// Ends the process that uses the disk: what was written stays.
  void kill() {
    replace(SimulatedDisk::kill);
  }

  /// Ends the power: what was synced stays.
  void losePower() {
    replace(SimulatedDisk::crash);
  }

  private void replace(UnaryOperator<SimulatedDisk> fate) {
    lock.lock();
    try {
      parts.replaceAll((_, part) -> {
        SimulatedDisk next = fate.apply(part);
        next.limit(bytesMax);
        return next;
      });
      broken = failing;
      letGo();
    } finally {
      lock.unlock();
    }
  }

  /// Closes what uses this disk. That may fail when the disk has.
  void close(AutoCloseable user) {
    if (broken) Abrupt.close(user);
    else Closing.all(List.of(user));
  }

  /// Has all operations wait.
  void pause() {
    lock.lock();
    try {
      paused = true;
    } finally {
      lock.unlock();
    }
  }

  /// Has them go on.
  void resume() {
    lock.lock();
    try {
      letGo();
    } finally {
      lock.unlock();
    }
  }

  /// Called with lock held.
  private void letGo() {
    paused = false;
    resumed.signalAll();
  }

  /// Waits while the disk is paused.
  void pass() {
    lock.lock();
    try {
      while (paused) resumed.awaitUninterruptibly();
    } finally {
      lock.unlock();
    }
  }

  /// Lets a write or a sync meet the faults of this disk.
  ///
  /// @throws IOException when the disk fails
  void change() throws IOException {
    pass();
    long end = System.nanoTime() + delayNanos;
    for (long left = delayNanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
    if (failing) throw new IOException("the test has made this disk fail; call mend() to end that");
  }
}

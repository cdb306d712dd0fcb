package stoa.bench.tx;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;

/// Two-phase locking over plain numbers, vCorfu's baseline (section 6.3): a transaction locks the
/// objects that it uses, for reading or for writing, keeps the locks until it ends, and gives up
/// when it cannot get one.
///
/// Thread-safe.
final class LockedObjects {
  private final long[] values;
  private final List<ReentrantReadWriteLock> locks;

  LockedObjects(int count) {
    values = new long[count];
    locks = IntStream.range(0, count).mapToObj(_ -> new ReentrantReadWriteLock()).toList();
  }

  /// Adds to some objects; returns whether it could lock them all.
  boolean write(int[] objects, long amount) {
    var held = new ArrayList<Lock>(objects.length);
    try {
      for (int object : objects) {
        Lock lock = locks.get(object).writeLock();
        if (!lock.tryLock()) return false;
        held.add(lock);
      }
      for (int object : objects) values[object] += amount;
      return true;
    } finally {
      held.forEach(Lock::unlock);
    }
  }

  /// A reader's pause after each read.
  @FunctionalInterface
  interface Pause {
    void take() throws InterruptedException;
  }

  /// Reads some objects, with a pause after each; returns whether it could lock them all.
  boolean read(int[] objects, Pause pause) {
    var held = new ArrayList<Lock>(objects.length);
    try {
      long sum = 0;
      for (int object : objects) {
        Lock lock = locks.get(object).readLock();
        if (!lock.tryLock()) return false;
        held.add(lock);
        sum += values[object];
        pause.take();
      }
      return sum >= 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      held.forEach(Lock::unlock);
    }
  }
}

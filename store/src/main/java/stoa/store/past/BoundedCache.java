package stoa.store.past;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// A cache of items, bounded by their encoded size. Thread-safe.
///
/// It evicts by the clock rule: an item leaves when no reader has used it since its last turn.
final class BoundedCache {
  /// An item of the cache. Thread-safe.
  interface Item {
    /// Returns whether a reader has used the item since the last call of this method.
    boolean wasUsed();

    /// Drops the item's memory; returns how many bytes that frees, or a negative number when the
    /// item is in use and stays.
    long drop();
  }

  private static final long IN_USE = -1;

  private final long bytesMax;
  private final ConcurrentLinkedQueue<Item> items = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean evicting = new AtomicBoolean();

  /// @param bytesMax the bound on the items' size; a single item may be larger
  BoundedCache(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /// Returns how many bytes the items take.
  long bytes() {
    return bytes.get();
  }

  /// Returns the number with which [Item#drop] tells that the item stays.
  static long inUse() {
    return IN_USE;
  }

  /// Adds an item.
  ///
  /// @param weight its encoded size
  void add(Item item, long weight) {
    items.add(item);
    count.incrementAndGet();
    reweigh(weight);
  }

  /// Notes that an item has become larger, or smaller.
  void reweigh(long change) {
    if (bytes.addAndGet(change) > bytesMax && evicting.compareAndSet(false, true)) {
      try {
        evict();
      } finally {
        evicting.set(false);
      }
    }
  }

  private void evict() {
    long goal = bytesMax - bytesMax / 16;
    for (long steps = 2L * count.get(); steps > 0 && bytes.get() > goal; steps--) {
      if (count.get() <= 1) return;
      Item item = items.poll();
      if (item == null) return;
      long freed = item.wasUsed() ? IN_USE : item.drop();
      if (freed < 0) {
        items.add(item);
      } else {
        count.decrementAndGet();
        bytes.addAndGet(-freed);
      }
    }
  }
}

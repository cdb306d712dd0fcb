package stoa.store.past;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// A cache of items, bounded by their encoded size. Thread-safe.
///
/// It evicts by the clock rule: an item leaves that was not used since its turn came last.
final class BoundedCache {
  /// Something that is kept. Thread-safe.
  interface Item {
    /// Whether it was used since this was last asked.
    boolean wasUsed();

    /// Lets go of what it keeps; answers how many bytes that took, or a negative number when it is
    /// in use and stays.
    long drop();
  }

  private static final long IN_USE = -1;

  private final long bytesMax;
  private final ConcurrentLinkedQueue<Item> items = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean evicting = new AtomicBoolean();

  /// @param bytesMax how much is kept; a single item may be larger than that
  BoundedCache(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /// How much is kept.
  long bytes() {
    return bytes.get();
  }

  /// What an item answers to [Item#drop] when it stays.
  static long inUse() {
    return IN_USE;
  }

  /// Keeps something.
  ///
  /// @param weight its encoded size
  void add(Item item, long weight) {
    items.add(item);
    count.incrementAndGet();
    reweigh(weight);
  }

  /// Something that is kept has become larger, or smaller.
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

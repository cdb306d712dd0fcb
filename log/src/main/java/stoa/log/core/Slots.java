package stoa.log.core;

import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Where a [LogUnit] keeps its slots: over a device, or in the replicated memory of a shard. One
/// owner. What is put is durable when the command under which it was put is.
public interface Slots {
  /// The slot of a counter, or null.
  @Nullable Slot at(long counter);

  /// Sets or replaces the slot of a counter.
  void put(long counter, Slot slot);

  /// Drops all slots of counters below one.
  void dropBelow(long counter);

  /// The lowest counter that has a slot, at or above one; 0 when there is none.
  long next(long counter);

  /// The highest counter that has a slot, 0 when there is none.
  long last();

  /// Slots in memory.
  static Slots inMemory() {
    SortedMap<Long, Slot> slots = new TreeMap<>();
    return new Slots() {
      @Override
      public @Nullable Slot at(long counter) {
        return slots.get(counter);
      }

      @Override
      public void put(long counter, Slot slot) {
        slots.put(counter, slot);
      }

      @Override
      public void dropBelow(long counter) {
        slots.headMap(counter).clear();
      }

      @Override
      public long next(long counter) {
        var from = slots.tailMap(counter);
        return from.isEmpty() ? 0 : from.firstKey();
      }

      @Override
      public long last() {
        return slots.isEmpty() ? 0 : slots.lastKey();
      }
    };
  }

  /// Visits every slot in the order of counters.
  default void forEach(Consumer<Slot> visitor) {
    for (long counter = next(0); counter != 0; counter = next(counter + 1)) {
      Slot slot = at(counter);
      if (slot != null) visitor.accept(slot);
    }
  }
}

package stoa.log.core;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;

/// What a shard has to deliver to others until they acknowledge it. Part of the shard's durable
/// state: a new leader goes on delivering. One owner, the [Shard].
public final class Outbox {
  /// One delivery.
  ///
  /// @param number its number, rising; an acknowledgement counts in the epoch in which the item was
  ///   sent, since a shard that was lost begins again
  /// @param target the shard that is to apply it
  /// @param of the log address that is settled when all its deliveries have arrived; null when
  ///   nothing waits for this one
  /// @param command what the target is to apply; a repeat changes nothing
  public record Item(long number, int target, @Nullable LogAddress of, Command command) {}

  private final SequencedMap<Long, Item> items = new LinkedHashMap<>();
  private final SortedMap<Long, Integer> left = new TreeMap<>();
  private long number;

  Outbox() {}

  void add(int target, @Nullable LogAddress of, Command command) {
    number++;
    items.putLast(number, new Item(number, target, of, command));
    if (of != null) left.merge(of.counter(), 1, Integer::sum);
  }

  /// Removes a delivery; null when it was removed before.
  @Nullable Item acknowledge(long item) {
    Item found = items.remove(item);
    LogAddress of = found == null ? null : found.of;
    if (of != null)
      left.computeIfPresent(of.counter(), (_, count) -> count == 1 ? null : count - 1);
    return found;
  }

  /// Whether everything of a log address has arrived.
  public boolean isDelivered(long counter) {
    return !left.containsKey(counter);
  }

  /// What is to be delivered, oldest first.
  public Collection<Item> items() {
    return Collections.unmodifiableCollection(items.values());
  }
}

package stoa;

import java.time.Duration;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/// A hash map that consists of many [SharedMap]s, its children (vCorfu, section 5: composable state
/// machine replication, figure 6).
///
/// A call on one key is one call on one child. So callers of different children do not wait for
/// each other, transactions on them do not conflict, and each child's state is small. A keyed
/// permutation of the key's hash (Luby and Rackoff's construction, a Feistel network) chooses the
/// child, so keys with regular hashes spread evenly too. The first caller that opens the map sets
/// the number of children.
///
/// `size`, `isEmpty`, `clear`, `containsValue`, `putAll` and the comparison of contents concern the
/// whole map. Each is a transaction over all children: atomic, and as of one moment. It takes
/// O(children) more than a [SharedMap]; `size` and `clear` ask up to 64 children at once. Iteration
/// reads a snapshot. Iterators, keys, values and equality are as with [SharedMap]. [Stoa#history]
/// refuses such a map, since it has no single version. Deleting it deletes its base object only:
/// call [#clear()] before. A method of a shared object cannot begin a transaction, and so can use
/// the map for one key at a time only.
///
/// Thread-safe.
public interface ShardedMap<K, V> extends ConcurrentMap<K, V> {
  /// Returns the number of children.
  int shards();

  /// Puts as [#put], without returning the previous value.
  void fastPut(K key, V value);

  /// Puts a value for a time, like [SharedMap#put(Object, Object, Duration)], by a [timer][Timers]
  /// of the child. In a transaction, the call conflicts with every other change of the child.
  ///
  /// @param time positive, at most 1,000 years
  /// @return the previous value, or null
  @Nullable V put(K key, V value, Duration time);

  /// Removes as [#remove(Object)], without returning the previous value.
  void fastRemove(K key);
}

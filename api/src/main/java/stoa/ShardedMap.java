package stoa;

import java.util.concurrent.ConcurrentMap;

/// A hash map that is composed of many [SharedMap]s, its children (vCorfu, section 5: composable
/// state machine replication, figure 6).
///
/// A call on one key is one call on one child, so that callers of different children do not wait
/// for each other, transactions on them do not conflict, and each child's state is small. Which
/// child a key belongs to is decided by a keyed permutation of its hash (Luby and Rackoff's
/// construction, a Feistel network), so that keys with regular hashes spread evenly too. The number
/// of children is set by whoever opens the map first.
///
/// What concerns the whole map, `size`, `isEmpty`, `clear`, `containsValue`, `putAll` and the
/// comparison of contents, is a transaction over all children: atomic, and read at one moment. It
/// takes O(children) more than a [SharedMap]. Iteration reads a snapshot. Iterators, keys, values
/// and equality are as with [SharedMap]. [Stoa#history] is refused, as there is no one version of
/// it. Deleting it deletes its base object only: [#clear()] it before. A method of a shared object,
/// which cannot begin a transaction, can use it for one key at a time.
///
/// Thread-safe.
public interface ShardedMap<K, V> extends ConcurrentMap<K, V> {
  /// The number of children.
  int shards();

  /// As [#put], without the previous value.
  void fastPut(K key, V value);

  /// As [#remove(Object)], without the previous value.
  void fastRemove(K key);
}

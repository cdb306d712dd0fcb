package stoa;

import java.util.concurrent.ConcurrentNavigableMap;

/// A sorted map in natural order that is composed of many shared objects, the nodes of a B-tree
/// (vCorfu, section 5).
///
/// A node points to another by its reference, which stays the same when the node changes. So a
/// change writes the nodes that it changes and none of those above them (the paper's *recursive
/// update problem*), and a snapshot of the tree is a snapshot of every node. Every operation is a
/// transaction that reads O(log n) nodes; most changes write one leaf, a split or a merge at most
/// three nodes on each level. Operations on different leaves do not conflict unless one of them
/// splits or merges a node above both. Who merges a node away deletes it; in a [Transaction] that
/// the program holds, it is left empty.
///
/// `size` reads every leaf, in one read-only transaction; nothing counts on the way, as everybody
/// would conflict there. Scans read a snapshot. Keys, values, iterators and equality are as with
/// [SharedNavigableMap]. [Stoa#history] is refused, as there is no one version of it. Deleting it
/// deletes its root only: [#clear()] it before. A method of a shared object cannot use it, as it
/// cannot begin a transaction.
///
/// A key and its value may take 1/72 of [Limits#callBytesMax()] together, 58,254 bytes as standard,
/// as all that a node holds moves in one call when it is split; larger ones throw [LimitExceeded].
/// A value that is larger is kept as an object or a [Blob], and its reference in the tree.
///
/// Thread-safe.
public interface SharedBTree<K, V> extends ConcurrentNavigableMap<K, V> {
  /// As [#put], without the previous value.
  void fastPut(K key, V value);

  /// As [#remove(Object)], without the previous value.
  void fastRemove(K key);

  /// The number of levels, of which the last is leaves; at least 1.
  int height();
}

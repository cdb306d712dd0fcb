package stoa;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;

/// A sorted map in natural order that consists of many shared objects, the nodes of a B-tree
/// (vCorfu, section 5).
///
/// A node points to another by its reference, which stays the same when the node changes. So a
/// change writes the nodes that it changes and none above them (the paper's *recursive update
/// problem*), and a snapshot of the tree is a snapshot of every node. Every operation is a
/// transaction that reads O(log n) nodes. Most changes write one leaf; a split or a merge writes at
/// most three nodes on each level. Operations on different leaves do not conflict unless one of
/// them splits or merges a node above both. A merge deletes the node that it empties; in a
/// [Transaction] that the program holds, it leaves the node empty.
///
/// `size` reads every leaf, in one read-only transaction: a counter would make all changes
/// conflict. It asks up to 64 nodes at once, and so does `clear`. Scans read a snapshot. Keys,
/// values, iterators and equality are as with [SharedNavigableMap]. [Stoa#history] refuses such a
/// map, since it has no single version. Deleting it deletes its root only: call [#clear()] before.
/// A method of a shared object cannot use it, since it cannot begin a transaction.
///
/// A key and its value may take 1/72 of [Limits#callBytesMax()] together, 58,254 bytes by default,
/// because a split moves everything in a node in one call. Larger ones throw [LimitExceeded]. Keep
/// a larger value as an object or a [Blob], and put its reference into the tree.
///
/// Thread-safe.
public interface SharedBTree<K, V> extends ConcurrentNavigableMap<K, V> {
  /// Puts as [#put], without returning the previous value, and therefore without reading it.
  ///
  /// The process remembers inner nodes. While they are unchanged, a call waits for two round trips
  /// to a server, and for three if several groups keep the tree, however many levels it has. A
  /// [#put] asks one level after the other.
  ///
  /// Puts of several threads of this process to one node at the same time share a transaction, up
  /// to 8 of them: they succeed together, or all throw what it throws. Otherwise each would make
  /// the others run again.
  void fastPut(K key, V value);

  /// Removes as [#remove(Object)], without returning the previous value.
  void fastRemove(K key);

  /// Returns the number of levels, of which the last is leaves; at least 1.
  int height();

  /// Returns the entries with the least keys that are greater than or equal to a key, in ascending
  /// order: up to `max` of them, as of one moment. The list does not change.
  ///
  /// An iterator does not know how many entries its caller needs; this reads little more than
  /// `max`. While the inner nodes that the process remembers are unchanged, a call waits for one
  /// round trip to a server as a rule, and for two if several groups keep the tree. So does a
  /// [#get].
  ///
  /// @throws LimitExceeded when it reads more nodes than a transaction may
  List<Map.Entry<K, V>> ceilingEntries(K from, int max);
}

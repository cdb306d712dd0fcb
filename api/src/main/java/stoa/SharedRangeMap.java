package stoa;

import java.util.List;
import java.util.Optional;

/// A shared map from ranges of keys to values, in which ranges never overlap (vCorfu, section 4.4).
///
/// ```java
/// SharedRangeMap<Long, String> owners = stoa.rangeMap("blocks", Long.class, String.class);
/// owners.put(0L, 1024L, "alice");
/// owners.put(512L, 768L, "bob");       // alice keeps what lies before and behind
/// ```
///
/// A range holds its first key and ends before its last. Each method is one call on one shared
/// object, and takes part in a transaction when it is made inside one. Neither keys nor values are
/// null. Neighbours with equal values stay apart.
///
/// `get` takes O(log n); what covers m ranges takes O(m log n). Thread-safe.
///
/// @param <K> keys, in their natural order
/// @param <V> values
public interface SharedRangeMap<K extends Comparable<? super K>, V> {
  /// A range and its value.
  ///
  /// @param from the first key that belongs to the range
  /// @param to the first key behind it
  /// @param value its value
  record Range<K, V>(K from, K to, V value) {}

  /// The value of the range that holds a key.
  Optional<V> get(K key);

  /// The range that holds a key.
  Optional<Range<K, V>> range(K key);

  /// Gives all keys of a range a value, in place of what they had.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  void put(K from, K to, V value);

  /// Takes the values of all keys of a range away.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  void remove(K from, K to);

  /// The ranges, in order. Read at one version, in one answer, which [Limits#callBytesMax()]
  /// bounds; use [#ranges(Comparable, Comparable)] for a part.
  List<Range<K, V>> ranges();

  /// The parts of ranges between two keys, in order, cut at these.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  List<Range<K, V>> ranges(K from, K to);

  /// The number of ranges.
  int size();

  /// Whether there is no range.
  boolean isEmpty();

  /// Removes all ranges.
  void clear();
}

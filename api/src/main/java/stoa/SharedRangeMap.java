package stoa;

import java.util.List;
import java.util.Optional;

/// A shared map from ranges of keys to values, in which ranges never overlap (vCorfu, section 4.4).
///
/// ```java
/// SharedRangeMap<Long, String> owners = stoa.rangeMap("blocks", Long.class, String.class);
/// owners.put(0L, 1024L, "alice");
/// owners.put(512L, 768L, "bob");       // alice keeps the keys before and after
/// ```
///
/// A range contains its first key and ends before its last. Each method is one call on one shared
/// object, and takes part in a transaction if the caller makes it inside one. Neither keys nor
/// values are null. The map does not join neighbors with equal values.
///
/// `get` takes O(log n); an operation that covers m ranges takes O(m log n). Thread-safe.
///
/// @param <K> keys, in their natural order
/// @param <V> values
public interface SharedRangeMap<K extends Comparable<? super K>, V> {
  /// A range and its value.
  ///
  /// @param from the first key in the range
  /// @param to the first key after it
  /// @param value its value
  record Range<K, V>(K from, K to, V value) {}

  /// Returns the value of the range that contains a key.
  Optional<V> get(K key);

  /// Returns the range that contains a key.
  Optional<Range<K, V>> range(K key);

  /// Gives all keys of a range a value, in place of their old ones.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  void put(K from, K to, V value);

  /// Removes the values of all keys of a range.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  void remove(K from, K to);

  /// Returns the ranges, in order, as of one version, in one answer, which [Limits#callBytesMax()]
  /// bounds. Use [#ranges(Comparable, Comparable)] for a part.
  List<Range<K, V>> ranges();

  /// Returns the parts of ranges between two keys, in order, cut at these keys.
  ///
  /// @throws IllegalArgumentException when `from` is not below `to`
  List<Range<K, V>> ranges(K from, K to);

  /// Returns the number of ranges.
  int size();

  /// Returns whether there is no range.
  boolean isEmpty();

  /// Removes all ranges.
  void clear();
}

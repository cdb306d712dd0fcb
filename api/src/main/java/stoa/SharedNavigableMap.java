package stoa;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;

/// A shared sorted map: one shared object (vCorfu, section 4.4).
///
/// The rules of [SharedMap] hold, except that the map compares keys by their order: the natural
/// one, or that of a comparator class. Such a class has a public constructor without parameters and
/// orders alike in every process. The first caller that opens the map fixes it.
///
/// Views such as [#subMap] and [#descendingMap()] are live. One call on a view is one call on the
/// map. `size` of a view that is not the whole map takes O(log n + m) for its m entries; the
/// nearest entries, `pollFirstEntry` and `pollLastEntry` take O(log n).
///
/// Thread-safe.
public interface SharedNavigableMap<K, V> extends ConcurrentNavigableMap<K, V> {
  /// Puts as [#put], without the previous value, which the store neither keeps for the answer nor
  /// sends.
  void fastPut(K key, V value);

  /// Removes as [#remove(Object)], without returning the previous value.
  void fastRemove(K key);

  /// Returns the entries with the least keys that are greater than or equal to a key, in ascending
  /// order: up to `max` of them, in one call on the map. The list does not change.
  ///
  /// @throws LimitExceeded when they take more than [Limits#callBytesMax()] together
  List<Map.Entry<K, V>> ceilingEntries(K from, int max);
}

package stoa;

import java.util.concurrent.ConcurrentNavigableMap;

/// A shared sorted map: one shared object (vCorfu, section 4.4).
///
/// All that [SharedMap] says holds, but that keys are compared by their order: the natural one, or
/// that of a comparator class that has a public constructor without parameters and orders alike in
/// every process. The class is fixed by whoever opens the map first.
///
/// Views such as [#subMap] and [#descendingMap()] are live. One call on a view is one call on the
/// map. `size` of a view that is not the whole map takes O(log n + m) for its m entries; the
/// nearest entries, `pollFirstEntry` and `pollLastEntry` take O(log n).
///
/// Thread-safe.
public interface SharedNavigableMap<K, V> extends ConcurrentNavigableMap<K, V> {
  /// As [#put], without the previous value, which is neither kept for the answer nor sent.
  void fastPut(K key, V value);

  /// As [#remove(Object)], without the previous value.
  void fastRemove(K key);
}

package stoa.collections;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Mutator;

/// The calls on a map. Only answers may be null.
interface Entries extends Paged {
  @Accessor
  @Nullable Object get(Object key);

  @Accessor
  boolean containsKey(Object key);

  @Accessor
  boolean containsValue(Object value);

  @Accessor
  int size();

  @Nullable Object put(Object key, Object value);

  @Mutator
  void fastPut(Object key, Object value);

  /// Puts several entries.
  ///
  /// @param entries keys, each followed by its value
  @Mutator
  void putAll(List<Object> entries);

  @Nullable Object putIfAbsent(Object key, Object value);

  @Nullable Object remove(Object key);

  @Mutator
  void fastRemove(Object key);

  /// Removes a key if it has this value.
  boolean removeExactly(Object key, Object value);

  @Nullable Object replace(Object key, Object value);

  /// Replaces the value of a key if it equals the given one.
  boolean replaceExactly(Object key, Object before, Object value);

  @Mutator
  void clear();
}

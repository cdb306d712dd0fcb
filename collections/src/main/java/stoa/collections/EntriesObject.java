package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;

/// The calls on a map that follow from [#get], [#fastPut] and [#fastRemove].
abstract class EntriesObject implements Entries {
  // The names of the classes with which it began; null when they are unknown.
  @Nullable String classes;

  EntriesObject(@Nullable String classes) {
    this.classes = classes;
  }

  /// Returns the names of the classes with which it began; null when they are unknown.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Override
  public @Nullable Object put(Object key, Object value) {
    Object before = get(key);
    fastPut(key, value);
    return before;
  }

  @Override
  public @Nullable Object putIfAbsent(Object key, Object value) {
    Object before = get(key);
    if (before == null) fastPut(key, value);
    return before;
  }

  @Override
  public @Nullable Object remove(Object key) {
    Object before = get(key);
    if (before != null) fastRemove(key);
    return before;
  }

  @Override
  public boolean removeExactly(Object key, Object value) {
    Object before = get(key);
    if (before == null || !Same.as(before, value)) return false;
    fastRemove(key);
    return true;
  }

  @Override
  public @Nullable Object replace(Object key, Object value) {
    Object before = get(key);
    if (before != null) fastPut(key, value);
    return before;
  }

  @Override
  public boolean replaceExactly(Object key, Object before, Object value) {
    Object found = get(key);
    if (found == null || !Same.as(found, before)) return false;
    fastPut(key, value);
    return true;
  }
}

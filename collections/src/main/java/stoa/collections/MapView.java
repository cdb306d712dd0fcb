package stoa.collections;

import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Stoa;
import stoa.spi.CallContext;
import stoa.spi.Host;

/// A `java.util` map in front of the calls on a map's object. Immutable.
abstract class MapView<K, V> extends AbstractMap<K, V> implements ConcurrentMap<K, V> {
  private static final String NO_NULL_KEYS = "keys are never null";
  private static final String NO_FUNCTION = "the function is null";

  // How often an update computes a value while other callers win.
  private static final int ATTEMPTS_MAX = 1_000;

  // How many keys and values one call puts when all are replaced.
  private static final int REPLACED_MAX = 2 * 1_024;

  final Stoa stoa;
  final Class<K> keys;
  final Class<V> values;
  private final Entries entries;

  MapView(Stoa stoa, Class<K> keys, Class<V> values, Entries entries) {
    this.stoa = stoa;
    this.keys = keys;
    this.values = values;
    this.entries = entries;
  }

  /// Returns the entries, as of one version, as keys and values in turn.
  Pages pages() {
    return new Pages(new ObjectPages(stoa, entries), null);
  }

  /// Returns what the map holds of a value.
  Object held(Object value) {
    return value;
  }

  /// Returns whether the view may contain a key.
  boolean mayHave(Object key) {
    return keys.isInstance(Objects.requireNonNull(key, NO_NULL_KEYS));
  }

  /// Checks a key before a write.
  K key(K key) {
    return keys.cast(Objects.requireNonNull(key, NO_NULL_KEYS));
  }

  final Object value(V value) {
    return held(checked(value));
  }

  private Object checked(V value) {
    return Objects.requireNonNull(
        values.cast(Objects.requireNonNull(value, "values are never null")));
  }

  @SuppressWarnings({
    "unchecked",
    "TypeParameterUnusedInFormals",
    "NullAway"
  }) // Justification: what the map
  // holds: every value went through key() and value()
  static <T> T typed(@Nullable Object held) {
    return (T) held;
  }

  // ---- one entry

  @Override
  public @Nullable V get(@Nullable Object key) {
    return mayHave(Objects.requireNonNull(key, NO_NULL_KEYS)) ? typed(entries.get(key)) : null;
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return mayHave(Objects.requireNonNull(key, NO_NULL_KEYS)) && entries.containsKey(key);
  }

  @Override
  public V getOrDefault(@Nullable Object key, V otherwise) {
    V value = get(key);
    return value == null ? otherwise : value;
  }

  @Override
  public @Nullable V put(K key, V value) {
    Object checked = value(value);
    return typed(entries.put(key(key), checked));
  }

  public void fastPut(K key, V value) {
    Object checked = value(value);
    entries.fastPut(key(key), checked);
  }

  @Override
  public @Nullable V putIfAbsent(K key, V value) {
    Object checked = value(value);
    return typed(entries.putIfAbsent(key(key), checked));
  }

  @Override
  public @Nullable V remove(@Nullable Object key) {
    return mayHave(Objects.requireNonNull(key, NO_NULL_KEYS)) ? typed(entries.remove(key)) : null;
  }

  public void fastRemove(K key) {
    if (mayHave(key)) entries.fastRemove(key);
  }

  @Override
  public boolean remove(@Nullable Object key, @Nullable Object value) {
    if (!mayHave(Objects.requireNonNull(key, NO_NULL_KEYS)) || !values.isInstance(value))
      return false;
    Same.check(value);
    return entries.removeExactly(key, value);
  }

  @Override
  public @Nullable V replace(K key, V value) {
    Object checked = value(value);
    return mayHave(key) ? typed(entries.replace(key, checked)) : null;
  }

  @Override
  public boolean replace(K key, V before, V value) {
    Object expected = checked(before);
    Object checked = value(value);
    Same.check(expected);
    return mayHave(key) && entries.replaceExactly(key, expected, checked);
  }

  @Override
  public @Nullable V computeIfAbsent(K key, Function<? super K, ? extends @Nullable V> mapping) {
    Objects.requireNonNull(mapping, "the mapping function is null");
    V before = get(key);
    if (before != null) return before;
    V made = mapping.apply(key);
    if (made == null) return null;
    V other = putIfAbsent(key, made);
    return other == null ? made : other;
  }

  // ---- a read and a conditional write, repeated after an interfering change

  /// Computes the new value of a key from the old one; null for none.
  private interface Change<V> {
    @Nullable V from(@Nullable V before);
  }

  @Override
  public @Nullable V compute(
      K key, BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> change) {
    Objects.requireNonNull(change, NO_FUNCTION);
    return changed(key, before -> change.apply(key, before));
  }

  @Override
  public @Nullable V computeIfPresent(
      K key, BiFunction<? super K, ? super V, ? extends @Nullable V> change) {
    Objects.requireNonNull(change, NO_FUNCTION);
    return changed(key, before -> before == null ? null : change.apply(key, before));
  }

  @Override
  public @Nullable V merge(
      K key, V value, BiFunction<? super V, ? super V, ? extends @Nullable V> change) {
    Objects.requireNonNull(change, NO_FUNCTION);
    V checked = values.cast(Objects.requireNonNull(value, "values are never null"));
    // Copied, because the function may change it and run again.
    return changed(
        key, before -> before == null ? checked : change.apply(before, host().copy(checked)));
  }

  /// Changes the value of a key by a function that may change the value it gets. The conditional
  /// write compares with a copy from before.
  ///
  /// @return the new value of the key
  private @Nullable V changed(K key, Change<V> change) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      V before = get(key);
      V kept = before == null ? null : comparable(before);
      V after = change.from(before);
      if (write(key, kept, after)) return after;
    }
    throw new LimitExceeded(
        ("the value of %s was changed by others during each of %,d attempts to compute it, and"
                + " nothing was written; compute it in a transaction, or in a method of a shared"
                + " object")
            .formatted(MessageText.of(key), ATTEMPTS_MAX));
  }

  private boolean write(K key, @Nullable V before, @Nullable V after) {
    if (before == null) return after == null || putIfAbsent(key, after) == null;
    return after == null ? remove(key, before) : replace(key, before, after);
  }

  /// Returns a copy of a value, for comparison with the value in the map.
  private V comparable(V value) {
    Same.check(value);
    V copy = host().copy(value);
    if (!Same.as(copy, value)) throw Same.incomparable(value);
    return copy;
  }

  private Host host() {
    return (Host) stoa;
  }

  @Override
  public void replaceAll(BiFunction<? super K, ? super V, ? extends V> change) {
    Objects.requireNonNull(change, NO_FUNCTION);
    if (CallContext.CURRENT.isBound() || !isLive()) {
      iterator()
          .forEachRemaining(entry -> {
            var _ = computeIfPresent(entry.getKey(), change);
          });
      return;
    }
    var _ = ConsistentAccess.rewrite(stoa, this::title, () -> rewrite(change));
  }

  /// Called inside a transaction.
  private boolean rewrite(BiFunction<? super K, ? super V, ? extends V> change) {
    var all = new ArrayList<Object>();
    iterator()
        .forEachRemaining(entry -> {
          all.add(entry.getKey());
          all.add(value(change.apply(entry.getKey(), entry.getValue())));
        });
    for (int from = 0; from < all.size(); from += REPLACED_MAX) {
      putParts(all.subList(from, Math.min(all.size(), from + REPLACED_MAX)));
    }
    return true;
  }

  /// Puts entries, a few at a time if all are too large for one call.
  private void putParts(List<Object> all) {
    try {
      entries.putAll(new ArrayList<>(all));
    } catch (LimitExceeded tooLarge) {
      if (all.size() <= 2) throw tooLarge;
      int middle = all.size() / 4 * 2;
      putParts(all.subList(0, middle));
      putParts(all.subList(middle, all.size()));
    }
  }

  /// Returns whether each call sees the present, without a view in between.
  private boolean isLive() {
    return entries instanceof ConsistentAccess.Composed composed
        ? composed.access().isLive()
        : host().isLive(entries);
  }

  private String title() {
    return entries instanceof ConsistentAccess.Composed ? "the map" : stoa.ref(entries).toString();
  }

  private boolean has(Object key, Object value) {
    V here = get(key);
    return here != null && Same.as(here, value);
  }

  // ---- all entries

  @Override
  public int size() {
    return entries.size();
  }

  @Override
  public boolean isEmpty() {
    return size() == 0;
  }

  @Override
  public boolean containsValue(@Nullable Object value) {
    return values.isInstance(Objects.requireNonNull(value, "values are never null"))
        && entries.containsValue(value);
  }

  @Override
  public void putAll(Map<? extends K, ? extends V> more) {
    var all = new ArrayList<Object>();
    for (Map.Entry<? extends K, ? extends V> entry : more.entrySet()) {
      all.add(key(entry.getKey()));
      all.add(value(entry.getValue()));
    }
    if (!all.isEmpty()) entries.putAll(all);
  }

  @Override
  public void clear() {
    entries.clear();
  }

  Iterator<Map.Entry<K, V>> iterator() {
    return new Cursor<>(this, pages());
  }

  Spliterator<Map.Entry<K, V>> entrySpliterator() {
    return unsized(iterator(), Spliterator.DISTINCT);
  }

  Spliterator<V> valueSpliterator() {
    return unsized(values().iterator(), 0);
  }

  @Override
  public Set<Map.Entry<K, V>> entrySet() {
    return new EntrySet();
  }

  @Override
  public Set<K> keySet() {
    return new KeySet();
  }

  @Override
  public Collection<V> values() {
    return new Values();
  }

  /// Iterates entries; removes from the present map.
  private static final class Cursor<K, V> implements Iterator<Map.Entry<K, V>> {
    private final MapView<K, V> map;
    private final Pages pages;
    private @Nullable K last;

    Cursor(MapView<K, V> map, Pages pages) {
      this.map = map;
      this.pages = pages;
    }

    @Override
    public boolean hasNext() {
      return pages.hasNext();
    }

    @Override
    public Map.Entry<K, V> next() {
      K key = typed(pages.next());
      V value = typed(pages.next());
      last = key;
      return new Live<>(map, key, value);
    }

    @Override
    public void remove() {
      K key = last;
      if (key == null) throw new IllegalStateException("there is no entry to remove");
      last = null;
      map.fastRemove(key);
    }
  }

  /// An entry that writes to the present map.
  private static final class Live<K, V> extends SimpleEntry<K, V> {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Justification: entries are not serialized
    private final MapView<K, V> map;

    private Live(MapView<K, V> map, K key, V value) {
      super(key, value);
      this.map = map;
    }

    @Override
    public V setValue(V value) {
      map.fastPut(getKey(), value);
      return super.setValue(value);
    }
  }

  private final class EntrySet extends AbstractSet<Map.Entry<K, V>> {
    @Override
    public Iterator<Map.Entry<K, V>> iterator() {
      return MapView.this.iterator();
    }

    @Override
    public int size() {
      return MapView.this.size();
    }

    @Override
    public boolean isEmpty() {
      return MapView.this.isEmpty();
    }

    @Override
    public boolean contains(@Nullable Object entry) {
      return entry instanceof Map.Entry<?, ?> e
          && e.getKey() != null
          && e.getValue() != null
          && has(e.getKey(), e.getValue());
    }

    @Override
    public boolean removeAll(Collection<?> others) {
      return Contents.decideAlone(others) ? super.removeAll(others) : removeIf(others::contains);
    }

    @Override
    public boolean remove(@Nullable Object entry) {
      return entry instanceof Map.Entry<?, ?> e
          && e.getKey() != null
          && MapView.this.remove(e.getKey(), e.getValue());
    }

    @Override
    public void clear() {
      MapView.this.clear();
    }

    @Override
    public Spliterator<Map.Entry<K, V>> spliterator() {
      return entrySpliterator();
    }
  }

  private final class KeySet extends AbstractSet<K> {
    @Override
    public Iterator<K> iterator() {
      return Projection.keys(MapView.this.iterator());
    }

    @Override
    public int size() {
      return MapView.this.size();
    }

    @Override
    public boolean isEmpty() {
      return MapView.this.isEmpty();
    }

    @Override
    public boolean contains(@Nullable Object key) {
      return containsKey(key);
    }

    @Override
    public boolean removeAll(Collection<?> others) {
      return Contents.decideAlone(others) ? super.removeAll(others) : removeIf(others::contains);
    }

    @Override
    public boolean remove(@Nullable Object key) {
      return MapView.this.remove(key) != null;
    }

    @Override
    public void clear() {
      MapView.this.clear();
    }

    @Override
    public Spliterator<K> spliterator() {
      return unsized(iterator(), Spliterator.DISTINCT);
    }
  }

  private final class Values extends AbstractCollection<V> {
    @Override
    public Iterator<V> iterator() {
      return Projection.values(MapView.this.iterator());
    }

    @Override
    public int size() {
      return MapView.this.size();
    }

    @Override
    public boolean isEmpty() {
      return MapView.this.isEmpty();
    }

    @Override
    public boolean contains(@Nullable Object value) {
      return containsValue(value);
    }

    @Override
    public void clear() {
      MapView.this.clear();
    }

    @Override
    public Spliterator<V> spliterator() {
      return valueSpliterator();
    }
  }

  /// Returns an unsized spliterator: the collection may change between its size and its iteration.
  static <T> Spliterator<T> unsized(Iterator<T> iterator, int more) {
    return Spliterators.spliteratorUnknownSize(iterator, more | Spliterator.NONNULL);
  }
}

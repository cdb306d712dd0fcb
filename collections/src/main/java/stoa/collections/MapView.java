package stoa.collections;

import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;

/// A map of `java.util` before the calls on a map's object. Immutable.
abstract class MapView<K, V> extends AbstractMap<K, V> implements ConcurrentMap<K, V> {
  private static final String NO_NULL_KEYS = "keys are never null";

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

  /// The entries, of one version, as their keys and values in turn.
  Pages pages() {
    return new Pages(new ObjectPages(stoa, entries), null);
  }

  /// Whether a key may be asked for.
  boolean mayHave(Object key) {
    return keys.isInstance(Objects.requireNonNull(key, NO_NULL_KEYS));
  }

  /// A key that may be written.
  K key(K key) {
    return keys.cast(Objects.requireNonNull(key, NO_NULL_KEYS));
  }

  final Object value(V value) {
    return Objects.requireNonNull(
        values.cast(Objects.requireNonNull(value, "values are never null")));
  }

  @SuppressWarnings({
    "unchecked",
    "TypeParameterUnusedInFormals",
    "NullAway"
  }) // Justification: what the map
  // holds went through key() and value()
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
    Object expected = value(before);
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

  /// Iterates entries; removes from the map as it is now.
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

  /// An entry that writes to the map as it is now.
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

  /// Not sized: the collection may change between its size and its iteration.
  static <T> Spliterator<T> unsized(Iterator<T> iterator, int more) {
    return Spliterators.spliteratorUnknownSize(iterator, more | Spliterator.NONNULL);
  }
}

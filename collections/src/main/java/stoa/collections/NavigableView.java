package stoa.collections;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentNavigableMap;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;

/// A part of a sorted map, in its order or in reverse, in front of the calls on its object.
/// Immutable.
class NavigableView<K, V> extends MapView<K, V> implements ConcurrentNavigableMap<K, V> {
  private final SortedEntries entries;
  private final Comparator<Object> order;

  // Whether a comparator gives the order; [#comparator()] then returns it.
  private final boolean compared;

  private final Span span;
  private final Scan.Direction direction;

  NavigableView(
      Stoa stoa, Class<K> keys, Class<V> values, SortedEntries entries, @Nullable Class<?> order) {
    this(
        stoa,
        keys,
        values,
        entries,
        Orders.of(order),
        order != null,
        Span.ALL,
        Scan.Direction.ASCENDING);
  }

  private NavigableView(
      Stoa stoa,
      Class<K> keys,
      Class<V> values,
      SortedEntries entries,
      Comparator<Object> order,
      boolean compared,
      Span span,
      Scan.Direction direction) {
    super(stoa, keys, values, entries);
    this.entries = entries;
    this.order = order;
    this.compared = compared;
    this.span = span;
    this.direction = direction;
  }

  private NavigableView<K, V> part(Span part, Scan.Direction towards) {
    return new NavigableView<>(stoa, keys, values, entries, order, compared, part, towards);
  }

  private boolean ascends() {
    return direction == Scan.Direction.ASCENDING;
  }

  private Scan.Direction opposite() {
    return ascends() ? Scan.Direction.DESCENDING : Scan.Direction.ASCENDING;
  }

  // ---- the entries of the part

  @Override
  boolean mayHave(Object key) {
    return super.mayHave(key) && span.has(key, order);
  }

  @Override
  K key(K key) {
    K checked = super.key(key);
    if (!span.has(checked, order)) {
      throw new IllegalArgumentException(key + " is outside this view of the map");
    }
    return checked;
  }

  @Override
  Pages pages() {
    return new Pages(source(), new Scan(span, direction));
  }

  /// Returns the source of an iteration's pages.
  PageSource source() {
    return entries instanceof ConsistentAccess.Composed composed
        ? ConsistentAccess.pages(composed)
        : new ObjectPages(stoa, entries);
  }

  @Override
  public int size() {
    return span.isAll() ? entries.size() : entries.sizeOf(span);
  }

  @Override
  public boolean isEmpty() {
    return entries.edge(new Scan(span, direction)) == null;
  }

  @Override
  public boolean containsValue(@Nullable Object value) {
    return values.isInstance(Objects.requireNonNull(value)) && entries.hasValue(span, value);
  }

  @Override
  public void clear() {
    if (span.isAll()) entries.clear();
    else entries.clearAll(span);
  }

  // ---- neighbors

  private Map.@Nullable Entry<K, V> entry(@Nullable Pair pair) {
    return pair == null ? null : entry(pair.key(), pair.value());
  }

  private Map.Entry<K, V> entry(Object heldKey, Object heldValue) {
    K key = typed(heldKey);
    V value = typed(heldValue);
    return new SimpleImmutableEntry<>(key, value);
  }

  /// Returns the nearest entry to a key, in the view's order.
  private Map.@Nullable Entry<K, V> near(K key, boolean above, boolean inclusive) {
    K checked = super.key(key);
    Span side = span;
    boolean up = above == ascends();
    if (up) {
      if (span.isTooHigh(checked, order)) return null;
      if (!span.isTooLow(checked, order)) side = span.from(checked, inclusive);
    } else {
      if (span.isTooLow(checked, order)) return null;
      if (!span.isTooHigh(checked, order)) side = span.to(checked, inclusive);
    }
    if (side.isEmpty(order)) return null;
    Scan.Direction from = up ? Scan.Direction.ASCENDING : Scan.Direction.DESCENDING;
    return entry(entries.edge(new Scan(side, from)));
  }

  private static <K> @Nullable K keyOf(Map.@Nullable Entry<K, ?> entry) {
    return entry == null ? null : entry.getKey();
  }

  @Override
  public Map.@Nullable Entry<K, V> lowerEntry(K key) {
    return near(key, false, false);
  }

  @Override
  public Map.@Nullable Entry<K, V> floorEntry(K key) {
    return near(key, false, true);
  }

  @Override
  public Map.@Nullable Entry<K, V> ceilingEntry(K key) {
    return near(key, true, true);
  }

  @Override
  public Map.@Nullable Entry<K, V> higherEntry(K key) {
    return near(key, true, false);
  }

  public List<Map.Entry<K, V>> ceilingEntries(K from, int max) {
    if (max < 1) {
      throw new IllegalArgumentException("max is " + max + "; ask for one entry at least");
    }
    Scan scan = new Scan(span.from(super.key(from), true), Scan.Direction.ASCENDING);
    List<Object> items = page(scan, max).items();
    var found = new ArrayList<Map.Entry<K, V>>();
    for (int i = 0; i < Math.min(items.size(), 2 * max); i += 2) {
      found.add(entry(items.get(i), items.get(i + 1)));
    }
    return Collections.unmodifiableList(found);
  }

  private Page page(Scan scan, int max) {
    Page page =
        entries instanceof ConsistentAccess.Composed composed
            ? composed.access().<@Nullable Page>read(() -> composed.page(Paged.ANY, scan, max))
            : entries.page(Paged.ANY, scan, max);
    return Objects.requireNonNull(page);
  }

  @Override
  public @Nullable K lowerKey(K key) {
    return keyOf(lowerEntry(key));
  }

  @Override
  public @Nullable K floorKey(K key) {
    return keyOf(floorEntry(key));
  }

  @Override
  public @Nullable K ceilingKey(K key) {
    return keyOf(ceilingEntry(key));
  }

  @Override
  public @Nullable K higherKey(K key) {
    return keyOf(higherEntry(key));
  }

  @Override
  public Map.@Nullable Entry<K, V> firstEntry() {
    return entry(entries.edge(new Scan(span, direction)));
  }

  @Override
  public Map.@Nullable Entry<K, V> lastEntry() {
    return entry(entries.edge(new Scan(span, opposite())));
  }

  @Override
  public Map.@Nullable Entry<K, V> pollFirstEntry() {
    return entry(entries.poll(new Scan(span, direction)));
  }

  @Override
  public Map.@Nullable Entry<K, V> pollLastEntry() {
    return entry(entries.poll(new Scan(span, opposite())));
  }

  @Override
  public K firstKey() {
    return present(firstEntry());
  }

  @Override
  public K lastKey() {
    return present(lastEntry());
  }

  private static <K> K present(Map.@Nullable Entry<K, ?> entry) {
    if (entry == null) throw new NoSuchElementException("the map is empty");
    return entry.getKey();
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    Comparator<? super K> own = compared ? order : null;
    return ascends() ? own : Collections.reverseOrder(own);
  }

  // ---- views

  @Override
  public ConcurrentNavigableMap<K, V> subMap(
      K from, boolean fromInclusive, K to, boolean toInclusive) {
    K low = super.key(ascends() ? from : to);
    K high = super.key(ascends() ? to : from);
    boolean lowInclusive = ascends() ? fromInclusive : toInclusive;
    boolean highInclusive = ascends() ? toInclusive : fromInclusive;
    if (order.compare(low, high) > 0) {
      throw new IllegalArgumentException(from + " is behind " + to);
    }
    checkBound(low, lowInclusive);
    checkBound(high, highInclusive);
    return part(new Span(low, lowInclusive, high, highInclusive), direction);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to, boolean inclusive) {
    K bound = super.key(to);
    checkBound(bound, inclusive);
    return part(ascends() ? span.to(bound, inclusive) : span.from(bound, inclusive), direction);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from, boolean inclusive) {
    K bound = super.key(from);
    checkBound(bound, inclusive);
    return part(ascends() ? span.from(bound, inclusive) : span.to(bound, inclusive), direction);
  }

  /// Checks that a bound lies in the view, or is one of its own.
  private void checkBound(K bound, boolean inclusive) {
    boolean fits =
        inclusive
            ? span.has(bound, order)
            : (span.low() == null || order.compare(bound, span.low()) >= 0)
                && (span.high() == null || order.compare(bound, span.high()) <= 0);
    if (!fits) throw new IllegalArgumentException(bound + " is outside this view of the map");
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(K from, K to) {
    return subMap(from, true, to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to) {
    return headMap(to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from) {
    return tailMap(from, true);
  }

  @Override
  public ConcurrentNavigableMap<K, V> descendingMap() {
    return part(span, opposite());
  }

  @Override
  public NavigableSet<K> keySet() {
    return new KeyView<>(this);
  }

  @Override
  public NavigableSet<K> navigableKeySet() {
    return keySet();
  }

  @Override
  public NavigableSet<K> descendingKeySet() {
    return descendingMap().navigableKeySet();
  }

  Spliterator<K> keySpliterator() {
    return new SortedSpliterator<>(Projection.keys(iterator()), comparator());
  }

  @Override
  Spliterator<Map.Entry<K, V>> entrySpliterator() {
    Comparator<Object> up = order;
    Comparator<Object> towards = ascends() ? up : Collections.reverseOrder(up);
    return new SortedSpliterator<>(iterator(), (a, b) -> towards.compare(keyIn(a), keyIn(b)));
  }

  private static Object keyIn(Map.Entry<?, ?> entry) {
    return Objects.requireNonNull(entry.getKey());
  }

  @Override
  Spliterator<V> valueSpliterator() {
    return unsized(values().iterator(), Spliterator.ORDERED);
  }

  Iterator<K> keyIterator() {
    return Projection.keys(iterator());
  }
}

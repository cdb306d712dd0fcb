package stoa.collections;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;
import stoa.Accessor;
import stoa.Call;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedNavigableMap].
///
/// ```
/// state:  the beginning of Formats, the comparator or null, count, then keys, each followed by its
///         value, in order
/// ```
@Shared(name = "stoa.NavigableMap")
class SortedObject extends EntriesObject
    implements SortedEntries, Forkable<SortedObject>, OwnState {
  // Null for the natural order.
  private @Nullable Comparator<Object> own;

  private Comparator<Object> order;
  private TreePMap<Object, Object> entries;

  /// Creates a map whose classes are unknown.
  ///
  /// @param own the comparator, null for the natural order
  protected SortedObject(@Nullable Comparator<Object> own) {
    this(own, null);
  }

  /// Creates a map.
  ///
  /// @param own the comparator, null for the natural order
  protected SortedObject(@Nullable Comparator<Object> own, @Nullable String classes) {
    super(classes);
    this.own = own;
    this.order = own == null ? Orders.natural() : own;
    this.entries = TreePMap.empty(order);
  }

  private SortedObject(
      @Nullable String classes,
      @Nullable Comparator<Object> own,
      Comparator<Object> order,
      TreePMap<Object, Object> entries) {
    super(classes);
    this.own = own;
    this.order = order;
    this.entries = entries;
  }

  /// Returns the class name of the comparator; null for the natural order.
  @Accessor
  @Nullable String order() {
    return own == null ? null : own.getClass().getName();
  }

  @Override
  @Accessor
  public @Nullable Object get(Object key) {
    return entries.get(key);
  }

  @Override
  @Accessor
  public boolean containsKey(Object key) {
    return entries.containsKey(key);
  }

  @Override
  @Accessor
  public boolean containsValue(Object value) {
    return hasValue(Span.ALL, value);
  }

  @Override
  @Accessor
  public int size() {
    return entries.size();
  }

  @Override
  @Mutator
  public void fastPut(Object key, Object value) {
    Orders.check(order, key);
    entries = entries.plus(key, value);
  }

  @Override
  @Mutator
  public void putAll(List<Object> more) {
    TreePMap<Object, Object> all = entries;
    for (int i = 0; i < more.size(); i += 2) {
      Orders.check(order, more.get(i));
      all = all.plus(more.get(i), more.get(i + 1));
    }
    entries = all;
  }

  @Override
  @Mutator
  public void fastRemove(Object key) {
    entries = entries.minus(key);
  }

  @Override
  @Mutator
  public void clear() {
    entries = TreePMap.empty(order);
  }

  @Override
  @Accessor
  public @Nullable Pair edge(Scan scan) {
    TreePMap<Object, Object> part = scan.span().of(entries, order);
    if (part.isEmpty()) return null;
    Map.Entry<Object, Object> entry =
        scan.direction() == Scan.Direction.ASCENDING ? part.firstEntry() : part.lastEntry();
    return new Pair(entry.getKey(), entry.getValue());
  }

  @Override
  public @Nullable Pair poll(Scan scan) {
    Pair edge = edge(scan);
    if (edge != null) entries = entries.minus(edge.key());
    return edge;
  }

  @Override
  @Accessor
  public int sizeOf(Span span) {
    return span.of(entries, order).size();
  }

  @Override
  @Accessor
  public boolean hasValue(Span span, Object value) {
    for (Object here : span.of(entries, order).values()) {
      if (Same.as(here, value)) return true;
    }
    return false;
  }

  @Override
  @Mutator
  public void clearAll(Span span) {
    TreePMap<Object, Object> rest = entries;
    for (Object key : span.of(entries, order).keySet()) rest = rest.minus(key);
    entries = rest;
  }

  @Override
  @Accessor
  public @Nullable Page page(long version, @Nullable Object from, int max) {
    long here = Call.version();
    if (version != ANY && version != here) return null;
    Scan scan = from == null ? Scan.ALL : (Scan) from;
    TreePMap<Object, Object> part = scan.span().of(entries, order);
    if (scan.direction() == Scan.Direction.DESCENDING) part = part.descendingMap();
    var items = new ArrayList<Object>();
    Iterator<Map.Entry<Object, Object>> entry = part.entrySet().iterator();
    Object last = null;
    while (entry.hasNext() && items.size() < 2 * max) {
      Map.Entry<Object, Object> next = entry.next();
      last = next.getKey();
      items.add(last);
      items.add(next.getValue());
    }
    return new Page(
        here, items, entry.hasNext() ? scan.behind(Objects.requireNonNull(last)) : null);
  }

  @SuppressWarnings("unchecked") // Justification: it is what the constructor was given
  private static @Nullable Comparator<Object> typed(@Nullable Object comparator) {
    return (Comparator<Object>) comparator;
  }

  // ---- for the engine

  @Override
  public SortedObject fork() {
    return new SortedObject(classes, own, order, entries);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes);
    out.value(own);
    out.number(entries.size());
    for (Map.Entry<Object, Object> entry : entries.entrySet()) {
      out.value(entry.getKey());
      out.value(entry.getValue());
    }
  }

  @Override
  public void restore(StateInput in) {
    classes = Formats.begun(in);
    own = typed(in.value());
    order = own == null ? Orders.natural() : own;
    int count = in.count();
    var sorted = new TreeMap<Object, Object>(order);
    for (int i = 0; i < count; i++) {
      Object key = Objects.requireNonNull(in.value());
      sorted.put(key, Objects.requireNonNull(in.value()));
    }
    entries = TreePMap.fromSortedMap(sorted);
  }
}

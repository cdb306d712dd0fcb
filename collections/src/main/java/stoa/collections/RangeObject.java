package stoa.collections;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;
import stoa.SharedRangeMap.Range;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedRangeMap].
///
/// ```
/// state:  the beginning of Formats, count, then for each range, in order: from, to, value
/// ```
@Shared(name = "stoa.RangeMap")
class RangeObject implements Forkable<RangeObject>, OwnState {
  private static final Comparator<Object> ORDER = Orders.natural();

  /// The parts of a range besides its first key.
  private record Rest(Object to, Object value) {}

  // By first key. Ranges never overlap.
  private TreePMap<Object, Rest> ranges;

  // The names of the classes with which it began; null when they are unknown.
  private @Nullable String classes;

  protected RangeObject() {
    this(null, TreePMap.empty(ORDER));
  }

  protected RangeObject(String classes) {
    this(classes, TreePMap.empty(ORDER));
  }

  private RangeObject(@Nullable String classes, TreePMap<Object, Rest> ranges) {
    this.classes = classes;
    this.ranges = ranges;
  }

  /// Returns the names of the classes with which it began; null when they are unknown.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Accessor
  @Nullable Range<Object, Object> range(Object key) {
    Map.Entry<Object, Rest> entry = ranges.floorEntry(key);
    if (entry == null || ORDER.compare(key, entry.getValue().to()) >= 0) return null;
    return new Range<>(entry.getKey(), entry.getValue().to(), entry.getValue().value());
  }

  /// Returns the parts of ranges between two keys, cut there; null stands for no bound.
  @Accessor
  List<Range<Object, Object>> ranges(@Nullable Object from, @Nullable Object to) {
    var found = new ArrayList<Range<Object, Object>>();
    if (from == null) {
      ranges.forEach((key, rest) -> found.add(new Range<>(key, rest.to(), rest.value())));
      return found;
    }
    Object end = Objects.requireNonNull(to);
    Range<Object, Object> first = range(from);
    if (first != null) found.add(new Range<>(from, least(first.to(), end), first.value()));
    ranges
        .subMap(from, false, end, false)
        .forEach((key, rest) -> found.add(new Range<>(key, least(rest.to(), end), rest.value())));
    return found;
  }

  private static Object least(Object a, Object b) {
    return ORDER.compare(a, b) <= 0 ? a : b;
  }

  @Mutator
  void put(Object from, Object to, Object value) {
    remove(from, to);
    ranges = ranges.plus(from, new Rest(to, value));
  }

  @Mutator
  void remove(Object from, Object to) {
    Range<Object, Object> first = range(from);
    Map.Entry<Object, Rest> last = ranges.lowerEntry(to);
    TreePMap<Object, Rest> rest = ranges;
    if (last != null && ORDER.compare(last.getValue().to(), to) > 0) {
      rest = rest.plus(to, last.getValue());
    }
    for (Object key : ranges.subMap(from, true, to, false).keySet()) rest = rest.minus(key);
    if (first != null && ORDER.compare(first.from(), from) < 0) {
      rest = rest.plus(first.from(), new Rest(from, first.value()));
    }
    ranges = rest;
  }

  @Accessor
  int size() {
    return ranges.size();
  }

  @Mutator
  void clear() {
    ranges = TreePMap.empty(ORDER);
  }

  // ---- for the engine

  @Override
  public RangeObject fork() {
    return new RangeObject(classes, ranges);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes);
    out.number(ranges.size());
    ranges.forEach((from, rest) -> {
      out.value(from);
      out.value(rest.to());
      out.value(rest.value());
    });
  }

  @Override
  public void restore(StateInput in) {
    classes = Formats.begun(in);
    int count = in.count();
    var sorted = new TreeMap<Object, Rest>(ORDER);
    for (int i = 0; i < count; i++) {
      Object from = Objects.requireNonNull(in.value());
      Object to = Objects.requireNonNull(in.value());
      sorted.put(from, new Rest(to, Objects.requireNonNull(in.value())));
    }
    ranges = TreePMap.fromSortedMap(sorted);
  }
}

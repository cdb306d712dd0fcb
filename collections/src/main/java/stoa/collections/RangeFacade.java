package stoa.collections;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedRangeMap;
import stoa.Stoa;
import stoa.spi.Facade;

/// The implementation of [SharedRangeMap].
final class RangeFacade<K extends Comparable<? super K>, V>
    implements SharedRangeMap<K, V>, Facade {
  private final Stoa stoa;
  private final Class<K> keys;
  private final Class<V> values;
  private final RangeObject object;

  RangeFacade(Stoa stoa, Class<K> keys, Class<V> values, RangeObject object) {
    this.stoa = stoa;
    this.keys = keys;
    this.values = values;
    this.object = object;
  }

  private K key(K key) {
    return keys.cast(Objects.requireNonNull(key, "keys are never null"));
  }

  private void check(K from, K to) {
    if (key(from).compareTo(key(to)) >= 0) {
      throw new IllegalArgumentException(
          "a range begins below its end, unlike " + from + ", " + to);
    }
  }

  @SuppressWarnings("unchecked") // Justification: what the map holds went through key() and put
  private static <K, V> Range<K, V> typed(Range<Object, Object> range) {
    return (Range<K, V>) range;
  }

  private static <K, V> List<Range<K, V>> typed(List<Range<Object, Object>> ranges) {
    var all = new ArrayList<Range<K, V>>(ranges.size());
    for (Range<Object, Object> range : ranges) all.add(typed(range));
    return Collections.unmodifiableList(all);
  }

  @Override
  public Optional<V> get(K key) {
    return range(key).map(Range::value);
  }

  @Override
  public Optional<Range<K, V>> range(K key) {
    Range<Object, Object> found = object.range(key(key));
    return found == null ? Optional.empty() : Optional.of(typed(found));
  }

  @Override
  public void put(K from, K to, V value) {
    check(from, to);
    V checked = values.cast(Objects.requireNonNull(value, "values are never null"));
    object.put(from, to, Objects.requireNonNull(checked));
  }

  @Override
  public void remove(K from, K to) {
    check(from, to);
    object.remove(from, to);
  }

  @Override
  public List<Range<K, V>> ranges() {
    return typed(object.ranges(null, null));
  }

  @Override
  public List<Range<K, V>> ranges(K from, K to) {
    check(from, to);
    return typed(object.ranges(from, to));
  }

  @Override
  public int size() {
    return object.size();
  }

  @Override
  public boolean isEmpty() {
    return size() == 0;
  }

  @Override
  public void clear() {
    object.clear();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SharedRangeMap<?, ?> map && ranges().equals(map.ranges());
  }

  @Override
  public int hashCode() {
    return ranges().hashCode();
  }

  @Override
  public String toString() {
    return ranges().toString();
  }

  @Override
  public Object shared() {
    return object;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.RANGES, keys, values);
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new RangeFacade<>(stoa, keys, values, (RangeObject) lens.apply(object));
  }

  @Override
  public boolean isSingle() {
    return true;
  }
}

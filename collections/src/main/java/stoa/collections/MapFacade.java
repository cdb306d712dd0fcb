package stoa.collections;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Schedule;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.front.SharedStoa;
import stoa.indexes.InstalledIndexes;
import stoa.indexes.Queried;
import stoa.spi.Facade;

/// The implementation of [SharedMap].
final class MapFacade<K, V> extends MapView<K, V> implements SharedMap<K, V>, Facade, Queried {
  private final MapObject object;
  private final ValueIndexes indexes;

  MapFacade(Stoa stoa, Class<K> keys, Class<V> values, MapObject object) {
    super(stoa, keys, values, object);
    this.object = object;
    this.indexes = ValueIndexes.of(values);
  }

  /// Checks, before a call is logged, that a key has a hash that is the same in every process.
  @Override
  K key(K key) {
    K checked = super.key(key);
    var _ = KeyHash.of(checked);
    indexes.check(checked);
    return checked;
  }

  @Override
  Object held(Object value) {
    return indexes.held(value);
  }

  @Override
  public IndexedMap<K, V> source() {
    return new IndexedMap<>((SharedStoa) stoa, this, name(), 0, keys, values);
  }

  private String name() {
    return (String) stoa.ref(object).key();
  }

  @Override
  public boolean hasIndexes() {
    return !indexes.isEmpty();
  }

  @Override
  public void leaveIndexes() {
    object.clear();
    InstalledIndexes.lose(stoa, source().owner(), indexes.list());
  }

  @Override
  public @Nullable V put(K key, V value, Duration time) {
    long micros = stayMicros(time);
    Object checked = value(value);
    return typed(object.put(key(key), checked, micros));
  }

  /// Returns for how long an entry stays.
  static long stayMicros(Duration time) {
    long micros = TimeUnit.MICROSECONDS.convert(Schedule.after(time).after());
    if (micros > 0) return micros;
    throw new IllegalArgumentException("an entry cannot stay for " + time + "; use more");
  }

  @Override
  public Object shared() {
    return object;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.MAP, keys, values);
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new MapFacade<>(stoa, keys, values, (MapObject) lens.apply(object));
  }

  @Override
  public boolean isSingle() {
    return true;
  }
}

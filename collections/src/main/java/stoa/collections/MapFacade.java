package stoa.collections;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Schedule;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.spi.Facade;

/// The implementation of [SharedMap].
final class MapFacade<K, V> extends MapView<K, V> implements SharedMap<K, V>, Facade {
  private final MapObject object;

  MapFacade(Stoa stoa, Class<K> keys, Class<V> values, MapObject object) {
    super(stoa, keys, values, object);
    this.object = object;
  }

  /// Checks, before a call is logged, that a key has a hash that is the same in every process.
  @Override
  K key(K key) {
    K checked = super.key(key);
    var _ = KeyHash.of(checked);
    return checked;
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

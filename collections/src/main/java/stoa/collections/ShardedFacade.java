package stoa.collections;

import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.Stoa;
import stoa.front.SharedStoa;
import stoa.indexes.Queried;
import stoa.spi.Facade;

/// The implementation of [ShardedMap].
final class ShardedFacade<K, V> extends MapView<K, V> implements ShardedMap<K, V>, Facade, Queried {
  private final ShardedObject base;
  private final ShardedEntries children;
  private final ValueIndexes indexes;

  private ShardedFacade(
      Stoa stoa, Class<K> keys, Class<V> values, ShardedObject base, ShardedEntries children) {
    super(stoa, keys, values, children);
    this.base = base;
    this.children = children;
    this.indexes = ValueIndexes.of(values);
  }

  /// Returns the facade of a map with that many children.
  static <K, V> ShardedFacade<K, V> of(
      Stoa stoa, Class<K> keys, Class<V> values, ShardedObject base, int shards) {
    String name = (String) stoa.ref(base).key();
    var children = new ShardedEntries(ConsistentAccess.live(stoa), name, shards);
    return new ShardedFacade<>(stoa, keys, values, base, children);
  }

  @Override
  public int shards() {
    return children.shards();
  }

  @Override
  public @Nullable V put(K key, V value, Duration time) {
    long micros = MapFacade.stayMicros(time);
    Object checked = value(value);
    return typed(children.put(key(key), checked, micros));
  }

  @Override
  K key(K key) {
    K checked = super.key(key);
    indexes.check(checked);
    return checked;
  }

  @Override
  Object held(Object value) {
    return indexes.held(value);
  }

  @Override
  public IndexedMap<K, V> source() {
    String name = (String) stoa.ref(base).key();
    return new IndexedMap<>((SharedStoa) stoa, this, name, children.shards(), keys, values);
  }

  @Override
  Pages pages() {
    return new Pages(ConsistentAccess.pages(children), null);
  }

  @Override
  public boolean isEmpty() {
    return children.isEmpty();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return children.access().read(() -> super.equals(other));
  }

  @Override
  public int hashCode() {
    return children.access().read(super::hashCode);
  }

  @Override
  public Object shared() {
    return base;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.SHARDED, keys, values) + " " + children.shards();
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new ShardedFacade<>(stoa, keys, values, base, children.through(lens));
  }

  /// Returns the same collection through local or cached views.
  ///
  /// @param view returns the view of an object
  Facade copied(UnaryOperator<Object> view) {
    return new ShardedFacade<>(stoa, keys, values, base, children.copied(view));
  }

  @Override
  public boolean isSingle() {
    return false;
  }

  @Override
  public Parts parts() {
    String name = (String) stoa.ref(base).key();
    var one = new ShardedEntries(ConsistentAccess.live(stoa), name, 1);
    return new Parts(
        MapObject.class.getAnnotation(Shared.class).name(),
        key -> ShardKey.isOf(name, key),
        new ShardedFacade<>(stoa, keys, values, base, one));
  }
}

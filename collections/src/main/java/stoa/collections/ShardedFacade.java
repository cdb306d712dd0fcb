package stoa.collections;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.ShardedMap;
import stoa.Stoa;
import stoa.spi.Facade;

/// A [ShardedMap].
final class ShardedFacade<K, V> extends MapView<K, V> implements ShardedMap<K, V>, Facade {
  private final ShardedObject base;
  private final ShardedEntries children;

  private ShardedFacade(
      Stoa stoa, Class<K> keys, Class<V> values, ShardedObject base, ShardedEntries children) {
    super(stoa, keys, values, children);
    this.base = base;
    this.children = children;
  }

  /// The facade of a map.
  ///
  /// @param wanted how many children it is to have, 0 for as many as it has
  static <K, V> ShardedFacade<K, V> of(
      Stoa stoa, Class<K> keys, Class<V> values, ShardedObject base, int wanted) {
    String name = (String) stoa.ref(base).key();
    int shards = base.shards();
    if (shards == 0 && wanted > 0) shards = base.begin(wanted);
    if (shards == 0) throw new IllegalStateException("the sharded map " + name + " was not begun");
    if (wanted > 0 && shards != wanted) {
      throw new IllegalArgumentException(
          name + " was begun with " + shards + " children, not " + wanted);
    }
    var children = new ShardedEntries(stoa, name, shards, UnaryOperator.identity());
    return new ShardedFacade<>(stoa, keys, values, base, children);
  }

  @Override
  public int shards() {
    return children.shards();
  }

  @Override
  Pages pages() {
    return new Pages(Moments.pages(stoa, children), null);
  }

  @Override
  public boolean isEmpty() {
    return children.isEmpty();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return Moments.read(stoa, () -> super.equals(other));
  }

  @Override
  public int hashCode() {
    return Moments.read(stoa, super::hashCode);
  }

  @Override
  public Object shared() {
    return base;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.SHARDED, keys, values);
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new ShardedFacade<>(stoa, keys, values, base, children.through(lens));
  }

  @Override
  public boolean isSingle() {
    return false;
  }
}

package stoa.collections;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedNavigableMap;
import stoa.Stoa;
import stoa.spi.Facade;

/// The implementation of [SharedNavigableMap].
final class NavigableFacade<K, V> extends NavigableView<K, V>
    implements SharedNavigableMap<K, V>, Facade {
  private final SortedObject object;
  private final @Nullable Class<?> order;

  NavigableFacade(
      Stoa stoa, Class<K> keys, Class<V> values, SortedObject object, @Nullable Class<?> order) {
    super(stoa, keys, values, object, order);
    this.object = object;
    this.order = order;
  }

  @Override
  public Object shared() {
    return object;
  }

  @Override
  public String form() {
    return order == null
        ? Form.of(Form.Kind.NAVIGABLE, keys, values)
        : Form.of(Form.Kind.NAVIGABLE, keys, values, order);
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new NavigableFacade<>(stoa, keys, values, (SortedObject) lens.apply(object), order);
  }

  @Override
  public boolean isSingle() {
    return true;
  }
}

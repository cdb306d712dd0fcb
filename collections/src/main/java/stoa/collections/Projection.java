package stoa.collections;

import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;

/// An iterator over a part of each element of another iterator.
record Projection<T, R>(Iterator<T> of, Function<T, R> part) implements Iterator<R> {
  static <K, V> Iterator<K> keys(Iterator<Map.Entry<K, V>> entries) {
    return new Projection<>(entries, Map.Entry::getKey);
  }

  static <K, V> Iterator<V> values(Iterator<Map.Entry<K, V>> entries) {
    return new Projection<>(entries, Map.Entry::getValue);
  }

  @Override
  public boolean hasNext() {
    return of.hasNext();
  }

  @Override
  public R next() {
    return part.apply(of.next());
  }

  @Override
  public void remove() {
    of.remove();
  }
}

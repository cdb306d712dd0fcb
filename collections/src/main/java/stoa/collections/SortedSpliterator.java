package stoa.collections;

import java.util.Comparator;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a sorted map holds, in its order, each once: of unknown size, as the map may change between
/// its size and its iteration. Used by one thread at a time.
final class SortedSpliterator<T> extends Spliterators.AbstractSpliterator<T> {
  private final Iterator<T> iterator;
  private final @Nullable Comparator<? super T> order;

  /// @param order null for the natural one
  SortedSpliterator(Iterator<T> iterator, @Nullable Comparator<? super T> order) {
    super(
        Long.MAX_VALUE,
        Spliterator.DISTINCT | Spliterator.ORDERED | Spliterator.SORTED | Spliterator.NONNULL);
    this.iterator = iterator;
    this.order = order;
  }

  @Override
  public boolean tryAdvance(Consumer<? super T> action) {
    if (!iterator.hasNext()) return false;
    action.accept(iterator.next());
    return true;
  }

  @Override
  public @Nullable Comparator<? super T> getComparator() {
    return order;
  }
}

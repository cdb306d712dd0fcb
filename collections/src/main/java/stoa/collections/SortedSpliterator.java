package stoa.collections;

import java.util.Comparator;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The contents of a sorted map, in its order, each once. The size is unknown, because the map may
/// change between its size and its iteration. One thread at a time uses it.
final class SortedSpliterator<T> extends Spliterators.AbstractSpliterator<T> {
  private final Iterator<T> iterator;
  private final @Nullable Comparator<? super T> order;

  /// Creates the spliterator.
  ///
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

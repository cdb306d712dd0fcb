package stoa.collections;

import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.spi.CallContext;
import stoa.spi.Host;

/// The common part of all views of a list: the object and the class of its elements. Immutable.
record Elements<E>(Stoa stoa, Class<E> type, ListObject object) {
  Object checked(@Nullable E element) {
    return Objects.requireNonNull(
        type.cast(Objects.requireNonNull(element, "elements are never null")));
  }

  ArrayList<Object> checked(Collection<? extends E> more) {
    var all = new ArrayList<Object>(more.size());
    for (E element : more) all.add(checked(element));
    return all;
  }

  @SuppressWarnings({
    "unchecked",
    "TypeParameterUnusedInFormals",
    "NullAway"
  }) // Justification: what the list
  // holds: every element went through checked()
  static <T> T typed(@Nullable Object held) {
    return (T) held;
  }

  /// Returns the elements as another view of the store shows them.
  Elements<E> through(UnaryOperator<Object> lens) {
    return new Elements<>(stoa, type, (ListObject) lens.apply(object));
  }

  /// Removes or retains the elements that another collection contains.
  boolean filter(Collection<?> others, boolean among) {
    Objects.requireNonNull(others, "the collection is null");
    if (!Contents.decideAlone(others)) {
      return removeIf(element -> others.contains(element) == among);
    }
    var all = new ArrayList<Object>();
    for (Object other : others) if (type.isInstance(other)) all.add(other);
    return object.removeAll(all, among);
  }

  /// Removes the elements that a filter accepts.
  boolean removeIf(Predicate<? super E> filter) {
    Objects.requireNonNull(filter, "the filter is null");
    if (!CallContext.CURRENT.isBound()) return rewrite(all -> all.removeIf(filter));
    boolean removed = false;
    for (Iterator<E> each = forwards(); each.hasNext(); ) {
      if (!filter.test(each.next())) continue;
      each.remove();
      removed = true;
    }
    return removed;
  }

  /// Changes all elements, as a transaction.
  ///
  /// @param change returns whether it changed something
  boolean rewrite(Predicate<List<E>> change) {
    return ConsistentAccess.rewrite(
        stoa,
        () -> stoa.ref(object).toString(),
        () -> {
          var all = new ArrayList<E>();
          forwards().forEachRemaining(all::add);
          boolean changed = change.test(all);
          if (changed) object.setAll(checked(all));
          return changed;
        });
  }

  /// Returns a copy of an element, which the caller may change.
  E copy(E element) {
    return ((Host) stoa).copy(element);
  }

  boolean contains(@Nullable Object element) {
    return type.isInstance(element) && object.indexOf(element) >= 0;
  }

  Iterator<E> forwards() {
    return new Cursor<>(new Pages(new ObjectPages(stoa, object), null), object, 0, 1);
  }

  /// From the last element to the first.
  Iterator<E> backwards() {
    int last = object.size() - 1;
    // As of the moment of the first page, which clamps this to the last element at that moment.
    var pages = new Pages(new ObjectPages(stoa, object), ListObject.from(Integer.MAX_VALUE, -1));
    return new Cursor<>(pages, object, last, -1);
  }

  static ConcurrentModificationException moved() {
    return new ConcurrentModificationException(
        "the element that the iterator is at was moved, removed or changed; iterate again");
  }

  /// Iterates the elements of one moment; removes from the present list.
  private static final class Cursor<E> implements Iterator<E> {
    private final Pages pages;
    private final ListObject object;
    private final int step;

    // The index of the next element, while no other caller changes the list.
    private int index;

    private @Nullable Object last;

    private Cursor(Pages pages, ListObject object, int index, int step) {
      this.pages = pages;
      this.object = object;
      this.index = index;
      this.step = step;
    }

    @Override
    public boolean hasNext() {
      return pages.hasNext();
    }

    @Override
    public E next() {
      Object next = pages.next();
      last = next;
      index += step;
      return typed(next);
    }

    @Override
    public void remove() {
      Object removed = last;
      if (removed == null) throw new IllegalStateException("there is no element to remove");
      Same.check(removed);
      if (!object.removeExactly(index - step, removed)) throw moved();
      last = null;
      if (step > 0) index -= step;
    }
  }
}

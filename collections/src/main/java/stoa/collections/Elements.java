package stoa.collections;

import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;

/// What the views of a list have in common: the object and the class of its elements. Immutable.
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
  // holds went through checked()
  static <T> T typed(@Nullable Object held) {
    return (T) held;
  }

  /// Removes or retains what is among others.
  boolean filter(Collection<?> others, boolean among) {
    var all = new ArrayList<Object>();
    for (Object other : others) if (type.isInstance(other)) all.add(other);
    return object.removeAll(all, among);
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
    // Of the moment of the first page, which clamps this to where the last element is then.
    var pages = new Pages(new ObjectPages(stoa, object), ListObject.from(Integer.MAX_VALUE, -1));
    return new Cursor<>(pages, object, last, -1);
  }

  static ConcurrentModificationException moved() {
    return new ConcurrentModificationException(
        "somebody has moved or removed the element that the iterator is at");
  }

  /// Iterates elements as they were; removes from the list as it is.
  private static final class Cursor<E> implements Iterator<E> {
    private final Pages pages;
    private final ListObject object;
    private final int step;

    /// Where the next element is, when nobody else has changed the list.
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

package stoa.collections;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Spliterator;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedList;
import stoa.spi.CallContext;
import stoa.spi.Facade;

/// The implementation of [SharedList].
final class ListFacade<E> extends AbstractList<E> implements SharedList<E>, Facade {
  private final Elements<E> elements;
  private final ListObject object;

  ListFacade(Elements<E> elements) {
    this.elements = elements;
    this.object = elements.object();
  }

  @Override
  public int size() {
    return object.size();
  }

  @Override
  public E get(int index) {
    return Elements.typed(object.get(index));
  }

  @Override
  public E set(int index, E element) {
    return Elements.typed(object.set(index, elements.checked(element)));
  }

  @Override
  public boolean add(E element) {
    object.add(elements.checked(element));
    return true;
  }

  @Override
  public void add(int index, E element) {
    object.addAt(index, elements.checked(element));
  }

  @Override
  public void addFirst(E element) {
    add(0, element);
  }

  @Override
  public void addLast(E element) {
    add(element);
  }

  @Override
  public boolean addAll(Collection<? extends E> more) {
    ArrayList<Object> all = elements.checked(more);
    if (!all.isEmpty()) object.addLast(all);
    return !all.isEmpty();
  }

  @Override
  public boolean addAll(int index, Collection<? extends E> more) {
    ArrayList<Object> all = elements.checked(more);
    object.addAll(index, all);
    return !all.isEmpty();
  }

  @Override
  public E remove(int index) {
    return Elements.typed(object.removeAt(index));
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeFirst(element);
  }

  @Override
  public E getFirst() {
    return present(object.peek(0));
  }

  @Override
  public E getLast() {
    return present(object.peekLast());
  }

  @Override
  public E removeFirst() {
    return present(object.pollFirst());
  }

  @Override
  public E removeLast() {
    return present(object.pollLast());
  }

  private E present(@Nullable Object element) {
    if (element == null) throw new NoSuchElementException("the list is empty");
    return Elements.typed(element);
  }

  @Override
  public boolean removeAll(Collection<?> others) {
    return elements.filter(others, true);
  }

  @Override
  public boolean retainAll(Collection<?> others) {
    return elements.filter(others, false);
  }

  @Override
  public boolean removeIf(Predicate<? super E> filter) {
    return elements.removeIf(filter);
  }

  @Override
  public void replaceAll(UnaryOperator<E> operator) {
    Objects.requireNonNull(operator, "the operator is null");
    if (CallContext.CURRENT.isBound()) {
      super.replaceAll(operator);
      return;
    }
    var _ =
        elements.rewrite(all -> {
          all.replaceAll(operator);
          return !all.isEmpty();
        });
  }

  @Override
  public void sort(@Nullable Comparator<? super E> order) {
    if (CallContext.CURRENT.isBound()) {
      super.sort(order);
      return;
    }
    var _ =
        elements.rewrite(all -> {
          all.sort(order);
          return all.size() > 1;
        });
  }

  @Override
  protected void removeRange(int from, int to) {
    object.removeRange(from, to);
  }

  @Override
  public void clear() {
    object.clear();
  }

  @Override
  public boolean contains(@Nullable Object element) {
    return elements.contains(element);
  }

  @Override
  public int indexOf(@Nullable Object element) {
    return elements.type().isInstance(element) ? object.indexOf(element) : -1;
  }

  @Override
  public int lastIndexOf(@Nullable Object element) {
    return elements.type().isInstance(element) ? object.lastIndexOf(element) : -1;
  }

  @Override
  public Iterator<E> iterator() {
    return elements.forwards();
  }

  @Override
  public ListIterator<E> listIterator() {
    return listIterator(0);
  }

  @Override
  public ListIterator<E> listIterator(int index) {
    var copy = new ArrayList<E>();
    elements.forwards().forEachRemaining(copy::add);
    if (index < 0 || index > copy.size()) {
      throw new IndexOutOfBoundsException(
          "index " + index + " of a list of " + copy.size() + " elements");
    }
    return new Walker<>(elements, copy, index);
  }

  @Override
  public Spliterator<E> spliterator() {
    return MapView.unsized(iterator(), Spliterator.ORDERED);
  }

  /// Walks a copy in both directions; changes the copy and the present list.
  private static final class Walker<E> implements ListIterator<E> {
    private final Elements<E> elements;
    private final List<E> copy;
    private int next;
    private int last = -1;

    // The last element as it was before the caller got it.
    private @Nullable E before;

    private Walker(Elements<E> elements, List<E> copy, int next) {
      this.elements = elements;
      this.copy = copy;
      this.next = next;
    }

    @Override
    public boolean hasNext() {
      return next < copy.size();
    }

    @Override
    public E next() {
      if (!hasNext()) throw new NoSuchElementException();
      last = next++;
      return given();
    }

    @Override
    public boolean hasPrevious() {
      return next > 0;
    }

    @Override
    public E previous() {
      if (!hasPrevious()) throw new NoSuchElementException();
      last = --next;
      return given();
    }

    private E given() {
      E element = copy.get(last);
      before = elements.copy(element);
      return element;
    }

    @Override
    public int nextIndex() {
      return next;
    }

    @Override
    public int previousIndex() {
      return next - 1;
    }

    private Object lastElement() {
      if (last < 0) throw new IllegalStateException("there is no element to change");
      Object element = elements.checked(before);
      Same.check(element);
      return element;
    }

    @Override
    public void remove() {
      if (!elements.object().removeExactly(last, lastElement())) throw Elements.moved();
      copy.remove(last);
      next = last;
      last = -1;
    }

    @Override
    public void set(E element) {
      Object checked = elements.checked(element);
      if (!elements.object().setExactly(last, lastElement(), checked)) throw Elements.moved();
      copy.set(last, element);
      before = elements.copy(element);
    }

    @Override
    public void add(E element) {
      elements.object().addAt(next, elements.checked(element));
      copy.add(next++, element);
      last = -1;
    }
  }

  @Override
  public Object shared() {
    return object;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.LIST, elements.type());
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new ListFacade<>(elements.through(lens));
  }

  @Override
  public boolean isSingle() {
    return true;
  }
}

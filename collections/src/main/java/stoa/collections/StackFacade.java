package stoa.collections;

import java.util.Collection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedStack;
import stoa.spi.Facade;

/// The implementation of [SharedStack]: a deque whose first element is the list's last.
final class StackFacade<E> extends ElementsFacade<E> implements SharedStack<E> {
  StackFacade(Elements<E> elements) {
    super(elements);
  }

  @Override
  public void addFirst(E element) {
    object.add(elements.checked(element));
  }

  @Override
  public void addLast(E element) {
    object.addAt(0, elements.checked(element));
  }

  @Override
  public boolean add(E element) {
    addLast(element);
    return true;
  }

  @Override
  public boolean offer(E element) {
    return add(element);
  }

  @Override
  public boolean offerFirst(E element) {
    addFirst(element);
    return true;
  }

  @Override
  public boolean offerLast(E element) {
    addLast(element);
    return true;
  }

  @Override
  public void push(E element) {
    addFirst(element);
  }

  @Override
  public boolean addAll(Collection<? extends E> more) {
    var all = elements.checked(more);
    java.util.Collections.reverse(all);
    if (!all.isEmpty()) object.addAll(0, all);
    return !all.isEmpty();
  }

  @Override
  public @Nullable E pollFirst() {
    return Elements.typed(object.pollLast());
  }

  @Override
  public @Nullable E pollLast() {
    return Elements.typed(object.pollFirst());
  }

  @Override
  public @Nullable E poll() {
    return pollFirst();
  }

  @Override
  public @Nullable E peekFirst() {
    return Elements.typed(object.peekLast());
  }

  @Override
  public @Nullable E peekLast() {
    return Elements.typed(object.peek(0));
  }

  @Override
  public @Nullable E peek() {
    return peekFirst();
  }

  private static <E> E present(@Nullable E element) {
    if (element == null) throw new NoSuchElementException("the stack is empty");
    return element;
  }

  @Override
  public E removeFirst() {
    return present(pollFirst());
  }

  @Override
  public E removeLast() {
    return present(pollLast());
  }

  @Override
  public E remove() {
    return removeFirst();
  }

  @Override
  public E pop() {
    return removeFirst();
  }

  @Override
  public E getFirst() {
    return present(peekFirst());
  }

  @Override
  public E getLast() {
    return present(peekLast());
  }

  @Override
  public E element() {
    return getFirst();
  }

  @Override
  public boolean removeFirstOccurrence(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeLast(element);
  }

  @Override
  public boolean removeLastOccurrence(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeFirst(element);
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return removeFirstOccurrence(element);
  }

  @Override
  public Iterator<E> iterator() {
    return elements.backwards();
  }

  @Override
  public Iterator<E> descendingIterator() {
    return elements.forwards();
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.STACK, elements.type());
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new StackFacade<>(elements.through(lens));
  }
}

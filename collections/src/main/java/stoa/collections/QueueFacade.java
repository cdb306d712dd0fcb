package stoa.collections;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedQueue;
import stoa.spi.Facade;

/// The implementation of [SharedQueue].
final class QueueFacade<E> extends ElementsFacade<E> implements SharedQueue<E> {
  QueueFacade(Elements<E> elements) {
    super(elements);
  }

  @Override
  public boolean offer(E element) {
    object.add(elements.checked(element));
    return true;
  }

  @Override
  public boolean add(E element) {
    return offer(element);
  }

  @Override
  public @Nullable E poll() {
    return Elements.typed(object.pollFirst());
  }

  @Override
  public @Nullable E peek() {
    return Elements.typed(object.peek(0));
  }

  @Override
  public E remove() {
    return present(poll());
  }

  @Override
  public E element() {
    return present(peek());
  }

  private static <E> E present(@Nullable E element) {
    if (element == null) throw new NoSuchElementException("the queue is empty");
    return element;
  }

  @Override
  public boolean addAll(Collection<? extends E> more) {
    ArrayList<Object> all = elements.checked(more);
    if (!all.isEmpty()) object.addLast(all);
    return !all.isEmpty();
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeFirst(element);
  }

  @Override
  public Iterator<E> iterator() {
    return elements.forwards();
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.QUEUE, elements.type());
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new QueueFacade<>(elements.through(lens));
  }
}

package stoa.collections;

import java.util.AbstractQueue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.Objects;
import java.util.Spliterator;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedQueue;
import stoa.spi.Facade;

/// The implementation of [SharedQueue].
final class QueueFacade<E> extends AbstractQueue<E> implements SharedQueue<E>, Facade {
  private final Elements<E> elements;
  private final ListObject object;

  QueueFacade(Elements<E> elements) {
    this.elements = elements;
    this.object = elements.object();
  }

  @Override
  public boolean offer(E element) {
    object.add(elements.checked(element));
    return true;
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
  public int size() {
    return object.size();
  }

  @Override
  public boolean addAll(Collection<? extends E> more) {
    ArrayList<Object> all = elements.checked(more);
    if (!all.isEmpty()) object.addLast(all);
    return !all.isEmpty();
  }

  @Override
  public boolean contains(@Nullable Object element) {
    return elements.contains(element);
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeFirst(element);
  }

  @Override
  public boolean removeAll(Collection<?> others) {
    return elements.filter(Objects.requireNonNull(others, "the collection is null"), true);
  }

  @Override
  public boolean removeIf(Predicate<? super E> filter) {
    return elements.removeIf(filter);
  }

  @Override
  public boolean retainAll(Collection<?> others) {
    return elements.filter(Objects.requireNonNull(others, "the collection is null"), false);
  }

  @Override
  public void clear() {
    object.clear();
  }

  @Override
  public Iterator<E> iterator() {
    return elements.forwards();
  }

  @Override
  public Spliterator<E> spliterator() {
    return MapView.unsized(iterator(), Spliterator.ORDERED);
  }

  @Override
  public Object shared() {
    return object;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.QUEUE, elements.type());
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    var seen = (ListObject) lens.apply(object);
    return new QueueFacade<>(new Elements<>(elements.stoa(), elements.type(), seen));
  }

  @Override
  public boolean isSingle() {
    return true;
  }
}

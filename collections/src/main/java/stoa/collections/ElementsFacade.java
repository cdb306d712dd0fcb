package stoa.collections;

import java.util.AbstractCollection;
import java.util.Collection;
import java.util.Spliterator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.spi.Facade;

/// The common part of a queue and a stack, whose elements are in a list.
abstract class ElementsFacade<E> extends AbstractCollection<E> implements Facade {
  final Elements<E> elements;
  final ListObject object;

  ElementsFacade(Elements<E> elements) {
    this.elements = elements;
    this.object = elements.object();
  }

  @Override
  public boolean contains(@Nullable Object element) {
    return elements.contains(element);
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
  public int size() {
    return object.size();
  }

  @Override
  public void clear() {
    object.clear();
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
  public boolean isSingle() {
    return true;
  }
}

package stoa.collections;

import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.SharedBlockingDeque;
import stoa.spi.Facade;

/// The implementation of [SharedBlockingDeque].
final class BlockingFacade<E> extends ElementsFacade<E> implements SharedBlockingDeque<E> {
  // How many elements one call drains.
  private static final int DRAINED_MAX = 1_000;

  private final BlockingObject blocking;

  BlockingFacade(Elements<E> elements) {
    super(elements);
    blocking = (BlockingObject) elements.object();
  }

  // ---- calls that wait

  @Override
  public void putFirst(E element) {
    blocking.putFirst(elements.checked(element));
  }

  @Override
  public void putLast(E element) {
    blocking.putLast(elements.checked(element));
  }

  @Override
  public void put(E element) {
    putLast(element);
  }

  @Override
  public E takeFirst() {
    return Elements.typed(blocking.takeFirst());
  }

  @Override
  public E takeLast() {
    return Elements.typed(blocking.takeLast());
  }

  @Override
  public E take() {
    return takeFirst();
  }

  @Override
  public boolean offerFirst(E element, long timeout, TimeUnit unit) {
    Object checked = elements.checked(element);
    return within(timeout, unit, list -> list.putFirst(checked), list -> list.offerFirst(checked));
  }

  @Override
  public boolean offerLast(E element, long timeout, TimeUnit unit) {
    Object checked = elements.checked(element);
    return within(timeout, unit, list -> list.putLast(checked), list -> list.offerLast(checked));
  }

  @Override
  public boolean offer(E element, long timeout, TimeUnit unit) {
    return offerLast(element, timeout, unit);
  }

  @Override
  public @Nullable E pollFirst(long timeout, TimeUnit unit) {
    return taken(timeout, unit, BlockingObject::takeFirst, BlockingObject::pollFirst);
  }

  @Override
  public @Nullable E pollLast(long timeout, TimeUnit unit) {
    return taken(timeout, unit, BlockingObject::takeLast, BlockingObject::pollLast);
  }

  @Override
  public @Nullable E poll(long timeout, TimeUnit unit) {
    return pollFirst(timeout, unit);
  }

  private boolean within(
      long timeout,
      TimeUnit unit,
      Consumer<BlockingObject> waiting,
      Function<BlockingObject, Boolean> atOnce) {
    Objects.requireNonNull(unit, "the unit is null");
    if (timeout <= 0) return atOnce.apply(blocking);
    try {
      waiting.accept(limited(timeout, unit));
      return true;
    } catch (DeadlineExceeded late) { // it has changed nothing
      return false;
    }
  }

  private @Nullable E taken(
      long timeout,
      TimeUnit unit,
      Function<BlockingObject, Object> waiting,
      Function<BlockingObject, @Nullable Object> atOnce) {
    Objects.requireNonNull(unit, "the unit is null");
    if (timeout <= 0) return Elements.typed(atOnce.apply(blocking));
    try {
      return Elements.typed(waiting.apply(limited(timeout, unit)));
    } catch (DeadlineExceeded late) { // it has changed nothing
      return null;
    }
  }

  private BlockingObject limited(long timeout, TimeUnit unit) {
    return elements.stoa().within(Duration.ofNanos(unit.toNanos(timeout)), blocking);
  }

  // ---- calls that do not wait

  @Override
  public boolean offerFirst(E element) {
    return blocking.offerFirst(elements.checked(element));
  }

  @Override
  public boolean offerLast(E element) {
    return blocking.offerLast(elements.checked(element));
  }

  @Override
  public boolean offer(E element) {
    return offerLast(element);
  }

  @Override
  public void addFirst(E element) {
    if (!offerFirst(element)) throw full();
  }

  @Override
  public void addLast(E element) {
    if (!offerLast(element)) throw full();
  }

  @Override
  public boolean add(E element) {
    addLast(element);
    return true;
  }

  @Override
  public void push(E element) {
    addFirst(element);
  }

  /// Adds all elements in one call, or none.
  @Override
  public boolean addAll(Collection<? extends E> more) {
    if (isItself(more)) throw itself();
    var all = elements.checked(more);
    if (all.isEmpty()) return false;
    if (!blocking.offerAll(all)) throw full();
    return true;
  }

  @Override
  public @Nullable E pollFirst() {
    return Elements.typed(object.pollFirst());
  }

  @Override
  public @Nullable E pollLast() {
    return Elements.typed(object.pollLast());
  }

  @Override
  public @Nullable E poll() {
    return pollFirst();
  }

  @Override
  public @Nullable E peekFirst() {
    return Elements.typed(object.peek(0));
  }

  @Override
  public @Nullable E peekLast() {
    return Elements.typed(object.peekLast());
  }

  @Override
  public @Nullable E peek() {
    return peekFirst();
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
  public int remainingCapacity() {
    int capacity = blocking.capacity();
    return capacity == Integer.MAX_VALUE ? capacity : blocking.remaining();
  }

  @Override
  public int drainTo(Collection<? super E> target) {
    return drainTo(target, Integer.MAX_VALUE);
  }

  @Override
  public int drainTo(Collection<? super E> target, int max) {
    Objects.requireNonNull(target, "the collection is null");
    if (isItself(target)) throw itself();
    int count = 0;
    List<Object> some;
    do {
      int most = Math.min(max - count, DRAINED_MAX);
      if (most <= 0) break;
      some = blocking.drain(most);
      for (Object element : some) target.add(Elements.typed(element));
      count += some.size();
    } while (some.size() == DRAINED_MAX);
    return count;
  }

  @Override
  public boolean removeFirstOccurrence(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeFirst(element);
  }

  @Override
  public boolean removeLastOccurrence(@Nullable Object element) {
    return elements.type().isInstance(element) && object.removeLast(element);
  }

  @Override
  public boolean remove(@Nullable Object element) {
    return removeFirstOccurrence(element);
  }

  @Override
  public Iterator<E> iterator() {
    return elements.forwards();
  }

  @Override
  public Iterator<E> descendingIterator() {
    return elements.backwards();
  }

  private static <E> E present(@Nullable E element) {
    if (element == null) throw new NoSuchElementException("the queue is empty");
    return element;
  }

  private static IllegalStateException full() {
    return new IllegalStateException("the queue is full; take an element, or put and wait");
  }

  private boolean isItself(Object other) {
    return other instanceof BlockingFacade<?> facade && blocking.equals(facade.blocking);
  }

  private static IllegalArgumentException itself() {
    return new IllegalArgumentException("a queue cannot be added to itself");
  }

  // ---- for the engine

  @Override
  public String form() {
    return Form.of(Form.Kind.BLOCKING, elements.type());
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new BlockingFacade<>(elements.through(lens));
  }
}

package stoa;

import java.util.concurrent.BlockingDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A shared deque whose callers wait at both ends, as those of a [SharedBlockingQueue] do: to take
/// while it is empty, and to put while it is full.
///
/// A view of the same object as the [SharedBlockingQueue] of that name.
public interface SharedBlockingDeque<E> extends SharedBlockingQueue<E>, BlockingDeque<E> {
  @Override
  void put(E element);

  @Override
  void putFirst(E element);

  @Override
  void putLast(E element);

  @Override
  boolean offer(E element, long timeout, TimeUnit unit);

  @Override
  boolean offerFirst(E element, long timeout, TimeUnit unit);

  @Override
  boolean offerLast(E element, long timeout, TimeUnit unit);

  @Override
  E take();

  @Override
  E takeFirst();

  @Override
  E takeLast();

  @Override
  @Nullable E poll(long timeout, TimeUnit unit);

  @Override
  @Nullable E pollFirst(long timeout, TimeUnit unit);

  @Override
  @Nullable E pollLast(long timeout, TimeUnit unit);
}

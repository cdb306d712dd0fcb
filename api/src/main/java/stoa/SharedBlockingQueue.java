package stoa;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A shared queue whose callers wait: `take` until there is an element, and `put` while the queue
/// is full.
///
/// The end at which elements are offered and the beginning at which they are taken are those of the
/// [SharedBlockingDeque] of that name. Each method is one call, so no two callers take the same
/// element, and a call that waits holds no thread of the store ([Call#await]). Callers that wait
/// take and put in the order of their arrival.
///
/// `take`, `put`, and `poll` and `offer` with a time, wait; so they are refused in a transaction
/// and in a method of a shared object, where `poll` and `offer` without a time work. Times have
/// units of 50 ms, rounded up. An interrupt ends no wait: limit it by a time. Iterators are those
/// of [SharedList]. Elements are never null. Thread-safe.
public interface SharedBlockingQueue<E> extends BlockingQueue<E> {
  @Override
  void put(E element);

  @Override
  boolean offer(E element, long timeout, TimeUnit unit);

  @Override
  E take();

  @Override
  @Nullable E poll(long timeout, TimeUnit unit);
}

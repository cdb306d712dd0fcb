package stoa.front;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Follower;

/// A reader that waits at the end of a log or stream. One thread reads; any closes.
///
/// @param <E> the entries
final class SharedFollower<E> implements Follower<E> {
  private final Service.Tail<E> tail;
  private final Runnable ended;
  private final AtomicBoolean closed = new AtomicBoolean();

  /// @param ended runs once, on close
  SharedFollower(Service.Tail<E> tail, Runnable ended) {
    this.tail = tail;
    this.ended = ended;
  }

  private void checkOpen() {
    if (closed.get()) throw new Closed("the follower is closed");
  }

  @Override
  public E next() throws InterruptedException {
    while (true) {
      E element = next(Long.MAX_VALUE);
      if (element != null) return element;
    }
  }

  @Override
  public Optional<E> next(Duration timeoutMax) throws InterruptedException {
    return Optional.ofNullable(next(TimeUnit.NANOSECONDS.convert(timeoutMax)));
  }

  private @Nullable E next(long nanosMax) throws InterruptedException {
    checkOpen();
    E element = tail.next(nanosMax);
    if (element == null) checkOpen();
    return element;
  }

  @Override
  public Optional<E> poll() {
    checkOpen();
    return Optional.ofNullable(tail.poll());
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    ended.run();
    tail.close();
  }
}

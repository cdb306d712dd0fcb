package stoa.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Follower;

/// Reads what is committed a page at a time, and waits at its end. One thread reads; any closes.
final class StoredFollower<E> implements Follower<E> {
  /// What is followed, by a position that rises.
  interface Source<E> {
    /// The last position that is committed.
    long end();

    /// Reads from one position to another, both inclusive, until the page is full.
    void read(long first, long end, Page<E> page);
  }

  /// A bounded part of what is followed.
  static final class Page<E> {
    private static final int ELEMENTS_MAX = 256;
    private static final int BYTES_MAX = 1 << 20;

    private final ArrayDeque<E> elements = new ArrayDeque<>();
    private long bytes;
    private long last;

    /// Adds an element; answers whether there is room for another.
    boolean add(E element, long position, long elementBytes) {
      elements.add(element);
      bytes += elementBytes;
      last = position;
      return !isFull();
    }

    private boolean isFull() {
      return elements.size() >= ELEMENTS_MAX || bytes >= BYTES_MAX;
    }
  }

  private final Health health;
  private final Progress progress;
  private final Source<E> source;
  private final Runnable ended;
  private final AtomicBoolean closed = new AtomicBoolean();
  private Page<E> page = new Page<>();
  private long next;

  /// @param first the position at which it begins
  /// @param ended told once, when it is closed
  StoredFollower(Health health, Progress progress, long first, Source<E> source, Runnable ended) {
    this.health = health;
    this.progress = progress;
    this.next = first;
    this.source = source;
    this.ended = ended;
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
    long nanos;
    try {
      nanos = timeoutMax.toNanos();
    } catch (ArithmeticException forever) {
      nanos = Long.MAX_VALUE;
    }
    return Optional.ofNullable(next(nanos));
  }

  @Override
  public Optional<E> poll() {
    return Optional.ofNullable(now());
  }

  private @Nullable E next(long nanosMax) throws InterruptedException {
    long left = nanosMax;
    while (true) {
      // Before it is read: what comes after that ends the wait.
      long seen = progress.counter();
      E element = now();
      if (element != null || left <= 0) return element;
      left = progress.await(seen, left, this::mustLook);
    }
  }

  private boolean mustLook() {
    return closed.get() || health.isClosed() || health.hasFailed();
  }

  private @Nullable E now() {
    checkOpen();
    if (page.elements.isEmpty() && !read()) {
      // Only now: what was committed before the failure is read.
      health.confirm();
      return null;
    }
    return page.elements.poll();
  }

  /// Reads the next page; answers whether anything is in it.
  private boolean read() {
    long end = source.end();
    if (next > end) return false;
    var more = new Page<E>();
    try {
      source.read(next, end, more);
    } catch (RuntimeException failure) {
      checkOpen();
      throw failure;
    }
    page = more;
    next = (more.isFull() ? more.last : end) + 1;
    return !more.elements.isEmpty();
  }

  private void checkOpen() {
    if (closed.get()) throw new Closed("the follower is closed");
    health.checkOpen();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    ended.run();
    progress.wake();
  }
}

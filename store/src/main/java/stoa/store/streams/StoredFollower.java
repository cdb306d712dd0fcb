package stoa.store.streams;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.store.leading.Health;
import stoa.store.watching.Progress;

/// Reads committed elements a page at a time, and waits at their end. One thread reads; any thread
/// closes.
///
/// @param <E> the type of the elements
public final class StoredFollower<E> {
  /// The followed elements, by a rising position.
  interface Source<E> {
    /// Returns the last committed position.
    long end();

    /// Reads from one position to another, both inclusive, until the page is full.
    void read(long first, long end, Page<E> page);
  }

  /// A bounded part of the elements.
  static final class Page<E> {
    private static final int ELEMENTS_MAX = 256;
    private static final int BYTES_MAX = 1 << 20;

    private final ArrayDeque<E> elements = new ArrayDeque<>();
    private long bytes;
    private long last;

    /// Adds an element; returns whether there is room for another.
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
  private final AtomicBoolean closed = new AtomicBoolean();
  private Page<E> page = new Page<>();
  private long next;

  /// @param first the position of the first element
  StoredFollower(Health health, Progress progress, long first, Source<E> source) {
    this.health = health;
    this.progress = progress;
    this.next = first;
    this.source = source;
  }

  /// Returns the next element, null when it is not committed yet.
  public @Nullable E poll() {
    if (closed.get()) return null;
    health.checkOpen();
    if (page.elements.isEmpty() && !read()) {
      // This comes only now: a reader still gets the elements that were committed before the
      // failure.
      health.confirm();
      return null;
    }
    return page.elements.poll();
  }

  /// Returns the next element, null when it was not committed in time, or this was closed.
  public @Nullable E next(long nanosMax) throws InterruptedException {
    long left = nanosMax;
    while (true) {
      // This comes before the read: a later commit ends the wait.
      long seen = progress.counter();
      E element = poll();
      if (element != null || left <= 0 || closed.get()) return element;
      left = progress.await(seen, left, this::mustLook);
    }
  }

  private boolean mustLook() {
    return closed.get() || health.isClosed() || health.hasFailed();
  }

  /// Reads the next page; returns whether it has an element.
  private boolean read() {
    long end = source.end();
    if (next > end) return false;
    var more = new Page<E>();
    try {
      source.read(next, end, more);
    } catch (RuntimeException failure) {
      if (closed.get()) return false;
      health.checkOpen();
      throw failure;
    }
    page = more;
    next = (more.isFull() ? more.last : end) + 1;
    return !more.elements.isEmpty();
  }

  /// Closes this and ends a wait in progress.
  public void close() {
    closed.set(true);
    progress.wake();
  }
}

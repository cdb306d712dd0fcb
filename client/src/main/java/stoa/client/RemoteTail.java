package stoa.client;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.front.Service;

/// The new entries at the end of a log or stream in a server. One thread reads; any thread may
/// close.
///
/// @param <E> the entries
final class RemoteTail<E> implements Service.Tail<E> {
  /// Reads on from the end of the last read.
  interface Source<E> {
    /// Returns a bounded number of the next entries.
    ///
    /// @param waitMillis how long the server may wait for an entry
    List<E> read(int waitMillis);

    /// Returns a log address up to which it has read everything; null when it knows none.
    default @Nullable LogAddress level() {
      return null;
    }
  }

  // The wait when the server had nothing and did not wait.
  private static final long IDLE_MILLIS = 5;

  // The time that the server waits in one request.
  private static final int WAIT_MILLIS = 200;

  private final RemotePart stoa;
  private final Source<E> source;
  private final ArrayDeque<E> ahead = new ArrayDeque<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  RemoteTail(RemotePart stoa, Source<E> source) {
    stoa.conversation().check();
    this.stoa = stoa;
    this.source = source;
  }

  private @Nullable E take(int waitMillis) {
    if (closed.getCount() == 0) return null;
    stoa.conversation().check();
    if (ahead.isEmpty()) ahead.addAll(source.read(waitMillis));
    return ahead.poll();
  }

  @Override
  public @Nullable E poll() {
    return take(0);
  }

  @Override
  public @Nullable E next(long nanosMax) throws InterruptedException {
    long deadline = System.nanoTime() + nanosMax;
    while (true) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      E found = take(Math.clamp(left, 0, WAIT_MILLIS));
      if (found != null || left <= 0 || closed.getCount() == 0) return found;
      if (Thread.interrupted()) throw new InterruptedException();
      var _ = closed.await(Math.min(left, IDLE_MILLIS), TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public @Nullable LogAddress level() {
    return ahead.isEmpty() ? source.level() : null;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}

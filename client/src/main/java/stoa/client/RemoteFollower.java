package stoa.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Follower;

/// A reader that stays behind the end of a log or stream in a server. One thread reads; any thread
/// may close.
///
/// @param <E> what is read
final class RemoteFollower<E> implements Follower<E> {
  /// Reads on where it ended the last time.
  interface Source<E> {
    /// What comes next, a bounded part of it.
    ///
    /// @param waitMillis how long the server may wait for something
    List<E> read(int waitMillis);
  }

  /// How long it waits when the server had nothing and did not wait.
  private static final long IDLE_MILLIS = 5;

  private final RemotePart stoa;
  private final Runnable end;
  private final Source<E> source;
  private final int waitMillis;
  private final ArrayDeque<E> ahead = new ArrayDeque<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// @param end told once, when it is closed
  RemoteFollower(RemotePart stoa, Runnable end, Source<E> source, int waitMillis) {
    this.stoa = stoa;
    this.end = end;
    this.source = source;
    this.waitMillis = waitMillis;
  }

  private @Nullable E take(int wait) {
    if (closed.getCount() == 0) throw new Closed("the follower is closed");
    stoa.conversation().check();
    if (ahead.isEmpty()) ahead.addAll(source.read(wait));
    return ahead.poll();
  }

  @Override
  public E next() throws InterruptedException {
    while (true) {
      E found = take(waitMillis);
      if (found != null) return found;
      pause(IDLE_MILLIS);
    }
  }

  @Override
  public Optional<E> next(Duration timeoutMax) throws InterruptedException {
    long deadline = System.nanoTime() + timeoutMax.toNanos();
    while (true) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      E found = take(Math.clamp(left, 0, waitMillis));
      if (found != null) return Optional.of(found);
      if (left <= 0) return Optional.empty();
      pause(Math.min(left, IDLE_MILLIS));
    }
  }

  private void pause(long millis) throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    var _ = closed.await(millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public Optional<E> poll() {
    return Optional.ofNullable(take(0));
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed.getCount() == 0) return;
      closed.countDown();
    }
    end.run();
  }
}

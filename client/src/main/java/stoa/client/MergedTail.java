package stoa.client;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.front.Service;

/// The new entries at the end of the one log of several groups. One thread reads; any thread may
/// close.
///
/// @param <E> the contents of log addresses
final class MergedTail<E> implements Service.Tail<E> {
  // The time that a server waits in one request.
  private static final int WAIT_MILLIS = 200;

  // The wait when no server had anything, or waited.
  private static final long IDLE_MILLIS = 5;

  private final RemotePart stoa;
  private final MergedLog<E> log;

  // The questions that wait at servers for later entries.
  private final Map<MergedLog.Cursor<E>, RemoteStreams.PendingAnswer> waiting = new HashMap<>();

  private final CountDownLatch closed = new CountDownLatch(1);

  /// @param stoa the first part
  MergedTail(RemotePart stoa, MergedLog<E> log) {
    stoa.conversation().check();
    this.stoa = stoa;
    this.log = log;
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  /// Returns the next of the entries that are known, after it has asked all groups up to there.
  private @Nullable E known() {
    if (isClosed()) return null;
    stoa.conversation().check();
    return log.next(log.known());
  }

  @Override
  public @Nullable E poll() {
    E found = known();
    if (found != null || isClosed()) return found;
    List<MergedLog.Cursor<E>> cursors = log.cursors();
    var asked = cursors.stream().map(cursor -> cursor.later(0)).toList();
    for (int i = 0; i < asked.size(); i++) cursors.get(i).takeLater(asked.get(i).join());
    found = known();
    if (found != null) return found;
    log.even();
    return known();
  }

  @Override
  public @Nullable E next(long nanosMax) throws InterruptedException {
    if (nanosMax <= 0) return poll();
    long deadline = System.nanoTime() + nanosMax;
    while (true) {
      E found = known();
      if (found != null || isClosed()) return found;
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        log.even();
        return known();
      }
      int wait = (int) Math.min(left, WAIT_MILLIS);
      for (MergedLog.Cursor<E> cursor : log.cursors()) {
        var _ = waiting.computeIfAbsent(cursor, one -> one.later(wait));
      }
      await(left);
      if (!takeAnswers()) {
        var _ = closed.await(Math.min(left, IDLE_MILLIS), TimeUnit.MILLISECONDS);
      }
    }
  }

  private void await(long millis) throws InterruptedException {
    var answers = waiting.values().stream().map(RemoteStreams.PendingAnswer::answer).toList();
    try {
      CompletableFuture.anyOf(answers.toArray(CompletableFuture<?>[]::new))
          .get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException later) {
      // takeAnswers says which one failed.
    }
  }

  /// Takes the answers that have arrived; returns whether they had entries.
  ///
  /// @throws RuntimeException when a question failed; the next call asks again
  private boolean takeAnswers() {
    for (MergedLog.Cursor<E> cursor : log.cursors()) {
      RemoteStreams.PendingAnswer asked = waiting.get(cursor);
      if (asked == null || !asked.answer().isDone()) continue;
      waiting.remove(cursor);
      cursor.takeLater(asked.join());
    }
    return log.hasKnown();
  }

  @Override
  public @Nullable LogAddress level() {
    return log.level();
  }

  @Override
  public void close() {
    closed.countDown();
  }
}

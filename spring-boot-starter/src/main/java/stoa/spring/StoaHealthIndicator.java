package stoa.spring;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import stoa.KeyValueStore;
import stoa.Stoa;

/// Asks the store whether it answers, within a time limit.
///
/// The questions are reads of keys that have no value. They write nothing, and a server answers
/// them only while it leads. The keys spread over the groups of the store: each of up to 32 groups
/// has one of them, except with a probability of 0.001 %; of 64 groups, except with one of 2 %. The
/// health is *down* when one of the questions fails or all answers have not come in time.
/// Thread-safe.
public final class StoaHealthIndicator extends AbstractHealthIndicator {
  private static final int QUESTIONS = 512;

  private final Stoa stoa;
  private final String url;
  private final Duration timeMax;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock. A store that answers nothing gets no second round of questions.
  private @Nullable Round round;

  /// Creates the indicator.
  ///
  /// @param url of the store, for the details; empty for none
  /// @param timeMax how long the store may take
  public StoaHealthIndicator(Stoa stoa, String url, Duration timeMax) {
    super("Stoa does not answer");
    this.stoa = stoa;
    this.url = url;
    this.timeMax = timeMax;
  }

  /// Questions that were asked together.
  ///
  /// @param answered completes with the time that all answers took, in nanoseconds
  private record Round(CompletableFuture<Long> answered) {}

  @Override
  protected void doHealthCheck(Health.Builder builder) throws Exception {
    if (!url.isEmpty()) builder.withDetail("url", url);
    try {
      long nanos = round().answered.get(timeMax.toNanos(), TimeUnit.NANOSECONDS);
      builder.up().withDetail("answeredInMicros", TimeUnit.NANOSECONDS.toMicros(nanos));
    } catch (TimeoutException e) {
      builder.down().withDetail("error", "no answer within " + timeMax.toMillis() + " ms");
    } catch (ExecutionException e) {
      builder.down(e.getCause() == null ? e : e.getCause());
    }
  }

  private Round round() {
    lock.lock();
    try {
      Round known = round;
      if (known != null && !known.answered.isDone()) return known;
      var next = new Round(new CompletableFuture<>());
      round = next;
      // A store that takes no more calls may have its callers wait.
      Thread.ofVirtual().name("stoa-health").start(() -> ask(next));
      return next;
    } finally {
      lock.unlock();
    }
  }

  private void ask(Round asked) {
    long began = System.nanoTime();
    try {
      KeyValueStore store = stoa.store();
      var answers = new CompletableFuture<?>[QUESTIONS];
      for (int i = 0; i < QUESTIONS; i++) answers[i] = store.getAsync("stoa.spring.health/" + i);
      CompletableFuture.allOf(answers).join();
      asked.answered.complete(System.nanoTime() - began);
    } catch (RuntimeException | Error failed) {
      Throwable cause =
          failed instanceof java.util.concurrent.CompletionException ? failed.getCause() : null;
      asked.answered.completeExceptionally(cause == null ? failed : cause);
    }
  }
}

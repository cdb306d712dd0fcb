package stoa.node;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Slows down those who try tokens. Thread-safe.
///
/// The refusal of a wrong token takes a while. While as many refusals as there may be are due at
/// one address, no further token from there is looked at. So an address learns of 16 tokens a
/// second whether they are right, over however many connections.
final class WrongTokens {
  /// So many refusals are due at one address, at most.
  static final int WAITING_MAX = 8;

  private static final Duration DELAY = Duration.ofMillis(500);
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(WrongTokens.class);

  // Guarded by this.
  private final Map<String, Integer> waiting = new HashMap<>();
  private long toldNanos = System.nanoTime() - TOLD_NANOS;
  private long untold;

  /// Whether a token from an address is looked at.
  synchronized boolean mayTry(String address) {
    return waiting.getOrDefault(address, 0) < WAITING_MAX;
  }

  /// A wrong token has come from an address; the refusal is called when it is due.
  void refuse(String address, Runnable refusal) {
    note(address);
    CompletableFuture.delayedExecutor(DELAY.toMillis(), TimeUnit.MILLISECONDS)
        .execute(() -> {
          leave(address);
          refusal.run();
        });
  }

  private synchronized void note(String address) {
    waiting.merge(address, 1, Integer::sum);
    long now = System.nanoTime();
    if (now - toldNanos < TOLD_NANOS) {
      untold++;
      return;
    }
    toldNanos = now;
    LOG.warn(
        "a wrong token came from {}, and {} others before since this was told last",
        address,
        untold);
    untold = 0;
  }

  private synchronized void leave(String address) {
    waiting.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
  }
}

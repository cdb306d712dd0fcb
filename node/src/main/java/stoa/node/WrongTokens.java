package stoa.node;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Slows down clients that try tokens. Thread-safe.
///
/// The refusal of a wrong token takes a while. While the most refusals are due at one address, the
/// server examines no further token from there. So an address learns of 16 tokens a second whether
/// they are right, over however many connections.
final class WrongTokens {
  /// The most refusals that are due at one address.
  static final int WAITING_MAX = 8;

  private static final Duration DELAY = Duration.ofMillis(500);
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(WrongTokens.class);

  // Guarded by this.
  private final Map<String, Integer> waiting = new HashMap<>();
  private long toldNanos = System.nanoTime() - TOLD_NANOS;
  private long untold;
  private long total;

  /// Returns whether the server examines a token from an address.
  synchronized boolean mayTry(String address) {
    return waiting.getOrDefault(address, 0) < WAITING_MAX;
  }

  /// Records a wrong token from an address; calls the refusal when it is due.
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
    total++;
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

  /// Returns how many there were.
  synchronized long total() {
    return total;
  }

  private synchronized void leave(String address) {
    waiting.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
  }
}

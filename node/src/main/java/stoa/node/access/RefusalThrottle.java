package stoa.node.access;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs and counts refusals, and slows down clients that cause them. Thread-safe.
///
/// A refusal takes a while. While the most refusals are due at one source, an address or an
/// identity, the source learns nothing more. So an address learns of 16 tokens a second whether
/// they are right, over however many connections.
public final class RefusalThrottle {
  /// The most refusals that are due at one source.
  public static final int WAITING_MAX = 8;

  /// The most sources that are counted by themselves; the others count as one.
  public static final int SOURCES_MAX = 1_024;

  private static final String OTHERS = "others";
  private static final Duration DELAY = Duration.ofMillis(500);
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RefusalThrottle.class);

  // Guarded by this.
  private final Map<String, Integer> waiting = new HashMap<>();
  private long toldNanos = System.nanoTime() - TOLD_NANOS;
  private long untold;
  private long unproved;
  private long forbidden;

  /// Creates it.
  public RefusalThrottle() {}

  /// Returns whether a source learns something now.
  public synchronized boolean mayTry(String source) {
    return waiting.getOrDefault(counted(source), 0) < WAITING_MAX;
  }

  private String counted(String source) {
    return waiting.size() < SOURCES_MAX || waiting.containsKey(source) ? source : OTHERS;
  }

  /// Records a client without a known proof; runs the refusal when it is due.
  ///
  /// @param address of the client
  public void unproved(String address, Runnable refusal) {
    synchronized (this) {
      unproved++;
    }
    String source = begin(address, "a wrong token or certificate came from " + address);
    later(source, refusal);
  }

  /// Records a request that the roles of an identity do not allow; runs the refusal when it is due.
  ///
  /// @param source the identity
  /// @param why the words of the refusal
  public void forbidden(String source, String why, Runnable refusal) {
    synchronized (this) {
      forbidden++;
    }
    String counted = begin(source, why);
    later(counted, refusal);
  }

  private void later(String source, Runnable refusal) {
    CompletableFuture.delayedExecutor(DELAY.toMillis(), TimeUnit.MILLISECONDS)
        .execute(() -> {
          leave(source);
          refusal.run();
        });
  }

  private synchronized String begin(String source, String why) {
    String counted = counted(source);
    waiting.merge(counted, 1, Integer::sum);
    long now = System.nanoTime();
    if (now - toldNanos < TOLD_NANOS) {
      untold++;
      return counted;
    }
    toldNanos = now;
    LOG.warn("{}; {} other refusals since this was told last", why, untold);
    untold = 0;
    return counted;
  }

  private synchronized void leave(String source) {
    waiting.computeIfPresent(source, (_, count) -> count == 1 ? null : count - 1);
  }

  /// Returns how many clients had no known proof.
  public synchronized long unproved() {
    return unproved;
  }

  /// Returns how many requests the roles of their identity did not allow.
  public synchronized long forbidden() {
    return forbidden;
  }

  /// Returns how many sources have refusals due.
  synchronized int sources() {
    return waiting.size();
  }
}

package stoa.cluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Who has the store, for those who wait to know. Thread-safe.
final class Leader {
  // Guarded by this.
  private final Map<Long, CompletableFuture<String>> waiting = new HashMap<>();
  private long numbers;
  private @Nullable String known;

  /// Where clients find the server that has the store; completed when that is known. It is kept
  /// until then, or until who asks completes it.
  CompletableFuture<String> ask() {
    var asked = new CompletableFuture<String>();
    long number;
    synchronized (this) {
      String address = known;
      if (address != null) return CompletableFuture.completedFuture(address);
      number = ++numbers;
      waiting.put(number, asked);
    }
    var _ = asked.whenComplete((_, _) -> forget(number));
    return asked;
  }

  private synchronized void forget(long number) {
    waiting.remove(number);
  }

  /// A server has the store.
  void is(String address) {
    List<CompletableFuture<String>> told;
    synchronized (this) {
      known = address;
      told = List.copyOf(waiting.values());
      waiting.clear();
    }
    // Whoever waits is told on this thread, and not under the lock.
    for (var one : told) one.complete(address);
  }

  /// Nobody is known to have it.
  synchronized void isUnknown() {
    known = null;
  }

  /// Whether somebody is known to have it.
  synchronized boolean isKnown() {
    return known != null;
  }

  /// How many wait.
  synchronized int waiting() {
    return waiting.size();
  }
}

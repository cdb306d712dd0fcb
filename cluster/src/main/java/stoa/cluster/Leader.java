package stoa.cluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The server that has the store, for those that wait to know it. Thread-safe.
final class Leader {
  // Guarded by this.
  private final Map<Long, CompletableFuture<String>> waiting = new HashMap<>();
  private long numbers;
  private @Nullable String known;

  /// Returns where clients find the server that has the store, completed when that is known. This
  /// keeps the future until then, or until the caller completes it.
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

  /// Records that a server has the store.
  void is(String address) {
    List<CompletableFuture<String>> told;
    synchronized (this) {
      known = address;
      told = List.copyOf(waiting.values());
      waiting.clear();
    }
    // This thread completes the waiting futures without the lock.
    for (var one : told) one.complete(address);
  }

  /// Records that no server is known to have it.
  synchronized void isUnknown() {
    known = null;
  }

  /// Returns whether a server is known to have it.
  synchronized boolean isKnown() {
    return known != null;
  }

  /// Returns how many wait.
  synchronized int waiting() {
    return waiting.size();
  }
}

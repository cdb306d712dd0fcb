package stoa.cluster;

import java.util.concurrent.CompletableFuture;

/// Who has the store, for those who wait to know. Thread-safe.
final class Leader {
  private CompletableFuture<String> known = new CompletableFuture<>(); // guarded by this

  /// Where clients find the server that has the store; completed when that is known.
  synchronized CompletableFuture<String> ask() {
    return known.copy();
  }

  /// A server has the store.
  void is(String address) {
    CompletableFuture<String> waiting;
    synchronized (this) {
      if (known.isDone()) known = new CompletableFuture<>();
      waiting = known;
    }
    waiting.complete(address); // whoever waits is told on this thread, and not under the lock
  }

  /// Nobody is known to have it.
  synchronized void isUnknown() {
    if (known.isDone()) known = new CompletableFuture<>();
  }

  /// Whether somebody is known to have it.
  synchronized boolean isKnown() {
    return known.isDone();
  }
}

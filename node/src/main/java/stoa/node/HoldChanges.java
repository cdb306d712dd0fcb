package stoa.node;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/// The changes in progress of what a session holds of the past: its pins begin and end, and its
/// transactions end. A trim waits for those that its client has asked for before, since it releases
/// only what nothing holds. Thread-safe.
///
/// A trim waits on no thread: an earlier request of a transaction may need the threads of the
/// session's calls.
final class HoldChanges {
  private record Change(CompletableFuture<Void> ended) {}

  private final Set<Change> inProgress = ConcurrentHashMap.newKeySet();

  /// Notes that a change begins. Returns its work, which notes the end of the change.
  ///
  /// @param work makes the change; runs once
  Runnable noted(Runnable work) {
    var change = new Change(new CompletableFuture<>());
    inProgress.add(change);
    return () -> {
      try {
        work.run();
      } finally {
        inProgress.remove(change);
        change.ended.complete(null);
      }
    };
  }

  /// Returns a future that completes when the changes that are now in progress have ended.
  CompletableFuture<Void> settled() {
    return CompletableFuture.allOf(
        inProgress.stream().map(Change::ended).toArray(CompletableFuture<?>[]::new));
  }
}

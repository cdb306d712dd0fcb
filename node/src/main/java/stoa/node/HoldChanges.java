package stoa.node;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/// The changes in progress of what a session holds of the past: its pins begin and end, and its
/// transactions end. A trim waits for those that its client has asked for before, since it releases
/// only what nothing holds. Thread-safe.
///
/// A trim waits on no thread: an earlier request of a transaction may need the threads of the
/// session's calls.
final class HoldChanges {
  private record Change(CompletableFuture<Void> ended) {}

  // Those that began since a trim last asked. Guarded by this, as the following.
  private final Set<Change> inProgress = new HashSet<>();

  // Completes when those have ended that began before: a trim adds to it what is new, so that many
  // trims behind many changes cost no more than both together.
  private CompletableFuture<Void> earlier = CompletableFuture.completedFuture(null);

  /// Notes that a change begins. Returns its work, which notes the end of the change.
  ///
  /// @param work makes the change; runs once
  Runnable noted(Runnable work) {
    var change = new Change(new CompletableFuture<>());
    synchronized (this) {
      inProgress.add(change);
    }
    return () -> {
      try {
        work.run();
      } finally {
        synchronized (this) {
          inProgress.remove(change);
        }
        change.ended.complete(null);
      }
    };
  }

  /// Returns a future that completes when the changes that are now in progress have ended.
  synchronized CompletableFuture<Void> settled() {
    if (!inProgress.isEmpty()) {
      Stream<CompletableFuture<Void>> all =
          Stream.concat(Stream.of(earlier), inProgress.stream().map(Change::ended));
      earlier = CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new));
      inProgress.clear();
    }
    return earlier;
  }
}

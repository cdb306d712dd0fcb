package stoa.client;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/// The requests in progress by which a client ends what servers hold of the past for it: its
/// transactions, and its pins. The client does not wait for them. Thread-safe.
///
/// A trim in one group releases only what no reader of any group needs. The server of that group
/// trims after the ends that came to it before the trim. For the ends that the client has told the
/// other groups, the client waits before it trims.
final class HoldEnds {
  /// A request that the servers of a group have got.
  private record Told(int group, CompletableFuture<Void> settled) {}

  private final Set<Told> inProgress = ConcurrentHashMap.newKeySet();

  /// Notes a request, and returns it.
  ///
  /// @param end has no other listener
  Outgoing noted(int group, Outgoing end) {
    var told = new Told(group, new CompletableFuture<>());
    inProgress.add(told);
    end.whenSettled(_ -> {
      inProgress.remove(told);
      told.settled.complete(null);
    });
    return end;
  }

  /// Waits until the requests that other groups have got by now are settled, or a time is over.
  void awaitOthers(int group, long millisMax) {
    var others =
        inProgress.stream()
            .filter(told -> told.group != group)
            .map(Told::settled)
            .toArray(CompletableFuture<?>[]::new);
    var _ =
        CompletableFuture.allOf(others)
            .completeOnTimeout(null, millisMax, TimeUnit.MILLISECONDS)
            .join();
  }
}

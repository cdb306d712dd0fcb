package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.Reads;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;

/// The route of calls on a proxy whose object is at clients, in a process other than the store's.
/// Immutable; thread-safe.
///
/// @param reads the freshness of accessors
/// @param kept stays reachable as long as this does
record TreeCall(SharedCall live, Placing placing, Reads reads, Object kept) implements LiveRoute {
  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean inTransaction = SharedTransaction.current(live.stoa()) != null;
    Route route =
        Route.of(
            Route.Way.TREE,
            method.kind(),
            MethodRun.current() != null,
            inTransaction,
            live.isPlaced(),
            true);
    if (route == Route.REFUSED_VIEW) {
      throw new UnsupportedOperationException(
          live.key()
              + " is seen by a View.Client, which takes no part in transactions and in calls of"
              + " other objects; use an ordinary proxy");
    }
    return placing.call(live.placed(), method, arguments, reads);
  }
}

package stoa.front;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;

/// The route of calls on a local or cached view: accessors read a state at the caller, other calls
/// go to the object. Thread-safe.
///
/// @param live the ordinary route
/// @param copy the state at the caller
/// @param freshness the age of the state that accessors may see
record CopyCall(SharedCall live, Service.Copy copy, Service.Copy.Freshness freshness)
    implements LiveRoute {
  /// Returns the same route with a time limit for each call.
  CopyCall within(Duration timeMax) {
    return new CopyCall(live.within(timeMax), copy, freshness);
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Route route =
        Route.of(
            Route.Way.COPY,
            method.kind(),
            MethodRun.current() != null,
            SharedTransaction.current(live.stoa()) != null,
            live.isPlaced(),
            true);
    if (route != Route.COPY) return live.invoke(method, arguments);
    return copy.ask(live, method, arguments, freshness);
  }
}

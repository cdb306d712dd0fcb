package stoa.front;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;

/// Where the calls on a local or cached view go: accessors to a state that is kept at the caller,
/// other calls to the object. Thread-safe.
///
/// @param live the ordinary way
/// @param copy the state at the caller
/// @param freshness what accessors see
record CopyCall(SharedCall live, Service.Copy copy, Service.Copy.Freshness freshness)
    implements LiveRoute {
  /// The same, whose calls take no longer than a time each.
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

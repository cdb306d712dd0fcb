package stoa.front;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.TxOptions;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// The route of calls on a view of the past. Thread-safe.
///
/// @param live the object itself, bound to a generation if the view is
/// @param past the object as it was
/// @param place the log position of all objects in its answers; null when the view is of a version
///   of the object, and objects in its answers are live
record PastCall(SharedCall live, Service.Past past, @Nullable Place place) implements Invoker {
  /// Returns the same route with a time limit for each call.
  PastCall within(Duration timeMax) {
    return new PastCall(live.within(timeMax), past.within(timeMax), place);
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Place there = place == null ? null : place.in(live.target().marshaller());
    Route route =
        Route.of(
            there == null ? Route.Way.VERSION : Route.Way.PLACE,
            method.kind(),
            MethodRun.current() != null,
            false,
            live.isPlaced(),
            false);
    switch (route) {
      case REFUSED_CHANGE -> throw Refusals.past(proxied.ref(), method, there != null);
      case REFUSED_HISTORY -> MethodRun.refuse("read history");
      default -> {}
    }
    passThere(arguments);
    if (there != null && route == Route.PAST_TRANSACTION) {
      Object answer = live.read(TxOptions.readingAt(there.address()), method, arguments);
      return there.seen(answer);
    }
    if (there != null) Refusals.stream(live.shared());
    return past.ask(live, method, arguments, there);
  }

  /// Lets a view be an argument of another view at the same place: there, it stands for the past
  /// state.
  private void passThere(@Nullable Object[] arguments) {
    if (place == null) return;
    for (int i = 0; i < arguments.length; i++) {
      Proxied argument = Proxies.of(arguments[i]);
      if (argument != null
          && argument.invoker() instanceof PastCall other
          && Objects.equals(place, other.place)) {
        arguments[i] = Proxies.redirect(arguments[i], other.live);
      }
    }
  }
}

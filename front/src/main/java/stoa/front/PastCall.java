package stoa.front;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.TxOptions;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// Where the calls on a view of the past go. Thread-safe.
///
/// @param live the object itself, of the generation that is meant if one is
/// @param past the object as it was
/// @param place where in the log all objects are seen that come of it; null when it is seen at a
///   version of its own, and those that come of it are live
record PastCall(SharedCall live, Service.Past past, @Nullable Place place) implements Invoker {
  /// The same, whose calls take no longer than a time each.
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

  /// Views at the same place may be passed to each other: there, they are what they were.
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

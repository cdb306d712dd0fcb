package stoa.objects;

import stoa.front.Refusals;
import stoa.store.Pace;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.TxOptions;
import stoa.front.ObjectAnswer;
import stoa.front.Place;
import stoa.front.Sharing;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;
import stoa.store.Past;

/// Where the calls on a view of the past go. Thread-safe.
///
/// @param live the object itself, of the generation that is meant if one is
/// @param past the object as it was
/// @param place where in the log all objects are seen that come of it; null when it is seen at a
///   version of its own, and those that come of it are live
record PastInvoker(LiveInvoker live, Past past, @Nullable Place place) implements Invoker {
  /// The same, whose calls take no longer than a time each.
  PastInvoker within(Duration timeMax) {
    return new PastInvoker(live.within(timeMax), past.within(timeMax), place);
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Place there = place;
    boolean transacts = Sharing.readsPast(proxied, method, there != null);
    if (ObjectContext.current() != null) {
      throw new IllegalStateException("a method of a shared object cannot read history");
    }
    passThere(arguments);
    if (there != null && transacts) {
      Object answer = live.read(TxOptions.readingAt(there.address()), method, arguments);
      return there.seen(answer);
    }
    if (there != null) Refusals.stream(live.type().shared());
    var question = live.question(method, arguments).ofStore();
    Pace pace = live.type().pace(method);
    var answer = (ObjectAnswer) past.get(question, live.existenceThen(), pace);
    var marshaller = live.stoa().marshaller();
    return there == null ? answer.get(marshaller) : there.seen(answer);
  }

  /// Views at the same place may be passed to each other: there, they are what they were.
  private void passThere(@Nullable Object[] arguments) {
    if (place == null) return;
    for (int i = 0; i < arguments.length; i++) {
      Proxied argument = Proxies.of(arguments[i]);
      if (argument != null
          && argument.invoker() instanceof PastInvoker other
          && Objects.equals(place, other.place)) {
        arguments[i] = Proxies.redirect(arguments[i], other.live);
      }
    }
  }
}

package stoa.client;

import stoa.front.Refusals;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.TxOptions;
import stoa.front.Place;
import stoa.front.Sharing;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// Where the calls on a view of the past go. Thread-safe.
///
/// @param live the object itself, of the generation that is meant if one is
/// @param version the version that is seen, when no place is
/// @param place where in the log all objects are seen that come of it; null when it is seen at a
///   version of its own, and those that come of it are live
record RemotePast(RemoteInvoker live, long version, @Nullable Place place) implements Invoker {
  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Place there = place == null ? null : place.in(live.stoa().marshaller());
    boolean transacts = Sharing.readsPast(proxied, method, there != null);
    live.stoa().refuseInside("read history");
    passThere(arguments);
    if (there != null && transacts) {
      Object answer = live.read(TxOptions.readingAt(there.address()), method, arguments);
      return there.seen(answer);
    }
    if (there != null) Refusals.stream(live.shared());
    byte[] call = live.type().call(method, arguments);
    var requests = live.stoa().requests();
    Outgoing outgoing =
        requests.callThen(
            live,
            call,
            live.existenceThen(),
            then -> {
              if (there == null) then.setVersion(version);
              else then.setAddress(Requests.at(there.address()));
            });
    var answered =
        requests.answered(live.stoa().conversation().ask(outgoing), outgoing.container());
    return there == null ? requests.value(answered) : there.seen(Requests.travelling(answered));
  }

  /// Views at the same place may be passed to each other: there, they are what they were.
  private void passThere(@Nullable Object[] arguments) {
    if (place == null) return;
    for (int i = 0; i < arguments.length; i++) {
      Proxied argument = Proxies.of(arguments[i]);
      if (argument != null
          && argument.invoker() instanceof RemotePast other
          && Objects.equals(place, other.place)) {
        arguments[i] = Proxies.redirect(arguments[i], other.live);
      }
    }
  }
}

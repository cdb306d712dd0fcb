package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.objects.proxy.Proxied;
import stoa.objects.types.SharedMethod;

/// Where the calls on a proxy go whose object is placed at clients, when that is not the store
/// itself. Immutable; thread-safe.
record PlacedInvoker(LiveInvoker live, Placing placing) implements LiveRoute {
  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    return placing.call(live.placed(), method, arguments);
  }
}

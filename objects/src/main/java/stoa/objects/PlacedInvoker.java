package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.Reads;
import stoa.front.Placing;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;

/// Where the calls on a proxy go whose object is at clients, when that is not the store itself.
/// Immutable; thread-safe.
///
/// @param reads what accessors see
/// @param kept reachable as long as this is
record PlacedInvoker(LiveInvoker live, Placing placing, Reads reads, Object kept)
    implements LiveRoute {
  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    live.refuseInside();
    return placing.call(live.placed(), method, arguments, reads);
  }
}

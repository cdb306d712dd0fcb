package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;

/// Where the calls on a local or cached view go: accessors to a state that is kept here, other
/// calls to the object. Thread-safe.
///
/// @param live the ordinary way
/// @param replica the state
/// @param freshness what accessors see
record RemoteView(RemoteInvoker live, Replica replica, Freshness freshness) implements RemoteRoute {
  /// What accessors see.
  enum Freshness {
    /// All that was answered before, to anybody.
    NOW,
    /// What was seen last, and nothing older than what this client has seen of other objects.
    SEEN
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean alone =
        method.kind() == SharedMethod.Kind.ACCESSOR
            && !CallContext.CURRENT.isBound()
            && RemoteTransaction.current(live.parts()) == null;
    if (alone) {
      try {
        return replica.ask(live, method, arguments, freshness);
      } catch (Replica.Elsewhere itAsksOthers) {
        // Its answer is of one moment where all objects are.
      }
    }
    return live.invoke(proxied, method, arguments);
  }
}

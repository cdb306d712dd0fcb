package stoa.front;

import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;

/// The route of calls on a state that a stream of changes shows through its collection: accessors
/// read the state in this process. Thread-safe.
///
/// @param state an object that nothing changes
/// @param version of the object in this state
record StateCall(Object state, long version) implements Invoker {
  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (method.kind() != SharedMethod.Kind.ACCESSOR) {
      throw Refusals.past(proxied.ref(), method, false);
    }
    return ScopedValue.where(CallContext.CURRENT, new Reading(version))
        .call(() -> method.invoke(state, arguments));
  }

  /// The context of an accessor of a state. Accessors of collections ask for their version alone.
  ///
  /// @param version of the object
  private record Reading(long version) implements CallContext {
    private static IllegalStateException refused(String what) {
      return new IllegalStateException("the state in a change cannot " + what);
    }

    @Override
    public Instant now() {
      throw refused("ask for the time");
    }

    @Override
    public RandomGenerator random() {
      throw refused("ask for random numbers");
    }

    @Override
    public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
      throw refused("call other objects");
    }

    @Override
    public void refuseOutside(String operation) {
      throw refused(operation);
    }
  }
}

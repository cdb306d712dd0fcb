package stoa.front;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.front.types.SharedMethod;

/// The objects of a store that migrate to clients, here or elsewhere, for the process that executes
/// their calls. Thread-safe.
public interface PlacedObjects {
  /// Returns the store.
  Stoa stoa();

  /// Returns the limits of the store.
  Limits limits();

  /// Returns the object of a proxy. An object of [Placement#SERVER] may be lent to clients.
  ///
  /// @throws UnsupportedOperationException when it cannot migrate, since another group keeps it
  PlacedObject object(Object shared);

  /// Returns where the calls on an object may execute.
  Placement placement(PlacedObject object);

  /// Thrown when a call did not execute at the store, since the object is lent to clients.
  final class LentToClients extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Creates the exception without a stack trace.
    public LentToClients() {
      super("the object is lent to clients", null, false, false);
    }
  }

  /// Makes a call at the store; durable on return, unless it only reads.
  ///
  /// @throws LentToClients beside the root, when the object is lent: nothing has happened
  /// @throws Throwable what the method throws
  @Nullable Object call(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// Returns another proxy or facade of the same object, with another route of its calls.
  ///
  /// @param reads the freshness of its accessors
  /// @param kept returns, for an object, a value that must stay reachable as long as the proxy is
  <T> T through(T shared, Placing placing, Reads reads, Function<PlacedObject, Object> kept);
}

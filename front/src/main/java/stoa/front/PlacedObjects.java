package stoa.front;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.front.types.SharedMethod;

/// The objects of a store that migrate to clients, here or elsewhere, as who executes their calls
/// finds them. Thread-safe.
public interface PlacedObjects {
  /// The store.
  Stoa stoa();

  /// The limits within which the store works.
  Limits limits();

  /// The object of a proxy. One of [Placement#SERVER] may be lent to clients.
  ///
  /// @throws UnsupportedOperationException when it cannot be, since another group keeps it
  PlacedObject object(Object shared);

  /// Where the calls on an object may be made.
  Placement placement(PlacedObject object);

  /// Thrown when a call was not made where the store is, since the object is lent to clients.
  final class Elsewhere extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// One that costs no stack trace.
    public Elsewhere() {
      super("the object is lent to clients", null, false, false);
    }
  }

  /// Makes a call where the store is; durable when this returns, unless it only reads.
  ///
  /// @throws Elsewhere beside the root, when the object is lent: nothing has happened
  /// @throws Throwable what the method throws
  @Nullable Object call(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// The same object through a proxy, or what stands before it, whose calls go elsewhere.
  ///
  /// @param reads what its accessors see
  /// @param kept by an object, what is to be reachable as long as the proxy is
  <T> T through(T shared, Placing placing, Reads reads, Function<PlacedObject, Object> kept);
}

package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Stoa;
import stoa.objects.types.SharedMethod;

/// The client-placed objects of a store, here or elsewhere, as who executes their calls finds them.
/// Thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.migration, which sees the types
public interface PlacedObjects {
  /// The store.
  Stoa stoa();

  /// The limits within which the store works.
  Limits limits();

  /// The object of a proxy.
  ///
  /// @throws IllegalArgumentException when it is not placed at clients
  PlacedObject object(Object shared);

  /// Whether the calls on an object may be made where the store is, too.
  boolean isAuto(PlacedObject object);

  /// Makes a call where the store is; durable when this returns, unless it only reads.
  ///
  /// @throws Throwable what the method throws
  @Nullable Object call(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// The same object through a proxy, or what stands before it, whose calls go elsewhere.
  <T> T through(T shared, Placing placing);
}

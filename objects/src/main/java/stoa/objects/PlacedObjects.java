package stoa.objects;

import stoa.Limits;
import stoa.Stoa;

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

  /// The same object through a proxy, or what stands before it, whose calls go elsewhere.
  <T> T through(T shared, Placing placing);
}

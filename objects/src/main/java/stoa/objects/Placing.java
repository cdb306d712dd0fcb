package stoa.objects;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.objects.types.SharedMethod;

/// Where the calls on client-placed objects go that are made on a store itself. Thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.migration, which sees the types
public interface Placing extends AutoCloseable {
  /// Begins one for each domain of a store that has such objects. Found by
  /// [java.util.ServiceLoader].
  interface Provider {
    /// Begins.
    ///
    /// @param domain whose objects it is for
    /// @param before how many there were before, of any domain, since the store was opened
    Placing begin(PlacedStore store, String domain, int before);
  }

  /// Makes a call.
  ///
  /// @throws Throwable what the method throws
  @Nullable Object call(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// See [stoa.Stoa#together].
  <X extends Exception> void together(Collection<PlacedObject> objects, Action<X> body) throws X;

  /// Whether it has failed: another one is to begin in its place.
  boolean isOver();

  /// Lets go of the store, which is about to be closed.
  @Override
  void close();
}

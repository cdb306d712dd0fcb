package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.StreamId;
import stoa.objects.types.SharedMethod;

/// An object that is placed at clients, as who executes its calls sees it. Immutable; thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.migration, which sees the types
public interface PlacedObject {
  /// Its stream, which is its identity.
  StreamId stream();

  /// The stored name of its type.
  String type();

  /// Its encoded key.
  byte[] key();

  /// A new instance in its first state.
  ///
  /// @throws Throwable what the constructor throws
  Object construct() throws Throwable;

  /// A new instance in a state.
  Object instance(byte[] state);

  /// The state of an instance.
  ///
  /// @throws LimitExceeded when it is larger than the store takes
  byte[] state(Object instance);

  /// Arguments that nobody else can change.
  @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments);

  /// An answer that shares nothing with an instance.
  @Nullable Object answer(@Nullable Object answer);

  /// A state, unless it is too large to travel and to be logged.
  static byte[] checked(PlacedObject object, byte[] state, int bytesMax) {
    if (state.length <= bytesMax) return state;
    throw new LimitExceeded(
        "the state of "
            + object
            + " takes "
            + state.length
            + " bytes, and travels as a whole; callBytesMax is "
            + bytesMax);
  }
}

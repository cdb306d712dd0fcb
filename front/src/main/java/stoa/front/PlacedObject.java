package stoa.front;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.StreamId;
import stoa.front.types.SharedMethod;

/// An object that is placed at clients, as who executes its calls sees it. Immutable; thread-safe.
public interface PlacedObject {
  /// The domain of classes that say nothing of it, see [stoa.Shared#domain()].
  String DOMAIN = "default";

  /// The life of an object that was never deleted: the generation that its first state begins.
  long FIRST_LIFE = 1;

  /// Its stream, which is its identity.
  StreamId stream();

  /// The stored name of its type.
  String type();

  /// Its encoded key.
  byte[] key();

  /// In which tree it migrates.
  String domain();

  /// The domain of all of some objects.
  ///
  /// @throws IllegalArgumentException when they are of several, or there are none
  static String domain(Collection<PlacedObject> objects) {
    PlacedObject first = null;
    for (var each : objects) {
      if (first == null) first = each;
      if (first.domain().equals(each.domain())) continue;
      throw new IllegalArgumentException(
          "%s is in the domain \"%s\" and %s in \"%s\", and an operation is on objects of one; give their classes the same domain in @Shared"
              .formatted(first, first.domain(), each, each.domain()));
    }
    if (first == null) {
      throw new IllegalArgumentException(
          "an operation on no objects; name those that it calls, or call it without together");
    }
    return first.domain();
  }

  /// A call finds the object, or that there is none; from then on that life of it is meant.
  ///
  /// @param life the generation that it is in, or would begin
  /// @throws stoa.Gone when another one is meant, which has ended
  void meet(long life, boolean exists);

  /// Returns whether a life of the object is one that a call may meet.
  ///
  /// @param life the generation that it is in, or would begin
  boolean isMeant(long life, boolean exists);

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

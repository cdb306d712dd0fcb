package stoa.front;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.StreamId;
import stoa.front.types.SharedMethod;

/// An object that is placed at clients, for the process that executes its calls. Immutable;
/// thread-safe.
public interface PlacedObject {
  /// The domain of classes that declare none, see [stoa.Shared#domain()].
  String DOMAIN = "default";

  /// The life of an object that was never deleted: the generation of its first state.
  long FIRST_LIFE = 1;

  /// Returns its stream, which is its identity.
  StreamId stream();

  /// Returns the stored name of its type.
  String type();

  /// Returns its encoded key.
  byte[] key();

  /// Returns the domain, whose tree it migrates in.
  String domain();

  /// Returns the common domain of some objects.
  ///
  /// @throws IllegalArgumentException when they are of several domains, or there are none
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

  /// Binds the proxy to the life that a call finds, present or absent.
  ///
  /// @param life the generation that it is in, or would begin
  /// @throws stoa.Gone when the proxy is bound to another life, which has ended
  void meet(long life, boolean exists);

  /// Returns whether a call through this proxy may meet a life of the object.
  ///
  /// @param life the generation that it is in, or would begin
  boolean isMeant(long life, boolean exists);

  /// Returns a new instance in its first state.
  ///
  /// @throws Throwable what the constructor throws
  Object construct() throws Throwable;

  /// Returns a new instance in a given state.
  Object instance(byte[] state);

  /// Returns the state of an instance.
  ///
  /// @throws LimitExceeded when it is larger than the store permits
  byte[] state(Object instance);

  /// Returns arguments that no other code can change.
  @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments);

  /// Returns an answer that shares nothing with an instance.
  @Nullable Object answer(@Nullable Object answer);

  /// Returns a state, after checking that it is small enough for messages and log entries.
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

package stoa.coordination;

import stoa.Stoa;
import stoa.spi.Host;

/// Opens the objects of this package whose values are of a class of the caller's, and lets the
/// class travel to and from the store. Stateless.
@SuppressWarnings("unchecked") // Justification: the caller says which class the values have
public final class Coordination {
  private Coordination() {}

  /// Opens the promise of a name.
  ///
  /// @param values the class of its value
  public static <T> SharedPromise<T> promise(Stoa stoa, String name, Class<T> values) {
    admit(stoa, values);
    return stoa.get(SharedPromise.class, name);
  }

  /// Opens the reference of a name.
  ///
  /// @param values the class of its values
  public static <T> SharedReference<T> reference(Stoa stoa, String name, Class<T> values) {
    admit(stoa, values);
    return stoa.get(SharedReference.class, name);
  }

  /// Opens the topic of a name, which keeps 1,000 messages if it begins here.
  ///
  /// @param messages the class of its messages
  public static <M> SharedTopic<M> topic(Stoa stoa, String name, Class<M> messages) {
    admit(stoa, messages);
    return stoa.get(SharedTopic.class, name);
  }

  /// Opens the topic of a name.
  ///
  /// @param messages the class of its messages
  /// @param capacity how many messages it keeps at most, if it begins here
  /// @throws IllegalArgumentException when that is not positive, or more than
  ///   [SharedTopic#CAPACITY_MAX]
  public static <M> SharedTopic<M> topic(Stoa stoa, String name, Class<M> messages, int capacity) {
    admit(stoa, messages);
    return stoa.get(SharedTopic.class, name, capacity);
  }

  private static void admit(Stoa stoa, Class<?> values) {
    if (values.isPrimitive()) {
      throw new IllegalArgumentException(
          values + " is no class of values; use that of its boxes, as in Integer.class");
    }
    if (stoa instanceof Host host) host.admit(values);
  }
}

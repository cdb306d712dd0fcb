package stoa.objects;

import java.util.function.ToIntBiFunction;
import stoa.Order;
import stoa.base.StreamId;
import stoa.store.Key;

/// What an engine has of a store that several groups keep, each with an engine of its own.
/// Immutable.
///
/// An engine executes calls on what it has, and refuses others: an object that is begun in a second
/// group would have two histories.
///
/// @param group the engine's group
/// @param groups says which group has an object, or key, of an order and a stream
public record Part(int group, ToIntBiFunction<Order, StreamId> groups) {
  /// All of a store that one group keeps.
  public static final Part WHOLE = new Part(0, (_, _) -> 0);

  private int of(Order order, Key key) {
    return groups.applyAsInt(order, key.stream());
  }

  /// Refuses what a client asked of the wrong group.
  ///
  /// @throws IllegalArgumentException when another group has it
  void require(Order order, Key key) {
    int other = of(order, key);
    if (other == group) return;
    throw new IllegalArgumentException(
        key
            + " is kept by group "
            + other
            + ", and was asked of group "
            + group
            + "; use the same version of client and server");
  }

  /// Refuses a call that a method makes on an object of another group.
  ///
  /// @param caller the object whose method runs
  /// @throws UnsupportedOperationException when another group has the object
  void requireNested(Order order, Key called, Object caller) {
    int other = of(order, called);
    if (other == group) return;
    throw new UnsupportedOperationException(
        caller
            + " is kept by group "
            + group
            + " and cannot call "
            + called
            + ", which group "
            + other
            + " keeps; call both from the client, or make both Order.GLOBAL");
  }

  /// Refuses what is of the store as a whole where it is not kept.
  ///
  /// @param what is asked for, in the plural
  void requireGlobal(String what) {
    int other = groups.applyAsInt(Order.GLOBAL, ORIGIN);
    if (other == group) return;
    throw new IllegalArgumentException(
        what
            + " are kept by group "
            + other
            + ", and were asked of group "
            + group
            + "; use the same version of client and server");
  }

  /// Any stream: what has an order with others is together.
  private static final StreamId ORIGIN = new StreamId(0, 0);
}

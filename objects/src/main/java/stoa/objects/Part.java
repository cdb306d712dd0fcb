package stoa.objects;

import java.util.function.ToIntBiFunction;
import org.jspecify.annotations.Nullable;
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
/// @param addresses who gives log addresses to all groups; null when one group has all that is
///   ordered
public record Part(
    int group, ToIntBiFunction<Order, StreamId> groups, stoa.store.@Nullable Addresses addresses) {
  /// The type of the list of servers, which is of the store as a whole.
  public static final String SERVERS = "stoa.Servers";

  /// All of a store that one group keeps.
  public static final Part WHOLE = new Part(0, (_, _) -> 0);

  /// One of a store in which one group has all that is ordered.
  public Part(int group, ToIntBiFunction<Order, StreamId> groups) {
    this(group, groups, null);
  }

  /// The same, in a store whose groups have one order.
  public Part ordered(stoa.store.Addresses giver) {
    return new Part(group, groups, giver);
  }

  private int of(Order order, Key key) {
    return key.space().equals(SERVERS) ? 0 : groups.applyAsInt(order, key.stream());
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

  /// Refuses what only the first group does.
  ///
  /// @param what is asked for, in the plural
  void requireFirst(String what) {
    if (group == 0) return;
    throw new IllegalArgumentException(
        what
            + " are kept by group 0, and were asked of group "
            + group
            + "; use the same version of client and server");
  }

  /// Refuses what is about the global order, where that is not.
  ///
  /// @param what is asked for, in the plural
  void requireOrdered(String what) {
    if (addresses == null) requireFirst(what);
  }
}

package stoa.objects;

import java.util.function.ToIntBiFunction;
import stoa.Order;
import stoa.base.StreamId;

/// What an engine has of a store that several groups keep, each with an engine of its own.
/// Immutable.
///
/// @param group the engine's group
/// @param groups says which group has an object, or key, of an order and a stream
public record Part(int group, ToIntBiFunction<Order, StreamId> groups) {
  /// All of a store that one group keeps.
  public static final Part WHOLE = new Part(0, (_, _) -> 0);

  /// The group that has what is of an order and a stream.
  int of(Order order, StreamId stream) {
    return groups.applyAsInt(order, stream);
  }

  /// Whether the engine has it.
  boolean has(Order order, StreamId stream) {
    return of(order, stream) == group;
  }
}

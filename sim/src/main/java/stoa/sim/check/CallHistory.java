package stoa.sim.check;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The clients' view of a concurrent run: the beginnings and ends of calls, in the order of time
/// (Herlihy and Wing, "Linearizability", 1990, section 2).
///
/// Immutable. A call that never ended is *pending*: it may have taken effect at any moment since it
/// began, may still do so, or never. The client of a [Lost] call learned nothing, but the call can
/// take no effect any more, as when the only process that knew of it has died.
///
/// @param events the events, oldest first
/// @param <I> the input of a call: its method and arguments
/// @param <O> the answer of a call: its value or its exception
public record CallHistory<I, O>(List<Event<I, O>> events) {

  public CallHistory {
    events = List.copyOf(events);
    Map<Integer, Boolean> open = new HashMap<>();
    for (Event<I, O> event : events) {
      int call = event.call();
      if (event instanceof Invoked) {
        if (open.put(call, true) != null) {
          throw new IllegalArgumentException("call " + call + " begins twice: " + event);
        }
      } else if (!open.getOrDefault(call, false)) {
        throw new IllegalArgumentException(
            "call " + call + " ends twice or without having begun: " + event);
      } else {
        open.put(call, false);
      }
    }
  }

  /// One moment of a history.
  ///
  /// @param <I> the input of a call
  /// @param <O> the answer of a call
  public sealed interface Event<I, O> {
    /// Returns the number of the call, unique in its history.
    int call();
  }

  /// A client makes a call.
  ///
  /// @param call the number of the call
  /// @param client the caller
  /// @param input the method and arguments
  public record Invoked<I, O>(int call, String client, I input) implements Event<I, O> {}

  /// A call answers.
  ///
  /// @param call the number of the call
  /// @param output the answer
  public record Returned<I, O>(int call, O output) implements Event<I, O> {}

  /// A call will never answer and takes no effect later than this.
  ///
  /// @param call the number of the call
  public record Lost<I, O>(int call) implements Event<I, O> {}

  /// Returns the calls, in the order of their beginnings.
  public List<Operation<I, O>> operations() {
    Map<Integer, Operation<I, O>> byCall = new HashMap<>();
    List<Integer> order = new ArrayList<>();
    for (int at = 0; at < events.size(); at++) {
      switch (events.get(at)) {
        case Invoked<I, O>(int call, String client, I input) -> {
          order.add(call);
          byCall.put(
              call,
              new Operation<>(call, client, input, new Operation.Pending<>(), at, Long.MAX_VALUE));
        }
        case Returned<I, O>(int call, O output) ->
            byCall.put(call, get(byCall, call).ended(new Operation.Answered<>(output), at));
        case Lost<I, O>(int call) ->
            byCall.put(call, get(byCall, call).ended(new Operation.Unseen<>(), at));
      }
    }
    return order.stream().map(call -> get(byCall, call)).toList();
  }

  private static <I, O> Operation<I, O> get(Map<Integer, Operation<I, O>> byCall, int call) {
    return java.util.Objects.requireNonNull(byCall.get(call));
  }
}

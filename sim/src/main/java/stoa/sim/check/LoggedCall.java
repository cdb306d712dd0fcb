package stoa.sim.check;

import java.time.Instant;
import java.util.List;

/// A call in the history of an object, and the state of the object after it.
///
/// @param method the called method
/// @param arguments its arguments
/// @param time of the entry
/// @param after the part of the state that programs see
/// @param <S> the state
public record LoggedCall<S>(String method, List<?> arguments, Instant time, S after) {
  /// Returns the name of the method.
  String name() {
    return method.substring(0, method.indexOf('('));
  }

  /// Returns whether a call of it knows the token of a holder.
  boolean names(long token) {
    return arguments.getFirst().equals(token);
  }

  /// Fails, since the rules know no such call.
  AssertionError unknown() {
    return new AssertionError("the rules do not know the call " + this);
  }
}

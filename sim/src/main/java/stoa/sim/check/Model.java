package stoa.sim.check;

import java.util.List;

/// What an object must do when calls come one at a time: its sequential specification.
///
/// The methods are pure. States are compared and hashed by their `equals` and `hashCode` and must
/// not change once given out. Where an object's behaviour is a function of its state and the call,
/// implement [SequentialModel] instead, which is one method.
///
/// @param <S> the states
/// @param <I> what a call is: its method and arguments
/// @param <O> what a call answers: its value or its exception
public interface Model<S, I, O> {
  /// The state before the first call.
  S initial();

  /// The states that may follow when the call was made in `state` and answered `output`; empty when
  /// it cannot have answered so.
  List<S> step(S state, I input, O output);

  /// The states that may follow when the call was made in `state`, whatever it answered.
  List<S> stepUnseen(S state, I input);

  /// The part of the object that a call is about. Calls on different parts must not influence each
  /// other; the parts are then checked one by one, each from [#initial()], which is much faster
  /// (Horn and Kroening, "Faster linearizability checking via P-compositionality", 2015).
  default Object partition(I input) {
    return "the object";
  }
}

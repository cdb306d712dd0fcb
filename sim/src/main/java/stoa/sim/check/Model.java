package stoa.sim.check;

import java.util.List;

/// The behavior of an object when calls come one at a time: its sequential specification.
///
/// The methods are pure. States are compared and hashed by their `equals` and `hashCode` and must
/// not change once given out. Where an object's behavior is a function of its state and the call,
/// implement [SequentialModel] instead, which is one method.
///
/// @param <S> the states
/// @param <I> the input of a call: its method and arguments
/// @param <O> the answer of a call: its value or its exception
public interface Model<S, I, O> {
  /// Returns the state before the first call.
  S initial();

  /// Returns the possible states after a call in `state` with the answer `output`; empty when that
  /// answer is impossible.
  List<S> step(S state, I input, O output);

  /// Returns the possible states after a call in `state` with any answer.
  List<S> stepUnseen(S state, I input);

  /// Returns the part of the object that a call uses. Calls on different parts must not influence
  /// each other; the checker then checks the parts one by one, each from [#initial()], which is
  /// much faster (Horn and Kroening, "Faster linearizability checking via P-compositionality",
  /// 2015).
  default Object partition(I input) {
    return "the object";
  }
}

package stoa.sim.check;

import java.util.List;

/// A [Model] of an object that is deterministic, as every shared object is.
///
/// @param <S> the states
/// @param <I> the input of a call
/// @param <O> the answer of a call; compared by `equals`
public interface SequentialModel<S, I, O> extends Model<S, I, O> {
  /// Returns the effect of a call in `state`. Pure: `state` itself stays as it is.
  Step<S, O> apply(S state, I input);

  /// The effect of one call.
  ///
  /// @param state the state after it
  /// @param output its answer
  record Step<S, O>(S state, O output) {}

  @Override
  default List<S> step(S state, I input, O output) {
    var step = apply(state, input);
    return step.output().equals(output) ? List.of(step.state()) : List.of();
  }

  @Override
  default List<S> stepUnseen(S state, I input) {
    return List.of(apply(state, input).state());
  }
}

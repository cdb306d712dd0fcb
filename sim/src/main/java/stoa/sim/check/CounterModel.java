package stoa.sim.check;

/// A counter that starts at 0: [Input.Increment] adds and answers the sum, [Input.Read] answers it.
public record CounterModel() implements SequentialModel<Long, CounterModel.Input, Long> {
  /// The calls.
  public sealed interface Input {
    /// Adds and answers the new value.
    ///
    /// @param by the summand
    record Increment(long by) implements Input {}

    /// Answers the value.
    record Read() implements Input {}
  }

  @Override
  public Long initial() {
    return 0L;
  }

  @Override
  public Step<Long, Long> apply(Long state, Input input) {
    return switch (input) {
      case Input.Increment(long by) -> new Step<>(state + by, state + by);
      case Input.Read() -> new Step<>(state, state);
    };
  }
}

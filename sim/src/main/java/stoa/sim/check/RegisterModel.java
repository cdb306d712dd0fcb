package stoa.sim.check;

/// A register of numbers that starts at 0, with read, write and compare-and-set.
public record RegisterModel()
    implements SequentialModel<Long, RegisterModel.Input, RegisterModel.Output> {
  /// The calls.
  public sealed interface Input {
    /// Answers [Output.Value].
    record Read() implements Input {}

    /// Answers [Output.Done].
    ///
    /// @param value the new value
    record Write(long value) implements Input {}

    /// Writes if the register holds the expected value; answers [Output.Swapped].
    ///
    /// @param expected the value that the register must hold
    /// @param value the new value
    record Swap(long expected, long value) implements Input {}
  }

  /// The answers.
  public sealed interface Output {
    /// A write was done.
    record Done() implements Output {}

    /// The value that a read found.
    record Value(long value) implements Output {}

    /// Whether a compare-and-set wrote.
    record Swapped(boolean swapped) implements Output {}
  }

  @Override
  public Long initial() {
    return 0L;
  }

  @Override
  public Step<Long, Output> apply(Long state, Input input) {
    return switch (input) {
      case Input.Read() -> new Step<>(state, new Output.Value(state));
      case Input.Write(long value) -> new Step<>(value, new Output.Done());
      case Input.Swap(long expected, long value) ->
          state == expected
              ? new Step<>(value, new Output.Swapped(true))
              : new Step<>(state, new Output.Swapped(false));
    };
  }
}

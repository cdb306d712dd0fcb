package stoa.sim.check;

import java.util.List;
import java.util.Optional;

/// The keys of a listenable key-value store, each an atomic register.
public record ListenableModel()
    implements Model<Optional<String>, ListenableModel.Input, ListenableModel.Output> {
  /// The calls.
  public sealed interface Input {
    /// Returns the key.
    String key();

    /// Answers [Output.Found].
    record Get(String key) implements Input {}

    /// Answers [Output.Done].
    record Put(String key, String value) implements Input {}

    /// Answers [Output.Removed].
    record Remove(String key) implements Input {}
  }

  /// The answers.
  public sealed interface Output {
    /// The put was done.
    record Done() implements Output {}

    /// The put was done, and a listener's handler has seen the value before it.
    record Replaced(Optional<String> before) implements Output {}

    /// Whether there was a value.
    record Removed(boolean was) implements Output {}

    /// The value that a get found.
    record Found(Optional<String> value) implements Output {}
  }

  @Override
  public Optional<String> initial() {
    return Optional.empty();
  }

  @Override
  public Object partition(Input input) {
    return input.key();
  }

  @Override
  public List<Optional<String>> step(Optional<String> state, Input input, Output output) {
    boolean fits =
        switch (output) {
          case Output.Done() -> true;
          case Output.Replaced(Optional<String> before) -> before.equals(state);
          case Output.Removed(boolean was) -> was == state.isPresent();
          case Output.Found(Optional<String> value) -> value.equals(state);
        };
    return fits ? stepUnseen(state, input) : List.of();
  }

  @Override
  public List<Optional<String>> stepUnseen(Optional<String> state, Input input) {
    return switch (input) {
      case Input.Get _ -> List.of(state);
      case Input.Put(_, String value) -> List.of(Optional.of(value));
      case Input.Remove _ -> List.of(Optional.empty());
    };
  }
}

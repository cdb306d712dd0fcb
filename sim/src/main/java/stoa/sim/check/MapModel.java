package stoa.sim.check;

import java.util.Optional;

/// A map of strings to numbers, empty at first. Each key is a part of its own.
///
/// Every call answers the number that the key had before it, or nothing when it had none.
public record MapModel()
    implements SequentialModel<Optional<Long>, MapModel.Input, Optional<Long>> {
  /// The calls.
  public sealed interface Input {
    /// Returns the key of the call.
    String key();

    /// Reads.
    record Get(String key) implements Input {}

    /// Writes.
    record Put(String key, long value) implements Input {}

    /// Removes.
    record Remove(String key) implements Input {}
  }

  @Override
  public Optional<Long> initial() {
    return Optional.empty();
  }

  @Override
  public Step<Optional<Long>, Optional<Long>> apply(Optional<Long> state, Input input) {
    return switch (input) {
      case Input.Get _ -> new Step<>(state, state);
      case Input.Put(_, long value) -> new Step<>(Optional.of(value), state);
      case Input.Remove _ -> new Step<>(Optional.empty(), state);
    };
  }

  @Override
  public Object partition(Input input) {
    return input.key();
  }
}

package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A first-in-first-out queue of numbers, empty at first.
///
/// Both calls answer an optional number: [Input.Take] the taken number, if there was one;
/// [Input.Put] none.
public record QueueModel()
    implements SequentialModel<List<Long>, QueueModel.Input, Optional<Long>> {
  /// The calls.
  public sealed interface Input {
    /// Appends a number.
    record Put(long value) implements Input {}

    /// Removes the oldest number and answers it.
    record Take() implements Input {}
  }

  @Override
  public List<Long> initial() {
    return List.of();
  }

  @Override
  public Step<List<Long>, Optional<Long>> apply(List<Long> state, Input input) {
    return switch (input) {
      case Input.Put(long value) -> {
        var longer = new ArrayList<>(state);
        longer.add(value);
        yield new Step<>(List.copyOf(longer), Optional.empty());
      }
      case Input.Take() when state.isEmpty() -> new Step<>(state, Optional.empty());
      case Input.Take() ->
          new Step<>(List.copyOf(state.subList(1, state.size())), Optional.of(state.getFirst()));
    };
  }
}

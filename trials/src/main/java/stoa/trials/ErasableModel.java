package stoa.trials;

import java.util.List;
import stoa.sim.check.Model;

/// A counter of [Recorded] that clients may delete, and that then begins again from 0. Each key is
/// a part.
///
/// An addition and a read answer the sum. A deletion answers 1 when there was an object, else 0; a
/// counter at 0 may or may not exist.
record ErasableModel() implements Model<Long, ErasableModel.Input, Long> {
  /// The calls.
  sealed interface Input {
    /// Returns the key of the object.
    String key();

    /// Adds, more than 0.
    record Add(String key, long by) implements Input {}

    /// Reads.
    record Read(String key) implements Input {}

    /// Deletes.
    record Delete(String key) implements Input {}
  }

  @Override
  public Long initial() {
    return 0L;
  }

  @Override
  public List<Long> step(Long state, Input input, Long output) {
    boolean possible =
        switch (input) {
          case Input.Add(_, long by) -> output == state + by;
          case Input.Read _ -> output.equals(state);
          case Input.Delete _ -> state == 0 || output == 1;
        };
    return possible ? stepUnseen(state, input) : List.of();
  }

  @Override
  public List<Long> stepUnseen(Long state, Input input) {
    return switch (input) {
      case Input.Add(_, long by) -> List.of(state + by);
      case Input.Read _ -> List.of(state);
      case Input.Delete _ -> List.of(0L);
    };
  }

  @Override
  public Object partition(Input input) {
    return input.key();
  }
}

package stoa.trials;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import stoa.sim.check.SequentialModel;

/// Blobs of a few cells, each with the number of its last writer, and versions. Each key is a part.
record BlobCells() implements SequentialModel<BlobCells.State, BlobCells.Input, BlobCells.Output> {
  static final int COUNT = 4;

  /// @param version the number of writes
  record State(long version, List<Long> cells) {}

  /// The calls.
  sealed interface Input {
    /// Returns the key of the blob.
    String key();

    /// Writes cells, as one version.
    record Write(String key, SortedMap<Integer, Long> cells) implements Input {}

    /// Reads all cells.
    record Read(String key) implements Input {}
  }

  /// The answers.
  sealed interface Output {
    /// A write was done.
    record Done(long version) implements Output {}

    /// The cells that a read found.
    record Seen(List<Long> cells) implements Output {}
  }

  @Override
  public State initial() {
    return new State(0, Collections.nCopies(COUNT, 0L));
  }

  @Override
  public Step<State, Output> apply(State state, Input input) {
    return switch (input) {
      case Input.Read _ -> new Step<>(state, new Output.Seen(state.cells));
      case Input.Write(_, SortedMap<Integer, Long> written) -> {
        var cells = new ArrayList<>(state.cells);
        written.forEach(cells::set);
        long version = state.version + 1;
        yield new Step<>(new State(version, List.copyOf(cells)), new Output.Done(version));
      }
    };
  }

  @Override
  public Object partition(Input input) {
    return input.key();
  }
}

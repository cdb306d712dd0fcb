package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// Blobs as their callers see them: a few cells, one character each, with versions and snapshots.
/// Answers are text.
public record BlobModel() implements SequentialModel<BlobModel.State, BlobModel.Input, String> {
  public static final String YES = "yes";
  public static final String NO = "no";
  public static final String TOO_OLD = "too old";
  public static final String DONE = "done";
  public static final char ZERO = '.';

  /// A range of cells and its new text; an absent text stands for a truncation at `at`.
  public record Part(int at, String text) {}

  /// The calls on a blob.
  public sealed interface Input {
    String key();

    /// Writes parts as one version; answers it.
    record Write(String key, List<Part> parts, String attribute) implements Input {}

    /// Begins to write and gives up.
    record Abandon(String key) implements Input {}

    /// Answers everything that is readable.
    record Read(String key) implements Input {}

    /// Keeps the present version, unless it is kept; answers it, or no when there is none.
    record Keep(String key) implements Input {}

    /// Answers the contents of a kept version.
    record At(String key, long version) implements Input {}

    /// Releases a kept version.
    record Release(String key, long version) implements Input {}

    record Create(String key) implements Input {}

    record Delete(String key) implements Input {}
  }

  /// A blob.
  ///
  /// @param exists whether it exists
  /// @param version its last version
  /// @param cells up to the last written one
  /// @param attribute the value of its one attribute
  /// @param kept the contents of the kept versions
  public record State(
      boolean exists, long version, String cells, String attribute, SortedMap<Long, String> kept) {
    State keeping(Map<Long, String> now) {
      return new State(exists, version, cells, attribute, new TreeMap<>(now));
    }
  }

  @Override
  public State initial() {
    return new State(false, 0, "", "", new TreeMap<>());
  }

  private State empty() {
    return new State(true, 0, "", "", new TreeMap<>());
  }

  @Override
  public Object partition(Input input) {
    return input.key();
  }

  /// Returns the view of a reader.
  public static String seen(boolean exists, long version, String cells, String attribute) {
    return exists + " " + version + " " + cells + " " + attribute;
  }

  @Override
  public Step<State, String> apply(State state, Input input) {
    return switch (input) {
      case Input.Write write -> {
        var after = written(state, write);
        yield new Step<>(after, Long.toString(after.version()));
      }
      case Input.Abandon _ -> new Step<>(begun(state), DONE);
      case Input.Read _ ->
          new Step<>(
              state, seen(state.exists(), state.version(), state.cells(), state.attribute()));
      case Input.Keep _ -> {
        if (state.version() == 0) yield new Step<>(state, NO);
        var kept = new TreeMap<>(state.kept());
        kept.put(state.version(), state.cells());
        yield new Step<>(state.keeping(kept), Long.toString(state.version()));
      }
      case Input.At(_, long version) ->
          new Step<>(state, state.kept().getOrDefault(version, TOO_OLD));
      case Input.Release(_, long version) -> {
        var kept = new TreeMap<>(state.kept());
        boolean was = kept.remove(version) != null;
        yield new Step<>(state.keeping(kept), was ? DONE : TOO_OLD);
      }
      case Input.Create _ -> new Step<>(begun(state), state.exists() ? NO : YES);
      case Input.Delete _ -> new Step<>(initial(), state.exists() ? YES : NO);
    };
  }

  private State begun(State state) {
    return state.exists() ? state : empty();
  }

  private State written(State state, Input.Write write) {
    var before = begun(state);
    var cells = new StringBuilder(before.cells());
    for (Part part : write.parts()) {
      if (part.text().isEmpty()) {
        cells.setLength(Math.min(cells.length(), part.at()));
        continue;
      }
      while (cells.length() < part.at() + part.text().length()) cells.append(ZERO);
      cells.replace(part.at(), part.at() + part.text().length(), part.text());
    }
    int end = cells.length();
    while (end > 0 && cells.charAt(end - 1) == ZERO) end--;
    cells.setLength(end);
    return new State(
        true, before.version() + 1, cells.toString(), write.attribute(), before.kept());
  }

  /// Returns the possible states: an interrupted write may have created the blob without writing.
  @Override
  public List<State> stepUnseen(State state, Input input) {
    var states = new ArrayList<>(List.of(apply(state, input).state()));
    if (input instanceof Input.Write && !state.exists()) states.add(empty());
    return states;
  }
}

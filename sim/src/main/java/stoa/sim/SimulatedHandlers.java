package stoa.sim;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;

/// The handlers of [ListenableScenario].
final class SimulatedHandlers {
  /// Tells everything, so that who listens knows the order of the puts.
  record Witness() implements KeyHandler<String, List<String>> {
    @Override
    public List<String> handle(Object key, @Nullable String value, @Nullable String before) {
      return List.of(String.valueOf(value), String.valueOf(before));
    }
  }

  /// Tells of every third put, with what it has seen: a handler with a state.
  static final class Third implements KeyHandler<String, String> {
    private int count;
    private int sum;

    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      count++;
      sum = 31 * sum + (value == null ? 0 : value.hashCode());
      return count % 3 == 0 ? value + " is " + count + " with " + sum : null;
    }
  }

  /// Tells of values by what they end with.
  record Ending(String end) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value != null && value.endsWith(end) ? before + " -> " + value : null;
    }
  }

  /// Throws at some values.
  record Fussy(String end) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      if (value != null && value.endsWith(end)) throw new IllegalArgumentException(value);
      return value + " after " + before;
    }
  }

  private SimulatedHandlers() {}
}

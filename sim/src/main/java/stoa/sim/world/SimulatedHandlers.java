package stoa.sim.world;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;

/// The handlers of [ListenableScenario].
public final class SimulatedHandlers {
  /// Tells everything, so that its listener knows the order of the puts.
  public record Witness() implements KeyHandler<String, List<String>> {
    @Override
    public List<String> handle(Object key, @Nullable String value, @Nullable String before) {
      return List.of(String.valueOf(value), String.valueOf(before));
    }
  }

  /// Tells of every third put, with all that it has seen: a handler with a state.
  public static final class Third implements KeyHandler<String, String> {
    private int count;
    private int sum;

    public Third() {}

    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      count++;
      sum = 31 * sum + (value == null ? 0 : value.hashCode());
      return count % 3 == 0 ? value + " is " + count + " with " + sum : null;
    }
  }

  /// Tells of values by their suffix.
  public record Ending(String end) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value != null && value.endsWith(end) ? before + " -> " + value : null;
    }
  }

  /// Throws at some values.
  public record Fussy(String end) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      if (value != null && value.endsWith(end)) throw new IllegalArgumentException(value);
      return value + " after " + before;
    }
  }

  /// Throws as the JVM does, at values of some lengths, after it has counted for a while.
  public static final class Clumsy implements KeyHandler<String, String> {
    private int count;

    public Clumsy() {}

    @Override
    public String handle(Object key, @Nullable String value, @Nullable String before) {
      count++;
      if (count % 4 == 3 && value != null) return value.substring(count, count - 1);
      return count + " " + value;
    }
  }

  /// Tells of a removal by an exception that it keeps and does not throw.
  public static final class Reporting implements KeyHandler<String, Throwable> {
    private @Nullable IllegalStateException last;

    public Reporting() {}

    @Override
    public @Nullable Throwable handle(Object key, @Nullable String value, @Nullable String before) {
      if (value == null) last = new IllegalStateException("removed " + before, last());
      return last;
    }

    private @Nullable Throwable last() {
      return last == null ? null : new IllegalStateException(last.getMessage());
    }
  }

  private SimulatedHandlers() {}
}

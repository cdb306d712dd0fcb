package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Shared;

/// Failures, kept as exceptions: thrown here, by another object, or given. An object whose id
/// begins with `no` cannot be constructed.
@Shared(name = "stoa.sim.Mishaps", key = "id")
public class SimulatedMishaps {
  private static final int KEPT_MAX = 12;

  private final String id;
  private final List<Throwable> kept = new ArrayList<>();
  private @Nullable RuntimeException last;

  protected SimulatedMishaps(String id) {
    if (id.startsWith("no")) throw new IllegalArgumentException("there is " + id);
    this.id = id;
  }

  /// Fails itself, like the JVM or like a program, and keeps the exception.
  public int fail(String text, int how) {
    try {
      keep(failed(text, how));
    } catch (RuntimeException mine) {
      last = mine;
      keep(mine);
    }
    return kept.size();
  }

  /// Makes another object throw, and keeps the exception.
  public int ask(SimulatedMishaps other, String text) {
    try {
      other.refuse(text);
    } catch (IllegalStateException told) {
      keep(new IllegalStateException(id + " was told", told));
    }
    return kept.size();
  }

  /// Throws.
  public void refuse(String text) {
    last = new IllegalStateException(id + " refuses " + text);
    throw last;
  }

  /// Keeps an exception from elsewhere.
  public int keep(Throwable given) {
    kept.add(given);
    if (kept.size() > KEPT_MAX) kept.removeFirst();
    return kept.size();
  }

  private Throwable failed(String text, int how) {
    return switch (how) {
      case 0 -> throw new IllegalStateException(text);
      case 1 -> new IllegalArgumentException(List.of(text).get(text.length()));
      case 2 -> new IllegalStateException("no " + new int[] {1}[text.length()]);
      default -> new RuntimeException(text, new IllegalStateException(text));
    };
  }

  @Accessor
  public String texts() {
    return kept.stream().map(Throwable::getMessage).toList() + " " + last;
  }
}

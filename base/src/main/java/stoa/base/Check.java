package stoa.base;

/// Invariants that are checked in production too. A broken one stops its owner.
public final class Check {
  private Check() {}

  /// Throws when an invariant does not hold. The text states the invariant, with its values.
  public static void that(boolean holds, String invariant) {
    if (!holds) throw new IllegalStateException("broken invariant: " + invariant);
  }

  /// Throws as [#that(boolean, String)], and formats the values into the text only when the
  /// invariant does not hold.
  public static void that(boolean holds, String format, Object... values) {
    if (!holds) throw new IllegalStateException("broken invariant: " + format.formatted(values));
  }
}

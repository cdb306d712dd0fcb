package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The beginning of each stored state: a number for the format, and the classes with which the
/// collection began.
///
/// ```
/// 1            the classes are unknown
/// 2, classes   their names
/// ```
final class Formats {
  private static final int PLAIN = 1;
  private static final int OF_CLASSES = 2;

  private Formats() {}

  static void begin(StateOutput out, @Nullable String classes) {
    out.number(classes == null ? PLAIN : OF_CLASSES);
    if (classes != null) out.value(classes);
  }

  /// Reads what [#begin] wrote.
  ///
  /// @return the classes
  static @Nullable String begun(StateInput in) {
    long found = in.number();
    if (found == PLAIN) return null;
    if (found == OF_CLASSES) return (String) in.value();
    throw new Corrupt(
        "a collection is stored in format %d, not %d or %d".formatted(found, PLAIN, OF_CLASSES));
  }
}

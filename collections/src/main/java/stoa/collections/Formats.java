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
/// 3            as 1; the ends of entries follow behind the state
/// 4, classes   as 2; the ends of entries follow behind the state
/// 5 to 8       as 1 to 4; values are in indexes
/// ```
final class Formats {
  private static final int PLAIN = 1;
  private static final int OF_CLASSES = 2;
  private static final int ENDING = 2;
  private static final int INDEXED = 4;

  /// The beginning of a state.
  ///
  /// @param classes the classes; null when they are unknown
  /// @param ends whether the ends of entries follow behind the state
  /// @param indexed whether values are in indexes
  record Begun(@Nullable String classes, boolean ends, boolean indexed) {}

  private Formats() {}

  static void begin(StateOutput out, @Nullable String classes) {
    begin(out, classes, false, false);
  }

  /// Writes the beginning of a state.
  ///
  /// @param ends whether the ends of entries follow behind the state
  /// @param indexed whether values are in indexes
  static void begin(StateOutput out, @Nullable String classes, boolean ends, boolean indexed) {
    int kind = classes == null ? PLAIN : OF_CLASSES;
    out.number(kind + (ends ? ENDING : 0) + (indexed ? INDEXED : 0));
    if (classes != null) out.value(classes);
  }

  /// Reads what [#begin(StateOutput, String, boolean, boolean)] wrote.
  static Begun began(StateInput in) {
    long found = in.number();
    boolean indexed = found > INDEXED && found <= 2 * INDEXED;
    long kind = indexed ? found - INDEXED : found;
    boolean ends = kind > OF_CLASSES && kind <= OF_CLASSES + ENDING;
    return new Begun(classes(in, ends ? kind - ENDING : kind), ends, indexed);
  }

  /// Reads what [#begin] wrote.
  ///
  /// @return the classes
  static @Nullable String begun(StateInput in) {
    return classes(in, in.number());
  }

  private static @Nullable String classes(StateInput in, long found) {
    if (found == PLAIN) return null;
    if (found == OF_CLASSES) return (String) in.value();
    throw new Corrupt(
        "a collection is stored in format %d, not %d or %d".formatted(found, PLAIN, OF_CLASSES));
  }
}

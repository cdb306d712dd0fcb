package stoa.test;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Call1;

/// The check of [StoaAssertions#assertDeterministic].
final class Determinism {
  private Determinism() {}

  static <T> void check(Alone<T> alone, Class<T> type, List<Call1<? super T, ?>> calls) {
    T first = alone.fresh();
    int number = 0;
    for (Call1<? super T, ?> call : calls) {
      number++;
      T second = alone.copy(first);
      Outcome one = outcome(alone, number, call, first);
      Outcome other = outcome(alone, number, call, second);
      if (!isSame(alone, one, other)) {
        fail(type, number, "answers %s, and its copy %s".formatted(one, other));
      }
      String field = difference(alone, first, second);
      if (field != null) fail(type, number, "leaves another state than in its copy: " + field);
    }
  }

  private static void fail(Class<?> type, int number, String what) {
    StoaAssertions.failWith(
        ("call %d on %s is not deterministic: it %s. Use Call.now() and Call.random(), keep"
                + " everything in fields, and use collections whose order does not depend on hashes")
            .formatted(number, type.getSimpleName(), what));
  }

  private static <T> Outcome outcome(
      Alone<T> alone, int number, Call1<? super T, ?> call, T instance) {
    try {
      return alone.run(number, () -> Outcome.of(call, instance));
    } catch (Alone.OthersNeeded needed) {
      throw new IllegalArgumentException(
          "call %d: %s; make the calls in a StoaStore, and use assertReplaysEqual"
              .formatted(number, needed.getMessage()),
          needed);
    }
  }

  private static boolean isSame(Alone<?> alone, Outcome one, Outcome other) {
    if (one.equals(other)) return true;
    return Objects.equals(one.thrown(), other.thrown())
        && isSame(alone, one.value(), other.value());
  }

  private static boolean isSame(Alone<?> alone, @Nullable Object one, @Nullable Object other) {
    return Objects.deepEquals(one, other) || Arrays.equals(alone.bytes(one), alone.bytes(other));
  }

  /// Returns the field in which two instances differ, with its values; null when there is none.
  /// Maps and sets with the same elements are the same, in whatever order they have them.
  private static <T> @Nullable String difference(Alone<T> alone, T one, T other) {
    if (alone.state(one).equals(alone.state(other))) return null;
    try {
      for (Class<?> type = one.getClass(); type != null; type = type.getSuperclass()) {
        for (Field field : type.getDeclaredFields()) {
          int modifiers = field.getModifiers();
          if (Modifier.isStatic(modifiers) || Modifier.isTransient(modifiers)) continue;
          field.setAccessible(true);
          Object mine = field.get(one);
          Object theirs = field.get(other);
          if (!isSame(alone, mine, theirs)) {
            return "%s is %s, and there %s"
                .formatted(field.getName(), new Outcome(mine, null), new Outcome(theirs, null));
          }
        }
      }
      return null;
    } catch (IllegalAccessException | InaccessibleObjectException closed) {
      return "the encodings of the states differ";
    }
  }
}

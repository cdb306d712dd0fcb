package stoa.test;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;

/// The checks of [StoaAssertions#assertDeterministic] and [StoaAssertions#assertCommutes].
final class Determinism {
  private Determinism() {}

  static <T> void check(Alone<T> alone, Class<T> type, List<Step<? super T>> steps) {
    int number = 0;
    try {
      T first = alone.fresh();
      for (Step<? super T> step : steps) {
        number++;
        T second = alone.copy(first);
        List<CallOutcome> ones = outcomes(alone, number, step, first);
        List<CallOutcome> others = outcomes(alone, number, step, second);
        if (!isSame(alone, ones, others)) {
          fail(type, number, "answers %s, and its copy %s".formatted(words(ones), words(others)));
        }
        String field = difference(alone, first, second);
        if (field != null) fail(type, number, "leaves another state than in its copy: " + field);
      }
    } catch (Alone.OthersNeeded needed) {
      throw new IllegalArgumentException(
          "step %d on %s: %s; make the calls in a StoaStore, and use assertReplaysEqual"
              .formatted(number, type.getSimpleName(), needed.getMessage()),
          needed);
    }
  }

  /// Checks that the order of each two steps does not matter.
  static <T> void checkOrders(Alone<T> alone, Class<T> type, List<Step<? super T>> steps) {
    try {
      T from = alone.fresh();
      checkPairs(alone, type, steps, from);
      for (int i = 0; i < steps.size(); i++) {
        var _ = outcomes(alone, i + 1, steps.get(i), from);
        checkPairs(alone, type, steps, from);
      }
    } catch (Alone.OthersNeeded needed) {
      throw new IllegalArgumentException(
          "the steps on %s: %s; calls that commute make none on other objects"
              .formatted(type.getSimpleName(), needed.getMessage()),
          needed);
    }
  }

  private static <T> void checkPairs(
      Alone<T> alone, Class<T> type, List<Step<? super T>> steps, T from) {
    for (int i = 0; i < steps.size(); i++) {
      for (int j = i + 1; j < steps.size(); j++) {
        T one = alone.copy(from);
        List<CallOutcome> first = outcomes(alone, i + 1, steps.get(i), one);
        List<CallOutcome> second = outcomes(alone, j + 1, steps.get(j), one);
        T other = alone.copy(from);
        List<CallOutcome> earlier = outcomes(alone, j + 1, steps.get(j), other);
        List<CallOutcome> later = outcomes(alone, i + 1, steps.get(i), other);
        String what = otherAnswer(alone, i + 1, first, later);
        if (what == null) what = otherAnswer(alone, j + 1, earlier, second);
        String field = what == null ? difference(alone, one, other) : null;
        if (field != null) what = field;
        if (what == null) continue;
        StoaAssertions.failWith(
            "steps %d and %d on %s do not commute: %s. Take @Commutes off one of the methods"
                .formatted(i + 1, j + 1, type.getSimpleName(), what));
      }
    }
  }

  /// Returns how a step answers differently in front of another one and behind it.
  private static @Nullable String otherAnswer(
      Alone<?> alone, int number, List<CallOutcome> before, List<CallOutcome> behind) {
    if (isSame(alone, before, behind)) return null;
    return "step %d answers %s first, and %s behind the other"
        .formatted(number, words(before), words(behind));
  }

  private static void fail(Class<?> type, int number, String what) {
    StoaAssertions.failWith(
        ("step %d on %s is not deterministic: it %s. Use Call.now() and Call.random(), keep"
                + " everything in fields, and use collections whose order does not depend on hashes")
            .formatted(number, type.getSimpleName(), what));
  }

  private static String words(List<CallOutcome> outcomes) {
    return outcomes.stream().map(CallOutcome::toString).collect(Collectors.joining(", "));
  }

  /// Makes a step, and returns the outcome of each call in it.
  private static <T> List<CallOutcome> outcomes(
      Alone<T> alone, int number, Step<? super T> step, T instance) {
    var outcomes = new ArrayList<CallOutcome>();
    T recording = alone.recording(instance, outcomes);
    return alone.run(
        number,
        () -> {
          try {
            step.on(recording);
          } catch (StoaException impossible) {
            throw impossible;
          } catch (Exception thrown) {
            outcomes.add(CallOutcome.threw(thrown));
          }
          return outcomes;
        });
  }

  private static boolean isSame(Alone<?> alone, List<CallOutcome> ones, List<CallOutcome> others) {
    if (ones.size() != others.size()) return false;
    for (int i = 0; i < ones.size(); i++) {
      if (!isSame(alone, ones.get(i), others.get(i))) return false;
    }
    return true;
  }

  private static boolean isSame(Alone<?> alone, CallOutcome one, CallOutcome other) {
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
                .formatted(
                    field.getName(), new CallOutcome(mine, null), new CallOutcome(theirs, null));
          }
        }
      }
      return null;
    } catch (IllegalAccessException | InaccessibleObjectException closed) {
      return "the encodings of the states differ";
    }
  }
}

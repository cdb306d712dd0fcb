package stoa.test;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.StoaException;

/// The outcome of a call: it returned a value, or its method threw.
///
/// @param value the returned value; null when it threw
/// @param thrown the class and the message of the exception; null when it returned
record CallOutcome(@Nullable Object value, @Nullable String thrown) {
  /// Makes a call.
  ///
  /// @throws StoaException what Stoa throws, which is no outcome of the method
  static <T> CallOutcome of(Call1<? super T, ?> call, T instance) {
    try {
      return new CallOutcome(call.on(instance), null);
    } catch (StoaException impossible) {
      throw impossible;
    } catch (Exception thrown) {
      return threw(thrown);
    }
  }

  static CallOutcome threw(Exception thrown) {
    return new CallOutcome(null, thrown.getClass().getName() + ": " + thrown.getMessage());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CallOutcome o
        && Objects.equals(thrown, o.thrown)
        && Objects.deepEquals(value, o.value);
  }

  @Override
  public int hashCode() {
    return Arrays.deepHashCode(new Object[] {value, thrown});
  }

  @Override
  public String toString() {
    if (thrown != null) return "throws " + thrown;
    String all = Arrays.deepToString(new Object[] {value});
    return all.substring(1, all.length() - 1);
  }
}

package stoa.front.types;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.Expires;
import stoa.LogOrder;
import stoa.NotShareable;

/// How long the objects of a class live, see [Expires].
///
/// @param micros how long, in microseconds
/// @param since from when on
public record Lifetime(long micros, Expires.Since since) {
  private static final long MICROS_MIN = 1_000;
  private static final long MICROS_MAX = TimeUnit.DAYS.toMicros(365_243); // 1,000 years

  /// Returns the lifetime that a class declares; null when its objects stay.
  ///
  /// @throws NotShareable naming the class and the remedy
  static @Nullable Lifetime of(SharedType type) {
    Expires expires = type.implementation().getDeclaredAnnotation(Expires.class);
    if (expires == null) expires = type.face().getDeclaredAnnotation(Expires.class);
    if (expires == null) return null;
    if (type.isPlaced() || type.order() != LogOrder.GLOBAL) {
      throw new NotShareable(
          type.face().getName()
              + " has @Expires and is "
              + (type.isPlaced() ? "placed at clients" : "not of LogOrder.GLOBAL")
              + "; take the annotation away, or leave the class at the store in the common order");
    }
    long micros = expires.unit().toMicros(expires.value());
    if (micros < MICROS_MIN || micros > MICROS_MAX) {
      throw new NotShareable(
          type.face().getName()
              + " has @Expires after "
              + expires.value()
              + " "
              + expires.unit()
              + "; choose a time from a millisecond to 1,000 years");
    }
    return new Lifetime(micros, expires.since());
  }
}

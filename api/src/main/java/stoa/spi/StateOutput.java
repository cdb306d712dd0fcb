package stoa.spi;

import org.jspecify.annotations.Nullable;

/// The output to which an object with [OwnState] writes its state. Valid during [OwnState#store]
/// only.
public interface StateOutput {
  /// Writes a number; small ones take less space.
  void number(long number);

  /// Writes any value that may travel. Each is separate: two occurrences of one object become two
  /// equal values.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  void value(@Nullable Object value);

  /// Compares two values by their encoding: an order that is the same in every process, for values
  /// without an order of their own.
  int compare(@Nullable Object a, @Nullable Object b);
}

package stoa.spi;

import org.jspecify.annotations.Nullable;

/// Where an object with [OwnState] writes its state. Valid during [OwnState#store] only.
public interface StateOutput {
  /// Writes a number; small ones take less space.
  void number(long number);

  /// Writes any value that may travel. Each is written by itself: two occurrences of one object are
  /// two equal values afterwards.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  void value(@Nullable Object value);

  /// Compares two values by what is written for them. An order that is the same in every process,
  /// for values that have no order of their own.
  int compare(@Nullable Object a, @Nullable Object b);
}

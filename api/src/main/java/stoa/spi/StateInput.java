package stoa.spi;

import org.jspecify.annotations.Nullable;

/// Where an object with [OwnState] reads its state from. Valid during [OwnState#restore] only. What
/// comes is what was written, in that order; anything else throws [stoa.Corrupt].
public interface StateInput {
  /// Reads a number.
  long number();

  /// Reads a number that counts what follows.
  ///
  /// @throws stoa.Corrupt when it is negative, or more than the bytes that are left
  int count();

  /// Reads a value.
  @Nullable Object value();
}

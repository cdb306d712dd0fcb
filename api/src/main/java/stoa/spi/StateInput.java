package stoa.spi;

import org.jspecify.annotations.Nullable;

/// The input from which an object with [OwnState] reads its state. Valid during [OwnState#restore]
/// only. Reads return what was written, in that order; a mismatch throws [stoa.Corrupt].
public interface StateInput {
  /// Reads a number.
  long number();

  /// Reads a number that counts what follows.
  ///
  /// @throws stoa.Corrupt when it is negative, or greater than the number of remaining bytes
  int count();

  /// Reads a value.
  @Nullable Object value();
}

package stoa.base;

import org.jspecify.annotations.Nullable;

/// The expected existence of the key of a put.
public sealed interface Existence {
  /// Returns the encoded arguments that create the handler of an absent key, or null for none.
  byte @Nullable [] opening();

  /// Returns whether a key does not meet the expectation.
  ///
  /// @param generation the key's generation, 0 when it is absent
  /// @param position the address of its last put or deletion, 0 when there was none
  default boolean isGone(long generation, long position) {
    return switch (this) {
      case Generation(long expected, _) -> generation != expected;
      case Undeleted _ -> generation == 0 && position > 0;
      case Any _, Absent _ -> false;
    };
  }

  /// Returns whether a key did not meet the expectation at an earlier moment: before the expected
  /// generation it reads as absent.
  default boolean wasGone(long generation, long position) {
    boolean before =
        this instanceof Generation(long expected, _) && generation == 0 && position < expected;
    return !before && isGone(generation, position);
  }

  /// The key may be absent; the put then creates it.
  ///
  /// @param opening the arguments that create its handler
  record Any(byte @Nullable [] opening) implements Existence {}

  /// The key must be absent; the put creates it.
  ///
  /// @param opening the arguments that create its handler
  record Absent(byte @Nullable [] opening) implements Existence {}

  /// The key must be in this generation, or, in a transaction that reads a moment before that, not
  /// created yet.
  ///
  /// @param generation the stream address at which the generation began
  /// @param opening the arguments that created its handler, as far as the asker knows them
  record Generation(long generation, byte @Nullable [] opening) implements Existence {
    /// Creates the expectation of a generation of which only the address is known.
    public Generation(long generation) {
      this(generation, null);
    }
  }

  /// The key must never have been deleted; the put creates it when it is absent.
  ///
  /// @param opening the arguments that create its handler
  record Undeleted(byte @Nullable [] opening) implements Existence {}
}

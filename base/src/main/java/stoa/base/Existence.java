package stoa.base;

import org.jspecify.annotations.Nullable;

/// What a put expects of its key.
public sealed interface Existence {
  /// What the key's handler is created from when the key is absent, or null for nothing.
  byte @Nullable [] opening();

  /// Whether a key has not what this expects of it.
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

  /// As [#isGone], of a key as it was: before the expected generation it reads as absent.
  default boolean wasGone(long generation, long position) {
    boolean before =
        this instanceof Generation(long expected, _) && generation == 0 && position < expected;
    return !before && isGone(generation, position);
  }

  /// The key may be absent; the put then begins it.
  ///
  /// @param opening what its handler is created from
  record Any(byte @Nullable [] opening) implements Existence {}

  /// The key must be absent; the put begins it.
  ///
  /// @param opening what its handler is created from
  record Absent(byte @Nullable [] opening) implements Existence {}

  /// The key must be in this generation, or, in a transaction that reads a moment before that, not
  /// begun.
  ///
  /// @param generation the stream address at which the generation began
  /// @param opening what its handler was created from, as far as the asker knows
  record Generation(long generation, byte @Nullable [] opening) implements Existence {
    /// A generation of which only the address is known.
    public Generation(long generation) {
      this(generation, null);
    }
  }

  /// The key must never have been deleted; the put begins it when it is absent.
  ///
  /// @param opening what its handler is created from
  record Undeleted(byte @Nullable [] opening) implements Existence {}
}

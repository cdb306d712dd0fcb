package stoa.store;

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
      case Generation(long expected) -> generation != expected;
      case Undeleted _ -> generation == 0 && position > 0;
      case Any _, Absent _ -> false;
    };
  }

  /// The key may be absent; the put then begins it.
  ///
  /// @param opening what its handler is created from
  record Any(byte @Nullable [] opening) implements Existence {}

  /// The key must be absent; the put begins it.
  ///
  /// @param opening what its handler is created from
  record Absent(byte @Nullable [] opening) implements Existence {}

  /// The key must be in this generation.
  ///
  /// @param generation the stream address at which the generation began
  record Generation(long generation) implements Existence {
    @Override
    public byte @Nullable [] opening() {
      return null;
    }
  }

  /// The key must never have been deleted; the put begins it when it is absent.
  ///
  /// @param opening what its handler is created from
  record Undeleted(byte @Nullable [] opening) implements Existence {}
}

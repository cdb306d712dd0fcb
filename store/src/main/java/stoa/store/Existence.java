package stoa.store;

import org.jspecify.annotations.Nullable;

/// What a put expects of its key.
public sealed interface Existence {
  /// What the key's handler is created from when the key is absent, or null for nothing.
  byte @Nullable [] opening();

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

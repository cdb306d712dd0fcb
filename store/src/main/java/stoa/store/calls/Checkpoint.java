package stoa.store.calls;

import org.jspecify.annotations.Nullable;

/// The state of a key.
///
/// @param position the stream address of the last put or deletion, 0 when there was none
/// @param generation 0 when the key is absent
/// @param from the first log counter at which readers see the state
/// @param state the encoded state; null when the key is absent, or has the position that the caller
///   named
public record Checkpoint(long position, long generation, long from, byte @Nullable [] state) {}

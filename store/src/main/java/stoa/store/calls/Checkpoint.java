package stoa.store.calls;

import org.jspecify.annotations.Nullable;

/// The state of a key.
///
/// @param position the stream address of the last put or deletion, 0 when there was none
/// @param generation 0 when the key is absent
/// @param from the log counter from which on it is seen
/// @param state as the handler keeps it; null when the key is absent, or has the position that was
///   asked for
public record Checkpoint(long position, long generation, long from, byte @Nullable [] state) {}

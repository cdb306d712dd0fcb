package stoa.migration.core;

import stoa.base.StreamId;

/// The newest copy of one object was made by an operation that took, or made, a copy of the other:
/// who has the one must have the other (section 4.4).
///
/// @param object what depends
/// @param on what it depends on
public record Dependency(StreamId object, StreamId on) {}

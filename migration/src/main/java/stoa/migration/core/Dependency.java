package stoa.migration.core;

import stoa.base.StreamId;

/// The newest copy of one object was made by an operation that also read or made a copy of the
/// other: a node that has the one must have the other (section 4.4).
///
/// @param object the dependent object
/// @param on the object on which it depends
public record Dependency(StreamId object, StreamId on) {}

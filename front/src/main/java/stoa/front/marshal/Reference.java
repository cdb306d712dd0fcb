package stoa.front.marshal;

import stoa.Ref;

/// A reference as it travels inside values.
///
/// @param ref the type and key
/// @param generation the generation of the object that is meant, or 0 when none was seen yet
public record Reference(Ref<?> ref, long generation) {}

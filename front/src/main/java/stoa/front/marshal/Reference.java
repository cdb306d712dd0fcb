package stoa.front.marshal;

import stoa.Ref;

/// The encoded form of a reference inside values.
///
/// @param ref the type and key
/// @param generation the generation of the object, or 0 when the reference is not bound to one
public record Reference(Ref<?> ref, long generation) {}

package stoa.objects;

import stoa.front.SharedStoa;

/// The parts of a store that running methods use.
///
/// @param catalog the types that they name
/// @param stoa the store as programs use it
/// @param part the group's part of the store
record Environment(Catalog catalog, SharedStoa stoa, Part part) {}

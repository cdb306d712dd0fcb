package stoa.collections;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of a collection as of a version.
///
/// @param version the version
/// @param items elements, or keys each followed by its value
/// @param next the beginning of the next page; null at the end
record Page(long version, List<Object> items, @Nullable Object next) {}

package stoa.collections;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of a collection as it was at a version.
///
/// @param version the version
/// @param items elements, or keys each followed by its value
/// @param next where the next page begins; null when there is none
record Page(long version, List<Object> items, @Nullable Object next) {}

package stoa.collections;

import org.jspecify.annotations.Nullable;

/// Reads pages that all show one moment. One thread at a time uses it.
interface PageSource {
  /// Returns a page.
  ///
  /// @param from the beginning: `next` of the previous page, or the beginning of the first
  /// @param max the most entries
  Page read(@Nullable Object from, int max);
}

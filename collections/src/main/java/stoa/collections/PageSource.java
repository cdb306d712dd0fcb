package stoa.collections;

import org.jspecify.annotations.Nullable;

/// Reads pages that are all of one moment. Used by one thread at a time.
interface PageSource {
  /// A page.
  ///
  /// @param from where it begins: what the page before said, or where the first is to begin
  /// @param max the most entries
  Page read(@Nullable Object from, int max);
}

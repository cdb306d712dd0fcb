package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;

/// A collection that is read in pages.
interface Paged {
  /// Stands for any version.
  long ANY = -1;

  /// Returns a page.
  ///
  /// @param version the version to read, or [#ANY]
  /// @param from the beginning: `next` of the previous page, or null
  /// @param max the most entries
  /// @return null when it has another version
  @Accessor
  @Nullable Page page(long version, @Nullable Object from, int max);
}

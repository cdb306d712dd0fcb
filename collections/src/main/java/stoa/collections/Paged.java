package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;

/// What is read in pages.
interface Paged {
  /// Stands for any version.
  long ANY = -1;

  /// A page.
  ///
  /// @param version the version to read, or [#ANY]
  /// @param from where it begins: what the page before said, or null
  /// @param max the most entries
  /// @return null when it has another version
  @Accessor
  @Nullable Page page(long version, @Nullable Object from, int max);
}

package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Mutator;

/// The calls on a sorted map, beyond those on any map. A page begins at a [Scan].
interface SortedEntries extends Entries {
  /// Returns the first entry of a range, in the direction of the scan.
  @Accessor
  @Nullable Pair edge(Scan scan);

  /// Removes and returns the first entry of a range, in the direction of the scan.
  @Nullable Pair poll(Scan scan);

  @Accessor
  int sizeOf(Span span);

  @Accessor
  boolean hasValue(Span span, Object value);

  @Mutator
  void clearAll(Span span);
}

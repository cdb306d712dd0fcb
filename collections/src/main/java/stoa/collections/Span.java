package stoa.collections;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;

/// A range of keys in a sorted map. Calls in logs have it, so its name stays.
///
/// @param low the lower bound, null for none
/// @param lowInclusive whether the range includes the lower bound
/// @param high the upper bound, null for none
/// @param highInclusive whether the range includes the upper bound
record Span(
    @Nullable Object low, boolean lowInclusive, @Nullable Object high, boolean highInclusive) {
  static final Span ALL = new Span(null, false, null, false);

  boolean isAll() {
    return low == null && high == null;
  }

  Span from(Object key, boolean inclusive) {
    return new Span(key, inclusive, high, highInclusive);
  }

  Span to(Object key, boolean inclusive) {
    return new Span(low, lowInclusive, key, inclusive);
  }

  boolean isTooLow(Object key, Comparator<Object> order) {
    if (low == null) return false;
    int comparison = order.compare(key, low);
    return comparison < 0 || (comparison == 0 && !lowInclusive);
  }

  boolean isTooHigh(Object key, Comparator<Object> order) {
    if (high == null) return false;
    int comparison = order.compare(key, high);
    return comparison > 0 || (comparison == 0 && !highInclusive);
  }

  boolean has(Object key, Comparator<Object> order) {
    return !isTooLow(key, order) && !isTooHigh(key, order);
  }

  /// Returns whether no key can be in it.
  boolean isEmpty(Comparator<Object> order) {
    if (low == null || high == null) return false;
    int comparison = order.compare(low, high);
    return comparison > 0 || (comparison == 0 && !(lowInclusive && highInclusive));
  }

  /// Returns the part of a tree in this range.
  TreePMap<Object, Object> of(TreePMap<Object, Object> tree, Comparator<Object> order) {
    if (isEmpty(order))
      return tree.headMap(java.util.Objects.requireNonNull(high), false)
          .tailMap(java.util.Objects.requireNonNull(high), true);
    if (low == null && high == null) return tree;
    if (low == null) return tree.headMap(java.util.Objects.requireNonNull(high), highInclusive);
    if (high == null) return tree.tailMap(low, lowInclusive);
    return tree.subMap(low, lowInclusive, high, highInclusive);
  }
}

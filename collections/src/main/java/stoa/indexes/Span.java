package stoa.indexes;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Condition.Comparison;

/// A range of the values of an index.
///
/// @param from the first one; null for all
/// @param to the first one behind the range; null for none
record Span(@Nullable String from, @Nullable String to) {
  /// All values.
  static final Span ALL = new Span(null, null);

  /// Returns the values that meet a comparison.
  static Span of(Comparison comparison, String value) {
    return switch (comparison) {
      case EQUAL -> new Span(value, next(value));
      case LESS -> new Span(null, value);
      case AT_MOST -> new Span(null, next(value));
      case GREATER -> new Span(next(value), null);
      case AT_LEAST -> new Span(value, null);
      case PREFIX -> new Span(value, behind(value));
    };
  }

  private static String next(String value) {
    return value + "\0";
  }

  /// Returns the first text behind all that begin with a prefix, null when there is none.
  private static @Nullable String behind(String prefix) {
    for (int last = prefix.length() - 1; last >= 0; last--) {
      char c = prefix.charAt(last);
      if (c < Character.MAX_VALUE) return prefix.substring(0, last) + (char) (c + 1);
    }
    return null;
  }

  /// Returns the one value of the range, null when it may have several.
  @Nullable String point() {
    return from != null && next(from).equals(to) ? from : null;
  }

  /// Returns the values that are in both ranges.
  Span and(Span other) {
    String first =
        from == null || (other.from != null && other.from.compareTo(from) > 0) ? other.from : from;
    String end = to == null || (other.to != null && other.to.compareTo(to) < 0) ? other.to : to;
    return new Span(first, end);
  }

  /// Returns whether it has a value.
  boolean has(String value) {
    return (from == null || from.compareTo(value) <= 0) && (to == null || value.compareTo(to) < 0);
  }

  /// Returns how few values it may have, as a number for comparison: less is fewer.
  int rank() {
    if (point() != null) return 0;
    if (from != null && to != null) return 1;
    return from != null || to != null ? 2 : 3;
  }

  /// Adds it to a list of texts.
  void write(List<String> out) {
    out.add(from == null ? "0" : "1" + from);
    out.add(to == null ? "0" : "1" + to);
  }

  /// Returns what [#write] has written.
  static Span read(String from, String to) {
    return new Span(bound(from), bound(to));
  }

  private static @Nullable String bound(String text) {
    return text.equals("0") ? null : text.substring(1);
  }
}

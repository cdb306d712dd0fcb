package stoa.collections;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.spi.Entered;

/// A value of a map, and what it has in the indexes that the class of the values declares. The
/// program that puts the value makes it, since it has the class.
///
/// @param value the value
/// @param indexes the ids of the indexes, in order, each behind a line feed
/// @param forms the form of the value in each of them, in the same order
record Indexed(Object value, String indexes, List<String> forms) implements Entered.IndexedValue {
  private static final char END = '\n';

  Indexed {
    indexes = indexes.intern(); // one text for all entries of a map
  }

  @Override
  public Object plain() {
    return value;
  }

  /// Returns ids as one text.
  static String joined(List<String> ids) {
    var text = new StringBuilder();
    for (String id : ids) text.append(id).append(END);
    return text.toString();
  }

  /// Returns the ids in a text.
  static List<String> idsIn(String indexes) {
    return indexes.isEmpty()
        ? List.of()
        : List.of(indexes.substring(0, indexes.length() - 1).split("\n", -1));
  }

  /// Returns the value that readers get.
  static @Nullable Object plain(@Nullable Object held) {
    return held instanceof Indexed indexed ? indexed.value : held;
  }

  /// Returns the ids of the indexes that a held value is in.
  static List<String> idsOf(@Nullable Object held) {
    return held instanceof Indexed indexed ? idsIn(indexed.indexes) : List.of();
  }

  /// Returns the form in an index of what is held; null when it is not in the index.
  static @Nullable String formOf(@Nullable Object held, String id) {
    if (!(held instanceof Indexed indexed)) return null;
    int at = idsIn(indexed.indexes).indexOf(id);
    return at < 0 ? null : indexed.forms.get(at);
  }
}

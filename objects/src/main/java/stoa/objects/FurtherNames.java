package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Names that a dictionary lacks, with numbers that no value of it has. The log has none of them.
/// Thread-safe.
final class FurtherNames {
  private static final int FIRST = 1 << 30;

  private final List<String> names = new ArrayList<>(); // guarded by this

  /// Returns whether a number is one of such a name.
  static boolean isOne(int id) {
    return id >= FIRST;
  }

  /// Returns the number of a name, which it gets the first time.
  synchronized int idOf(String name) {
    int index = names.indexOf(name);
    if (index < 0) {
      index = names.size();
      names.add(name);
    }
    return FIRST + index;
  }

  /// Returns the name of a number; null when none has it.
  synchronized @Nullable String nameOf(int id) {
    return isOne(id) && id - FIRST < names.size() ? names.get(id - FIRST) : null;
  }

  /// Returns all names, in the order of their numbers.
  synchronized List<String> all() {
    return List.copyOf(names);
  }
}

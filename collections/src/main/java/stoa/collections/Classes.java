package stoa.collections;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.spi.Host;

/// The classes of what a collection holds, by their names. Immutable.
///
/// @param names joined by spaces, as they are kept with the collection
record Classes(String names) {
  static Classes of(Class<?>... types) {
    return new Classes(Arrays.stream(types).map(Class::getName).collect(Collectors.joining(" ")));
  }

  /// Refuses to open a collection that was begun with others. One of a class that is there no more
  /// is opened: the class was renamed.
  ///
  /// @param begun what it was begun with; null when that is not known
  /// @throws IllegalArgumentException when it was begun with others
  void check(Host host, String collection, @Nullable String begun) {
    if (begun == null || begun.equals(names)) return;
    if (typesOf(host, begun).isEmpty()) return;
    throw new IllegalArgumentException(
        "%s was begun with %s, not with %s; open it with the classes that it was begun with"
            .formatted(collection, listed(begun), listed(names)));
  }

  /// The classes of a collection.
  ///
  /// @return no classes when it is not known which, or one of them is there no more
  static List<Class<?>> typesOf(Host host, @Nullable String begun) {
    if (begun == null) return List.of();
    try {
      return Arrays.stream(begun.split(" ", -1)).<Class<?>>map(host::classNamed).toList();
    } catch (NotShareable renamed) {
      return List.of();
    }
  }

  private static String listed(String names) {
    return names.replace(" ", ", ");
  }
}

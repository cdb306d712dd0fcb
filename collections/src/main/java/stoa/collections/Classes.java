package stoa.collections;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.spi.Host;

/// The names of the classes of a collection's contents. Immutable.
///
/// @param names joined by spaces, in the form that the collection stores
record Classes(String names) {
  static Classes of(Class<?>... types) {
    return new Classes(Arrays.stream(types).map(Class::getName).collect(Collectors.joining(" ")));
  }

  /// Refuses to open a collection that began with other classes. Ignores a begun class that no
  /// longer exists: it was renamed.
  ///
  /// @param begun the classes with which it began; null when they are unknown
  /// @throws IllegalArgumentException when it began with other classes
  void check(Host host, String collection, @Nullable String begun) {
    if (begun == null || begun.equals(names)) return;
    if (typesOf(host, begun).isEmpty()) return;
    throw new IllegalArgumentException(
        "%s was begun with %s, not with %s; open it with the classes that it was begun with"
            .formatted(collection, listed(begun), listed(names)));
  }

  /// Returns the classes of a collection.
  ///
  /// @return no classes when they are unknown, or one of them no longer exists
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

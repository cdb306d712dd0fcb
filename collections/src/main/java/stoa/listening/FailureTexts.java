package stoa.listening;

import java.util.List;

/// The texts of failures. Stateless.
final class FailureTexts {
  private static final int CHARS_MAX = 500;

  private FailureTexts() {}

  /// Returns the text of an exception, without running code of users.
  static String text(Throwable thrown) {
    Class<?> type = thrown.getClass();
    return shortened(isDescribedByUsers(type) ? type.getName() : thrown.toString());
  }

  static String shortened(String text) {
    return text.length() <= CHARS_MAX ? text : text.substring(0, CHARS_MAX);
  }

  /// Returns whether code of a user describes an exception; it might throw, or never end.
  private static boolean isDescribedByUsers(Class<?> type) {
    for (Class<?> each = type; each != null && each.getClassLoader() != null; ) {
      for (String name : List.of("toString", "getMessage", "getLocalizedMessage")) {
        try {
          var _ = each.getDeclaredMethod(name);
          return true;
        } catch (NoSuchMethodException none) {
          // As its parent says.
        }
      }
      each = each.getSuperclass();
    }
    return false;
  }
}

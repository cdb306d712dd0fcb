package stoa.collections;

import java.util.Objects;

/// When two values are the same to a conditional write: when they are equal, arrays by their
/// elements.
final class Same {
  private static final ClassValue<Boolean> COMPARABLE =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          if (type.isArray() || type.isEnum()) return true;
          try {
            return type.getMethod("equals", Object.class).getDeclaringClass() != Object.class;
          } catch (NoSuchMethodException e) {
            throw new IllegalStateException("every class has equals", e);
          }
        }
      };

  private Same() {}

  static boolean as(Object a, Object b) {
    return Objects.deepEquals(a, b);
  }

  /// Refuses a value that equals no copy of itself: a conditional write on it would never succeed.
  static void check(Object value) {
    if (!COMPARABLE.get(value.getClass()) && !(value instanceof Enum)) {
      throw new UnsupportedOperationException(
          value.getClass().getName()
              + " has no equals of its own, so that nobody can tell whether the value has changed"
              + " meanwhile; give it one, or make it a record");
    }
  }
}

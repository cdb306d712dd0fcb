package stoa.front.marshal;

import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Finds deeply immutable objects, which caller and object may share.
final class ImmutableValues {
  private static final int ELEMENTS_MAX = 8;

  private static final Set<Class<?>> SINGLE =
      Set.of(
          String.class,
          Long.class,
          Integer.class,
          Boolean.class,
          Double.class,
          Float.class,
          Short.class,
          Byte.class,
          Character.class,
          UUID.class,
          BigDecimal.class,
          BigInteger.class);

  private static final Class<?> LIST_12 = List.of(1).getClass();
  private static final Class<?> LIST_N = List.of(1, 2, 3).getClass();

  private static final ClassValue<Boolean> IMMUTABLE =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return compute(type, 0);
        }
      };

  private ImmutableValues() {}

  static boolean isValue(@Nullable Object object) {
    if (object == null || object instanceof String) return true;
    Class<?> type = object.getClass();
    if (IMMUTABLE.get(type)) return true;
    if (type != LIST_12 && type != LIST_N) return false;
    var list = (List<?>) object;
    if (list.size() > ELEMENTS_MAX) return false;
    for (Object element : list) {
      if (element instanceof List || !isValue(element)) return false;
    }
    return true;
  }

  /// Returns whether every instance of a class is deeply immutable.
  static boolean isImmutable(Class<?> type) {
    return IMMUTABLE.get(type);
  }

  private static boolean compute(Class<?> type, int depth) {
    if (depth > 16) return false;
    if (type.isPrimitive() || SINGLE.contains(type)) return true;
    if (type.isEnum()) return true;
    Class<?> parent = type.getSuperclass();
    if (parent != null && parent.isEnum()) return true;
    String name = type.getName();
    if (name.startsWith("java.time.") && name.indexOf('.', 10) < 0 && isFinal(type)) {
      return !name.endsWith("Clock");
    }
    if (!type.isRecord() || type == stoa.Ref.class) return false;
    for (RecordComponent component : type.getRecordComponents()) {
      if (!compute(component.getType(), depth + 1)) return false;
    }
    return true;
  }

  private static boolean isFinal(Class<?> type) {
    return java.lang.reflect.Modifier.isFinal(type.getModifiers());
  }
}

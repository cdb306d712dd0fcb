package stoa.front.marshal;

import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Lossless conversions of numbers: the exact ones of Java's widening conversions.
final class Widening {
  private static final Map<Class<?>, Set<Class<?>>> WIDER =
      Map.of(
          Byte.class,
          Set.of(Short.class, Integer.class, Long.class, Float.class, Double.class),
          Short.class,
          Set.of(Integer.class, Long.class, Float.class, Double.class),
          Character.class,
          Set.of(Integer.class, Long.class, Float.class, Double.class),
          Integer.class,
          Set.of(Long.class, Double.class),
          Float.class,
          Set.of(Double.class));

  private Widening() {}

  /// Returns whether every value of a primitive type or of a box is a value of another type. Null,
  /// which a box may be, is not a value of a primitive type.
  static boolean isExact(Class<?> from, Class<?> to) {
    if (to.isPrimitive() && !from.isPrimitive()) return false;
    Class<?> box = boxed(from);
    Class<?> wider = boxed(to);
    return box == wider || WIDER.getOrDefault(box, Set.of()).contains(wider);
  }

  /// Returns a value in a type that it widens to; the value itself when it has the type already, or
  /// is no number.
  static @Nullable Object widened(@Nullable Object value, Class<?> type) {
    if (value == null) return null;
    Class<?> wanted = boxed(type);
    if (wanted.isInstance(value)) return value;
    if (!isExact(value.getClass(), wanted)) return value;
    Number n = value instanceof Character c ? Integer.valueOf(c) : (Number) value;
    if (wanted == Short.class) return n.shortValue();
    if (wanted == Integer.class) return n.intValue();
    if (wanted == Long.class) return n.longValue();
    if (wanted == Float.class) return n.floatValue();
    return n.doubleValue();
  }

  static Class<?> boxed(Class<?> type) {
    return MethodType.methodType(type).wrap().returnType();
  }
}

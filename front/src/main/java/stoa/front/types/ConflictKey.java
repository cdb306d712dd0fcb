package stoa.front.types;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;

/// The number of a conflict key, see [stoa.Key]. Equal keys have the same number, whichever version
/// of code has made their classes.
final class ConflictKey {
  private static final int DEPTH_MAX = 16;

  /// The parts of a record; none of a record that compares its values in its own way.
  private record Shape(boolean known, List<Method> parts) {}

  private static final ClassValue<Shape> SHAPES =
      new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
          if (RecordHash.isDeclared(type)) return new Shape(false, List.of());
          var parts = new ArrayList<Method>();
          for (RecordComponent component : type.getRecordComponents()) {
            ModuleAccess.open(component.getAccessor());
            parts.add(component.getAccessor());
          }
          return new Shape(true, List.copyOf(parts));
        }
      };

  private ConflictKey() {}

  /// Returns the number of a key; null when its class does not tell which keys are equal.
  static @Nullable Integer of(@Nullable Object key) {
    return of(key, 0);
  }

  private static @Nullable Integer of(@Nullable Object key, int depth) {
    return switch (key) {
      case null -> 0;
      case Enum<?> constant -> constant.name().hashCode(); // its own hashCode is an address
      case Record record -> depth == DEPTH_MAX ? null : of(record, depth);
      default -> isValue(key.getClass()) ? (Integer) key.hashCode() : null;
    };
  }

  private static @Nullable Integer of(Record record, int depth) {
    Shape shape = SHAPES.get(record.getClass());
    if (!shape.known) return null;
    int number = 1;
    for (Method accessor : shape.parts) {
      Integer part;
      try {
        part = of(accessor.invoke(record), depth + 1);
      } catch (ReflectiveOperationException e) {
        throw new NotShareable("the components of " + record.getClass() + " cannot be read", e);
      }
      if (part == null) return null;
      number = 31 * number + part;
    }
    return number;
  }

  private static boolean isValue(Class<?> type) {
    return type == String.class
        || type == Long.class
        || type == Integer.class
        || type == UUID.class
        || type == Boolean.class
        || type == Character.class
        || type == Short.class
        || type == Byte.class
        || type == Double.class
        || type == Float.class
        || type == BigInteger.class
        || type == BigDecimal.class
        || type.getPackageName().equals("java.time");
  }

  /// Returns whether a parameter of a type may get a key that has a number.
  static boolean mayBe(Class<?> type) {
    return type.isPrimitive()
        || type.isInterface()
        || type == Object.class
        || type == Number.class
        || type == Record.class
        || Enum.class.isAssignableFrom(type)
        || (type.isRecord() && SHAPES.get(type).known)
        || isValue(type);
  }
}

package stoa.collections;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;

/// Whether two values are the same for a conditional write: they are equal, and arrays are equal by
/// their elements. That includes arrays in records, lists, maps and optionals, because the
/// comparison uses copies, whose arrays are never identical.
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

  static boolean as(@Nullable Object a, @Nullable Object b) {
    if (Objects.deepEquals(a, b)) return true;
    return switch (a) {
      case Object[] array ->
          b instanceof Object[] other
              && as(java.util.Arrays.asList(array), java.util.Arrays.asList(other));
      case List<?> list -> b instanceof List<?> other && as(list, other);
      case Map<?, ?> map -> b instanceof Map<?, ?> other && as(map, other);
      case Optional<?> one ->
          b instanceof Optional<?> other && as(one.orElse(null), other.orElse(null));
      case Record one ->
          b != null && b.getClass() == one.getClass() && as(parts(one), parts((Record) b));
      case null, default -> false;
    };
  }

  private static boolean as(List<?> a, List<?> b) {
    if (a.size() != b.size()) return false;
    Iterator<?> other = b.iterator();
    for (Object element : a) if (!as(element, other.next())) return false;
    return true;
  }

  private static boolean as(Map<?, ?> a, Map<?, ?> b) {
    if (a.size() != b.size()) return false;
    for (Map.Entry<?, ?> entry : a.entrySet()) {
      if (!b.containsKey(entry.getKey()) || !as(entry.getValue(), b.get(entry.getKey())))
        return false;
    }
    return true;
  }

  private static List<@Nullable Object> parts(Record record) {
    var parts = new ArrayList<@Nullable Object>();
    try {
      for (RecordComponent component : record.getClass().getRecordComponents()) {
        ModuleAccess.open(component.getAccessor());
        parts.add(component.getAccessor().invoke(record));
      }
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new NotShareable("the components of " + record.getClass() + " cannot be read", e);
    }
    return parts;
  }

  /// Refuses a value that equals no copy of itself: a conditional write on it would never succeed.
  static void check(Object value) {
    if (!COMPARABLE.get(value.getClass()) && !(value instanceof Enum)) throw incomparable(value);
  }

  /// Returns the refusal of a value that equals no copy of itself.
  static UnsupportedOperationException incomparable(Object value) {
    return new UnsupportedOperationException(
        value.getClass().getName()
            + ", or a part of it, has no equals of its own, so it is unknown whether the"
            + " value has changed meanwhile; give it one, or make it a record");
  }
}

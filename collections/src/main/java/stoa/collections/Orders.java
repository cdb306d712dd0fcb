package stoa.collections;

import java.lang.reflect.Constructor;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;

/// The orders of sorted maps: the natural one, or that of a comparator class.
final class Orders {
  @SuppressWarnings("unchecked") // Justification: keys that cannot be compared throw, as in TreeMap
  private static final Comparator<Object> NATURAL = (a, b) -> ((Comparable<Object>) a).compareTo(b);

  private static final ClassValue<Comparator<Object>> BY_CLASS =
      new ClassValue<>() {
        @Override
        @SuppressWarnings("unchecked") // Justification: keys of another class throw, as in TreeMap
        protected Comparator<Object> computeValue(Class<?> type) {
          if (!Comparator.class.isAssignableFrom(type)) throw new NotShareable(noComparator(type));
          try {
            Constructor<?> constructor = type.getDeclaredConstructor();
            ModuleAccess.open(constructor);
            return (Comparator<Object>) constructor.newInstance();
          } catch (NotShareable closed) {
            throw closed;
          } catch (ReflectiveOperationException | RuntimeException e) {
            throw new NotShareable(noComparator(type), e);
          }
        }

        private static String noComparator(Class<?> type) {
          return type.getName()
              + " makes no comparator; give it a constructor without parameters, and let it"
              + " implement java.util.Comparator";
        }
      };

  private Orders() {}

  static Comparator<Object> natural() {
    return NATURAL;
  }

  /// Returns the order of a comparator class, or the natural one for null.
  static Comparator<Object> of(@Nullable Class<?> type) {
    return type == null ? NATURAL : BY_CLASS.get(type);
  }

  /// Refuses a key that the order cannot compare, before it becomes the only one in a map.
  static void check(Comparator<Object> order, Object key) {
    int same = order.compare(key, key);
    if (same != 0) {
      throw new IllegalArgumentException(key + " is not equal to itself in the map's order");
    }
  }
}

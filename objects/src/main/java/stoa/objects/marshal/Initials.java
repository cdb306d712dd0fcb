package stoa.objects.marshal;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;

/// What the fields of a class hold in a new instance, as far as that can be known without the
/// arguments of a constructor.
final class Initials {
  private final Class<?> type;

  /// The value of a field; null is a value too.
  record Value(@Nullable Object value) {}

  Initials(Class<?> type) {
    this.type = type;
  }

  /// What the constructor without parameters leaves in a field; absent when there is no such
  /// constructor.
  Optional<Value> of(Field field) {
    Constructor<?> constructor;
    try {
      constructor = type.getDeclaredConstructor();
    } catch (NoSuchMethodException e) {
      return Optional.empty();
    }
    try {
      constructor.setAccessible(true);
      field.setAccessible(true);
      return Optional.of(new Value(field.get(constructor.newInstance())));
    } catch (InvocationTargetException e) {
      throw new NotShareable(
          "the constructor of "
              + type.getName()
              + " without parameters failed while a stored object was completed: "
              + e.getCause(),
          e);
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new NotShareable(
          type.getName() + " cannot be instantiated; open its package to stoa.objects", e);
    }
  }
}

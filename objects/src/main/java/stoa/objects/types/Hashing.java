package stoa.objects.types;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.HashSet;
import java.util.Set;
import stoa.Shared;

/// Which classes hash by address in memory, so that hash collections of them have another order in
/// every JVM.
public final class Hashing {
  private static final ClassValue<Boolean> BY_IDENTITY =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return compute(type, new HashSet<>());
        }
      };

  private Hashing() {}

  /// Whether instances of the class hash by address: enums, classes, arrays, classes that inherit
  /// `Object.hashCode`, and records with a component of such a class. Interfaces and `Object` are
  /// given the benefit of the doubt, and shared objects hash by their reference.
  public static boolean isByIdentity(Class<?> type) {
    return BY_IDENTITY.get(type);
  }

  private static boolean compute(Class<?> type, Set<Class<?>> under) {
    if (type.isPrimitive() || type.isInterface() || type == Object.class) return false;
    if (type.isArray() || type.isEnum() || Enum.class.isAssignableFrom(type)) return true;
    if (type == Class.class) return true;
    if (isShared(type)) return false;
    // A record's own hashCode cannot be told from the compiler's; it is judged by its components.
    if (type.isRecord()) {
      if (!under.add(type)) return false;
      for (RecordComponent component : type.getRecordComponents()) {
        if (compute(component.getType(), under)) return true;
      }
      return false;
    }
    if (java.lang.reflect.Modifier.isAbstract(type.getModifiers())) return false;
    try {
      return type.getMethod("hashCode").getDeclaringClass() == Object.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("every class has hashCode", e);
    }
  }

  private static boolean isShared(Class<?> type) {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      if (c.isAnnotationPresent(Shared.class)) return true;
    }
    return false;
  }

  /// The class of a type as written.
  public static Class<?> erasure(Type type) {
    return switch (type) {
      case Class<?> c -> c;
      case ParameterizedType p -> erasure(p.getRawType());
      case GenericArrayType a -> erasure(a.getGenericComponentType()).arrayType();
      case TypeVariable<?> v -> erasure(v.getBounds()[0]);
      case WildcardType w -> erasure(w.getUpperBounds()[0]);
      default -> Object.class;
    };
  }
}

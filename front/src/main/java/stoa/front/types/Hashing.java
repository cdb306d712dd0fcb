package stoa.front.types;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.spi.Facade;

/// Finds classes that hash by address in memory, so that hash collections of them have another
/// order in every JVM.
public final class Hashing {
  private static final ClassValue<Boolean> BY_IDENTITY =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return compute(type, new HashSet<>());
        }
      };

  private Hashing() {}

  /// Returns whether instances of the class hash by address: enums, classes, arrays, classes that
  /// inherit `Object.hashCode`, and records with a component of such a class. The answer is false
  /// for interfaces and `Object`, whose instances may hash otherwise, and for shared objects, which
  /// hash by their reference.
  public static boolean isByIdentity(Class<?> type) {
    return BY_IDENTITY.get(type);
  }

  private static final int DEPTH_MAX = 32;

  // The accessors of the record components that may hold objects that hash by address, where the
  // record hashes by its components.
  private static final ClassValue<List<Method>> PARTS =
      new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
          return parts(type);
        }
      };

  /// Returns the part of a key by which the key's hash depends on an address in memory: the key
  /// itself, or a value inside an `Optional`, an entry, a collection or a record. Returns null when
  /// there is none, as far as that is visible: the program's own `hashCode` methods are trusted.
  ///
  /// @throws NotShareable when the key nests too deep
  public static @Nullable Object byAddress(@Nullable Object key) {
    return byAddress(key, 0);
  }

  private static @Nullable Object byAddress(@Nullable Object key, int depth) {
    if (key == null || key instanceof String || key instanceof Long) return null;
    if (isByIdentity(key.getClass())) return key;
    if (depth > DEPTH_MAX) {
      throw new NotShareable("a key nests deeper than " + DEPTH_MAX + "; flatten it");
    }
    return switch (key) {
      case Facade _ -> null; // hashes by its reference, and its elements are elsewhere
      case Optional<?> optional -> byAddress(optional.orElse(null), depth + 1);
      case Map.Entry<?, ?> entry -> byAddress(entry, depth);
      case Collection<?> elements -> {
        for (Object element : elements) {
          Object part = byAddress(element, depth + 1);
          if (part != null) yield part;
        }
        yield null;
      }
      case Map<?, ?> map -> {
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          Object part = byAddress(entry, depth);
          if (part != null) yield part;
        }
        yield null;
      }
      case Record record -> byAddress(record, depth);
      default -> null;
    };
  }

  private static @Nullable Object byAddress(Map.Entry<?, ?> entry, int depth) {
    Object part = byAddress(entry.getKey(), depth + 1);
    return part != null ? part : byAddress(entry.getValue(), depth + 1);
  }

  private static @Nullable Object byAddress(Record record, int depth) {
    for (Method accessor : PARTS.get(record.getClass())) {
      try {
        Object part = byAddress(accessor.invoke(record), depth + 1);
        if (part != null) return part;
      } catch (ReflectiveOperationException e) {
        throw new NotShareable("the components of " + record.getClass() + " cannot be read", e);
      }
    }
    return null;
  }

  private static List<Method> parts(Class<?> type) {
    if (RecordHash.isDeclared(type)) return List.of();
    var accessors = new ArrayList<Method>();
    for (RecordComponent component : type.getRecordComponents()) {
      Class<?> declared = component.getType();
      if (declared.isPrimitive() || declared == String.class || declared == Long.class) continue;
      if (component.getAccessor().trySetAccessible()) accessors.add(component.getAccessor());
    }
    return List.copyOf(accessors);
  }

  /// Returns whether keys of a declared type hash by address: those of its class, or of its type
  /// arguments.
  public static boolean isByIdentity(Type type) {
    if (type instanceof WildcardType wildcard) return isByIdentity(wildcard.getUpperBounds()[0]);
    Class<?> raw = erasure(type);
    if (isByIdentity(raw)) return true;
    if (!(type instanceof ParameterizedType generic) || !hashesByParts(raw)) return false;
    for (Type argument : generic.getActualTypeArguments()) {
      if (isByIdentity(argument)) return true;
    }
    return false;
  }

  private static boolean hashesByParts(Class<?> type) {
    return type == Optional.class
        || Collection.class.isAssignableFrom(type)
        || Map.class.isAssignableFrom(type)
        || Map.Entry.class.isAssignableFrom(type)
        || (type.isRecord() && !RecordHash.isDeclared(type));
  }

  private static boolean compute(Class<?> type, Set<Class<?>> under) {
    if (type.isPrimitive() || type.isInterface() || type == Object.class) return false;
    if (type.isArray() || type.isEnum() || Enum.class.isAssignableFrom(type)) return true;
    if (type == Class.class) return true;
    if (isShared(type)) return false;
    // The declaration of a record does not tell its own hashCode from the compiler's; its
    // components decide.
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

  /// Returns the class of a generic type.
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

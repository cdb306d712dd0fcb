package stoa.collections;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import java.util.Set;
import stoa.NotShareable;
import stoa.objects.types.Hashing;

/// The hash of a key, which is the same in every process and agrees with `equals`.
///
/// It is `hashCode()`, but for what hashes by its address: an enum constant hashes by its name, and
/// records and collections of such by their parts.
final class KeyHash {
  private static final int DEPTH_MAX = 32;

  /// The accessors of records whose own hash would depend on an address.
  private static final ClassValue<List<Method>> PARTS =
      new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
          if (!Hashing.isByIdentity(type) && !mayHoldEnums(type)) return List.of();
          return java.util.Arrays.stream(type.getRecordComponents())
              .map(RecordComponent::getAccessor)
              .peek(accessor -> accessor.setAccessible(true))
              .toList();
        }
      };

  private static final ClassValue<Boolean> REFUSED =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return isRefused(type, 0);
        }
      };

  private KeyHash() {}

  /// Refuses a class whose instances have no stable hash.
  static void check(Class<?> keys) {
    if (REFUSED.get(keys)) {
      throw new NotShareable(
          keys.getTypeName()
              + " has no hash that is the same in every process; use a String, a number, a UUID, an"
              + " enum, or a record of these as key");
    }
  }

  static int of(Object key) {
    return of(key, 0);
  }

  private static int of(Object key, int depth) {
    if (depth > DEPTH_MAX) {
      throw new NotShareable("a key nests deeper than " + DEPTH_MAX + "; flatten it");
    }
    return switch (key) {
      case String text -> text.hashCode();
      case Number number -> number.hashCode();
      case Enum<?> constant -> constant.name().hashCode();
      case List<?> list -> {
        int hash = 1;
        for (Object element : list) hash = 31 * hash + part(element, depth);
        yield hash;
      }
      case Set<?> set -> {
        int hash = 0;
        for (Object element : set) hash += part(element, depth);
        yield hash;
      }
      case Map<?, ?> map -> {
        int hash = 0;
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          hash += part(entry.getKey(), depth) ^ part(entry.getValue(), depth);
        }
        yield hash;
      }
      case Record record -> record(record, depth);
      default -> {
        check(key.getClass());
        yield key.hashCode();
      }
    };
  }

  private static int part(@org.jspecify.annotations.Nullable Object part, int depth) {
    return part == null ? 0 : of(part, depth + 1);
  }

  private static int record(Record record, int depth) {
    List<Method> parts = PARTS.get(record.getClass());
    if (parts.isEmpty()) return record.hashCode();
    int hash = 0;
    for (Method accessor : parts) {
      try {
        hash = 31 * hash + part(accessor.invoke(record), depth);
      } catch (ReflectiveOperationException e) {
        throw new NotShareable("the components of " + record.getClass() + " cannot be read", e);
      }
    }
    return hash;
  }

  /// Whether a component is declared as something that may turn out to hold an enum constant.
  private static boolean mayHoldEnums(Class<?> type) {
    for (RecordComponent component : type.getRecordComponents()) {
      Class<?> declared = component.getType();
      if (declared == Object.class || declared.isInterface()) return true;
      if (declared.isRecord() && declared != type && mayHoldEnums(declared)) return true;
    }
    return false;
  }

  private static boolean isRefused(Class<?> type, int depth) {
    if (type.isArray() || type == Class.class) return true;
    if (type.isEnum() || Enum.class.isAssignableFrom(type)) return false;
    if (type.isRecord() && depth < DEPTH_MAX) {
      for (RecordComponent component : type.getRecordComponents()) {
        if (component.getType() != type && isRefused(component.getType(), depth + 1)) return true;
      }
      return false;
    }
    return Hashing.isByIdentity(type);
  }
}

package stoa.collections;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import stoa.NotShareable;
import stoa.front.types.Hashing;
import stoa.front.types.ModuleAccess;
import stoa.front.types.RecordHash;
import stoa.spi.Facade;

/// The hash of a key, which is the same in every process and agrees with `equals`.
///
/// It is `hashCode()` where that depends on the contents, as for text and numbers. An enum constant
/// hashes by its name, because its `hashCode` is an address. Lists, sets, maps and records hash by
/// their parts; a record that declares a `hashCode` of its own hashes by that. (The compiler's
/// `hashCode` of a record is unspecified and could differ in the next JDK.) An `Optional` and an
/// entry hash by their parts where their `hashCode` depends on an address. Anything else, such as
/// an array or an object without a `hashCode`, is refused anywhere in a key.
final class KeyHash {
  private static final int DEPTH_MAX = 32;

  // The accessors of a record; none when it declares a hash of its own.
  private static final ClassValue<List<Method>> PARTS =
      new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
          if (RecordHash.isDeclared(type)) return List.of();
          var accessors = new ArrayList<Method>();
          for (RecordComponent component : type.getRecordComponents()) {
            ModuleAccess.open(component.getAccessor());
            accessors.add(component.getAccessor());
          }
          return List.copyOf(accessors);
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
      case Facade facade ->
          throw new NotShareable(
              "a " + facade.title() + " is no key, as what it holds changes; use its Stoa.ref");
      case String text -> text.hashCode();
      case Number number -> {
        check(number.getClass());
        yield number.hashCode();
      }
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
      case Optional<?> optional -> content(optional, part(optional.orElse(null), depth));
      case Map.Entry<?, ?> entry ->
          content(entry, part(entry.getKey(), depth) ^ part(entry.getValue(), depth));
      default -> {
        check(key.getClass());
        yield key.hashCode();
      }
    };
  }

  /// Returns the hash of a value by its contents, and the earlier hash where that was always
  /// stable.
  private static int content(Object value, int byParts) {
    return Hashing.byAddress(value) == null ? value.hashCode() : byParts;
  }

  private static int part(@org.jspecify.annotations.Nullable Object part, int depth) {
    return part == null ? 0 : of(part, depth + 1);
  }

  private static int record(Record record, int depth) {
    List<Method> parts = PARTS.get(record.getClass());
    if (parts.isEmpty()) return record.hashCode();
    int hash = 1;
    for (Method accessor : parts) {
      try {
        hash = 31 * hash + part(accessor.invoke(record), depth);
      } catch (ReflectiveOperationException e) {
        throw new NotShareable("the components of " + record.getClass() + " cannot be read", e);
      }
    }
    return hash;
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

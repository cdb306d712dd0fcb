package stoa.http;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The types for which the type variables of some classes stand. Immutable.
final class Variables {
  static final Variables NONE = new Variables(Map.of());

  private final Map<TypeVariable<?>, Type> values;

  private Variables(Map<TypeVariable<?>, Type> values) {
    this.values = Map.copyOf(values);
  }

  /// A type with its arguments, none of which is a variable. Equal when these are.
  ///
  /// @param raw the class
  /// @param arguments one for each variable of the class; none when it was named without
  record Known(Class<?> raw, List<Type> arguments) implements Type {
    /// Returns a class without arguments.
    static Known of(Class<?> raw) {
      return new Known(raw, List.of());
    }

    /// Returns an argument; Object when there is none.
    Known argument(int number) {
      return number < arguments.size() ? (Known) arguments.get(number) : of(Object.class);
    }

    /// Returns what the variables of the class stand for.
    Variables variables() {
      var values = new HashMap<TypeVariable<?>, Type>();
      TypeVariable<?>[] all = raw.getTypeParameters();
      for (int i = 0; i < all.length && i < arguments.size(); i++) {
        values.put(all[i], arguments.get(i));
      }
      return new Variables(values);
    }

    /// Returns the names of the class and of its arguments without their packages, as in
    /// `Pair_String_Integer`.
    String simpleName() {
      var name = new StringBuilder(raw.getSimpleName().replace("[]", "_Array"));
      for (Type argument : arguments) name.append('_').append(((Known) argument).simpleName());
      return name.toString();
    }

    @Override
    public String getTypeName() {
      if (arguments.isEmpty()) return raw.getTypeName();
      var names = arguments.stream().map(Type::getTypeName).toList();
      return raw.getTypeName() + "<" + String.join(", ", names) + ">";
    }

    @Override
    public String toString() {
      return getTypeName();
    }
  }

  /// Returns the values of the variables of all classes and interfaces above a class.
  static Variables above(Class<?> type) {
    var values = new HashMap<TypeVariable<?>, Type>();
    climb(type, values);
    return new Variables(values);
  }

  private static void climb(Class<?> type, Map<TypeVariable<?>, Type> values) {
    var above = new java.util.ArrayList<Type>(Arrays.asList(type.getGenericInterfaces()));
    Type superclass = type.getGenericSuperclass();
    if (superclass != null) above.add(superclass);
    for (Type one : above) {
      Known known = new Variables(values).resolve(one);
      values.putAll(known.variables().values);
      climb(known.raw(), values);
    }
  }

  /// Returns a type without variables.
  Known resolve(Type type) {
    return switch (type) {
      case Known known -> known;
      case Class<?> known -> Known.of(known);
      case ParameterizedType parameterized ->
          new Known(
              (Class<?>) parameterized.getRawType(),
              Arrays.stream(parameterized.getActualTypeArguments())
                  .<Type>map(this::resolve)
                  .toList());
      case GenericArrayType array -> {
        Known element = resolve(array.getGenericComponentType());
        Class<?> raw = Array.newInstance(element.raw(), 0).getClass();
        yield new Known(raw, List.of(element));
      }
      case WildcardType wildcard -> resolve(wildcard.getUpperBounds()[0]);
      case TypeVariable<?> variable -> {
        Type value = values.get(variable);
        // A bound may name the variable itself.
        yield value != null ? resolve(value) : Known.of(erased(variable.getBounds()[0]));
      }
      default -> Known.of(Object.class);
    };
  }

  private static Class<?> erased(Type type) {
    return switch (type) {
      case Class<?> known -> known;
      case ParameterizedType parameterized -> (Class<?>) parameterized.getRawType();
      case TypeVariable<?> variable -> erased(variable.getBounds()[0]);
      default -> Object.class;
    };
  }
}

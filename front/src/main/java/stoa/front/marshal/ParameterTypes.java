package stoa.front.marshal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.front.types.SharedMethod;

/// The parameter types that stored calls were written with, where a method has wider ones today.
final class ParameterTypes {
  private ParameterTypes() {}

  /// Returns the types of arguments without a type in their encoding. A method that succeeds
  /// another has its identity, as in `deposit(int)`, and so its types; `Object` stands for all
  /// types that are not simple.
  ///
  /// @throws Corrupt when the method takes another number of arguments
  static List<Class<?>> stored(SharedMethod method) {
    List<Class<?>> now = method.parameterTypes();
    if (!method.isSuccessor()) return now;
    String id = method.id();
    int open = id.indexOf('(');
    if (open < 0 || !id.endsWith(")")) return now;
    String inside = id.substring(open + 1, id.length() - 1);
    String[] names = inside.isEmpty() ? new String[0] : inside.split(",", -1);
    if (names.length != now.size()) {
      throw new Corrupt("the call passes " + names.length + ", the method takes " + now.size());
    }
    var types = new ArrayList<Class<?>>();
    for (String name : names) {
      Class<?> type = Simple.named(name);
      types.add(type == null ? Object.class : type);
    }
    return types;
  }

  /// Returns a stored argument in the type of the parameter.
  ///
  /// @throws NotShareable when the parameter's type does not take it
  static @Nullable Object passed(
      SharedMethod method, int position, Class<?> stored, @Nullable Object value) {
    Class<?> type = method.parameterTypes().get(position);
    if (type == stored) return value;
    Object passed = Widening.widened(value, type);
    boolean fits = passed == null ? !type.isPrimitive() : Widening.boxed(type).isInstance(passed);
    if (fits) return passed;
    throw refused(method, position, stored.getTypeName());
  }

  /// Returns the refusal of a call that was made for a method with the same identity and other
  /// parameters.
  static NotShareable other(SharedMethod method, Corrupt difference) {
    return new NotShareable(
        "a call of "
            + method.id()
            + " does not fit "
            + method.method()
            + ": "
            + difference.getMessage()
            + "; call with classes that have this method, or keep a method with the earlier"
            + " parameters under @MethodId(\""
            + method.id()
            + "\"), and give this method an id of its own",
        difference);
  }

  /// Refuses a stored object where the parameter is a number or text.
  static void checkNotSimple(SharedMethod method, int position) {
    if (!Simple.covers(method.parameterTypes().get(position))) return;
    throw refused(method, position, "object");
  }

  private static NotShareable refused(SharedMethod method, int position, String stored) {
    return new NotShareable(
        "parameter "
            + position
            + " of "
            + method.method()
            + " does not take what calls of "
            + method.id()
            + " stored as a "
            + stored
            + "; give the parameter a wider type, or keep a method with the old one under @MethodId(\""
            + method.id()
            + "\")");
  }
}

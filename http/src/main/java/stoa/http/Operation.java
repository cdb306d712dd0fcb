package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.front.types.SharedMethod;

/// One method of a shared type, with the forms of its parameters and its answer. Immutable and
/// thread-safe.
final class Operation {
  private final String name;
  private final Method method;
  private final SharedMethod shared;
  private final List<JsonForm> parameters = new ArrayList<>();
  private final @Nullable JsonForm result;
  private final String resultName;

  /// Finds the forms.
  ///
  /// @param name of the method, or its id when other methods have the same name
  /// @throws Inexpressible when JSON cannot express a parameter or the answer
  Operation(
      String type,
      String name,
      Method method,
      SharedMethod shared,
      JsonForms forms,
      Variables variables) {
    this.name = name;
    this.method = method;
    this.shared = shared;
    method.setAccessible(true);
    Parameter[] all = method.getParameters();
    for (int i = 0; i < all.length; i++) {
      String where = where(i) + " of " + type + "." + name;
      parameters.add(forms.parameter(all[i].getParameterizedType(), variables, where));
    }
    resultName = "the answer of " + type + "." + name;
    result =
        method.getReturnType() == void.class
            ? null
            : forms.result(method.getGenericReturnType(), variables, resultName);
  }

  private String where(int number) {
    Parameter parameter = method.getParameters()[number];
    String named = parameter.isNamePresent() ? " (" + parameter.getName() + ")" : "";
    return "argument " + number + named;
  }

  /// Returns its name in paths.
  String name() {
    return name;
  }

  /// Returns whether it leaves its object as it is, so that a GET may call it.
  boolean isAccessor() {
    return shared.kind() == SharedMethod.Kind.ACCESSOR;
  }

  /// Reads arguments.
  ///
  /// @throws Problem when they do not fit
  @Nullable Object[] arguments(JsonForms forms, JsonElement json) {
    if (!(json instanceof JsonArray all) || all.size() != parameters.size()) {
      throw Leaves.wrong(json, "the arguments of " + name, described());
    }
    var arguments = new @Nullable Object[all.size()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = forms.read(parameters.get(i), all.get(i), where(i));
      if (arguments[i] == null && method.getParameterTypes()[i].isPrimitive()) {
        throw Leaves.wrong(all.get(i), where(i), "a " + method.getParameterTypes()[i]);
      }
    }
    return arguments;
  }

  private String described() {
    var types = new StringJoiner(", ", "an array of " + parameters.size() + ": [", "]");
    for (Parameter parameter : method.getParameters()) {
      String type = parameter.getParameterizedType().getTypeName();
      types.add(parameter.isNamePresent() ? type + " " + parameter.getName() : type);
    }
    return types.toString();
  }

  /// Calls the method on an object. Failures of the store come as they are.
  ///
  /// @throws Problem for what the method throws
  @Nullable Object call(Object object, @Nullable Object[] arguments) {
    try {
      return method.invoke(object, arguments);
    } catch (InvocationTargetException thrown) {
      Throwable cause = thrown.getCause();
      if (cause instanceof StoaException failed) throw failed;
      if (cause instanceof VirtualMachineError beyond) throw beyond;
      throw Problem.thrown(cause == null ? thrown : cause);
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /// Returns whether it answers nothing.
  boolean isVoid() {
    return result == null;
  }

  /// Returns the JSON of an answer.
  JsonElement answer(JsonForms forms, @Nullable Object value) {
    return result == null ? JsonNull.INSTANCE : forms.write(result, value, resultName);
  }

  // ---- its description

  /// Returns the schema of its arguments.
  JsonObject argumentsSchema(Schemas schemas) {
    JsonObject schema = Schemas.of("array", "");
    if (!parameters.isEmpty()) {
      var items = new JsonArray();
      for (int i = 0; i < parameters.size(); i++) items.add(argumentSchema(i, schemas));
      schema.add("prefixItems", items);
    }
    schema.addProperty("minItems", parameters.size());
    schema.addProperty("maxItems", parameters.size());
    return schema;
  }

  private JsonObject argumentSchema(int number, Schemas schemas) {
    Parameter parameter = method.getParameters()[number];
    JsonObject schema = parameters.get(number).schema(schemas);
    boolean isNullable = isNullable(parameter.getAnnotatedType());
    if (isNullable) schema = Schemas.orNull(schema);
    if (!parameter.isNamePresent()) return schema;
    JsonObject titled = new JsonObject();
    titled.addProperty("title", parameter.getName());
    schema.asMap().forEach(titled::add);
    return titled;
  }

  /// Returns the schema of its answer; null when there is none.
  @Nullable JsonObject resultSchema(Schemas schemas) {
    if (result == null) return null;
    JsonObject schema = result.schema(schemas);
    boolean isNullable = !result.isNullable() && isNullable(method.getAnnotatedReturnType());
    return isNullable ? Schemas.orNull(schema) : schema;
  }

  private static boolean isNullable(AnnotatedType type) {
    return Arrays.stream(type.getAnnotations())
        .anyMatch(one -> one.annotationType().getSimpleName().equals("Nullable"));
  }
}

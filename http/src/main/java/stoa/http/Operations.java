package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Shared;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The public methods of a shared type that can be called over HTTP. Immutable and thread-safe.
final class Operations {
  private final SharedType type;
  private final JsonForms forms;
  private final SortedMap<String, Operation> all = new TreeMap<>();
  private final Map<String, Operation> byId = new HashMap<>();
  private final SortedMap<String, String> refused = new TreeMap<>();
  private final Map<String, List<String>> overloaded = new HashMap<>();

  /// Finds the methods.
  Operations(SharedType type, JsonForms forms) {
    this.type = type;
    this.forms = forms;
    var methods = new TreeMap<String, Method>();
    var count = new HashMap<String, Integer>();
    for (Method method : type.face().getMethods()) {
      SharedMethod shared = type.method(method);
      if (shared == null) continue;
      boolean isOwn = !Modifier.isStatic(method.getModifiers()) && !method.isBridge();
      if (isOwn && methods.put(shared.id(), method) == null) {
        count.merge(method.getName(), 1, Integer::sum);
      }
    }
    Variables variables = Variables.above(type.face());
    methods.forEach((id, method) -> {
      boolean isOnly = count.getOrDefault(method.getName(), 0) == 1;
      String name = isOnly ? method.getName() : id;
      if (!isOnly) {
        overloaded.computeIfAbsent(method.getName(), _ -> new ArrayList<>()).add(id);
      }
      try {
        SharedMethod shared = java.util.Objects.requireNonNull(type.method(method));
        var operation = new Operation(type.name(), name, method, shared, forms, variables);
        all.put(name, operation);
        byId.put(id, operation);
      } catch (Inexpressible reason) {
        refused.put(name, String.valueOf(reason.getMessage()));
      }
    });
  }

  /// Returns the type.
  SharedType type() {
    return type;
  }

  /// Returns the methods by their names.
  SortedMap<String, Operation> all() {
    return all;
  }

  /// Returns the methods that JSON cannot express, with the reasons.
  SortedMap<String, String> refused() {
    return refused;
  }

  /// Returns whether there is a method of a name or id.
  boolean has(String name) {
    return all.containsKey(name) || byId.containsKey(name);
  }

  /// Returns a method.
  ///
  /// @param name its name, or its id
  /// @throws Problem when there is none, or when JSON cannot express it
  Operation named(String name) {
    Operation found = all.get(name);
    if (found == null) found = byId.get(name);
    if (found != null) return found;
    String reason = refused.get(name);
    if (reason != null) throw new Problem(Problem.UNPROCESSABLE, "Inexpressible", reason);
    List<String> several = overloaded.get(name);
    if (several != null) {
      throw Problem.absent(
          type.name() + " has several methods " + name + "; name one of " + several);
    }
    throw Problem.absent(
        type.name() + " has no public method " + name + "; it has " + all.keySet());
  }

  /// Reads the arguments of a constructor, after the key if it takes that.
  ///
  /// @throws Problem when no constructor, or more than one, takes as many
  @Nullable Object[] opening(JsonElement json) {
    if (!(json instanceof JsonArray given)) {
      throw Leaves.wrong(json, "the body", "an array with the arguments of a constructor");
    }
    int keys = type.face().getAnnotation(Shared.class).key().isEmpty() ? 0 : 1;
    var fitting = new ArrayList<Constructor<?>>();
    for (int first = keys; first >= 0 && fitting.isEmpty(); first--) {
      for (Constructor<?> one : type.implementation().getDeclaredConstructors()) {
        if (one.getParameterCount() == given.size() + first) fitting.add(one);
      }
    }
    if (fitting.size() != 1) {
      throw Problem.wrong(
          type.name()
              + " has "
              + fitting.size()
              + " constructors with "
              + given.size()
              + " arguments; it needs to have one");
    }
    Constructor<?> constructor = fitting.getFirst();
    int first = constructor.getParameterCount() - given.size();
    var arguments = new @Nullable Object[given.size()];
    for (int i = 0; i < arguments.length; i++) {
      String where = "argument " + i + " of the constructor of " + type.name();
      var parameter = constructor.getGenericParameterTypes()[first + i];
      JsonForm form = forms.parameter(parameter, Variables.above(type.implementation()), where);
      arguments[i] = forms.read(form, given.get(i), where);
    }
    return arguments;
  }
}

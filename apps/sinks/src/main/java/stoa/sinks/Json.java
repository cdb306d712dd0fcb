package stoa.sinks;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.SharedRangeMap;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.spi.Facade;

/// Writes values of shared objects as JSON: records and states by their fields, maps and
/// collections by their parts, shared objects and shared collections by their names, and everything
/// else as text.
public final class Json {
  private static final int DEPTH_MAX = 64;

  private Json() {}

  /// A value that is JSON already.
  record Raw(String text) {}

  /// Returns the value of a member of an object, in JSON; null when the object has none of the
  /// name.
  ///
  /// @param object an object that [#text] has written
  static @Nullable String member(String object, String name) {
    String wanted = text(name) + ":";
    int depth = 0;
    for (int i = 0; i < object.length(); i++) {
      switch (object.charAt(i)) {
        case '"' -> {
          if (depth == 1 && object.startsWith(wanted, i)) return value(object, i + wanted.length());
          i = closing(object, i);
        }
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        default -> {
          // A part of a number or word.
        }
      }
    }
    return null;
  }

  /// Returns the value that begins at a place.
  private static String value(String object, int start) {
    int depth = 0;
    int i = start;
    for (; i < object.length(); i++) {
      char c = object.charAt(i);
      boolean closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) break;
      if (c == '"') i = closing(object, i);
      else if (closes) depth--;
      else if (c == '{' || c == '[') depth++;
    }
    return object.substring(start, i);
  }

  /// Returns where a string ends that begins at a place.
  private static int closing(String object, int start) {
    int i = start + 1;
    while (object.charAt(i) != '"') i += object.charAt(i) == '\\' ? 2 : 1;
    return i;
  }

  /// Returns the parts of a state: those of a collection, or the fields of an object by name; null
  /// for null.
  ///
  /// @throws IllegalArgumentException when its module does not open its package to this one
  public static @Nullable Object state(@Nullable Object state) {
    return switch (state) {
      case null -> null;
      case Map<?, ?> map -> new LinkedHashMap<>(map);
      case Collection<?> all -> new ArrayList<>(all);
      case SharedRangeMap<?, ?> ranges -> ranges.ranges();
      default -> fields(state);
    };
  }

  private static Map<String, @Nullable Object> fields(Object state) {
    var fields = new LinkedHashMap<String, @Nullable Object>();
    for (Class<?> type = state.getClass();
        type != null && type != Object.class;
        type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) || field.isSynthetic()) continue;
        try {
          field.setAccessible(true);
          fields.putIfAbsent(field.getName(), field.get(state));
        } catch (ReflectiveOperationException | RuntimeException closed) {
          throw new IllegalArgumentException(
              "field " + field + " cannot be read; open its package to stoa.sinks", closed);
        }
      }
    }
    return fields;
  }

  /// Returns a value as JSON, in one line.
  ///
  /// @throws IllegalArgumentException when the class of a part is in a module that neither exports
  ///   nor opens its package to this one, naming the class; when parts are nested too deeply
  public static String text(@Nullable Object value) {
    var out = new StringBuilder();
    write(out, value, 0);
    return out.toString();
  }

  private static void write(StringBuilder out, @Nullable Object value, int depth) {
    if (depth > DEPTH_MAX) {
      throw new IllegalArgumentException("a value is nested more than " + DEPTH_MAX + " deep");
    }
    Proxied shared = Proxies.of(value);
    if (shared != null) {
      string(out, shared.text());
      return;
    }
    switch (value) {
      case null -> out.append("null");
      case Raw(String json) -> out.append(json);
      case Boolean word -> out.append(word);
      case Double number when !Double.isFinite(number) -> string(out, number.toString());
      case Float number when !Float.isFinite(number) -> string(out, number.toString());
      case Number number -> out.append(number);
      case Facade collection -> string(out, Sharing.proxied(collection).ref().toString());
      case Map<?, ?> map -> map(out, map, depth);
      case Collection<?> all -> list(out, all, depth);
      case Ref<?> ref -> string(out, ref.toString());
      case Enum<?> constant -> string(out, constant.name());
      case Record record -> map(out, components(record), depth);
      default -> other(out, value, depth);
    }
  }

  private static void other(StringBuilder out, Object value, int depth) {
    if (value.getClass().isArray()) {
      out.append('[');
      for (int i = 0; i < Array.getLength(value); i++) {
        if (i > 0) out.append(',');
        write(out, Array.get(value, i), depth + 1);
      }
      out.append(']');
    } else if (value.getClass().getName().startsWith("java.")) {
      string(out, value.toString());
    } else {
      map(out, fields(value), depth);
    }
  }

  private static Map<String, @Nullable Object> components(Record record) {
    var all = new LinkedHashMap<String, @Nullable Object>();
    for (RecordComponent component : record.getClass().getRecordComponents()) {
      Method accessor = component.getAccessor();
      try {
        // Every module may read a public record of an exported package.
        if (!accessor.canAccess(record)) accessor.setAccessible(true);
        all.put(component.getName(), accessor.invoke(record));
      } catch (InaccessibleObjectException closed) {
        throw new IllegalArgumentException(
            "component %s of %s cannot be read; open its package to stoa.sinks"
                .formatted(component.getName(), record.getClass().getName()),
            closed);
      } catch (ReflectiveOperationException failed) {
        throw new IllegalArgumentException(component + " cannot be read", failed);
      }
    }
    return all;
  }

  private static void map(StringBuilder out, Map<?, ?> map, int depth) {
    out.append('{');
    String separator = "";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      out.append(separator);
      string(out, String.valueOf(entry.getKey()));
      write(out.append(':'), entry.getValue(), depth + 1);
      separator = ",";
    }
    out.append('}');
  }

  private static void list(StringBuilder out, Collection<?> all, int depth) {
    out.append('[');
    String separator = "";
    for (Object one : all) {
      write(out.append(separator), one, depth + 1);
      separator = ",";
    }
    out.append(']');
  }

  private static void string(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        default -> {
          if (c < ' ' || Character.isSurrogate(c)) out.append("\\u%04x".formatted((int) c));
          else out.append(c);
        }
      }
    }
    out.append('"');
  }
}

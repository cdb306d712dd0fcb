package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/// The named schemas of a document. Owned by the thread that writes the document.
final class Schemas {
  private static final String PREFIX = "#/components/schemas/";

  private final SortedMap<String, JsonObject> named = new TreeMap<>();

  /// Returns a reference to a named schema, which is written at its first use.
  JsonObject named(String name, Supplier<JsonObject> schema) {
    if (!named.containsKey(name)) {
      named.put(name, new JsonObject()); // it may refer to itself
      named.put(name, schema.get());
    }
    var reference = new JsonObject();
    reference.addProperty("$ref", PREFIX + name);
    return reference;
  }

  /// Returns all named schemas.
  JsonObject all() {
    var all = new JsonObject();
    named.forEach(all::add);
    return all;
  }

  /// Returns a schema of a type, perhaps with a format.
  static JsonObject of(String type, String format) {
    var schema = new JsonObject();
    schema.addProperty("type", type);
    if (!format.isEmpty()) schema.addProperty("format", format);
    return schema;
  }

  /// Returns a schema of one of two types, with a format.
  static JsonObject of(String one, String other, String format) {
    var schema = new JsonObject();
    var types = new JsonArray();
    types.add(one);
    types.add(other);
    schema.add("type", types);
    schema.addProperty("format", format);
    return schema;
  }

  /// Returns a schema that also allows null.
  static JsonObject orNull(JsonObject schema) {
    var either = new JsonArray();
    either.add(schema);
    either.add(of("null", ""));
    var all = new JsonObject();
    all.add("anyOf", either);
    return all;
  }
}

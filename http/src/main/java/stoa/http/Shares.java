package stoa.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import stoa.Ref;
import stoa.Stoa;
import stoa.front.types.KeyText;
import stoa.front.types.Keys;

/// Shared objects and their references as JSON: `{"@object": TYPE, "@key": KEY}`, with keys as
/// [KeyText] writes them. Thread-safe.
///
/// @param stoa the store of the objects
/// @param keys finds the classes of keys
record Shares(Stoa stoa, ClassLoader keys) {
  static final String OBJECT = "@object";
  static final String KEY = "@key";
  private static final String WHAT =
      "{\"" + OBJECT + "\": TYPE, \"" + KEY + "\": KEY}, a shared object";

  /// Returns the key of an object.
  ///
  /// @param text as operators write it
  /// @throws Problem when it is none
  Object key(String text) {
    try {
      return Keys.decode(KeyText.encoded(text), keys);
    } catch (IllegalArgumentException wrong) {
      throw Problem.wrong(String.valueOf(wrong.getMessage()));
    }
  }

  /// Returns the reference that JSON stands for.
  Ref<Object> read(JsonElement json, String where) {
    if (json instanceof JsonObject object
        && object.size() == 2
        && object.has(OBJECT)
        && object.has(KEY)) {
      String type = Leaves.word(object.get(OBJECT), where + "." + OBJECT, "a text");
      return new Ref<>(type, key(Leaves.word(object.get(KEY), where + "." + KEY, "a text")));
    }
    throw Leaves.wrong(json, where, WHAT);
  }

  /// Returns the JSON of a reference.
  static JsonObject write(Ref<?> ref) {
    var object = new JsonObject();
    object.addProperty(OBJECT, ref.type());
    object.addProperty(KEY, KeyText.of(Keys.encode(ref.key())));
    return object;
  }

  /// Returns the schema of references to objects of a type; of any type when it is empty.
  static JsonObject schema(String type) {
    var properties = new JsonObject();
    JsonObject object = Schemas.of("string", "");
    if (!type.isEmpty()) object.addProperty("const", type);
    properties.add(OBJECT, object);
    properties.add(KEY, Schemas.of("string", ""));
    JsonObject schema = Schemas.of("object", "");
    schema.add("properties", properties);
    var required = new com.google.gson.JsonArray();
    required.add(OBJECT);
    required.add(KEY);
    schema.add("required", required);
    return schema;
  }
}

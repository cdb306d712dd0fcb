package stoa.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import org.jspecify.annotations.Nullable;

/// The JSON of the values of one declared type, both ways. Thread-safe.
interface JsonForm {
  /// Returns the value that JSON, other than null, stands for.
  ///
  /// @param where the parameter or component, for messages
  /// @throws Problem when it stands for none
  @Nullable Object read(JsonElement json, String where);

  /// Returns the JSON of a value other than null.
  ///
  /// @throws Inexpressible when there is none
  JsonElement write(Object value, String where);

  /// Returns the schema of the type.
  JsonObject schema(Schemas schemas);

  /// Returns whether the JSON of every value is a text or whole number, so that it may be a name.
  default boolean isName() {
    return false;
  }

  /// Returns whether null is a value that callers expect.
  default boolean isNullable() {
    return false;
  }
}

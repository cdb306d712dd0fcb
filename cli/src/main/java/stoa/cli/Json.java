package stoa.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MessageOrBuilder;
import java.io.PrintWriter;

/// JSON as commands print it. Stateless.
final class Json {
  private static final Gson GSON =
      new GsonBuilder().setPrettyPrinting().serializeNulls().disableHtmlEscaping().create();

  private Json() {}

  /// Returns a message with all of its fields.
  static JsonElement of(MessageOrBuilder message) {
    var object = new JsonObject();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (field.isRepeated()) {
        var array = new JsonArray();
        for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
          array.add(value(message.getRepeatedField(field, i)));
        }
        object.add(field.getJsonName(), array);
      } else if (!field.hasPresence() || message.hasField(field)) {
        object.add(field.getJsonName(), value(message.getField(field)));
      }
    }
    return object;
  }

  private static JsonElement value(Object value) {
    return switch (value) {
      case MessageOrBuilder message -> of(message);
      case Number number -> new JsonPrimitive(number);
      case Boolean flag -> new JsonPrimitive(flag);
      default -> new JsonPrimitive(value.toString());
    };
  }

  /// Prints a value.
  static void print(PrintWriter out, JsonElement value) {
    out.println(GSON.toJson(value));
    out.flush();
  }
}

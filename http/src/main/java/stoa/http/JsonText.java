package stoa.http;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import stoa.node.HttpDoor;

/// Reads and writes JSON. Stateless.
public final class JsonText {
  private static final Gson GSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final TypeAdapter<JsonElement> ELEMENTS = GSON.getAdapter(JsonElement.class);

  private static final Pattern PLACE = Pattern.compile("line \\d+ column \\d+");

  private JsonText() {}

  /// Reads a document.
  ///
  /// @throws Problem when the bytes are none
  static JsonElement read(byte[] bytes, String what) {
    try {
      return read(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString(), what);
    } catch (CharacterCodingException wrong) {
      throw Problem.wrong(what + " is no text in UTF-8");
    }
  }

  /// Reads a document.
  ///
  /// @throws Problem when the text is none
  static JsonElement read(String text, String what) {
    try (var reader = new JsonReader(new StringReader(text))) {
      reader.setStrictness(Strictness.STRICT);
      JsonElement read = ELEMENTS.read(reader);
      if (reader.peek() != JsonToken.END_DOCUMENT) {
        throw Problem.wrong(what + " goes on behind its JSON");
      }
      return read;
    } catch (IOException | JsonParseException | IllegalStateException wrong) {
      throw Problem.wrong(what + " is no JSON: " + reason(wrong));
    }
  }

  /// Returns where it is wrong, without the parser's advice to its programmers.
  private static String reason(Exception wrong) {
    var place = PLACE.matcher(String.valueOf(wrong.getMessage()));
    if (wrong instanceof EOFException || !place.find()) return "it ends too early";
    return "it is wrong at " + place.group();
  }

  /// Returns the text of a document.
  public static String text(JsonElement value) {
    return GSON.toJson(value);
  }

  /// Returns the bytes of a document, with the end of a line.
  static byte[] bytes(JsonElement value) {
    return (text(value) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /// Returns an answer.
  public static HttpDoor.Reply reply(JsonElement value) {
    return HttpDoor.Reply.of(200, "application/json", bytes(value));
  }
}

package stoa.http;

import com.google.gson.JsonElement;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.node.HttpDoor;
import stoa.node.access.Caller;

/// One request to the interface: the variable parts of its path, its query, headers and body.
/// Immutable.
public final class Asking {
  private static final String TIMEOUT = "stoa-timeout";
  private static final int KEY_MAX = 255;

  private final HttpDoor.HttpRequest asked;
  private final List<String> variables;
  private final Map<String, String> query;

  Asking(HttpDoor.HttpRequest asked, List<String> variables) {
    this.asked = asked;
    this.variables = List.copyOf(variables);
    this.query = parsed(asked.uri().getRawQuery());
  }

  /// Returns a decoded part of a path or query.
  ///
  /// @throws Problem when it is not encoded correctly
  static String decoded(String part) {
    try {
      // A plus sign in a path is itself.
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException wrong) {
      throw Problem.wrong("\"" + part + "\" is not percent-encoded correctly");
    }
  }

  private static Map<String, String> parsed(@Nullable String raw) {
    var query = new LinkedHashMap<String, String>();
    if (raw == null || raw.isEmpty()) return query;
    for (String part : raw.split("&", -1)) {
      int mark = part.indexOf('=');
      String name = mark < 0 ? part : part.substring(0, mark);
      String value = mark < 0 ? "" : part.substring(mark + 1);
      query.put(decoded(name), decoded(value));
    }
    return query;
  }

  /// Returns the client that asks.
  public Caller caller() {
    return Objects.requireNonNull(asked.caller(), "the door admits no other");
  }

  /// Returns a variable part of the path, decoded.
  public String variable(int number) {
    return variables.get(number);
  }

  /// Returns a parameter of the query; null when there is none.
  public @Nullable String query(String name) {
    return query.get(name);
  }

  /// Returns a parameter of the query that is a whole number of 0 or more.
  ///
  /// @throws Problem when it is something else
  public long number(String name, long without) {
    String told = query.get(name);
    if (told == null) return without;
    if (told.matches("\\d{1,18}")) return Long.parseLong(told);
    throw Problem.wrong(name + " is \"" + told + "\"; it must be a whole number of 0 or more");
  }

  /// Returns a parameter of the query that is `true` or `false`.
  ///
  /// @throws Problem when it is something else
  public boolean flag(String name) {
    String told = query.getOrDefault(name, "false");
    if (told.equals("true") || told.equals("false")) return told.equals("true");
    throw Problem.wrong(name + " is \"" + told + "\"; it must be true or false");
  }

  /// Refuses parameters of the query that nothing reads.
  ///
  /// @throws Problem when there is another than these
  public void allow(String... names) {
    for (String name : query.keySet()) {
      if (Set.of(names).contains(name)) continue;
      throw Problem.wrong(
          "there is no parameter " + name + " here; there are " + String.join(", ", names));
    }
  }

  /// Returns the body.
  ///
  /// @param without what an empty body stands for
  /// @throws Problem when it is no JSON
  public JsonElement body(JsonElement without) {
    if (asked.body().length == 0) return without;
    String type = asked.header("content-type");
    String media = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (media.equals("application/json")) return JsonText.read(asked.body(), "the body");
    throw new Problem(
        Problem.NO_SUCH_TYPE,
        "NotJson",
        "the body is "
            + (media.isEmpty() ? "of no type" : media)
            + "; send JSON, and Content-Type: application/json");
  }

  /// Returns how long it may take, by its header `Stoa-Timeout`; null when it does not say.
  ///
  /// @throws Problem when the header is no duration
  @Nullable Duration timeout() {
    String told = asked.header(TIMEOUT);
    if (told == null) return null;
    try {
      if (told.matches("[0-9]{1,9}(ms|[smh])")) {
        String time = told.toUpperCase(Locale.ROOT);
        Duration read =
            time.endsWith("MS")
                ? Duration.ofMillis(Long.parseLong(time.substring(0, time.length() - 2)))
                : Duration.parse("PT" + time);
        if (read.isPositive()) return read;
      }
    } catch (DateTimeException | ArithmeticException tooLong) {
      // Told below.
    }
    throw Problem.wrong(
        "Stoa-Timeout is \"" + told + "\"; it must be a number of ms, s, m or h, such as 500ms");
  }

  /// Returns its header `Idempotency-Key`; null when it has none.
  ///
  /// @throws Problem when it is empty or too long
  @Nullable String idempotencyKey() {
    String told = asked.header("idempotency-key");
    if (told == null) return null;
    boolean isQuoted = told.length() > 1 && told.startsWith("\"") && told.endsWith("\"");
    String key = isQuoted ? told.substring(1, told.length() - 1) : told;
    if (!key.isEmpty() && key.length() <= KEY_MAX) return key;
    throw Problem.wrong(
        "Idempotency-Key has " + key.length() + " characters; it must have 1 to " + KEY_MAX);
  }

  /// Returns a header; null when there is none.
  ///
  /// @param name in small letters
  public @Nullable String header(String name) {
    return asked.header(name);
  }

  /// Returns the method and the path, to tell requests apart.
  String line() {
    return asked.method() + " " + asked.uri().getRawPath();
  }

  /// Returns the body as it came.
  byte[] bytes() {
    return asked.body();
  }
}

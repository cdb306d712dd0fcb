package stoa.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.front.types.KeyText;
import stoa.programs.Words;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.Shown;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.StateLine;
import stoa.wire.proto.StateOf;

/// `stoa show`: the state of an object.
@Command(
    name = "show",
    description = "Shows the state of an object, now or as it was.",
    footer = {
      "",
      "A KEY is a text, or one of long:42, int:42, uuid:ID, enum:CLASS#CONSTANT and",
      "record:CLASS(COMPONENT, ...). ./stoa objects TYPE prints keys in this form.",
      "",
      "The store shows the fields. It runs no method of your classes on the state."
    })
final class ShowCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private LookOptions looked = new LookOptions();

  @Parameters(index = "0", paramLabel = "TYPE", description = "The stored name of its type.")
  private String type = "";

  @Parameters(index = "1", paramLabel = "KEY", description = "Its key.")
  private String key = "";

  @Option(
      names = "--at",
      paramLabel = "VERSION|TIME",
      description =
          "The version, or a time such as 14:30:00 or 2026-11-26T14:30:00Z. Default: the newest"
              + " version")
  private @Nullable String at;

  private ShowCommand() {}

  @Override
  public Integer call() {
    var line = Objects.requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    byte[] encoded = KeyText.encoded(key);
    StateLine state;
    try (LookSource source = looked.open(line)) {
      state = state(source, type, encoded, at, looked.bounds());
    }
    if (looked.json()) {
      Json.print(out, json(type, encoded, state));
      return 0;
    }
    out.println(head(type, encoded, state));
    if (state.getExists()) ShownText.lines(state.getState()).forEach(out::println);
    out.flush();
    return 0;
  }

  /// Asks for a state.
  ///
  /// @param at the version or time; null for the newest version
  static StateLine state(
      LookSource source, String type, byte[] key, @Nullable String at, ShownBounds bounds) {
    var asked =
        StateOf.newBuilder().setType(type).setKey(ByteString.copyFrom(key)).setBounds(bounds);
    if (at != null && at.matches("\\d{1,18}")) asked.setVersion(Long.parseLong(at));
    else if (at != null) asked.setTimeMicros(LookOptions.micros(at));
    return source.ask(type, key, LookRequest.newBuilder().setState(asked)).getState();
  }

  /// Returns a state.
  static JsonObject json(String type, byte[] key, StateLine state) {
    return json(type, key, state, ShownText::json);
  }

  /// Returns a state.
  ///
  /// @param form writes its values
  static JsonObject json(
      String type, byte[] key, StateLine state, Function<Shown, JsonElement> form) {
    var told = new JsonObject();
    told.addProperty("type", type);
    told.addProperty("key", KeyText.of(key));
    told.addProperty("version", state.getVersion());
    told.addProperty("newest", state.getNewest());
    told.addProperty("time", LookOptions.time(state.getTimeMicros()));
    told.addProperty("exists", state.getExists());
    if (state.getLent()) told.addProperty("lent", true);
    told.addProperty("bytes", state.getBytes());
    told.add(state.getThrown() ? "threw" : "state", form.apply(state.getState()));
    return told;
  }

  private static String head(String type, byte[] key, StateLine state) {
    String object = type + "[" + KeyText.of(key) + "]";
    var text = new StringBuilder(object).append(", version ").append(state.getVersion());
    if (state.getVersion() != state.getNewest()) text.append(" of ").append(state.getNewest());
    if (state.getTimeMicros() > 0)
      text.append(", ").append(LookOptions.time(state.getTimeMicros()));
    if (!state.getExists()) return text.append(": it did not exist").toString();
    text.append(", ").append(state.getState().getType());
    text.append(", ").append(Words.bytes(state.getBytes()));
    if (state.getLent()) text.append("\nIt was lent to clients; this is the state before");
    if (state.getThrown()) text.append("\nIts constructor threw");
    return text.toString();
  }
}

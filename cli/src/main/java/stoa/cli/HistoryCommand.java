package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.front.types.KeyText;
import stoa.objects.LookService;
import stoa.wire.proto.EntryLine;
import stoa.wire.proto.HistoryOf;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.Shown;
import stoa.wire.proto.ShownBounds;

/// `stoa history`: the calls of an object.
@Command(
    name = "history",
    description = "Lists the calls of an object: the last ones, or those of a range of versions.",
    footer = {
      "",
      "See ./stoa help show for the forms of a KEY.",
      "",
      "--results executes each call again, in front of the state that it had, and prints what it",
      "answers. The log has no answers."
    })
final class HistoryCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private LookOptions looked = new LookOptions();

  @Parameters(index = "0", paramLabel = "TYPE", description = "The stored name of its type.")
  private String type = "";

  @Parameters(index = "1", paramLabel = "KEY", description = "Its key.")
  private String key = "";

  @Option(
      names = "--from",
      paramLabel = "VERSION",
      description = "The first version. Default: the one that leaves --max of them")
  private long from;

  @Option(
      names = "--to",
      paramLabel = "VERSION",
      description = "The last version. Default: the newest")
  private long to;

  @Option(
      names = "--max",
      paramLabel = "N",
      description = "How many versions to list, at most 1000. Default: ${DEFAULT-VALUE}")
  private int max = 50;

  @Option(names = "--newest-first", description = "Lists the newest version first.")
  private boolean newestFirst;

  @Option(names = "--results", description = "Prints what the calls answered.")
  private boolean results;

  private HistoryCommand() {}

  @Override
  public Integer call() {
    var line = Objects.requireNonNull(spec).commandLine();
    if (max < 1 || max > LookService.ENTRIES_MAX) {
      throw new ParameterException(
          line, "--max is " + max + "; give 1 to " + LookService.ENTRIES_MAX);
    }
    if (from < 0 || to < 0) throw new ParameterException(line, "versions are not negative");
    byte[] encoded = KeyText.encoded(key);
    LookReply reply;
    try (LookSource source = looked.open(line)) {
      reply = entries(source, type, encoded, new Some(from, to, max, results, looked.bounds()));
    }
    List<EntryLine> entries = new ArrayList<>(reply.getEntriesList());
    if (newestFirst) entries = entries.reversed();
    if (looked.json()) Json.print(line.getOut(), json(entries, reply));
    else print(line.getOut(), entries, reply);
    return 0;
  }

  /// Which entries of a history to list.
  ///
  /// @param from the first version; 0 for so many before the last one
  /// @param to the last version; 0 for the newest
  /// @param max how many at most
  /// @param results whether to tell what the calls answered
  record Some(long from, long to, int max, boolean results, ShownBounds bounds) {}

  /// Asks for entries.
  static LookReply entries(LookSource source, String type, byte[] key, Some some) {
    long last = some.to;
    if (last == 0) last = ask(source, type, key, Long.MAX_VALUE, 0, some).getNewest();
    long first = some.from > 0 ? some.from : Math.max(1, last - some.max + 1);
    return ask(source, type, key, first, Math.min(last, first + some.max - 1), some);
  }

  private static LookReply ask(
      LookSource source, String type, byte[] key, long first, long last, Some some) {
    var asked =
        HistoryOf.newBuilder()
            .setType(type)
            .setKey(ByteString.copyFrom(key))
            .setFrom(first)
            .setTo(last)
            .setResults(some.results)
            .setBounds(some.bounds);
    return source.ask(type, key, LookRequest.newBuilder().setHistory(asked));
  }

  /// Returns entries of a history.
  static JsonObject json(List<EntryLine> entries, LookReply reply) {
    return json(entries, reply, ShownText::json);
  }

  /// Returns entries of a history.
  ///
  /// @param form writes arguments and results
  static JsonObject json(
      List<EntryLine> entries, LookReply reply, Function<Shown, JsonElement> form) {
    var array = new JsonArray();
    for (EntryLine entry : entries) {
      array.add(json(entry, form));
    }
    var page = new JsonObject();
    page.addProperty("oldest", reply.getOldest());
    page.addProperty("newest", reply.getNewest());
    page.add("entries", array);
    return page;
  }

  /// Returns an entry of a history.
  static JsonObject json(EntryLine entry) {
    return json(entry, ShownText::json);
  }

  private static JsonObject json(EntryLine entry, Function<Shown, JsonElement> form) {
    var told = new JsonObject();
    told.addProperty("version", entry.getVersion());
    told.addProperty("time", LookOptions.time(entry.getTimeMicros()));
    told.addProperty("what", entry.getWhat());
    if (!entry.getMethod().isEmpty()) told.addProperty("method", entry.getMethod());
    var arguments = new JsonArray();
    entry.getArgumentsList().forEach(one -> arguments.add(form.apply(one)));
    if (!arguments.isEmpty()) told.add("arguments", arguments);
    if (entry.getSession() > 0) {
      told.addProperty("session", entry.getSession());
      told.addProperty("request", entry.getSequence());
    }
    if (entry.getOfMethod()) told.addProperty("nested", true);
    if (entry.getAbout() > 0) told.addProperty("call", entry.getAbout());
    if (!entry.getNote().isEmpty()) told.addProperty("note", entry.getNote());
    if (entry.hasResult()) {
      told.add(entry.getResult().getName(), form.apply(entry.getResult()));
    }
    return told;
  }

  private static void print(PrintWriter out, List<EntryLine> entries, LookReply reply) {
    for (EntryLine entry : entries) {
      out.printf(
          "%8d  %s  %s%n",
          entry.getVersion(), LookOptions.time(entry.getTimeMicros()), words(entry));
    }
    out.printf(
        "the store has versions %d to %d; --from and --to show others%n",
        reply.getOldest(), reply.getNewest());
    out.flush();
  }

  private static String words(EntryLine entry) {
    var text = new StringBuilder();
    var opening = new StringJoiner(", ", "new(", ") ");
    var arguments = new StringJoiner(", ", "(", ")");
    boolean opens = false;
    for (Shown one : entry.getArgumentsList()) {
      boolean isOpening = one.getName().equals("new");
      opens |= isOpening;
      (isOpening ? opening : arguments).add(ShownText.word(one));
    }
    if (opens) text.append(opening);
    if (entry.getWhat().equals("called")) {
      int mark = entry.getMethod().indexOf('(');
      String method = entry.getMethod();
      text.append(mark < 0 ? method : method.substring(0, mark)).append(arguments);
    } else {
      text.append(entry.getWhat());
    }
    if (entry.hasResult()) {
      boolean threw = entry.getResult().getName().equals("threw");
      text.append(threw ? " threw " : " = ").append(ShownText.word(entry.getResult()));
    }
    if (entry.getAbout() > 0) text.append(" call ").append(entry.getAbout());
    if (!entry.getNote().isEmpty()) text.append(": ").append(entry.getNote());
    if (entry.getSession() > 0) {
      text.append("  by session ").append(entry.getSession());
    } else if (entry.getOfMethod()) {
      text.append("  by a method or transaction");
    }
    return text.toString();
  }
}

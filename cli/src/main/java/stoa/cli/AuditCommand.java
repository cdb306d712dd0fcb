package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.node.AuditEntry;

/// `stoa audit`: the commands of operators.
@Command(
    name = "audit",
    description =
        "Prints which operators gave which commands, and their outcomes; the newest last. The entries"
            + " are streams of the store, which the rule of ./stoa keep for stoa.Stream concerns.")
final class AuditCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--max",
      paramLabel = "N",
      description = "How many entries to print at most, the last ones. Default: ${DEFAULT-VALUE}")
  private int max = 100;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  private AuditCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (max < 1) throw new IllegalArgumentException("--max is " + max + "; give 1 or more");
    List<AuditEntry> entries;
    try (Stoa stoa = operator.open()) {
      entries = last(stoa.streams(), max);
    }
    if (json) Json.print(out, json(entries));
    else entries.forEach(entry -> out.println(text(entry)));
    out.flush();
    return 0;
  }

  /// Returns the last entries of all groups, by their times.
  private static List<AuditEntry> last(StreamStore streams, int max) {
    var found = new ArrayList<AuditEntry>();
    for (StreamKey stream : AuditEntry.streams()) {
      long end = streams.check(stream);
      long from = Math.max(streams.oldest(stream), end - max + 1);
      if (end == 0) continue;
      streams.scan(
          stream,
          Math.max(1, from),
          end,
          entry -> {
            found.add(AuditEntry.of(entry.data()));
            return true;
          });
    }
    found.sort(Comparator.comparingLong(AuditEntry::millis));
    return found.subList(Math.max(0, found.size() - max), found.size());
  }

  private static String text(AuditEntry entry) {
    return "%s  %-16s %-15s  %s%s"
        .formatted(
            Instant.ofEpochMilli(entry.millis()),
            entry.identity(),
            entry.address(),
            entry.command(),
            entry.outcome().equals(AuditEntry.DONE) ? "" : "  NOT DONE: " + entry.outcome());
  }

  private static JsonArray json(List<AuditEntry> entries) {
    var all = new JsonArray();
    for (AuditEntry entry : entries) {
      var one = new JsonObject();
      one.addProperty("time", Instant.ofEpochMilli(entry.millis()).toString());
      one.addProperty("identity", entry.identity());
      one.addProperty("address", entry.address());
      one.addProperty("command", entry.command());
      one.addProperty("outcome", entry.outcome());
      all.add(one);
    }
    return all;
  }
}

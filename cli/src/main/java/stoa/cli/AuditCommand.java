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
import stoa.wire.proto.AuditLine;
import stoa.wire.proto.AuditOf;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;

/// `stoa audit`: the commands of operators.
@Command(
    name = "audit",
    description =
        "Prints which operators gave which commands, and their outcomes; the newest last. The entries"
            + " are streams of the store, which the rule of ./stoa keep for stoa.Stream concerns.")
final class AuditCommand implements Callable<Integer> {
  private static final String DONE = "done";

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--max",
      paramLabel = "N",
      description =
          "How many entries to print at most, the last ones; a group tells 500 at most. Default:"
              + " ${DEFAULT-VALUE}")
  private int max = 100;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  private AuditCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    List<AuditLine> lines = lines(operator, max);
    if (json) Json.print(out, json(lines));
    else lines.forEach(line -> out.println(text(line)));
    out.flush();
    return 0;
  }

  /// Returns the last entries of all groups, by their times.
  static List<AuditLine> lines(Operator operator, int max) {
    if (max < 1) throw new IllegalArgumentException("--max is " + max + "; give 1 or more");
    var found = new ArrayList<AuditLine>();
    try (LookSource source = LookSource.Served.of(operator)) {
      var asked = LookRequest.newBuilder().setAudit(AuditOf.newBuilder().setMax(max));
      for (LookReply reply : source.askAll(asked)) found.addAll(reply.getAuditsList());
    }
    found.sort(Comparator.comparingLong(AuditLine::getTimeMillis));
    return found.subList(Math.max(0, found.size() - max), found.size());
  }

  private static String text(AuditLine entry) {
    return "%s  %-16s %-15s  %s%s"
        .formatted(
            Instant.ofEpochMilli(entry.getTimeMillis()),
            entry.getIdentity(),
            entry.getAddress(),
            entry.getCommand(),
            entry.getOutcome().equals(DONE) ? "" : "  NOT DONE: " + entry.getOutcome());
  }

  static JsonArray json(List<AuditLine> entries) {
    var all = new JsonArray();
    for (AuditLine entry : entries) {
      var one = new JsonObject();
      one.addProperty("time", Instant.ofEpochMilli(entry.getTimeMillis()).toString());
      one.addProperty("identity", entry.getIdentity());
      one.addProperty("address", entry.getAddress());
      one.addProperty("command", entry.getCommand());
      one.addProperty("outcome", entry.getOutcome());
      all.add(one);
    }
    return all;
  }
}

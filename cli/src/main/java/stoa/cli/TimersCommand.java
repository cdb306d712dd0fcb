package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.DurableTimer;
import stoa.Schedule;
import stoa.Stoa;
import stoa.programs.Words;

/// `stoa timers`: lists the timers of a store, and cancels one.
@Command(
    name = "timers",
    description =
        "Lists the timers of a served store, those that are due first, or cancels one. The list"
            + " has the ends of objects and values by themselves, as @Expires.",
    footer = {
      "",
      "To list them needs the role read for all types, to cancel one the role call for all types."
    })
final class TimersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "How many timers to list. Default: ${DEFAULT-VALUE}")
  private int count = 40;

  @Option(names = "--failed", description = "List timers that fired once, failed and are over.")
  private boolean failed;

  @Option(names = "--cancel", paramLabel = "ID", description = "Cancel the timer of this id.")
  private @Nullable String cancelled;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  private TimersCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (Stoa stoa = operator.open()) {
      String id = cancelled;
      if (id != null) {
        boolean existed = stoa.timers().cancel(id);
        out.println(existed ? id + " is cancelled" : "there is no timer " + id + " to cancel");
        out.flush();
        return existed ? 0 : 1;
      }
      List<DurableTimer> all = failed ? stoa.timers().failed() : stoa.timers().next(count);
      if (json) Json.print(out, json(all));
      else print(out, all);
      out.flush();
      return 0;
    }
  }

  private void print(PrintWriter out, List<DurableTimer> all) {
    out.printf(
        "%-10s %-24s %-18s %7s  %s%n", "id", failed ? "was due" : "due", "policy", "fired", "call");
    for (DurableTimer one : all) {
      out.printf(
          Locale.ROOT,
          "%-10s %-24s %-18s %,7d  %s%n",
          one.id(),
          one.due().truncatedTo(ChronoUnit.MILLIS),
          policy(one),
          one.fired(),
          one.target() + " " + one.method() + (one.name() == null ? "" : "  " + one.name()));
      if (one.lastFailure() != null) {
        out.printf(
            "%-10s %s, the last: %s%n",
            "", Words.count(one.failures(), "failure"), one.lastFailure());
      }
    }
    out.println(Words.count(all.size(), "timer") + (all.size() == count ? ", or more" : ""));
  }

  private static String policy(DurableTimer timer) {
    Duration every = timer.every();
    Schedule.Missed missed = timer.missed();
    if (every == null || missed == null) return "once";
    String then =
        switch (missed) {
          case SKIP -> ", skips";
          case EACH -> ", makes up";
          case ONCE -> "";
        };
    return "every " + Words.seconds(every) + then;
  }

  private static JsonObject json(List<DurableTimer> timers) {
    var all = new JsonArray();
    for (DurableTimer one : timers) {
      var told = new JsonObject();
      told.addProperty("id", one.id());
      told.addProperty("type", one.target().type());
      told.addProperty("key", one.target().key().toString());
      told.addProperty("name", one.name());
      told.addProperty("method", one.method());
      told.addProperty("due", one.due().toString());
      Duration every = one.every();
      Schedule.Missed missed = one.missed();
      if (every != null) told.addProperty("everyMillis", every.toMillis());
      if (missed != null) told.addProperty("missed", missed.name());
      told.addProperty("fired", one.fired());
      told.addProperty("failures", one.failures());
      told.addProperty("lastFailure", one.lastFailure());
      all.add(told);
    }
    var told = new JsonObject();
    told.add("timers", all);
    return told;
  }
}

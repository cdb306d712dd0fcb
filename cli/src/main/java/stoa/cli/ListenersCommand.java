package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Listening;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.programs.Words;

/// `stoa listeners`: lists the listeners of objects of a store, and ends one.
@Command(
    name = "listeners",
    description =
        "Lists the listeners of the objects of a served store, with what they hear, how far they"
            + " are, and their last failures; or ends one.",
    footer = {
      "",
      "While a listener hears nothing, its position follows the log with up to 10,000 addresses",
      "between. The roles that it needs are read for all types, and call for all types."
    })
final class ListenersCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--delete",
      paramLabel = "NAME",
      description = "End the listener of this name. Its object stays.")
  private @Nullable String deleted;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  private ListenersCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (Stoa stoa = operator.open()) {
      String name = deleted;
      if (name != null) {
        boolean existed = stoa.listeners().stop(name);
        out.println(existed ? name + " is over" : "there is no listener " + name);
        out.flush();
        return existed ? 0 : 1;
      }
      List<Listening> all = stoa.listeners().all();
      LogAddress end = stoa.streams().tail(); // behind all positions
      if (json) Json.print(out, json(all, end));
      else print(out, all, end);
      out.flush();
      return 0;
    }
  }

  private static void print(PrintWriter out, List<Listening> all, LogAddress end) {
    for (Listening one : all) {
      out.println(one.name() + "  " + one.listener() + " hears " + one.heard());
      String place = one.isOver() ? "over" : Words.count(lag(one, end)) + " behind the log";
      out.println(
          "  " + Words.count(one.told(), "event") + " told, at " + one.position() + ", " + place);
      if (one.lastFailure() == null) continue;
      out.println(
          "  " + Words.count(one.failures(), "failure") + ", the last: " + one.lastFailure());
    }
    out.println(Words.count(all.size(), "listener"));
  }

  private static long lag(Listening one, LogAddress end) {
    return Math.max(0, end.counter() - one.position().counter());
  }

  private static JsonObject json(List<Listening> listeners, LogAddress end) {
    var all = new JsonArray();
    for (Listening one : listeners) {
      var told = new JsonObject();
      told.addProperty("name", one.name());
      told.addProperty("hears", one.heard());
      told.addProperty("type", one.listener().type());
      told.addProperty("key", String.valueOf(one.listener().key()));
      told.addProperty("told", one.told());
      told.addProperty("position", one.position().toString());
      told.addProperty("lag", lag(one, end));
      told.addProperty("failures", one.failures());
      told.addProperty("lastFailure", one.lastFailure());
      told.addProperty("over", one.isOver());
      all.add(told);
    }
    var told = new JsonObject();
    told.add("listeners", all);
    return told;
  }
}

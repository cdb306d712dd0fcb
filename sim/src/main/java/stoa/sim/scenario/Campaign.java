package stoa.sim.scenario;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/// Runs scenarios over a range of seeds, and replays a failure from its seed.
///
/// ```text
/// Campaign [--scenario NAME]... [--seeds FROM-TO] [--digests]
/// Campaign --help
/// ```
///
/// The name of a scenario is its short name or its class. For each failed run the campaign prints
/// one line, with the command that replays it; a replay of a single seed prints the end of the
/// trace too. With `--digests` each run prints its seed and the digest of its trace, which must be
/// the same in every JVM.
public final class Campaign {
  /// The beginning of a failure line, up to the options of [Campaign].
  static final String COMMAND = "./stoa test --campaign";

  private static final int FAILURES_MAX = 10;

  private final List<Scenario> scenarios;
  private final long from;
  private final long to;
  private final boolean digests;

  private Campaign(List<Scenario> scenarios, long from, long to, boolean digests) {
    this.scenarios = scenarios;
    this.from = from;
    this.to = to;
    this.digests = digests;
  }

  /// Runs a campaign; ends the process with 0 when all runs succeed, with 1 when a run fails, and
  /// with 2 when the arguments are invalid.
  public static void main(String[] args) {
    if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
      System.out.print(help());
      return;
    }
    int status;
    try {
      status = parse(List.of(args)).run(System.out) ? 0 : 1;
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      status = 2;
    }
    System.exit(status);
  }

  /// Returns what the options mean, with the names of all scenarios.
  static String help() {
    return """
    usage: %s [--scenario NAME]... [--seeds FROM-TO] [--digests]

      --scenario NAME   runs one scenario, or several when it stands there again;
                        otherwise all that need one process
      --seeds FROM-TO   the seeds, 0-999 otherwise; one number is one seed
      --digests         prints a digest of each run, which is the same in every JVM

    scenarios of one process: %s
    that take long: %s
    of real processes: %s
    """
        .formatted(
            COMMAND, names(Scenarios.ALL), names(Scenarios.LONG), names(Scenarios.ofProcesses()));
  }

  private static String names(List<Scenario> scenarios) {
    return String.join(", ", scenarios.stream().map(Scenario::name).toList());
  }

  /// Returns the campaign that the arguments describe.
  ///
  /// @throws IllegalArgumentException when the arguments are invalid
  static Campaign parse(List<String> args) {
    List<Scenario> scenarios = new ArrayList<>();
    long from = 0;
    long to = 999;
    boolean digests = false;
    var rest = args.iterator();
    while (rest.hasNext()) {
      String option = rest.next();
      switch (option) {
        case "--digests" -> digests = true;
        case "--scenario" -> scenarios.add(Scenarios.named(value(option, rest)));
        case "--seeds" -> {
          String range = value(option, rest);
          int dash = range.indexOf('-', 1);
          try {
            from = Long.parseLong(dash < 0 ? range : range.substring(0, dash));
            to = Long.parseLong(dash < 0 ? range : range.substring(dash + 1));
            if (to < from) throw new NumberFormatException("descending");
          } catch (NumberFormatException _) {
            throw new IllegalArgumentException(
                "--seeds " + range + " is no range of seeds; write for example --seeds 0-999");
          }
        }
        default ->
            throw new IllegalArgumentException(
                option
                    + " is no option of a campaign; there are --scenario NAME, --seeds FROM-TO and"
                    + " --digests");
      }
    }
    return new Campaign(scenarios.isEmpty() ? Scenarios.ALL : scenarios, from, to, digests);
  }

  private static String value(String option, java.util.Iterator<String> rest) {
    if (!rest.hasNext()) throw new IllegalArgumentException(option + " needs a value");
    return rest.next();
  }

  /// Runs every seed and returns whether all runs succeed. Stops after ten failures of a scenario.
  boolean run(PrintStream out) {
    boolean well = true;
    for (var scenario : scenarios) {
      int failures = 0;
      long lines = 0;
      SortedMap<String, Long> places = new TreeMap<>();
      SortedMap<String, List<Long>> measures = new TreeMap<>();
      for (long seed = from; seed <= to && failures < FAILURES_MAX; seed++) {
        switch (SimulatedRun.of(scenario, seed)) {
          case SimulatedRun.Passed passed -> {
            lines += passed.lines();
            passed.places().forEach((place, count) -> places.merge(place, count, Long::sum));
            passed
                .measures()
                .forEach((what, values) ->
                    measures.computeIfAbsent(what, _ -> new ArrayList<>()).addAll(values));
            if (digests) out.println(scenario.name() + " " + seed + " " + passed.digest());
          }
          case SimulatedRun.Failed failed -> {
            failures++;
            out.println(failed.line());
            if (from == to) out.println(failed.details());
          }
        }
      }
      if (failures > 0) well = false;
      if (!digests) {
        out.printf(
            Locale.ROOT,
            "%s: seeds %d-%d, %d trace lines, %s%n",
            scenario.name(),
            from,
            to,
            lines,
            failures == 0 ? "all well" : failures + " failed");
        places.forEach((place, count) -> out.println("  reached " + count + " times: " + place));
        measures.forEach(
            (what, values) -> out.println("  measured " + what + ": " + spread(values)));
      }
    }
    return well;
  }

  private static String spread(List<Long> values) {
    var sorted = values.stream().sorted().toList();
    return String.format(
        Locale.ROOT,
        "%,d least, %,d median, %,d most, %d times",
        sorted.getFirst(),
        sorted.get(sorted.size() / 2),
        sorted.getLast(),
        sorted.size());
  }
}

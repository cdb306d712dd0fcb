package stoa.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import stoa.Stoa;
import stoa.programs.Directories;
import stoa.programs.Words;
import stoa.stacksync.replay.Latencies;
import stoa.stacksync.replay.Replay;
import stoa.stacksync.replay.ReplayReport;
import stoa.stacksync.replay.Trace;
import stoa.stacksync.replay.TraceRow;
import stoa.stacksync.replay.Verification;

/// The demo without crashes: replay, verify, look back.
final class Demo {
  private final PrintWriter out;
  private final Path directory;
  private final Replayed scenario;

  Demo(PrintWriter out, Path directory, Replayed scenario) {
    this.out = out;
    this.directory = directory.toAbsolutePath().normalize();
    this.scenario = scenario;
  }

  /// Runs it.
  ///
  /// @return whether everything verifies
  boolean run() throws IOException, InterruptedException {
    var trace = scenario.trace();
    out.println("StackSync, a personal cloud on shared objects, replays a real history.");
    line("store", directory + (Files.exists(directory) ? "" : " (new)"));
    line("history", describe(trace));
    line("design", Replayed.describe(scenario.design()));
    boolean verified;
    try (var store = Stoa.open("file:" + directory)) {
      int clients = scenario.clients();
      var replay = new Replay(store, trace, scenario.design(), clients, ProgressBar.on(out));
      report(out, replay.run(), Words.count(clients, "client"));
      verified = verify(out, store, trace);
      new TimeTravel(out, store, trace).show();
    }
    line("on disk", Words.bytes(Directories.sizeBytes(directory)) + " in " + directory);
    out.println();
    out.println("Try next:");
    out.println("  ./stoa demo            again: it continues from here, and finds nothing to do");
    out.println("  ./stoa demo --crash    the same under kill -9");
    out.println("  ./stoa demo --remote   the same with a server and two service instances");
    out.println("  apps/stacksync         the service: Facade, Workspace, User and Directory");
    out.flush();
    return verified;
  }

  /// Describes a trace, in a line.
  static String describe(Trace trace) {
    var rows = trace.rows();
    if (rows.isEmpty()) return "no changes";
    return "%s in %s by %s, %d to %d"
        .formatted(
            Words.count(rows.size(), "change"),
            Words.count(rows.stream().mapToInt(TraceRow::request).distinct().count(), "request"),
            Words.count(rows.stream().mapToInt(TraceRow::user).distinct().count(), "user"),
            year(rows.getFirst()),
            year(rows.getLast()));
  }

  /// Reports a replay.
  ///
  /// @param clients the committing clients, in words
  static void report(PrintWriter out, ReplayReport report, String clients) {
    if (report.changesBefore() > 0) {
      line(
          out, "found", Words.count(report.changesBefore(), "change") + " that were there already");
    }
    if (report.changes() == 0) {
      line(out, "commits", "nothing is left to commit");
      return;
    }
    Latencies latencies = report.latencies();
    line(
        out,
        "commits",
        "%s with %s in %s: %s commits/s from %s"
            .formatted(
                Words.count(latencies.count()),
                Words.count(report.changes(), "change"),
                Words.seconds(report.elapsed()),
                Words.count(Math.round(report.commitsPerSecond())),
                clients));
    line(out, "latency", describe(latencies));
    if (report.conflicts() > 0) {
      line(
          out,
          "conflicts",
          Words.count(report.conflicts(), "change")
              + " came from a device with an old version: told so, and sent again on top");
    }
  }

  /// Describes a distribution of latencies, in a line.
  static String describe(Latencies latencies) {
    return "p50 %s   p90 %s   p99 %s   max %s"
        .formatted(
            percentile(latencies, 0.5),
            percentile(latencies, 0.9),
            percentile(latencies, 0.99),
            percentile(latencies, 1));
  }

  /// Compares the store with the trace, and says what came out.
  ///
  /// @return whether it holds exactly what the trace leads to
  static boolean verify(PrintWriter out, Stoa store, Trace trace) {
    var verification = Verification.of(store, trace);
    var checked =
        "%s, %s, quotas of %s"
            .formatted(
                Words.count(verification.items(), "file"),
                Words.count(verification.versions(), "version"),
                Words.count(verification.owners(), "owner"));
    if (verification.holds()) {
      line(out, "verified", checked + ": exactly as an independent recount of the history");
    } else {
      line(out, "WRONG", Words.count(verification.problemCount(), "finding") + " in " + checked);
      verification.problems().forEach(problem -> line(out, "", problem));
    }
    return verification.holds();
  }

  static void line(PrintWriter out, String label, String text) {
    out.printf("  %-9s %s%n", label, text);
    out.flush();
  }

  private void line(String label, String text) {
    line(out, label, text);
  }

  private static String percentile(Latencies latencies, double part) {
    Duration time = latencies.percentile(part);
    return Words.millis(time);
  }

  private static int year(TraceRow row) {
    return Instant.ofEpochSecond(row.time()).atOffset(ZoneOffset.UTC).getYear();
  }
}

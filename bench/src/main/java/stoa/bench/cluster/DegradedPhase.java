package stoa.bench.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Report;
import stoa.programs.Directories;

/// Calls and reads while the only server that executes them is away, and others continue from the
/// log that they keep (vCorfu, Figure 10).
///
/// One thread uses it.
final class DegradedPhase {
  private static final String FIGURE = "cluster-degraded.svg";
  private static final double LEAST = 1;

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;
  private final List<List<String>> rows = new ArrayList<>();

  DegradedPhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  void measure(ClusterServers kind) throws Exception {
    Path folder = Files.createDirectories(context.folder().resolve("degraded"));
    context.progress().accept("log units: starting servers");
    var window = context.sizes().window();
    int callers = context.sizes().callers() / 2; // half of them increment, and half read
    rows.add(List.of("when", "increments/s", "reads/s", "longest without an increment, ms"));
    try (var servers =
            kind.start(folder, new ClusterServers.Shape(ClusterServers.SERVERS, 1, 1, false));
        var writers = new Watched(servers.counters(), callers);
        var readers = Watched.reading(servers.counters(), callers)) {
      writers.await(context.sizes().ready());
      neighbours.mark();
      var calls = new Timeline(writers, readers);
      during("before", window, writers, readers, calls);
      int executes = servers.leader();
      calls.mark("killed");
      servers.kill(executes);
      during("right after it was killed (-9)", window, writers, readers, calls);
      during("log units go on", window, writers, readers, calls);
      calls.mark("started again");
      servers.startAgain(executes);
      during("right after it was started again", window, writers, readers, calls);
      if (context.sizes().returns()) {
        context.progress().accept("log units: waiting until it leads again");
        servers.settle();
        calls.mark("leads again");
        during("when it leads again", window, writers, readers, calls);
      }
      report.figure(FIGURE, calls.chart(LEAST));
      writers.verify();
    } finally {
      Directories.delete(folder);
    }
    report.section(
        Markdown.table(
            "One of three servers executes all calls, and fails; %d callers and %d readers (%s)"
                .formatted(callers, callers, neighbours.since()),
            rows));
  }

  private void during(
      String name, Duration window, Watched writers, Watched readers, Timeline calls) {
    context.progress().accept("log units: " + name);
    writers.begin();
    readers.begin();
    calls.await(window);
    rows.add(
        List.of(
            name,
            Report.number(writers.seen().callsPerSecond()),
            Report.number(readers.seen().callsPerSecond()),
            Report.number(writers.seen().longestMillis())));
  }
}

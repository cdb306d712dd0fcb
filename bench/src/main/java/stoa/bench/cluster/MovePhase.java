package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import stoa.bench.load.Parallel;
import stoa.bench.machine.DiskLimits;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Report;
import stoa.programs.Directories;

/// The cost for callers while one server becomes three, of a server that joins, and of one that
/// drains.
///
/// One thread uses it.
final class MovePhase {
  private static final int GROUPS = 3;
  private static final int PIECE_BYTES = 16 << 10;
  private static final int WRITERS = 32;

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;
  private final List<List<String>> rows = new ArrayList<>();

  MovePhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  void measure(ClusterServers kind) throws Exception {
    Path folder = Files.createDirectories(context.folder().resolve("moves"));
    context.progress().accept("moves: starting servers");
    long bytes = context.sizes().keptBytes();
    rows.add(
        List.of(
            "while",
            "lasted",
            "calls/s",
            "p99, ms",
            "longest silence, ms",
            "refused",
            "bytes of the server"));
    var alone = new ClusterServers.Shape(1, GROUPS, ClusterServers.SERVERS, false);
    try (var servers = kind.start(folder, alone)) {
      context.progress().accept("moves: writing %,d bytes".formatted(bytes));
      fill(servers, bytes);
      servers.settle();
      try (var callers = new Watched(servers.counters(), context.sizes().callers())) {
        callers.await(context.sizes().ready());
        neighbours.mark();
        quiet(callers, "one server");
        grow(servers, callers);
        quiet(callers, "three servers");
        int joined = join(servers, callers);
        quiet(callers, "after");
        drain(servers, callers, joined);
        quiet(callers, "after");
        callers.verify();
      }
    } finally {
      Directories.delete(folder);
    }
    report.section(
        Markdown.table(
            "One server becomes three, a fourth joins, and one is drained; %d callers, 3 groups, 3 replicas (%s)"
                .formatted(context.sizes().callers(), neighbours.since()),
            rows));
  }

  private static void fill(ClusterServers.Running servers, long bytes) throws Exception {
    var random = new SplittableRandom(1);
    byte[] piece = new byte[PIECE_BYTES];
    random.nextBytes(piece);
    int pieces = (int) (bytes / PIECE_BYTES);
    Parallel.run(WRITERS, pieces, i -> servers.keep("kept " + i, piece));
  }

  private void quiet(Watched callers, String name) {
    context.progress().accept("moves: " + name);
    callers.begin();
    callers.await(context.sizes().window());
    add(name, context.sizes().window(), callers.seen(), "");
  }

  private void grow(ClusterServers.Running servers, Watched callers) throws Exception {
    context.progress().accept("moves: one server becomes three");
    callers.begin();
    long began = System.nanoTime();
    int second = servers.add();
    int third = servers.add();
    servers.settle();
    var lasted = Duration.ofNanos(System.nanoTime() - began);
    var seen = callers.seen();
    report.grown(seen.refused());
    String sizes = size(servers.directory(second)) + ", " + size(servers.directory(third));
    add("one server becomes three", lasted, seen, sizes);
  }

  private int join(ClusterServers.Running servers, Watched callers) throws Exception {
    context.progress().accept("moves: a fourth server joins");
    callers.begin();
    long began = System.nanoTime();
    int joined = servers.add();
    servers.settle();
    var lasted = Duration.ofNanos(System.nanoTime() - began);
    var seen = callers.seen();
    add("a fourth joins", lasted, seen, size(servers.directory(joined)));
    return joined;
  }

  private void drain(ClusterServers.Running servers, Watched callers, int joined) throws Exception {
    int leader = servers.leader();
    int drained = leader == joined ? servers.running().getFirst() : leader;
    context.progress().accept("moves: a server is drained");
    String had = size(servers.directory(drained));
    callers.begin();
    long began = System.nanoTime();
    servers.drain(drained);
    var lasted = Duration.ofNanos(System.nanoTime() - began);
    add("the leader of group 0 is drained", lasted, callers.seen(), had);
    servers.settle();
  }

  private void add(String name, Duration lasted, Watched.Seen seen, String bytes) {
    rows.add(
        List.of(
            name,
            "%.1f s".formatted(lasted.toMillis() / 1e3),
            Report.number(seen.callsPerSecond()),
            Report.number(seen.p99Millis()),
            Report.number(seen.longestMillis()),
            "" + seen.refused(),
            bytes));
  }

  private static String size(Path directory) throws IOException {
    return "%.1f MiB".formatted(DiskLimits.bytes(directory) / 1048576.0);
  }
}

package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import stoa.Placement;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.bench.load.Samples;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.programs.Directories;

/// Compares the placements of objects as [AutoPhase] does, over the network: the store is in a
/// server's process, and the nodes are clients of it in this one, each with connections of its own.
///
/// Server and clients stay for the whole of it. Each load has new objects of its own; so decisions
/// about them rest on earlier observations of the server, as in a long-running system.
final class RemoteAutoPhase {
  private static final int NODES = 8;
  private static final List<Integer> COMPUTE_MILLIS = List.of(0, 1);

  private final Context<MigrationScale> context;
  private final MigrationScale scale;

  RemoteAutoPhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    if (scale.processes().isEmpty()) return;
    var points = AutoPhase.Point.all(COMPUTE_MILLIS, scale.stateBytes());
    var samples = new Samples();
    Path folder = context.folder().resolve("placement");
    try (var server = ProcessPhase.server(folder)) {
      String url = ProcessPhase.url(server);
      List<Stoa> nodes = new ArrayList<>();
      try {
        var config = StoaConfig.of(url).withMembership(TreeMembership.inner());
        for (int i = 0; i < NODES; i++) nodes.add(Stoa.open(config));
        measure(samples, points, nodes);
      } finally {
        nodes.forEach(Stoa::close);
      }
    } finally {
      Directories.delete(folder);
    }
    double worst =
        AutoPhase.tell(
            findings,
            "placement, over the network, %d clients; computing is waiting, all else is real"
                .formatted(NODES),
            samples,
            points);
    findings.atMost(
        "AUTO over the network: at most 10 % worse than the better fixed placement, at the worst"
            + " point",
        AutoPhase.WORSE_MAX, 1 - worst);
  }

  private void measure(Samples samples, List<AutoPhase.Point> points, List<Stoa> nodes)
      throws Exception {
    context.progress().accept("placement over the network: all get warm");
    for (var placement : Placement.values()) {
      for (var point : points) {
        var _ = run(nodes, point, placement, 0, Duration.ZERO, scale.placementHeat());
      }
    }
    for (int round = 1; round <= scale.placementRounds(); round++) {
      for (var point : points) {
        AutoPhase.look(samples);
        for (var placement : AutoPhase.inTurn(round)) {
          String name = point.name(placement);
          context
              .progress()
              .accept("placement over the network, round %d: %s".formatted(round, name));
          var settle = placement == Placement.AUTO ? scale.remoteSettle() : AutoPhase.FIXED_SETTLE;
          samples.add(name, run(nodes, point, placement, round, settle, scale.remoteTime()));
        }
      }
    }
  }

  private static double run(
      List<Stoa> nodes,
      AutoPhase.Point point,
      Placement placement,
      int round,
      Duration settle,
      Duration time)
      throws Exception {
    return new NodeLoad(NODES, round, settle, time)
        .run(number -> {
          List<Swept> all = new ArrayList<>();
          for (int i = 0; i < NODES; i++) {
            String key = "%s, %d, %d".formatted(point.name(placement), round, i);
            all.add(nodes.get(number).get(AutoPhase.type(placement), key, point.stateBytes()));
          }
          return new AutoPhase.Caller(point.of(all, number), point, () -> {});
        })
        .updates()
        .perSecond();
  }
}

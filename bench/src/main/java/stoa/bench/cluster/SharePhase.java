package stoa.bench.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import stoa.bench.load.Load;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Report;

/// The cost of a call at each of three servers: the packets and bytes that it sends, and its
/// processor time. The servers are in network namespaces of their own, whose devices count.
///
/// One thread uses it.
final class SharePhase {
  private static final List<Integer> CALLERS = List.of(24, 240);

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;
  private final List<List<String>> rows = new ArrayList<>();

  SharePhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  void measure(PhaseServers phases) throws Exception {
    if (!phases.canPart()) return;
    rows.add(
        List.of("load", "server", "packets sent/call", "bytes sent/call", "processor µs/call"));
    neighbours.mark();
    phases.use(
        "shares",
        ClusterServers.Shape.of(ClusterServers.SERVERS, true),
        servers -> {
          for (int callers : CALLERS) {
            String what = ", 100 counters, %d callers".formatted(callers);
            run(servers, "`STREAM`" + what, servers.streams(), callers);
            run(servers, "`GLOBAL`" + what, servers.counters(), callers);
          }
        });
    report.section(
        Markdown.table(
            "What a call costs each of three servers with a group each (%s)"
                .formatted(neighbours.since()),
            rows));
  }

  private void run(
      ClusterServers.Running servers, String name, ClusterContender.Counters counters, int callers)
      throws Exception {
    context.progress().accept("shares: " + name);
    var scale = context.sizes();
    var calls = new LongAdder();
    var load = new ClusterLoad(true, ClusterLoad.COUNTERS_MAX, callers);
    Load.Body body =
        (caller, turn) -> {
          counters.increment((caller + turn) % load.counters());
          calls.increment();
        };
    var heat = new Load(callers, load.threads(), scale.warmUp(), scale.heat());
    var _ = heat.run(body);
    calls.reset();
    var before = new ArrayList<ClusterServers.Sent>();
    var nanos = new ArrayList<Long>();
    for (int server : servers.running()) {
      before.add(servers.sent(server));
      nanos.add(servers.processorNanos(server));
    }
    int leader = servers.leader();
    var seen = new Load(callers, load.threads(), scale.warmUp(), scale.time()).run(body);
    report.samples().add(name, seen);
    double made = calls.sum();
    for (int server : servers.running()) {
      var now = servers.sent(server);
      rows.add(
          List.of(
              name,
              server == leader ? "leads group 0" : "another one",
              Report.number((now.packets() - before.get(server).packets()) / made),
              Report.number((now.bytes() - before.get(server).bytes()) / made),
              Report.number((servers.processorNanos(server) - nanos.get(server)) / made / 1e3)));
    }
  }
}

package stoa.bench.cluster;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.ServiceLoader;
import java.util.Set;
import stoa.bench.remote.StoaServer;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

/// Measures several servers that keep one store: calls beside bare Raft and Infinispan, YCSB, the
/// time without answers when servers fail, the cost of servers that join and leave, and the cost of
/// a call at each server as the number of servers grows.
public final class ClusterBenchmark implements Benchmark<ClusterScale> {
  private final Set<ClusterPart> parts;

  /// The benchmark with all its parts.
  public ClusterBenchmark() {
    this(EnumSet.allOf(ClusterPart.class));
  }

  /// The benchmark with some of its parts.
  public ClusterBenchmark(Set<ClusterPart> parts) {
    this.parts = Set.copyOf(parts);
  }

  @Override
  public String name() {
    return "cluster";
  }

  @Override
  public String description() {
    return "three servers of one store beside Infinispan and bare Raft; failures, moves, growth";
  }

  @Override
  public ClusterScale full() {
    return ClusterScale.full();
  }

  @Override
  public ClusterScale smoke() {
    return ClusterScale.smoke();
  }

  @Override
  public Outcome run(Context<ClusterScale> context) throws Exception {
    var contenders = new ArrayList<ClusterContender>();
    ServiceLoader.load(ClusterContender.class).forEach(contenders::add);
    // The report compares the first one with the others.
    contenders.sort((a, b) -> Boolean.compare(isOurs(b), isOurs(a)));
    var servers =
        ServiceLoader.load(ClusterServers.class)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("stoa-cli is not on the class path"));
    var workloads =
        ServiceLoader.load(RecordWorkloads.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();
    var report = new ClusterReport(context.sizes());
    try (var neighbours = new Neighbours();
        var phases = new PhaseServers(context, servers)) {
      for (ClusterPart part : EnumSet.copyOf(parts)) {
        switch (part) {
          case CALLS -> new ClusterRun(context, report, neighbours).measure(contenders, workloads);
          case FAILURES -> new SilencePhase(context, report, neighbours).measure(phases);
          case MOVES -> new MovePhase(context, report, neighbours).measure(servers);
          case DEGRADED -> new DegradedPhase(context, report, neighbours).measure(servers);
          case SHARES -> new SharePhase(context, report, neighbours).measure(phases);
          case GROUPS -> new GrowthPhase(context, report, neighbours).measure();
          case TRANSACTIONS -> new TransactionPhase(context, report, neighbours).measure();
        }
      }
    }
    return report.outcome();
  }

  static boolean isOurs(ClusterContender contender) {
    return contender.name().equals(StoaServer.NAME);
  }
}

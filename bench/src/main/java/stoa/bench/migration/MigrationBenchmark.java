package stoa.bench.migration;

import java.util.EnumSet;
import java.util.Set;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures objects that migrate to their clients, with the workloads of the self-service paper
/// (section 8).
public final class MigrationBenchmark implements Benchmark<MigrationScale> {
  private final Set<MigrationPart> parts;

  /// The benchmark with all its parts.
  public MigrationBenchmark() {
    this(EnumSet.allOf(MigrationPart.class));
  }

  /// The benchmark with some of its parts.
  public MigrationBenchmark(Set<MigrationPart> parts) {
    this.parts = Set.copyOf(parts);
  }

  @Override
  public String name() {
    return "migration";
  }

  @Override
  public String description() {
    return "objects that migrate to their clients, beside a central service";
  }

  @Override
  public MigrationScale full() {
    return MigrationScale.full();
  }

  @Override
  public MigrationScale smoke() {
    return MigrationScale.smoke();
  }

  @Override
  public Outcome run(Context<MigrationScale> context) throws Exception {
    var findings = new Findings(context.sizes(), MigrationScale.full());
    for (MigrationPart part : EnumSet.copyOf(parts)) {
      switch (part) {
        case TREE -> new TreePhase(context).measure(findings);
        case LEAVES -> new LeavePhase(context).measure(findings);
        case PROCESSES -> new ProcessPhase(context).measure(findings);
        case TRAFFIC -> new TrafficPhase(context).measure(findings);
        case TRAINING -> new TrainingPhase(context).measure(findings);
        case PLACEMENT -> {
          new AutoPhase(context).measure(findings);
          new RemoteAutoPhase(context).measure(findings);
        }
      }
    }
    return findings.outcome();
  }
}

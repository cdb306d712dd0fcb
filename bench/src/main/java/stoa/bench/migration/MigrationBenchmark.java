package stoa.bench.migration;

import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures objects that migrate to their clients, with the workloads of the self-service paper
/// (section 8).
public final class MigrationBenchmark implements Benchmark<MigrationScale> {
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
    new TreePhase(context).measure(findings);
    new LeavePhase(context).measure(findings);
    new ProcessPhase(context).measure(findings);
    new TrafficPhase(context).measure(findings);
    new AutoPhase(context).measure(findings);
    new RemoteAutoPhase(context).measure(findings);
    return findings.outcome();
  }
}

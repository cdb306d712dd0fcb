package stoa.bench.csmr;

import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures maps that are composed of many maps beside plain ones, with the workloads of the vCorfu
/// paper, section 6.4.
public final class CsmrBenchmark implements Benchmark<CsmrScale> {
  @Override
  public String name() {
    return "csmr";
  }

  @Override
  public String description() {
    return "composed maps beside plain ones: opening, conflicts, operations on the whole";
  }

  @Override
  public CsmrScale full() {
    return CsmrScale.full();
  }

  @Override
  public CsmrScale smoke() {
    return CsmrScale.smoke();
  }

  @Override
  public Outcome run(Context<CsmrScale> context) throws Exception {
    var findings = new Findings(context.sizes(), CsmrScale.full());
    new OpenPhase(context).measure(findings);
    new ConflictPhase(context).measure(findings);
    new WholePhase(context).measure(findings);
    return findings.outcome();
  }
}

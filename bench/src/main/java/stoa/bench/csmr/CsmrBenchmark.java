package stoa.bench.csmr;

import stoa.bench.place.StorePlace;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures maps that are composed of many maps beside plain ones, with the workloads of the vCorfu
/// paper, section 6.4.
public final class CsmrBenchmark implements Benchmark<CsmrScale> {
  private final StorePlace place;

  /// The benchmark on a store in this process.
  public CsmrBenchmark() {
    this(StorePlace.EMBEDDED);
  }

  /// The benchmark on a store in some place. Three servers are not opened anew.
  public CsmrBenchmark(StorePlace place) {
    this.place = place;
  }

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
    new OpenPhase(context, place).measure(findings);
    new ConflictPhase(context, place).measure(findings);
    new WholePhase(context, place).measure(findings);
    return findings.outcome();
  }
}

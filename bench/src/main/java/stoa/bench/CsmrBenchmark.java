package stoa.bench;

/// Measures maps that are composed of many maps beside plain ones, with the workloads of the vCorfu
/// paper, section 6.4.
final class CsmrBenchmark implements Benchmark {
  @Override
  public String name() {
    return "csmr";
  }

  @Override
  public String description() {
    return "composed maps beside plain ones: opening, conflicts, operations on the whole";
  }

  @Override
  public Outcome run(Context context) throws Exception {
    var findings = new Findings(context.scale().csmr(), CsmrScale.full());
    new OpenPhase(context).measure(findings);
    new ConflictPhase(context).measure(findings);
    new WholePhase(context).measure(findings);
    return findings.outcome();
  }
}

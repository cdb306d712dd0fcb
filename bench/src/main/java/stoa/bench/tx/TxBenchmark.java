package stoa.bench.tx;

import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures transactions with the workloads of the vCorfu paper, section 6.3, and durable ones
/// beside the disk and other engines.
public final class TxBenchmark implements Benchmark<TxScale> {
  @Override
  public String name() {
    return "tx";
  }

  @Override
  public String description() {
    return "transactions: of the past, beside readers and an analysis, durable beside the disk";
  }

  @Override
  public TxScale full() {
    return TxScale.full();
  }

  @Override
  public TxScale smoke() {
    return TxScale.smoke();
  }

  @Override
  public Outcome run(Context<TxScale> context) throws Exception {
    var findings = new Findings(context.sizes(), TxScale.full());
    new PastPhase(context).measure(findings);
    new WriterPhase(context).measure(findings);
    new AnalysisPhase(context).measure(findings);
    new DurablePhase(context).measure(findings);
    return findings.outcome();
  }
}

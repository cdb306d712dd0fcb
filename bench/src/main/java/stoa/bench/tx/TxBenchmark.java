package stoa.bench.tx;

import stoa.bench.place.StorePlace;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures transactions with the workloads of the vCorfu paper, section 6.3, and durable ones
/// beside the disk and other engines.
public final class TxBenchmark implements Benchmark<TxScale> {
  private final StorePlace place;

  /// The benchmark on a store in this process.
  public TxBenchmark() {
    this(StorePlace.EMBEDDED);
  }

  /// The benchmark on a store in some place; elsewhere than in this process, without the engines
  /// that run here.
  public TxBenchmark(StorePlace place) {
    this.place = place;
  }

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
    new PastPhase(context, place).measure(findings);
    new WriterPhase(context, place).measure(findings);
    new AnalysisPhase(context, place).measure(findings);
    if (place == StorePlace.EMBEDDED) new DurablePhase(context).measure(findings);
    return findings.outcome();
  }
}

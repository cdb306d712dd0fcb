package stoa.bench.log;

import org.jspecify.annotations.Nullable;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures the global log and its streams beside a log without them, with the workloads of the
/// vCorfu paper, section 6.1: the parts of the log in this process, or the streams of a store in
/// some place.
public final class LogBenchmark implements Benchmark<LogScale> {
  // The parts that a store in a place leaves out, each with the reason.
  private static final String LEFT_OUT =
      """
      tokens: a client cannot take a log address without an entry
      bare log, backpointers, commit bits: they are written to a storage device of this process
      shards: a server keeps each group on one storage device
      holes (Figure 9): a client cannot leave a log address empty
      a replica that fails (Figure 10): ./stoa bench cluster --part degraded
      """;

  // Null for the parts of the log.
  private final @Nullable StorePlace place;

  /// The benchmark of the parts, in this process.
  public LogBenchmark() {
    this.place = null;
  }

  /// The benchmark of the streams of a store in some place, through the interface of programs.
  public LogBenchmark(StorePlace place) {
    this.place = place;
  }

  @Override
  public String name() {
    return "log";
  }

  @Override
  public String description() {
    return "the log and its streams: appending, tokens, reading, holes, following";
  }

  @Override
  public LogScale full() {
    return LogScale.full();
  }

  @Override
  public LogScale smoke() {
    return LogScale.smoke();
  }

  @Override
  public Outcome run(Context<LogScale> context) throws Exception {
    var findings = new Findings(context.sizes(), LogScale.full());
    StorePlace where = place;
    if (where == null) {
      new TokenPhase(context).measure(findings);
      new AppendPhase(context).measure(findings);
      new ShardPhase(context).measure(findings);
      new StreamReadPhase(context).measure(findings);
      new FollowPhase(context, StorePlace.EMBEDDED).measure(findings);
    } else {
      new PlacedAppendPhase(context, where).measure(findings);
      new PlacedReadPhase(context, where).measure(findings);
      new FollowPhase(context, where).measure(findings);
      findings.matrix("left out with --at", LEFT_OUT);
    }
    return findings.outcome();
  }
}

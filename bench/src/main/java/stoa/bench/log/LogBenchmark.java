package stoa.bench.log;

import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Measures the global log and its streams beside a log without them, with the workloads of the
/// vCorfu paper, section 6.1.
public final class LogBenchmark implements Benchmark<LogScale> {
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
    new TokenPhase(context).measure(findings);
    new AppendPhase(context).measure(findings);
    new ShardPhase(context).measure(findings);
    new StreamReadPhase(context).measure(findings);
    new FollowPhase(context).measure(findings);
    return findings.outcome();
  }
}

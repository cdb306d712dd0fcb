package stoa.bench.remote;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

/// Measures calls over a socket beside other servers with shared state, with the micro-benchmarks
/// of the CRESON paper, section VI.A, and the AOF paper, section 6.1.
public final class RemoteBenchmark implements Benchmark<RemoteScale> {
  @Override
  public String name() {
    return "remote";
  }

  @Override
  public String description() {
    return "a server and a client beside Redisson with Redis, Hazelcast and Infinispan";
  }

  /// Returns this engine, and the others that are on the class path.
  public static List<RemoteContender> contenders() {
    var contenders = new ArrayList<RemoteContender>();
    contenders.add(new StoaServer());
    ServiceLoader.load(RemoteContender.class).forEach(contenders::add);
    return contenders;
  }

  @Override
  public RemoteScale full() {
    return RemoteScale.full();
  }

  @Override
  public RemoteScale smoke() {
    return RemoteScale.smoke();
  }

  @Override
  public Outcome run(Context<RemoteScale> context) throws Exception {
    Outcome calls = run(context, contenders());
    var views = new ViewsRun(context);
    views.measure(context.folder());
    var results = new ArrayList<>(calls.results());
    results.addAll(views.results());
    return new Outcome(results, calls.table() + "\n" + views.table(), calls.figures());
  }

  /// Runs it with some contenders. The report compares the first one with the others.
  static Outcome run(Context<RemoteScale> context, List<RemoteContender> contenders)
      throws Exception {
    var run = new RemoteRun(context);
    for (var persistence : RemoteContender.Persistence.values()) {
      run.measure(persistence, contenders);
    }
    return new RemoteReport(
            run.samples(), contenders.stream().map(RemoteContender::name).toList(), run.absent())
        .outcome();
  }
}

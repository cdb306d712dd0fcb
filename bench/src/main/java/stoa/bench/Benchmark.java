package stoa.bench;

import java.util.List;

/// Measures one side of Stoa beside its limits.
///
/// Implementations keep no state between runs.
public interface Benchmark {
  /// All benchmarks.
  static List<Benchmark> all() {
    return List.of(
        new EmbeddedBenchmark(),
        new StorageBenchmark(),
        new StorageLargeBenchmark(),
        new LogBenchmark(),
        new TxBenchmark(),
        new CsmrBenchmark(),
        new RemoteBenchmark(),
        new MigrationBenchmark(),
        new ClusterBenchmark());
  }

  /// What it is called on the command line.
  String name();

  /// What it measures, in one line.
  String description();

  /// Runs it. Files that it writes are below the context's folder and gone when it returns.
  ///
  /// @throws Exception what went wrong; there is no outcome then
  Outcome run(Context context) throws Exception;
}

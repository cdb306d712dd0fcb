package stoa.bench.report;

/// Measures one side of Stoa beside its limits.
///
/// Implementations keep no state between runs.
///
/// @param <S> the type of the benchmark's own sizes
public interface Benchmark<S> {
  /// The benchmark's name on the command line.
  String name();

  /// Returns the subject of the measurements, in one line.
  String description();

  /// The sizes whose results are kept.
  S full();

  /// The sizes that show, within three minutes, that the benchmark runs.
  S smoke();

  /// Runs the benchmark. It writes files below the context's folder and deletes them before it
  /// returns.
  ///
  /// @throws Exception if a measurement fails; there is no outcome then
  Outcome run(Context<S> context) throws Exception;
}

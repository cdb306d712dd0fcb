package stoa.bench.embedded;

/// The sizes of the embedded benchmark.
///
/// @param historyBytes how much history the benchmark writes before it measures a recovery
/// @param objects how many objects the benchmark creates to measure their memory
/// @param smallHeapObjects how many objects the benchmark asks a process with a small heap to hold
public record EmbeddedScale(long historyBytes, int objects, int smallHeapObjects) {
  /// The sizes whose results are kept.
  public static EmbeddedScale full() {
    return new EmbeddedScale(1L << 30, 100_000, 500_000);
  }

  /// The sizes that show, within a minute, that the benchmark runs.
  public static EmbeddedScale smoke() {
    return new EmbeddedScale(16 << 20, 10_000, 20_000);
  }
}

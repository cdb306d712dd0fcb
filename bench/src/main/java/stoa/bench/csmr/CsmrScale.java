package stoa.bench.csmr;

import java.time.Duration;
import java.util.List;

/// How long and how large the parts of the benchmark of composed maps are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param inserts how many values of 1 KiB a map has when it is opened
/// @param children how many children the composed maps have
/// @param opens how often each map is opened
/// @param keys how many keys the transactions choose from
/// @param writers how many writers there are at a time
/// @param time how long the writers write
/// @param whole how many children a map has that is cleared and measured as a whole
public record CsmrScale(
    int rounds,
    List<Integer> inserts,
    List<Integer> children,
    int opens,
    int keys,
    List<Integer> writers,
    Duration time,
    List<Integer> whole) {

  /// The scale whose results are kept: some minutes.
  public static CsmrScale full() {
    return new CsmrScale(
        3,
        List.of(100, 1_000, 10_000, 100_000),
        List.of(10, 100, 1_000),
        5,
        10_000,
        List.of(1, 2, 4, 8, 16),
        Duration.ofMillis(500),
        List.of(1, 10, 100, 1_000, 10_000));
  }

  /// The scale that shows that it runs.
  public static CsmrScale smoke() {
    return new CsmrScale(
        1,
        List.of(100, 1_000),
        List.of(10, 100),
        1,
        1_000,
        List.of(1, 4),
        Duration.ofMillis(100),
        List.of(1, 100));
  }
}

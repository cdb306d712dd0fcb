package stoa.bench.log;

import java.time.Duration;
import java.util.List;

/// How long and how large the parts of the log benchmark are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param warmUp how long appending runs before it counts
/// @param time how long appending counts
/// @param streams over how many streams entries are spread
/// @param shards over how many shards
/// @param entries how many entries the logs hold whose streams are read
/// @param holeEntries how many entries each stream has when holes are read
/// @param reads how many streams are read in a sample
/// @param followEntries how many entries the log holds that is followed
public record LogScale(
    int rounds,
    Duration warmUp,
    Duration time,
    List<Integer> streams,
    List<Integer> shards,
    List<Integer> entries,
    int holeEntries,
    int reads,
    int followEntries) {

  /// The scale whose results are kept: some minutes.
  public static LogScale full() {
    return new LogScale(
        5,
        Duration.ofMillis(200),
        Duration.ofMillis(500),
        List.of(32, 1_000, 100_000),
        List.of(1, 2, 4),
        List.of(100_000, 1_000_000),
        10,
        50,
        500_000);
  }

  /// The scale that shows that it runs.
  public static LogScale smoke() {
    return new LogScale(
        1,
        Duration.ofMillis(20),
        Duration.ofMillis(60),
        List.of(32, 1_000),
        List.of(1, 2),
        List.of(20_000),
        5,
        5,
        20_000);
  }
}

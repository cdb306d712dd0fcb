package stoa.bench.tx;

import java.time.Duration;
import java.util.List;

/// How long and how large the parts of the benchmark of transactions are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param warmUp how long a load runs before it counts
/// @param servedWarmUp how long servers that have just started are called before anything counts
/// @param time how long a load counts
/// @param pastObjects how many objects have a past that is read
/// @param pastCalls how many calls on each of them are in it
/// @param pastWarmUp how long the past is read before it counts, by each number of callers
/// @param views how many callers read the past at a time
/// @param objects how many objects one writes and many read
/// @param readers how many readers there are beside the writer
/// @param lockService whether two-phase locking is also measured with locks at a lock service
/// @param pages how many objects the analysis iterates over
/// @param analysisTime how long the writer writes beside one analysis that goes on
/// @param accounts how many objects the durable transactions are spread over
/// @param callers how many callers make durable transactions at a time
public record TxScale(
    int rounds,
    Duration warmUp,
    Duration servedWarmUp,
    Duration time,
    int pastObjects,
    int pastCalls,
    Duration pastWarmUp,
    List<Integer> views,
    int objects,
    List<Integer> readers,
    boolean lockService,
    int pages,
    Duration analysisTime,
    int accounts,
    List<Integer> callers) {

  /// The scale whose results are kept: some minutes.
  public static TxScale full() {
    return new TxScale(
        5,
        Duration.ofMillis(200),
        Duration.ofSeconds(5),
        Duration.ofMillis(700),
        1_000,
        100,
        Duration.ofSeconds(3),
        List.of(1, 2, 8),
        100_000,
        List.of(0, 10, 50, 100, 200),
        true,
        10_000,
        Duration.ofMinutes(5),
        10_000,
        List.of(1, 8, 64));
  }

  /// The scale that shows that it runs.
  public static TxScale smoke() {
    return new TxScale(
        1,
        Duration.ofMillis(30),
        Duration.ofMillis(100),
        Duration.ofMillis(100),
        100,
        20,
        Duration.ofMillis(100),
        List.of(1, 8),
        1_000,
        List.of(0, 200),
        true,
        1_000,
        Duration.ofMillis(300),
        1_000,
        List.of(1, 8));
  }
}

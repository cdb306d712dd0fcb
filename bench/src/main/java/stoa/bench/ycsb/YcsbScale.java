package stoa.bench.ycsb;

import java.time.Duration;
import java.util.List;
import stoa.bench.machine.ServerJava;

/// How long and how large the parts of the benchmark of YCSB are.
///
/// @param figure the sizes of [YcsbPart#FIGURE]
/// @param snapshots the sizes of [YcsbPart#SNAPSHOTS]
/// @param large the sizes of [YcsbPart#LARGE]
public record YcsbScale(Sizes figure, Snapshots snapshots, Sizes large) {
  /// The children of the paper's map.
  static final int CHILDREN = 1_024;

  // As many as a map may have: a call needs the state of its child in memory.
  private static final int CHILDREN_MAX = 65_536;

  /// The sizes of one part.
  ///
  /// @param rounds how often each measure is taken; the median counts
  /// @param records how many records of 1 KB there are
  /// @param children how many maps the composed map consists of
  /// @param callers how many threads call, in turn
  /// @param heat how long each workload runs once before the first round
  /// @param warmUp how long a load runs before it counts
  /// @param time how long a load counts
  /// @param loadTimeMax how long loading may take
  /// @param forms which contenders run
  /// @param heap the options of Java of each server
  public record Sizes(
      int rounds,
      int records,
      int children,
      List<Integer> callers,
      Duration heat,
      Duration warmUp,
      Duration time,
      Duration loadTimeMax,
      YcsbContender.Forms forms,
      List<String> heap) {
    /// Returns after how many records a load looks at its time, and at the room on the disk.
    int lookEvery() {
      return Math.clamp(records / 100, 1, 10_000);
    }
  }

  /// The sizes of the snapshot transactions.
  ///
  /// @param rounds how often each measure is taken; the median counts
  /// @param records how many records of 1 KB there are
  /// @param puts how often each is put again, which makes the past
  /// @param callers how many threads call, in turn
  /// @param heat how long each kind of reads runs once before the first round
  /// @param warmUp how long a load runs before it counts
  /// @param time how long a load counts
  public record Snapshots(
      int rounds,
      int records,
      int puts,
      List<Integer> callers,
      Duration heat,
      Duration warmUp,
      Duration time) {}

  /// The scale whose results are kept.
  static YcsbScale full() {
    return new YcsbScale(
        new Sizes(
            3,
            100_000,
            CHILDREN,
            List.of(24, 240),
            Duration.ofSeconds(10),
            Duration.ofSeconds(1),
            Duration.ofSeconds(3),
            Duration.ofMinutes(20),
            YcsbContender.Forms.ALL,
            ServerJava.HEAP),
        new Snapshots(
            3,
            10_000,
            3,
            List.of(1, 4, 16, 64),
            Duration.ofSeconds(5),
            Duration.ofMillis(500),
            Duration.ofSeconds(1)),
        new Sizes(
            3,
            10_000_000,
            CHILDREN_MAX,
            List.of(24),
            Duration.ofSeconds(10),
            Duration.ofSeconds(5),
            Duration.ofSeconds(30),
            Duration.ofHours(3),
            YcsbContender.Forms.ONE_SERVER,
            ServerJava.LARGE_HEAP));
  }

  /// The scale that shows that it runs.
  static YcsbScale smoke() {
    var snapshots =
        new Snapshots(
            1,
            500,
            1,
            List.of(1, 4),
            Duration.ofMillis(50),
            Duration.ofMillis(50),
            Duration.ofMillis(100));
    return new YcsbScale(
        smoke(YcsbContender.Forms.DURABLE), snapshots, smoke(YcsbContender.Forms.ONE_SERVER));
  }

  private static Sizes smoke(YcsbContender.Forms forms) {
    return new Sizes(
        1,
        500,
        CHILDREN,
        List.of(4),
        Duration.ofMillis(50),
        Duration.ofMillis(50),
        Duration.ofMillis(200),
        Duration.ofMinutes(1),
        forms,
        ServerJava.HEAP);
  }
}

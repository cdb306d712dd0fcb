package stoa.bench;

import java.time.Duration;

/// How long and how large a benchmark's parts are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
/// @param historyBytes how much history is written before a recovery is measured
/// @param objects how many objects are created to measure their memory
/// @param smallHeapObjects how many objects a process with a small heap is asked to hold
/// @param storage the same for the storage benchmark
/// @param log the same for the log benchmark
/// @param tx the same for the benchmark of transactions
/// @param csmr the same for the benchmark of composed maps
/// @param remote the same for the benchmark of a server and its clients
/// @param migration the same for the benchmark of migrating objects
/// @param cluster the same for the benchmark of several servers
public record Scale(
    int rounds,
    Duration warmUp,
    Duration time,
    long historyBytes,
    int objects,
    int smallHeapObjects,
    StorageScale storage,
    LogScale log,
    TxScale tx,
    CsmrScale csmr,
    RemoteScale remote,
    MigrationScale migration,
    ClusterScale cluster) {

  /// The scale whose results are kept: some minutes.
  public static Scale full() {
    return new Scale(
        5,
        Duration.ofMillis(500),
        Duration.ofMillis(1500),
        1L << 30,
        100_000,
        500_000,
        StorageScale.full(),
        LogScale.full(),
        TxScale.full(),
        CsmrScale.full(),
        RemoteScale.full(),
        MigrationScale.full(),
        ClusterScale.full());
  }

  /// The scale that shows, within a minute, that a benchmark runs.
  public static Scale smoke() {
    return new Scale(
        1,
        Duration.ofMillis(200),
        Duration.ofMillis(300),
        16 << 20,
        10_000,
        20_000,
        StorageScale.smoke(),
        LogScale.smoke(),
        TxScale.smoke(),
        CsmrScale.smoke(),
        RemoteScale.smoke(),
        MigrationScale.smoke(),
        ClusterScale.smoke());
  }
}

package stoa.bench.storage;

import java.time.Duration;
import java.util.List;

/// How long and how large the storage benchmark's parts are.
///
/// @param rounds how often each measure is taken, if there is time; the median counts
/// @param partMax how long writing, reading and small writes may take each; the benchmark measures
///   them once in any case
/// @param warmUp how long callers run before it counts
/// @param writeTime how long a sample of writing counts
/// @param readTime how long a sample of reading counts
/// @param smallTime how long a sample of small durable writes counts
/// @param sizes the sizes of accesses, in bytes
/// @param regionBytes the length of the written object
/// @param readBytes how much is written, and then read from
/// @param orderBytes how much is written in different orders, and then read from front to back
/// @param memoryBytes how much is written to measure the memory for it
/// @param largeBytes how much a process with a limited heap writes
/// @param callers how many callers make small durable writes at a time
public record StorageScale(
    int rounds,
    Duration partMax,
    Duration warmUp,
    Duration writeTime,
    Duration readTime,
    Duration smallTime,
    List<Integer> sizes,
    long regionBytes,
    long readBytes,
    long orderBytes,
    long memoryBytes,
    long largeBytes,
    List<Integer> callers) {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  /// The scale whose results are kept: about an hour.
  public static StorageScale full() {
    return new StorageScale(
        5,
        Duration.ofMinutes(30),
        Duration.ofMillis(200),
        Duration.ofSeconds(2),
        Duration.ofSeconds(2),
        Duration.ofSeconds(1),
        List.of(4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB),
        4L << 30,
        1L << 30,
        512L << 20,
        512L << 20,
        20L << 30,
        List.of(1, 24, 240));
  }

  /// The scale that shows within half a minute that it runs.
  public static StorageScale smoke() {
    return new StorageScale(
        1,
        Duration.ofMinutes(1),
        Duration.ofMillis(10),
        Duration.ofMillis(60),
        Duration.ofMillis(60),
        Duration.ofMillis(60),
        List.of(4 * KIB, MIB),
        1L << 30,
        32L << 20,
        16L << 20,
        16L << 20,
        256L << 20,
        List.of(1, 24));
  }
}

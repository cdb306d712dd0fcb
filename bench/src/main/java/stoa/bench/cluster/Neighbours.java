package stoa.bench.cluster;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringTokenizer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// The load of other processes on the machine while a benchmark runs. The benchmark's own processes
/// are this one and its children. On Linux; elsewhere the load is unknown.
///
/// Thread-safe. Its owner closes it.
final class Neighbours implements AutoCloseable {
  private static final Path STAT = Path.of("/proc/stat");
  private static final double TICK_SECONDS = 0.01; // USER_HZ, which is 100 everywhere
  private static final long LOOK_MILLIS = 300;

  private final CountDownLatch closed = new CountDownLatch(1);

  // Guarded by this. Keeps the usage of a process that has ended.
  private final Map<Long, Double> own = new HashMap<>();

  private double busyBefore;
  private double ownBefore;
  private long nanosBefore;

  Neighbours() {
    mark();
    Thread.ofPlatform().daemon().name("neighbours").start(this::run);
  }

  private void run() {
    try {
      while (!closed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) look();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized double look() {
    add(ProcessHandle.current());
    ProcessHandle.current().descendants().forEach(this::add);
    return own.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  private void add(ProcessHandle process) {
    process
        .info()
        .totalCpuDuration()
        .ifPresent(used -> own.merge(process.pid(), used.toNanos() / 1e9, Math::max));
  }

  /// Returns the seconds for which processors were not idle, all together; not a number where the
  /// system does not tell.
  private static double busySeconds() {
    try {
      if (!Files.isReadable(STAT)) return Double.NaN;
      var all = new StringTokenizer(Files.readAllLines(STAT).getFirst());
      all.nextToken();
      double ticks = 0;
      // user, nice, system, then idle and waiting, which do not count, then interrupts of two kinds
      for (int i = 1; i <= 7; i++) {
        double more = Double.parseDouble(all.nextToken());
        if (i != 4 && i != 5) ticks += more;
      }
      return ticks * TICK_SECONDS;
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /// Begins to measure.
  synchronized void mark() {
    ownBefore = look();
    busyBefore = busySeconds();
    nanosBefore = System.nanoTime();
  }

  /// Returns the processors that other processes used since [#mark()], on average, and the load
  /// average now; for a table.
  synchronized String since() {
    double seconds = (System.nanoTime() - nanosBefore) / 1e9;
    double others = (busySeconds() - busyBefore - (look() - ownBefore)) / seconds;
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    return String.format(
        Locale.ROOT, "others used %.1f processors, load average %.1f", Math.max(0, others), load);
  }

  @Override
  public void close() {
    closed.countDown();
  }
}

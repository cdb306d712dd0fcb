package stoa.bench.machine;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// The most memory in use by this process while some work runs: heap that a garbage collection
/// leaves, and direct buffers. A thread of its own samples it, many times a second.
public final class Memory implements AutoCloseable {
  private static final int LOOK_MILLIS = 50;

  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread looking;
  private volatile long heapMax;
  private volatile long directMax;

  /// Begins to sample.
  public Memory() {
    looking = Thread.ofPlatform().name("memory").daemon().start(this::look);
  }

  private void look() {
    try {
      do {
        heapMax = Math.max(heapMax, liveHeap());
        directMax = Math.max(directMax, direct());
      } while (!over.await(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Returns the most heap after a collection, in bytes.
  public long heapMax() {
    return heapMax;
  }

  /// Returns the most memory in direct buffers, in bytes.
  public long directMax() {
    return directMax;
  }

  /// Returns the heap that a collection leaves now, in bytes.
  public static long liveHeap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /// Returns the memory in direct buffers now, in bytes.
  public static long direct() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  /// Returns the most physical memory of this process so far, in bytes; 0 where the system does not
  /// tell.
  public static long residentMax() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.isReadable(status)) return 0;
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
    return 0;
  }

  @Override
  public void close() {
    over.countDown();
    try {
      looking.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

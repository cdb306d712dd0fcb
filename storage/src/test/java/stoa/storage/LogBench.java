package stoa.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import stoa.base.StreamId;

/// Prints how fast data is appended to the log by concurrent writers, beside a bare loop that
/// writes a file on the same disk in the same run. A program, not a test: `LogBench DIRECTORY
/// MEGABYTES ROUNDS`.
final class LogBench {
  private static final int WRITERS = 32;
  private static final StreamId OBJECT = StreamId.of("object");

  private LogBench() {}

  public static void main(String[] args) throws Exception {
    var directory = Path.of(args[0]);
    long bytes = Long.parseLong(args[1]) << 20;
    int rounds = Integer.parseInt(args[2]);
    for (int round = 0; round < rounds; round++) {
      for (int size : new int[] {256 << 10, 1 << 20, 4 << 20}) {
        for (var directIo : DirectIo.values()) {
          double raw = raw(directory, bytes, DirectIo.OFF);
          double rawDirect = raw(directory, bytes, DirectIo.ON);
          double log = log(directory, bytes, size, directIo);
          System.out.printf(
              Locale.ROOT,
              "%4d KiB, directIo %s: raw %.0f MB/s, raw direct %.0f, log %.0f = %.2f%n",
              size >> 10,
              directIo,
              raw,
              rawDirect,
              log,
              log / Math.max(raw, rawDirect));
        }
      }
    }
  }

  private static double raw(Path directory, long bytes, DirectIo directIo) throws IOException {
    clear(directory);
    Files.createDirectories(directory);
    var block = ByteBuffer.allocateDirect((4 << 20) + 4096).alignedSlice(4096).limit(4 << 20);
    for (int i = 0; i < block.limit(); i += 8) block.putLong(i, i * 0x9e3779b97f4a7c15L);
    var options =
        directIo == DirectIo.ON
            ? Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, FileDisk.directOption())
            : Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    long start = System.nanoTime();
    try (var channel = FileChannel.open(directory.resolve("raw"), options)) {
      for (long at = 0; at < bytes; at += block.limit()) {
        block.rewind();
        while (block.hasRemaining()) channel.write(block);
        if ((at + block.limit()) % (64 << 20) == 0) channel.force(false);
      }
      channel.force(false);
    }
    return bytes / ((System.nanoTime() - start) / 1e9) / 1e6;
  }

  private static double log(Path directory, long bytes, int size, DirectIo directIo)
      throws Exception {
    clear(directory);
    var disk = new FileDisk(directory);
    var log = SegmentLog.open(disk, DeviceConfig.standard().withDirectIo(directIo), disk.list());
    log.recover(0, item -> {});
    var lock = new ReentrantLock();
    var next = new AtomicLong();
    var work = new ArrayList<Callable<Boolean>>();
    for (int i = 0; i < WRITERS; i++) work.add(() -> write(log, lock, next, bytes, size));
    long start;
    try (var threads = Executors.newFixedThreadPool(WRITERS)) {
      start = System.nanoTime();
      for (var done : threads.invokeAll(work)) done.get();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(Locale.ROOT, "  %d syncs%n", log.syncs());
    log.close();
    return bytes / seconds / 1e6;
  }

  private static boolean write(
      SegmentLog log, ReentrantLock lock, AtomicLong next, long bytes, int size) {
    var data = ByteBuffer.allocateDirect(size);
    for (int i = 0; i < size; i += 8) data.putLong(i, i * 0x9e3779b97f4a7c15L);
    var commit = new Commit();
    while (true) {
      long at = next.getAndAdd(size);
      if (at >= bytes) return true;
      commit.clear().data(OBJECT, 128, at, data);
      long end;
      lock.lock();
      try {
        log.append(commit);
        end = log.end();
      } finally {
        lock.unlock();
      }
      log.sync(end);
    }
  }

  private static void clear(Path directory) throws IOException {
    if (!Files.exists(directory)) return;
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}

package stoa.storage.segment;

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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.FileDisk;

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
    var log =
        SegmentLog.open(disk, new DeviceConfig(512 << 20).withDirectIo(directIo), disk.list());
    log.recover(0, item -> {});
    var group = new Group(log);
    var next = new AtomicLong();
    var work = new ArrayList<Callable<Boolean>>();
    for (int i = 0; i < WRITERS; i++) work.add(() -> write(group, next, bytes, size));
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

  private static boolean write(Group group, AtomicLong next, long bytes, int size)
      throws IOException {
    var data = ByteBuffer.allocateDirect(size);
    for (int i = 0; i < size; i += 8) data.putLong(i, i * 0x9e3779b97f4a7c15L);
    var commit = new Commit();
    while (true) {
      long at = next.getAndAdd(size);
      if (at >= bytes) return true;
      commit.clear();
      commit.data(OBJECT, 128, at, data);
      group.append(commit);
    }
  }

  /// Appends what several threads want appended at once, as the device does.
  private static final class Group {
    private static final long BATCH_BYTES_MAX = 4 << 20;

    private final SegmentLog log;
    private final SingleFlight appending = new SingleFlight();
    private final ConcurrentLinkedQueue<Waiting> queue = new ConcurrentLinkedQueue<>();

    Group(SegmentLog log) {
      this.log = log;
    }

    void append(Commit commit) throws IOException {
      var mine = new Waiting(commit);
      queue.add(mine);
      appending.until(() -> mine.end >= 0, this::lead);
      log.sync(mine.end);
    }

    private void lead() {
      var batch = new ArrayList<Waiting>();
      var commits = new ArrayList<Commit>();
      long bytes = 0;
      while (bytes < BATCH_BYTES_MAX) {
        var one = queue.poll();
        if (one == null) break;
        batch.add(one);
        commits.add(one.commit);
        bytes += one.commit.bytes();
      }
      log.append(commits);
      for (var one : batch) one.end = log.end();
    }
  }

  private static final class Waiting {
    private final Commit commit;
    private volatile long end = -1;

    Waiting(Commit commit) {
      this.commit = commit;
    }
  }

  private static void clear(Path directory) throws IOException {
    if (!Files.exists(directory)) return;
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}

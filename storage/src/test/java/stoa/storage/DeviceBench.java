package stoa.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.SplittableRandom;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.segment.Commit;

/// Prints what appending, syncing, reading and recovering cost here. A program, not a test:
/// `DeviceBench DIRECTORY`.
final class DeviceBench {
  private static final int EXTENT = 80;

  private DeviceBench() {}

  public static void main(String[] args) throws IOException {
    var directory = Path.of(args[0]);
    for (int round = 0; round < 3; round++) {
      memory(1, 1);
      memory(1, 1000);
      memory(240, 1);
      memory(240, 100);
      memory(240, 100_000);
    }
    syncs(directory, 1);
    syncs(directory, 24);
    syncs(directory, 240);
    reads(directory);
    recovery(directory);
  }

  private static void memory(int extents, int objects) {
    var ids = ids(objects);
    var data = new byte[EXTENT];
    long nanos;
    int rounds = 4_000_000 / extents;
    try (var device = Device.open(new MemoryDisk(1L << 30), DeviceConfig.standard())) {
      var commit = new Commit();
      long offset = 0;
      long start = System.nanoTime();
      for (int i = 0; i < rounds; i++) {
        commit.clear();
        for (int j = 0; j < extents; j++) {
          commit.write(ids[(int) (offset % objects)], 0, offset, data, 0, EXTENT);
          offset++;
        }
        device.append(commit);
      }
      nanos = System.nanoTime() - start;
      var stats = device.stats();
      System.out.printf(
          "memory: %d extents a commit, %d objects: %d ns a commit, %.1f ns an extent; %d runs, %.1f index bytes an entry%n",
          extents,
          objects,
          nanos / rounds,
          (double) nanos / rounds / extents,
          stats.runs(),
          (double) stats.runBytes() / Math.max(1, stats.runEntries()));
    }
  }

  private static void syncs(Path directory, int extents) throws IOException {
    clear(directory);
    var ids = ids(1000);
    var data = new byte[EXTENT];
    try (var device = Device.open(new FileDisk(directory), DeviceConfig.standard())) {
      var commit = new Commit();
      long offset = 0;
      int rounds = 0;
      long start = System.nanoTime();
      while (System.nanoTime() - start < 3_000_000_000L) {
        commit.clear();
        for (int j = 0; j < extents; j++) {
          commit.write(ids[(int) (offset % ids.length)], 0, offset, data, 0, EXTENT);
          offset++;
        }
        device.append(commit);
        device.sync();
        rounds++;
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      System.out.printf(
          "file: %d extents a sync: %.0f syncs/s, %.0f extents/s%n",
          extents, rounds / seconds, rounds * extents / seconds);
    }
  }

  private static void reads(Path directory) throws IOException {
    clear(directory);
    int objects = 10_000;
    int entries = 2_000_000;
    var ids = ids(objects);
    var data = new byte[EXTENT];
    try (var device = Device.open(new FileDisk(directory), DeviceConfig.standard())) {
      var commit = new Commit();
      for (int i = 0; i < entries; i++) {
        commit.write(ids[i % objects], 0, i / objects, data, 0, EXTENT);
        if (commit.count() < 200) continue;
        device.append(commit);
        commit.clear();
      }
      device.sync();
      var random = new SplittableRandom(1);
      for (int round = 0; round < 2; round++) {
        int reads = 200_000;
        long start = System.nanoTime();
        for (int i = 0; i < reads; i++) {
          var id = ids[random.nextInt(objects)];
          if (device.read(id, 0, random.nextInt(entries / objects)) == null) {
            throw new IllegalStateException("lost an extent");
          }
        }
        System.out.printf("file: random read: %d ns%n", (System.nanoTime() - start) / reads);
        start = System.nanoTime();
        for (int i = 0; i < reads; i++) device.floor(ids[random.nextInt(objects)], 0, 1 << 30);
        System.out.printf("file: floor: %d ns%n", (System.nanoTime() - start) / reads);
        start = System.nanoTime();
        for (int i = 0; i < reads; i++) {
          device.floor(new StreamId(random.nextLong(), random.nextLong()), 0, 1 << 30);
        }
        System.out.printf("file: absent object: %d ns%n", (System.nanoTime() - start) / reads);
        start = System.nanoTime();
        int[] seen = {0};
        for (int i = 0; i < 2000; i++) {
          device.scan(
              ids[random.nextInt(objects)], 0, 0, 1 << 30, (offset, bytes) -> ++seen[0] > 0);
        }
        System.out.printf(
            "file: scan: %d ns an extent%n", (System.nanoTime() - start) / Math.max(1, seen[0]));
      }
      System.out.println(device.stats());
    }
  }

  private static void recovery(Path directory) throws IOException {
    clear(directory);
    var ids = ids(100_000);
    var data = new byte[EXTENT];
    long offset = 0;
    long start = System.nanoTime();
    try (var device = Device.open(new FileDisk(directory), DeviceConfig.standard())) {
      var commit = new Commit();
      while (device.stats().logBytes() < 1L << 30) {
        commit.clear();
        for (int j = 0; j < 240; j++) {
          commit.write(ids[(int) (offset % ids.length)], 0, offset, data, 0, EXTENT);
          offset++;
        }
        device.append(commit);
      }
      device.sync();
    }
    System.out.printf("1 GiB, %d extents: appended in %d ms%n", offset, millis(start));
    start = System.nanoTime();
    try (var device = Device.open(new FileDisk(directory), DeviceConfig.standard())) {
      System.out.printf("opened with the index in %d ms; %s%n", millis(start), device.stats());
    }
    Files.delete(directory.resolve(DeviceFiles.MANIFEST));
    start = System.nanoTime();
    try (var device = Device.open(new FileDisk(directory), DeviceConfig.standard())) {
      System.out.printf("opened without the index in %d ms; %s%n", millis(start), device.stats());
    }
    clear(directory);
  }

  private static long millis(long start) {
    return (System.nanoTime() - start) / 1_000_000;
  }

  private static StreamId[] ids(int count) {
    var ids = new StreamId[count];
    for (int i = 0; i < count; i++) ids[i] = StreamId.of("object" + i);
    return ids;
  }

  private static void clear(Path directory) throws IOException {
    if (!Files.exists(directory)) return;
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}

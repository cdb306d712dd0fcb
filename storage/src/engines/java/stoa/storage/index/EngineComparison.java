package stoa.storage.index;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/// Prints what the accesses of the device cost on an engine: `EngineComparison ENGINE DIRECTORY
/// ROUNDS`, with one of stoa, rocksdb, lmdb and mvstore. A program, not a test. Of each figure the
/// median of the rounds.
final class EngineComparison {
  private static final int TABLE_BYTES = 4 << 20;
  private static final int CACHE_BYTES = 4 << 20;
  private static final int STREAM_ENTRIES = 500_000;
  private static final int STREAM_BATCH = 240;
  private static final int WRITES = 100_000;
  private static final int WRITE_BATCH = 16;
  private static final long OBJECT_BYTES = 4L << 30;
  private static final int BLOCK = 4096;
  private static final int READ_ENTRIES = 2_000_000;
  private static final int READ_OBJECTS = 10_000;
  private static final int READS = 50_000;
  private static final int RANGE = 100;
  private static final int BYTES = 128; // the space of extents

  private final String name;
  private final Path directory;
  private final List<String> figures = new ArrayList<>();
  private final List<List<Double>> samples = new ArrayList<>();
  private final IndexEntry entry = new IndexEntry();
  private int figure;

  private EngineComparison(String name, Path directory) {
    this.name = name;
    this.directory = directory;
  }

  public static void main(String[] args) throws IOException {
    var comparison = new EngineComparison(args[0], Path.of(args[1]));
    for (int round = 0; round < Integer.parseInt(args[2]); round++) comparison.round();
    comparison.print();
  }

  private void round() throws IOException {
    figure = 0;
    streams(1);
    streams(1000);
    streams(100_000);
    extents("aligned", BLOCK, BLOCK, BLOCK);
    extents("unaligned", 1, 1, 4 * BLOCK);
    reads();
  }

  private IndexEngine open() throws IOException {
    clear(directory);
    Files.createDirectories(directory);
    return switch (name) {
      case "stoa" -> new StoaEngine(directory, TABLE_BYTES, CACHE_BYTES);
      case "rocksdb" -> new RocksEngine(directory, TABLE_BYTES, CACHE_BYTES);
      case "lmdb" -> new LmdbEngine(directory);
      case "mvstore" -> new MvStoreEngine(directory, TABLE_BYTES, CACHE_BYTES);
      default -> throw new IllegalArgumentException("no engine is called " + name);
    };
  }

  private void streams(int objects) throws IOException {
    try (var engine = open()) {
      var start = new Start();
      fill(engine, objects, STREAM_ENTRIES);
      note(
          "streams of %,d objects: 1000 inserts/s".formatted(objects), STREAM_ENTRIES / 1e3, start);
      engine.settle();
      note("… with what the background still had to do", STREAM_ENTRIES / 1e3, start);
      note("… bytes on disk an entry", (double) size() / engine.onDisk(STREAM_ENTRIES));
    }
  }

  private void fill(IndexEngine engine, int objects, int entries) throws IOException {
    for (int i = 0; i < entries; i++) {
      entry.set(i / objects, 40 + i * 100L, 64);
      engine.put(high(i % objects), i % objects, 0, entry);
      if (i % STREAM_BATCH == STREAM_BATCH - 1) engine.show();
    }
    engine.show();
  }

  private static long high(int object) {
    return Memtable.hash(object, 7, 0);
  }

  /// Writes at random places of one object; each replaces what it overlaps.
  private void extents(String kind, int alignment, int least, int most) throws IOException {
    var random = new SplittableRandom(3);
    try (var engine = open()) {
      var start = new Start();
      for (int i = 1; i <= WRITES; i++) {
        int length = least == most ? most : random.nextInt(least, most);
        long from = random.nextLong((OBJECT_BYTES - length) / alignment) * alignment;
        write(engine, from, length, 40 + i * 5000L, i);
        if (i % WRITE_BATCH == 0 || name.equals("rocksdb"))
          engine.show(); // its batch is not seen by its reads
      }
      engine.show();
      note("extents, " + kind + ": 1000 read-modify-writes/s", WRITES / 1e3, start);
      engine.settle();
      note("… with what the background still had to do", WRITES / 1e3, start);
      note("… bytes on disk an entry", (double) size() / engine.onDisk(count(engine)));
    }
  }

  private void write(IndexEngine engine, long from, int length, long position, long version)
      throws IOException {
    long end = from + length;
    if (engine.floor(1, 1, BYTES, from, entry) && entry.offset + entry.length > from) {
      var old = copy(entry);
      if (old.offset < from) {
        entry.set(
            old.offset, old.position, old.skip, from - old.offset, old.version, IndexEntry.DATA);
        engine.put(1, 1, BYTES, entry);
      }
      keepEnd(engine, old, end);
    }
    var overlapped = new ArrayList<IndexEntry>(4);
    engine.scan(
        1,
        1,
        BYTES,
        from + 1,
        found -> {
          if (found.offset >= end) return false;
          overlapped.add(copy(found));
          return true;
        });
    for (var old : overlapped) {
      engine.remove(1, 1, BYTES, old.offset);
      keepEnd(engine, old, end);
    }
    entry.set(from, position, 0, length, version, IndexEntry.DATA);
    engine.put(1, 1, BYTES, entry);
  }

  private void keepEnd(IndexEngine engine, IndexEntry old, long end) throws IOException {
    long rest = old.offset + old.length - end;
    if (rest <= 0) return;
    int skip = (int) (old.skip + end - old.offset);
    entry.set(end, old.position, skip, rest, old.version, IndexEntry.DATA);
    engine.put(1, 1, BYTES, entry);
  }

  private static IndexEntry copy(IndexEntry other) {
    var copy = new IndexEntry();
    copy.set(other);
    return copy;
  }

  private static int count(IndexEngine engine) throws IOException {
    int[] count = {0};
    engine.scan(1, 1, BYTES, 0, found -> ++count[0] > 0);
    return count[0];
  }

  private void reads() throws IOException {
    var random = new SplittableRandom(5);
    try (var engine = open()) {
      fill(engine, READ_OBJECTS, READ_ENTRIES);
      engine.settle();
      note("reads: MB on disk", size() / 1e6);
      int each = READ_ENTRIES / READ_OBJECTS;
      var start = new Start();
      for (int i = 0; i < READS; i++)
        read(engine, random.nextInt(READ_OBJECTS), random.nextInt(each));
      note("points, uniform: 1000 reads/s", READS / 1e3, start);
      var zipf = new Zipf(READ_OBJECTS, 0.99);
      start = new Start();
      for (int i = 0; i < READS; i++) {
        // Of an object, mostly the latest entries.
        int back = (int) (each * Math.pow(random.nextDouble(), 8));
        read(engine, zipf.next(random), each - 1 - Math.min(back, each - 1));
      }
      note("points, Zipf: 1000 reads/s", READS / 1e3, start);
      start = new Start();
      long seen = 0;
      for (int i = 0; i < READS / 20; i++) {
        seen += range(engine, random.nextInt(READ_OBJECTS), random.nextInt(each - RANGE));
      }
      note("ranges of 100: 1000 entries/s", seen / 1e3, start);
      start = new Start();
      for (int i = 0; i < READS; i++) {
        int object = READ_OBJECTS + random.nextInt(1 << 30);
        if (engine.floor(high(object), object, 0, 1 << 30, entry)) {
          throw new IllegalStateException("found an object that was never written");
        }
      }
      note("absent objects: 1000 reads/s", READS / 1e3, start);
      memory();
    }
  }

  private void read(IndexEngine engine, int object, int offset) throws IOException {
    if (engine.floor(high(object), object, 0, offset, entry) && entry.offset == offset) return;
    throw new IllegalStateException("lost an entry");
  }

  private static int range(IndexEngine engine, int object, int from) throws IOException {
    int[] seen = {0};
    engine.scan(high(object), object, 0, from, found -> ++seen[0] < RANGE);
    return seen[0];
  }

  private void memory() throws IOException {
    System.gc();
    var runtime = Runtime.getRuntime();
    note("heap in use, MB", (runtime.totalMemory() - runtime.freeMemory()) / 1e6);
    note("heap taken, MB", runtime.totalMemory() / 1e6);
    for (var line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("RssAnon") || line.startsWith("RssFile")) {
        var kibibytes = line.replaceAll("\\D+", "");
        note(line.substring(0, 7) + " of the process, MB", Long.parseLong(kibibytes) / 1e3);
      }
    }
  }

  /// Returns the room of the files on the disk; a file that is mapped into memory may be longer.
  private long size() throws IOException {
    var process = new ProcessBuilder("du", "-s", "-B1", directory.toString()).start();
    try (var reader = process.inputReader()) {
      return Long.parseLong(reader.readLine().replaceAll("\\s.*", ""));
    }
  }

  private void note(String text, double amount, Start start) {
    note(text, amount / ((System.nanoTime() - start.nanos) / 1e9));
    // Of all threads, so that what others do on the machine counts for less.
    note("… microseconds of processor time each", (cpuNanos() - start.cpu) / 1e6 / amount);
  }

  private static long cpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
  }

  private static final class Start {
    private final long nanos = System.nanoTime();
    private final long cpu = cpuNanos();
  }

  private void note(String text, double value) {
    if (figure == figures.size()) {
      figures.add(text);
      samples.add(new ArrayList<>());
    }
    samples.get(figure++).add(value);
    System.err.printf(Locale.ROOT, "%s: %s: %.2f%n", name, text, value);
  }

  private void print() {
    for (int i = 0; i < figures.size(); i++) {
      var values = samples.get(i).stream().mapToDouble(value -> value).toArray();
      Arrays.sort(values);
      System.out.printf(
          Locale.ROOT, "%s\t%s\t%.2f%n", name, figures.get(i), values[values.length / 2]);
    }
  }

  private static void clear(Path directory) throws IOException {
    if (!Files.exists(directory)) return;
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  /// Numbers of which low ones come more often.
  private static final class Zipf {
    private final double[] sums;

    Zipf(int count, double exponent) {
      sums = new double[count];
      double sum = 0;
      for (int i = 0; i < count; i++) {
        sum += 1 / Math.pow(i + 1, exponent);
        sums[i] = sum;
      }
    }

    int next(SplittableRandom random) {
      int at = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
      return Math.min(at < 0 ? -at - 1 : at, sums.length - 1);
    }
  }
}

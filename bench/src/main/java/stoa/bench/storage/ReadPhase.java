package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import stoa.bench.load.Load;
import stoa.bench.machine.PageCache;
import stoa.bench.machine.ProcessIo;
import stoa.programs.Directories;

/// Measures the paper's Figure 4: the bandwidth of reads by 32 concurrent operations, of data first
/// written with aligned 4 MiB. The phase drops the files from the page cache before each sample.
final class ReadPhase {
  private final StorageRun run;

  ReadPhase(StorageRun run) {
    this.run = run;
  }

  /// Returns the name of a bandwidth, in MiB/s.
  static String bandwidth(Pattern pattern, int size, String contender) {
    return "read, %s, %s, %s".formatted(pattern, StorageRun.words(size), contender);
  }

  /// Returns the name of an amplification: bytes fetched from disks ÷ bytes read.
  static String amplification(Pattern pattern, int size, String contender) {
    return "read amplification, %s, %s, %s".formatted(pattern, StorageRun.words(size), contender);
  }

  void measure() throws Exception {
    List<ByteBuffer> targets = new ArrayList<>();
    for (int i = 0; i < StorageRun.OPERATIONS; i++) {
      targets.add(Content.aligned(StorageRun.SIZE_MAX));
    }
    Map<Contender, Path> folders = new LinkedHashMap<>();
    for (Contender contender : run.objectStores()) {
      run.progress().accept("writing what is read, " + contender.name());
      Path folder = run.fresh(contender.name());
      folders.put(contender, folder);
      try (var store = contender.open(folder)) {
        fill(store);
        store.settle();
      }
    }
    Path bare = run.fresh("bare").resolve("read");
    try (var file = new DirectFile(bare)) {
      blocks()
          .run(
              turns(),
              (caller, turn) -> {
                long offset = (long) turn * StorageRun.SIZE_MAX;
                file.write(offset, run.content().at(caller, offset, StorageRun.SIZE_MAX));
              });
      file.force();
    }
    run.rounds(
        run.points(),
        point -> {
          var steps = new ArrayList<StorageRun.Step>();
          String raw = bandwidth(point.pattern(), point.size(), StorageRun.RAW);
          steps.add(
              new StorageRun.Step(
                  raw,
                  () -> {
                    double bytes = RawDisk.read(bare, run.scale().warmUp(), run.scale().readTime());
                    run.samples().add(raw, bytes / (1 << 20));
                  }));
          folders.forEach((contender, folder) ->
              steps.add(
                  new StorageRun.Step(
                      bandwidth(point.pattern(), point.size(), contender.name()),
                      () -> sample(contender, folder, point, targets))));
          return steps;
        });
    for (Path folder : folders.values()) Directories.delete(folder);
    Directories.delete(bare);
  }

  private void sample(
      Contender contender, Path folder, StorageRun.Point point, List<ByteBuffer> targets)
      throws Exception {
    Pattern pattern = point.pattern();
    int size = point.size();
    var offsets = pattern.offsets(StorageRun.OPERATIONS, size, run.scale().readBytes());
    // Bytes that were read once are in the page cache, so a linear sample ends with the object.
    int reads =
        pattern == Pattern.LINEAR_ALIGNED
            ? (int) (run.scale().readBytes() / size)
            : Integer.MAX_VALUE;
    var threads = StorageRun.threads(contender, StorageRun.OPERATIONS);
    System.gc();
    try (var store = contender.open(folder)) {
      PageCache.drop(folder);
      ProcessIo before = ProcessIo.now();
      var done =
          new Sweep(StorageRun.OPERATIONS, threads)
              .run(
                  reads,
                  run.scale().readTime(),
                  (caller, turn) -> {
                    long offset = offsets.applyAsLong(caller);
                    ByteBuffer target = targets.get(caller).clear().limit(size);
                    store.read(offset, target);
                    if (turn < StorageRun.OPERATIONS) verify(contender, offset, target);
                  });
      double bytes = (double) done.operations() * size;
      long fetched = ProcessIo.now().since(before).readBytes();
      run.samples()
          .add(bandwidth(pattern, size, contender.name()), bytes / done.seconds() / (1 << 20));
      run.samples().add(amplification(pattern, size, contender.name()), fetched / bytes);
    }
  }

  private void verify(Contender contender, long offset, ByteBuffer read) {
    long wrong = run.content().mismatch(offset, read);
    if (wrong >= 0) {
      throw new IllegalStateException(
          "%s answered a wrong byte at offset %d".formatted(contender.name(), wrong));
    }
  }

  private void fill(Contender.Store store) throws Exception {
    blocks()
        .run(
            turns(),
            (caller, turn) -> {
              long offset = (long) turn * StorageRun.SIZE_MAX;
              store.write(offset, run.content().at(caller, offset, StorageRun.SIZE_MAX));
            });
  }

  private int turns() {
    return (int) (run.scale().readBytes() / StorageRun.SIZE_MAX);
  }

  private static Sweep blocks() {
    return new Sweep(4, Load.Threads.PLATFORM);
  }
}

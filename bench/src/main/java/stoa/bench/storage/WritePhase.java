package stoa.bench.storage;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.atomic.LongAdder;
import stoa.bench.load.Load;
import stoa.bench.machine.ProcessIo;
import stoa.programs.Directories;

/// Measures the paper's Figure 3: the bandwidth of durable writes by 32 concurrent operations, each
/// in its own transaction, into a new store. It also measures the bytes sent to the disk for each
/// byte written.
final class WritePhase {
  private final StorageRun run;

  WritePhase(StorageRun run) {
    this.run = run;
  }

  /// Returns the name of a bandwidth, in MiB/s.
  static String bandwidth(Pattern pattern, int size, String contender) {
    return "write, %s, %s, %s".formatted(pattern, StorageRun.words(size), contender);
  }

  /// Returns the name of an amplification: bytes that the process sent to disks ÷ bytes written.
  static String amplification(Pattern pattern, int size, String contender) {
    return "write amplification, %s, %s, %s".formatted(pattern, StorageRun.words(size), contender);
  }

  /// The name of the rate of a bare file without syncs in between, in MiB/s.
  static final String UNSYNCED = "write, bare file without syncs";

  void measure() throws Exception {
    run.rounds(
        run.points(),
        point -> {
          var steps = new ArrayList<StorageRun.Step>();
          String bare = bandwidth(point.pattern(), point.size(), StorageRun.RAW);
          steps.add(new StorageRun.Step(bare, () -> bare(bare)));
          for (Contender contender : run.objectStores()) {
            steps.add(
                new StorageRun.Step(
                    bandwidth(point.pattern(), point.size(), contender.name()),
                    () -> sample(contender, point.pattern(), point.size())));
          }
          return steps;
        });
    for (int round = 0; round < run.scale().rounds(); round++) {
      double bytes =
          RawDisk.writeUnsynced(run.fresh("bare"), run.content(), run.scale().writeTime());
      run.samples().add(UNSYNCED, bytes / (1 << 20));
    }
  }

  private void bare(String name) throws Exception {
    StorageScale scale = run.scale();
    double bytes =
        RawDisk.write(run.fresh("bare"), run.content(), scale.warmUp(), scale.writeTime());
    run.samples().add(name, bytes / (1 << 20));
  }

  private void sample(Contender contender, Pattern pattern, int size) throws Exception {
    Path folder = run.fresh(contender.name());
    var bytes = new LongAdder();
    var offsets = pattern.offsets(StorageRun.OPERATIONS, size, run.scale().regionBytes());
    System.gc(); // the garbage of the previous sample must not count here
    ProcessIo before = ProcessIo.now();
    long port;
    try (var store = contender.open(folder)) {
      var seen =
          new Load(
                  StorageRun.OPERATIONS,
                  StorageRun.threads(contender, StorageRun.OPERATIONS),
                  run.scale().warmUp(),
                  run.scale().writeTime())
              .run((caller, _) -> {
                long offset = offsets.applyAsLong(caller);
                store.write(offset, run.content().at(caller, offset, size));
                bytes.add(size);
              });
      run.samples()
          .add(
              bandwidth(pattern, size, contender.name()), seen.callsPerSecond() * size / (1 << 20));
      if (!run.samples().has(amplification(pattern, size, contender.name()))) store.settle();
      port = store.portBytes();
    }
    long written = ProcessIo.now().since(before).writtenBytes();
    String amplification = amplification(pattern, size, contender.name());
    if (!run.samples().has(amplification)) {
      run.samples().add(amplification, (double) written / bytes.sum());
      if (port > 0) {
        run.samples()
            .add(
                amplification(pattern, size, contender.name() + " at its disk port"),
                (double) port / bytes.sum());
      }
    }
    Directories.delete(folder);
  }
}

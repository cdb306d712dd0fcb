package stoa.bench.storage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import stoa.bench.load.Samples;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.programs.Directories;
import stoa.storage.disk.DirectIo;

/// Measures the versioned object device beside the bare disk and other ways to store objects
/// durably, with the workloads of the VOSD paper, section IV.
public final class StorageBenchmark implements Benchmark<StorageScale> {
  // A folder on another device for a journal; null when there is none.
  private final @Nullable Path journal;

  /// The benchmark on one device.
  public StorageBenchmark() {
    journal = null;
  }

  /// The benchmark with one more contender, whose journal is on another device.
  ///
  /// @param journal a folder there
  public StorageBenchmark(Path journal) {
    this.journal = journal;
  }

  @Override
  public String name() {
    return "storage";
  }

  @Override
  public String description() {
    return "the object device beside the bare disk, plain files, a journal, RocksDB and MVStore";
  }

  /// Returns all contenders: those of this module, the device in each of its ways after the others,
  /// and those of other engines that are on the class path.
  static List<Contender> contenders() {
    var contenders = new ArrayList<Contender>();
    contenders.add(new PlainFiles());
    contenders.add(new JournaledFiles());
    ServiceLoader.load(Contender.class).forEach(contenders::add);
    contenders.add(new DeviceContender());
    for (DirectIo directIo : DirectIo.values()) {
      var other = new DeviceContender(directIo);
      if (!other.name().equals(DeviceContender.NAME)) contenders.add(other);
    }
    contenders.add(new RecordContender());
    return contenders;
  }

  /// Returns the contender of a name.
  static Contender contender(String name) {
    return contenders().stream()
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender is called " + name));
  }

  @Override
  public StorageScale full() {
    return StorageScale.full();
  }

  @Override
  public StorageScale smoke() {
    return StorageScale.smoke();
  }

  @Override
  public Outcome run(Context<StorageScale> context) throws Exception {
    var contenders = contenders();
    Path apart = journal;
    if (apart != null) contenders.add(2, new JournaledFiles(apart)); // after the other journal
    return run(context, contenders);
  }

  /// Returns the contenders that this disk supports; a file system may require its cache.
  static List<Contender> able(Path folder, List<Contender> contenders) throws Exception {
    Path probe = folder.resolve("probe");
    var able = new ArrayList<Contender>();
    for (Contender contender : contenders) {
      try (var store = contender.open(Files.createDirectories(probe))) {
        store.settle();
        able.add(contender);
      } catch (UnsupportedOperationException e) {
        // Left out.
      } finally {
        Directories.delete(probe);
      }
    }
    return able;
  }

  /// Runs it with some contenders, the device among them.
  static Outcome run(Context<StorageScale> context, List<Contender> contenders) throws Exception {
    var run =
        new StorageRun(
            context.folder(),
            context.sizes(),
            able(context.folder(), contenders),
            new Content(StorageRun.OPERATIONS, StorageRun.SIZE_MAX),
            new Samples(),
            context.progress());
    try {
      new WritePhase(run).measure();
      new ReadPhase(run).measure();
      new SmallPhase(run).measure();
      new OrderPhase(run).measure(contender(DeviceContender.NAME));
      new MemoryPhase(run).measure();
      return new StorageReport(run).outcome();
    } finally {
      for (Contender contender : contenders) Directories.delete(run.place(contender.name()));
      Directories.delete(run.place("bare"));
    }
  }
}

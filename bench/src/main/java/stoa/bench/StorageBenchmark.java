package stoa.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/// Measures the versioned object device beside the bare disk and other ways to store objects
/// durably, with the workloads of the VOSD paper, section IV.
final class StorageBenchmark implements Benchmark {
  @Override
  public String name() {
    return "storage";
  }

  @Override
  public String description() {
    return "the object device beside the bare disk, plain files, a journal, RocksDB and MVStore";
  }

  /// All contenders: those of this module, the device as the last but one, and those of other
  /// engines that are on the class path.
  static List<Contender> contenders() {
    var contenders = new ArrayList<Contender>();
    contenders.add(new PlainFiles());
    contenders.add(new JournaledFiles());
    ServiceLoader.load(Contender.class).forEach(contenders::add);
    contenders.add(new DeviceContender());
    contenders.add(new RecordContender());
    return contenders;
  }

  /// The contender of a name.
  static Contender contender(String name) {
    return contenders().stream()
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender is called " + name));
  }

  @Override
  public Outcome run(Context context) throws Exception {
    return run(context, contenders());
  }

  /// Runs it with some contenders, the device among them.
  static Outcome run(Context context, List<Contender> contenders) throws Exception {
    var run =
        new StorageRun(
            context.folder(),
            context.scale().storage(),
            contenders,
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
      for (Contender contender : contenders) StorageRun.delete(run.place(contender.name()));
      StorageRun.delete(run.place("bare"));
    }
  }
}

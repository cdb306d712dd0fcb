package stoa.bench.storage;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import stoa.bench.load.Load;
import stoa.programs.Directories;

/// Measures small durable writes: values of a new key each, by one caller or by many at a time.
final class SmallPhase {
  /// The sizes of values, in bytes.
  static final List<Integer> SIZES = List.of(100, 1 << 10);

  private final StorageRun run;

  SmallPhase(StorageRun run) {
    this.run = run;
  }

  /// Returns the name of a rate, in values per second.
  static String rate(int size, int callers, String contender) {
    return "small durable writes, %s, %d caller%s, %s"
        .formatted(StorageRun.words(size), callers, callers == 1 ? "" : "s", contender);
  }

  private record Point(int size, int callers) {}

  void measure() throws Exception {
    StorageScale scale = run.scale();
    var points = new ArrayList<Point>();
    for (int size : SIZES) {
      for (int callers : scale.callers()) points.add(new Point(size, callers));
    }
    run.rounds(
        points,
        point -> {
          var steps = new ArrayList<StorageRun.Step>();
          steps.add(
              step(
                  rate(point.size, point.callers, StorageRun.RAW),
                  () -> {
                    var threads =
                        point.callers <= StorageRun.OPERATIONS
                            ? Load.Threads.PLATFORM
                            : Load.Threads.VIRTUAL;
                    var load = new Load(point.callers, threads, scale.warmUp(), scale.smallTime());
                    return RawDisk.append(run.fresh("bare"), run.content(), point.size, load);
                  }));
          for (Contender contender : run.contenders()) {
            steps.add(
                step(
                    rate(point.size, point.callers, contender.name()),
                    () -> sample(contender, point.size, point.callers)));
          }
          return steps;
        });
  }

  private StorageRun.Step step(String rate, Callable<Load.Seen> sample) {
    return new StorageRun.Step(rate, () -> run.samples().add(rate, sample.call()));
  }

  private Load.Seen sample(Contender contender, int size, int callers) throws Exception {
    Path folder = run.fresh(contender.name());
    System.gc();
    try (var store = contender.open(folder)) {
      var keys = new AtomicLong();
      return new Load(
              callers,
              StorageRun.threads(contender, callers),
              run.scale().warmUp(),
              run.scale().smallTime())
          .run((caller, _) -> {
            long key = keys.getAndIncrement();
            store.put(key, run.content().at(caller, key * size, size));
          });
    } finally {
      Directories.delete(folder);
    }
  }
}

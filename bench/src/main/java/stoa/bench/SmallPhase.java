package stoa.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// Measures small durable writes: values of a new key each, by one caller or by many at a time.
final class SmallPhase {
  /// The sizes of values, in bytes.
  static final List<Integer> SIZES = List.of(100, 1 << 10);

  private final StorageRun run;

  SmallPhase(StorageRun run) {
    this.run = run;
  }

  /// The name of a rate, in values per second.
  static String rate(int size, int callers, String contender) {
    return "small durable writes, %s, %d caller%s, %s"
        .formatted(StorageRun.words(size), callers, callers == 1 ? "" : "s", contender);
  }

  void measure() throws Exception {
    StorageScale scale = run.scale();
    run.rounds(progress -> {
      for (int size : SIZES) {
        for (int callers : scale.callers()) {
          run.progress().accept(progress + rate(size, callers, StorageRun.RAW));
          var load =
              new Load(
                  callers,
                  callers <= StorageRun.OPERATIONS ? Load.Threads.PLATFORM : Load.Threads.VIRTUAL,
                  scale.warmUp(),
                  scale.smallTime());
          run.samples()
              .add(
                  rate(size, callers, StorageRun.RAW),
                  RawDisk.append(run.fresh("bare"), run.content(), size, load));
          for (Contender contender : run.contenders()) {
            String rate = rate(size, callers, contender.name());
            run.progress().accept(progress + rate);
            run.samples().add(rate, sample(contender, size, callers));
          }
        }
      }
    });
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
      StorageRun.delete(folder);
    }
  }
}

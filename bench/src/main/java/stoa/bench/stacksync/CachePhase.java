package stoa.bench.stacksync;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.PageCache;
import stoa.bench.machine.ProcessIo;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.front.SharedStoa;
import stoa.programs.Directories;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// The size of the cache (AOF, section 6.2): the same commits on a store that keeps 10^3 to 10^5
/// objects in memory. Each user, workspace, item, version and chunk is an object, as in the paper.
///
/// The store is in this process, so that all that the process reads are files of the store. The
/// benchmark knows the mean size of an object from a run without a limit. It gives the store room
/// for so many of that size, and reports how many there were.
///
/// One thread uses it.
final class CachePhase {
  private static final int CALLERS = 24;
  private static final Design DESIGN = Design.EVERYTHING_SHARED;
  private static final long SEED = 23;

  // A store uses three quarters of its room for the present states of objects, see
  // Limits.residentBytesMax.
  private static final double SHARE_OF_STATES = 0.75;

  private static final String PROCESSOR = ", processor, callers included";
  private static final String READS = ", reads of files";
  private static final String FETCHED = ", fetched from the disk";
  private static final String RESIDENT = ", in memory at the end";

  private final Context<StackSyncScale> context;
  private final StackSyncScale sizes;
  private final Samples samples = new Samples();

  CachePhase(Context<StackSyncScale> context) {
    this.context = context;
    sizes = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    if (sizes.cached().isEmpty()) return;
    Path folder = Files.createDirectories(context.folder().resolve("cache"));
    try {
      var load = new CommitLoad(sizes);
      double objectBytes = fill(folder, load);
      for (int round = 1; round <= sizes.rounds(); round++) {
        for (int objects : round % 2 == 1 ? sizes.cached() : sizes.cached().reversed()) {
          say("cache, round %d: %,d objects", round, objects);
          sample(folder, load, objects, Math.round(objects * objectBytes / SHARE_OF_STATES));
        }
      }
    } finally {
      Directories.delete(folder);
    }
    findings.section(
        "doCommit of %d new items with a cache of objects, %s, %d users, %d callers"
            .formatted(sizes.items(), DESIGN, sizes.users(), CALLERS),
        results());
  }

  /// Adds the users, and a commit for each of them.
  ///
  /// @return the mean size of an object in memory
  private double fill(Path folder, CommitLoad load) throws Exception {
    say("cache: %,d users", sizes.users());
    try (var store = new Embedded(Stoa.open("file:" + folder))) {
      load.populate(store);
      var services = store.services();
      Parallel.run(
          CALLERS,
          sizes.users(),
          number -> load.commit(services.get(number % CALLERS), new SplittableRandom(number)));
      var seen = Counts.of(store.stoa);
      return seen.number("stoa.resident") / seen.number("stoa.objects.resident");
    }
  }

  /// The service on a store of this process.
  private record Embedded(Stoa stoa) implements StackSyncContender.Running {
    @Override
    public SyncService service(int caller) {
      return Services.open(stoa, "caller " + caller, DESIGN);
    }

    List<SyncService> services() {
      return IntStream.range(0, CALLERS).mapToObj(this::service).toList();
    }

    @Override
    public Duration processorTime() {
      return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    @Override
    public void close() {
      stoa.close();
    }
  }

  private void sample(Path folder, CommitLoad load, int objects, long bytesMax) throws Exception {
    boolean _ = PageCache.drop(folder);
    var limits = Limits.standard().withResidentBytesMax(bytesMax);
    var config = StoaConfig.of("file:" + folder).withLimits(limits);
    try (var store = new Embedded(Stoa.open(config))) {
      var services = store.services();
      var random = new ArrayList<SplittableRandom>();
      for (int i = 0; i < CALLERS; i++) random.add(new SplittableRandom(SEED + i));
      var made = new AtomicLong();
      Load.Body commit =
          (caller, _) -> {
            load.commit(services.get(caller), random.get(caller));
            made.incrementAndGet();
          };
      var _ = new Load(CALLERS, Load.Threads.PLATFORM, Duration.ZERO, sizes.warmUp()).run(commit);
      made.set(0);
      var processor = store.processorTime();
      var before = ProcessIo.now();
      var seen = new Load(CALLERS, Load.Threads.PLATFORM, Duration.ZERO, sizes.time()).run(commit);
      var io = ProcessIo.now().since(before);
      String name = name(objects);
      samples.add(name, seen);
      samples.add(
          name + PROCESSOR, store.processorTime().minus(processor).toNanos() / 1e3 / made.get());
      samples.add(name + READS, (double) io.reads() / made.get());
      samples.add(name + FETCHED, io.readBytes() / 1e3 / made.get());
      samples.add(name + RESIDENT, Counts.of(store.stoa).number("stoa.objects.resident"));
    }
  }

  private static String name(int objects) {
    return "room for %,d objects".formatted(objects);
  }

  private List<Result> results() {
    var results = new ArrayList<Result>();
    String least = name(sizes.cached().getFirst());
    for (int objects : sizes.cached()) {
      String name = name(objects);
      var rate = Result.of(samples, name, "commits/s");
      results.add(name.equals(least) ? rate : rate.beside(least, samples.median(least)));
      results.add(Result.of(samples, name + ", p50", "us"));
      results.add(Result.of(samples, name + ", p99", "us"));
      results.add(Result.of(samples, name + PROCESSOR, "us/commit"));
      results.add(Result.of(samples, name + READS, "reads/commit"));
      results.add(Result.of(samples, name + FETCHED, "KB/commit"));
      results.add(Result.of(samples, name + RESIDENT, "objects"));
    }
    return results;
  }

  private void say(String format, Object... parts) {
    context.progress().accept(format.formatted(parts));
  }

  /// The numbers that a store tells of itself, without tags. One thread uses it.
  private static final class Counts implements Measures {
    private final Map<String, Double> numbers = new HashMap<>();

    static Counts of(Stoa stoa) {
      var counts = new Counts();
      ((SharedStoa) stoa).measure(counts);
      return counts;
    }

    double number(String name) {
      Double number = numbers.get(name);
      if (number == null) throw new IllegalStateException("the store does not tell " + name);
      return number;
    }

    @Override
    public void count(String name, String unit, String meaning, long total, String... tags) {
      numbers.put(name, (double) total);
    }

    @Override
    public void gauge(String name, String unit, String meaning, double value, String... tags) {
      numbers.put(name, value);
    }

    @Override
    public void latency(String name, String meaning, Latency latency, String... tags) {}
  }
}

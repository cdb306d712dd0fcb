package stoa.bench.tx;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.load.Scale;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.GroupCommit;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Durable transactions that read and write some objects, beside the disk, single calls and other
/// engines.
final class DurablePhase {
  private static final List<Integer> SIZES = List.of(2, 4);
  private static final String CALLS = "Stoa, single calls";
  private static final String BARE = "bare group commit";

  // Orleans' transactions per second over 2 and 4 grains (a user's test).
  private static final Map<Integer, Double> ORLEANS = Map.of(2, 7_113.0, 4, 3_453.0);

  private static final Map<Integer, Double> AIMS = Map.of(2, 50_000.0, 4, 25_000.0);

  private final Context<TxScale> context;
  private final TxScale scale;

  DurablePhase(Context<TxScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  /// Returns this engine, and those on the class path.
  static List<TransactionContender> contenders() {
    var contenders = new ArrayList<TransactionContender>();
    contenders.add(new StoaTransactions());
    ServiceLoader.load(TransactionContender.class).forEach(contenders::add);
    return contenders;
  }

  void measure(Findings findings) throws Exception {
    List<TransactionContender> contenders = contenders();
    Map<String, TransactionContender.Store> stores = new LinkedHashMap<>();
    var committed = new LinkedHashMap<String, LongAdder>();
    Path folder = context.folder().resolve("durable");
    try {
      for (TransactionContender contender : contenders) {
        Path own = Files.createDirectories(folder.resolve(contender.name()));
        stores.put(contender.name(), contender.open(own, scale.accounts()));
        committed.put(contender.name(), new LongAdder());
      }
      var samples = samples(stores, committed);
      for (var store : stores.entrySet()) {
        long sum = store.getValue().sum();
        long expected = committed.getOrDefault(store.getKey(), new LongAdder()).sum();
        if (sum != expected) {
          throw new IllegalStateException(
              "%s has %,d, not %,d: a transaction is missing or was made twice"
                  .formatted(store.getKey(), sum, expected));
        }
      }
      tell(findings, samples, contenders);
    } finally {
      for (TransactionContender.Store store : stores.values()) store.close();
      Directories.delete(folder);
    }
  }

  private Samples samples(
      Map<String, TransactionContender.Store> stores, Map<String, LongAdder> committed)
      throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    probes.put(
        "append and force",
        samples ->
            samples.add("append and force", DiskLimits.appendAndForce(context.folder(), timed())));
    for (int callers : scale.callers()) {
      for (int size : SIZES) {
        String bare = name(BARE, size, callers);
        int bytes = GroupCommit.RECORD_BYTES * size;
        probes.put(
            bare,
            samples ->
                samples.add(bare, DiskLimits.groupCommit(context.folder(), load(callers), bytes)));
        stores.forEach((contender, store) -> {
          String name = name(contender, size, callers);
          var sum = committed.getOrDefault(contender, new LongAdder());
          probes.put(
              name,
              samples -> {
                var randoms = randoms(callers);
                samples.add(
                    name,
                    load(callers)
                        .run((caller, _) -> {
                          store.addOne(some(randoms[caller], size));
                          sum.add(size);
                        }));
              });
        });
      }
      if (stores.get(StoaTransactions.NAME) instanceof StoaTransactions.Opened ours) {
        String calls = name(CALLS, 1, callers);
        var sum = committed.getOrDefault(StoaTransactions.NAME, new LongAdder());
        probes.put(
            calls,
            samples -> {
              var randoms = randoms(callers);
              samples.add(
                  calls,
                  load(callers)
                      .run((caller, _) -> {
                        ours.call(randoms[caller].nextInt(scale.accounts()));
                        sum.increment();
                      }));
            });
      }
    }
    return Samples.interleaved(scale.rounds(), probes, context.progress());
  }

  /// Returns a load with platform threads up to eight callers, for engines that block threads; with
  /// virtual ones above.
  private Load load(int callers) {
    return new Load(
        callers,
        callers <= 8 ? Load.Threads.PLATFORM : Load.Threads.VIRTUAL,
        scale.warmUp(),
        scale.time());
  }

  private Scale timed() {
    return new Scale(context.scale().rounds(), scale.warmUp(), scale.time());
  }

  private static SplittableRandom[] randoms(int callers) {
    var seeds = new SplittableRandom(callers);
    var randoms = new SplittableRandom[callers];
    for (int i = 0; i < callers; i++) randoms[i] = seeds.split();
    return randoms;
  }

  private int[] some(SplittableRandom random, int size) {
    return random.ints(0, scale.accounts()).distinct().limit(size).toArray();
  }

  private void tell(Findings findings, Samples samples, List<TransactionContender> contenders) {
    var results = new ArrayList<Result>();
    String force = "append and force";
    results.add(Result.of(samples, force, "1/s"));
    for (int size : SIZES) {
      for (int callers : scale.callers()) {
        String bare = name(BARE, size, callers);
        String limit = callers == 1 ? force : bare;
        results.add(Result.of(samples, bare, "1/s").beside(force, samples.median(force)));
        for (TransactionContender contender : contenders) {
          String name = name(contender.name(), size, callers);
          results.add(Result.of(samples, name, "1/s").beside(limit, samples.median(limit)));
          results.add(
              Result.of(samples, name + ", p99", "µs")
                  .beside(limit + ", p99", samples.median(limit + ", p99")));
        }
      }
      String best = name(StoaTransactions.NAME, size, scale.callers().getLast());
      results.add(
          Result.of(samples, best, "1/s")
              .beside("Orleans, %d grains (its user's figure)".formatted(size), orleans(size)));
    }
    for (int callers : scale.callers()) {
      String calls = name(CALLS, 1, callers);
      String beside = name(StoaTransactions.NAME, 2, callers);
      results.add(Result.of(samples, calls, "1/s").beside(beside, samples.median(beside)));
    }
    findings.section(
        "durable transactions that read and write objects out of %,d".formatted(scale.accounts()),
        results.stream().distinct().toList());
    for (int size : SIZES) {
      int most = scale.callers().getLast();
      String ours = name(StoaTransactions.NAME, size, most);
      findings.atLeast(
          "durable transactions over %d objects, %d callers, 1/s: at least %,.0f"
              .formatted(size, most, AIMS.getOrDefault(size, 0.0)),
          AIMS.getOrDefault(size, 0.0),
          samples.median(ours));
      findings.atMost("the same, p99 in ms: at most 10", 10, samples.median(ours + ", p99") / 1e3);
    }
    findings.figure("durable-transactions.svg", figure(samples, contenders));
  }

  private Chart figure(Samples samples, List<TransactionContender> contenders) {
    var panels = new ArrayList<Chart.Panel>();
    for (int size : SIZES) {
      var lines = new ArrayList<Lines.Line>();
      for (TransactionContender contender : contenders) {
        lines.add(
            new Lines.Line(contender.name(), callers -> name(contender.name(), size, callers)));
      }
      lines.add(new Lines.Line(BARE, callers -> name(BARE, size, callers)));
      panels.add(Lines.panel("%d objects".formatted(size), samples, scale.callers(), lines, 1));
    }
    return new Chart(
        "Durable transactions",
        "each reads and writes random objects out of %,d and is durable when it returns"
            .formatted(scale.accounts()),
        "transactions per second",
        "callers",
        panels);
  }

  private static double orleans(int size) {
    return ORLEANS.getOrDefault(size, Double.NaN);
  }

  private static String name(String what, int size, int callers) {
    return what.equals(CALLS)
        ? "%s, %d caller%s".formatted(what, callers, callers == 1 ? "" : "s")
        : "%s, %d objects, %d caller%s".formatted(what, size, callers, callers == 1 ? "" : "s");
  }
}

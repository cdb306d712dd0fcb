package stoa.bench.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.bench.load.Counter;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.load.Scale;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.TaskProcess;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Measures the embedded engine: durable calls beside the disk, calls in memory, recovery, and
/// memory per object.
public final class EmbeddedBenchmark implements Benchmark<EmbeddedScale> {
  private static final int OBJECTS = 100;
  private static final int SMALL_HEAP_MIB = 64;

  // The rate that one thread should reach on a store in memory.
  private static final double MEMORY_AIM = 500_000;

  @Override
  public String name() {
    return "embedded";
  }

  @Override
  public String description() {
    return "one process: durable calls beside the disk, calls in memory, recovery, memory";
  }

  @Override
  public EmbeddedScale full() {
    return EmbeddedScale.full();
  }

  @Override
  public EmbeddedScale smoke() {
    return EmbeddedScale.smoke();
  }

  @Override
  public Outcome run(Context<EmbeddedScale> context) throws Exception {
    return Outcome.of(measure(context));
  }

  /// Returns every measure.
  List<Result> measure(Context<EmbeddedScale> context) throws Exception {
    var results = new ArrayList<Result>();
    results.addAll(durable(context));
    results.addAll(inMemory(context));
    results.addAll(recovery(context));
    results.addAll(memory(context));
    return results;
  }

  /// Returns the disk's own rates, without the engine.
  public static Map<String, Samples.Probe> limits(Context<EmbeddedScale> context) {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    Path folder = context.folder();
    Scale scale = context.scale();
    probes.put(
        "append and force",
        s -> s.add("append and force", DiskLimits.appendAndForce(folder, scale)));
    probes.put(
        "overwrite and force",
        s -> s.add("overwrite and force", DiskLimits.overwriteAndForce(folder, scale)));
    for (int callers : List.of(1, 24, 240)) {
      String name = bare(callers);
      probes.put(name, s -> s.add(name, DiskLimits.groupCommit(folder, load(callers, scale))));
    }
    return probes;
  }

  private static List<Result> durable(Context<EmbeddedScale> context) throws Exception {
    Path folder = context.folder().resolve("durable");
    try (var stoa = Stoa.open("file:" + folder)) {
      List<Counter> counters = counters(stoa);
      var probes = new LinkedHashMap<String, Samples.Probe>();
      limits(context)
          .forEach((name, limit) -> {
            probes.put(name, limit);
            for (int callers : List.of(1, 24, 240)) {
              if (!name.equals(bare(callers))) continue;
              for (int objects : List.of(1, OBJECTS)) {
                String measure = durable(callers, objects);
                probes.put(
                    measure,
                    s ->
                        s.add(
                            measure,
                            load(callers, context.scale())
                                .run((caller, turn) ->
                                    counters.get((caller + turn) % objects).add(1))));
              }
            }
          });
      var samples = Samples.interleaved(context.scale().rounds(), probes, context.progress());

      var results = new ArrayList<Result>();
      results.add(
          rate(samples, "overwrite and force")
              .beside("append and force", samples.median("append and force")));
      results.add(
          rate(samples, bare(1)).beside("append and force", samples.median("append and force")));
      for (int callers : List.of(1, 24, 240)) {
        String limit = callers == 1 ? "append and force" : bare(callers);
        for (int objects : List.of(1, OBJECTS)) {
          String measure = durable(callers, objects);
          results.add(rate(samples, measure).beside(limit, samples.median(limit)));
          for (String quantile : List.of(", p50", ", p99")) {
            results.add(
                Result.alone(measure + quantile, samples.median(measure + quantile), "µs")
                    .beside(limit + quantile, samples.median(limit + quantile)));
          }
        }
      }
      return results;
    } finally {
      Directories.delete(folder);
    }
  }

  private static List<Result> inMemory(Context<EmbeddedScale> context) throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    for (int threads : List.of(1, 2, 8)) {
      for (int objects : List.of(1, OBJECTS)) {
        for (String kind : List.of("updates", "accessors")) {
          String measure = inMemory(kind, threads, objects);
          // A new store each time: a memory store keeps its whole log.
          probes.put(
              measure,
              s -> {
                try (var stoa = Stoa.open("memory:")) {
                  List<Counter> counters = counters(stoa);
                  var load = new Load(threads, Load.Threads.PLATFORM, context.scale());
                  s.add(
                      measure,
                      kind.equals("updates")
                          ? load.run((c, turn) -> counters.get((c + turn) % objects).add(1))
                          : load.run((c, turn) -> counters.get((c + turn) % objects).value()));
                }
              });
        }
      }
    }
    var samples = Samples.interleaved(context.scale().rounds(), probes, context.progress());
    var results = new ArrayList<Result>();
    for (String kind : List.of("updates", "accessors")) {
      for (int objects : List.of(1, OBJECTS)) {
        for (int threads : List.of(1, 2, 8)) {
          Result rate = rate(samples, inMemory(kind, threads, objects));
          String one = inMemory(kind, 1, objects);
          results.add(
              threads == 1
                  ? rate.beside("aim", MEMORY_AIM)
                  : rate.beside(one, samples.median(one)));
        }
      }
    }
    return results;
  }

  private static List<Result> recovery(Context<EmbeddedScale> context) throws Exception {
    Path folder = context.folder().resolve("recovery");
    try {
      context.progress().accept("writing history");
      var child = TaskProcess.run(List.of(), "history", folder, context.sizes().historyBytes());
      double calls = child.number("calls");
      double read = DiskLimits.readAll(folder);
      String size = "%,.0f MiB".formatted(DiskLimits.bytes(folder) / 1048576.0);

      context.progress().accept("recovering " + size);
      long start = System.nanoTime();
      try (var stoa = Stoa.open("file:" + folder)) {
        double open = seconds(start);
        start = System.nanoTime();
        stoa.get(Counter.class, "object 0").add(0);
        double firstCall = seconds(start);
        start = System.nanoTime();
        long sum = 0;
        for (int i = 0; i < TaskProcess.HISTORY_OBJECTS; i++) {
          sum += stoa.get(Counter.class, "object " + i).value();
        }
        double all = seconds(start);
        if (sum != calls * TaskProcess.NOTE_BYTES) {
          throw new IllegalStateException(
              "recovered %d bytes of notes, %.0f calls were made".formatted(sum, calls));
        }
        String reading = "read and checksum the files";
        return List.of(
            Result.alone("open after a kill, " + size + " of history", open, "s")
                .beside(reading, read),
            Result.alone("first call after it", firstCall, "s"),
            Result.alone(
                "first read of %,d objects".formatted(TaskProcess.HISTORY_OBJECTS), all, "s"));
      }
    } finally {
      Directories.delete(folder);
    }
  }

  private static List<Result> memory(Context<EmbeddedScale> context) throws Exception {
    Path idle = context.folder().resolve("idle");
    Path heap = context.folder().resolve("heap");
    try {
      context.progress().accept("measuring the memory of idle objects");
      var child = TaskProcess.run(List.of("-Xmx1g"), "idle", idle, context.sizes().objects());
      double perObject = child.number("idle");

      context.progress().accept("opening objects in a small heap");
      var small =
          TaskProcess.run(
              List.of("-Xmx" + SMALL_HEAP_MIB + "m"),
              "heap",
              heap,
              context.sizes().smallHeapObjects());
      boolean verified = small.exit() == 0 && small.number("verified") == 1;
      return List.of(
          Result.alone("heap per idle object", perObject, "bytes")
              .beside("the plain object in a HashMap", child.number("plain")),
          Result.alone(
                  "objects in a heap of %d MiB%s"
                      .formatted(SMALL_HEAP_MIB, verified ? "" : ", where it failed"),
                  small.number("objects"),
                  "objects")
              .beside("what fits at that size", SMALL_HEAP_MIB * 1048576.0 / perObject));
    } finally {
      Directories.delete(idle);
      Directories.delete(heap);
    }
  }

  private static Load load(int callers, Scale scale) {
    return new Load(callers, callers == 1 ? Load.Threads.PLATFORM : Load.Threads.VIRTUAL, scale);
  }

  private static List<Counter> counters(Stoa stoa) {
    return IntStream.range(0, OBJECTS)
        .mapToObj(i -> stoa.get(Counter.class, "counter " + i))
        .toList();
  }

  private static Result rate(Samples samples, String measure) {
    return Result.alone(measure, samples.median(measure), "1/s");
  }

  private static String bare(int callers) {
    return "bare group commit, %d caller%s".formatted(callers, callers == 1 ? "" : "s");
  }

  private static String durable(int callers, int objects) {
    return "durable calls, %d caller%s, %d object%s"
        .formatted(callers, callers == 1 ? "" : "s", objects, objects == 1 ? "" : "s");
  }

  private static String inMemory(String kind, int threads, int objects) {
    return "%s in memory, %d thread%s, %d object%s"
        .formatted(kind, threads, threads == 1 ? "" : "s", objects, objects == 1 ? "" : "s");
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }
}

package stoa.bench.indexes;

import static stoa.Condition.eq;
import static stoa.Condition.isTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import stoa.Limits;
import stoa.Query;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.bench.indexes.Sheets.Plain;
import stoa.bench.indexes.Sheets.Sheet;
import stoa.bench.indexes.Sheets.Single;
import stoa.bench.indexes.Sheets.Triple;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.load.Scale;
import stoa.bench.machine.ServerJava;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;

/// Measures queries and the upkeep of indexes: objects found by a value in this process, a
/// predicate that a server compares with many objects in one round trip, and durable calls on
/// objects with and without indexes.
public final class IndexesBenchmark implements Benchmark<IndexesScale> {
  private static final String MAIN = "stoa.cli.Main";
  private static final int CALLERS = 64;
  private static final int CREATORS = 512;
  private static final double FINDS_MIN = 50_000;

  private static final String READ = "accessors by key, one caller";
  private static final String FIND = "finds by a value, one caller";
  private static final String FIND_MANY = "finds by a value, 4 callers";
  private static final String COUNT = "counted by a predicate, one query";
  private static final String LIST = "listed by a predicate, one query";
  private static final String ASKED = "accessors, one call each, 64 callers";
  private static final String NONE = "no index";
  private static final String ONE = "one index";
  private static final String THREE = "three indexes";
  private static final String TOUCHED = "three indexes, whose values stay";

  /// Makes the benchmark.
  public IndexesBenchmark() {}

  @Override
  public String name() {
    return "indexes";
  }

  @Override
  public String description() {
    return "objects found by their values, predicates over the network, and writers with indexes";
  }

  @Override
  public IndexesScale full() {
    return IndexesScale.full();
  }

  @Override
  public IndexesScale smoke() {
    return IndexesScale.smoke();
  }

  @Override
  public Outcome run(Context<IndexesScale> context) throws Exception {
    var findings = new Findings(context.sizes(), IndexesScale.full());
    double finds = find(context, findings);
    compare(context, findings);
    write(context, findings);
    findings.atLeast("finds/s in one process, at least 50,000", FINDS_MIN, finds);
    return findings.outcome();
  }

  private static Stoa open(Context<?> context, String name) {
    return Stoa.open(
        StoaConfig.of("file:" + context.folder().resolve(name))
            .withLimits(Limits.standard().withResidentBytesMax(4L << 30)));
  }

  /// Creates objects, each in a durable call.
  private static void create(Stoa stoa, int objects) throws Exception {
    Parallel.run(CREATORS, objects, i -> stoa.get(Single.class, (long) i).write(i));
  }

  /// Has callers take steps for some time, and returns how many they took in a second.
  private static double rate(int callers, Duration time, Parallel.Step step) throws Exception {
    var taken = new LongAdder();
    long began = System.nanoTime();
    long end = began + time.toNanos();
    Parallel.run(
        callers,
        callers,
        caller -> {
          for (int turn = caller; System.nanoTime() < end; turn += callers) {
            step.take(turn);
            taken.increment();
          }
        });
    return taken.sum() * 1e9 / (System.nanoTime() - began);
  }

  private static Samples rounds(Context<?> context, Map<String, Samples.Probe> probes)
      throws Exception {
    Scale scale = context.scale();
    for (Samples.Probe probe : probes.values()) probe.sample(new Samples()); // warms up
    return Samples.interleaved(scale.rounds(), probes, context.progress());
  }

  // ---- finds

  private static double find(Context<IndexesScale> context, Findings findings) throws Exception {
    int objects = context.sizes().objects();
    Duration time = context.scale().time();
    try (Stoa stoa = open(context, "finds")) {
      context.progress().accept("creating %,d objects".formatted(objects));
      create(stoa, objects);
      var probes = new LinkedHashMap<String, Samples.Probe>();
      probes.put(
          READ, samples -> samples.add(READ, rate(1, time, i -> read(stoa, number(i, objects)))));
      probes.put(
          FIND, samples -> samples.add(FIND, rate(1, time, i -> found(stoa, number(i, objects)))));
      probes.put(
          FIND_MANY,
          samples -> samples.add(FIND_MANY, rate(4, time, i -> found(stoa, number(i, objects)))));
      Samples samples = rounds(context, probes);
      findings.section(
          "one of %,d objects, in this process".formatted(objects),
          List.of(
              Result.of(samples, READ, "calls/s"),
              Result.of(samples, FIND, "finds/s").beside(READ, samples.median(READ)),
              Result.of(samples, FIND_MANY, "finds/s").beside("aim", FINDS_MIN)));
      return samples.median(FIND_MANY);
    }
  }

  /// Returns a number that appears random, the same in each run.
  private static long number(int turn, int objects) {
    return Math.floorMod((turn * 0x9E3779B97F4A7C15L) >>> 17, (long) objects);
  }

  private static void read(Stoa stoa, long number) {
    String owner = stoa.get(Single.class, number).owner();
    if (owner.isEmpty()) throw new IllegalStateException("the object " + number + " has no owner");
  }

  private static void found(Stoa stoa, long number) {
    int found = stoa.query(Single.class).where(eq(Single::owner, "owner " + number)).list().size();
    if (found != 1) throw new IllegalStateException(found + " objects have the number " + number);
  }

  // ---- predicates

  private static void compare(Context<IndexesScale> context, Findings findings) throws Exception {
    int objects = context.sizes().compared();
    var serving =
        List.of(
            "serve",
            "--data",
            context.folder().resolve("compared").toString(),
            "--listen",
            "127.0.0.1:0");
    try (var server = BackgroundProcess.java(MAIN, ServerJava.HEAP, serving);
        Stoa stoa = open(server)) {
      context.progress().accept("creating %,d objects".formatted(objects));
      create(stoa, objects);
      Query<Single> rare = stoa.query(Single.class).where(isTrue(Single::isRare));
      List<Single> all = new ArrayList<>();
      for (long i = 0; i < objects; i++) all.add(stoa.get(Single.class, i));
      var probes = new LinkedHashMap<String, Samples.Probe>();
      probes.put(COUNT, samples -> samples.add(COUNT, millis(() -> expect(objects, rare.count()))));
      probes.put(
          LIST, samples -> samples.add(LIST, millis(() -> expect(objects, rare.list().size()))));
      probes.put(
          ASKED,
          samples ->
              samples.add(
                  ASKED,
                  millis(() ->
                      Parallel.run(
                          CALLERS, objects, i -> expect(all.get(i).isRare(), i % 100 == 0)))));
      Samples samples = rounds(context, probes);
      findings.section(
          "a predicate over %,d objects at a server, one object of a hundred meets it"
              .formatted(objects),
          List.of(
              Result.of(samples, COUNT, "ms").beside(ASKED, samples.median(ASKED)),
              Result.of(samples, LIST, "ms").beside(ASKED, samples.median(ASKED)),
              Result.of(samples, ASKED, "ms")));
    }
  }

  private static Stoa open(BackgroundProcess server) throws InterruptedException {
    String address = server.await("listening on ");
    server.await("ready");
    return Stoa.open("stoa://" + address);
  }

  private static void expect(int objects, long rare) {
    if (rare != (objects + 99) / 100) throw new IllegalStateException(rare + " objects are rare");
  }

  private static void expect(boolean seen, boolean expected) {
    if (seen != expected) throw new IllegalStateException("an object is rare: " + seen);
  }

  /// Work whose time is measured.
  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  private static double millis(Work work) throws Exception {
    long began = System.nanoTime();
    work.run();
    return (System.nanoTime() - began) / 1e6;
  }

  // ---- writers

  private static void write(Context<IndexesScale> context, Findings findings) throws Exception {
    int objects = context.sizes().written();
    Duration time = context.scale().time();
    try (Stoa stoa = open(context, "written")) {
      List<Triple> touched =
          IntStream.range(0, objects).mapToObj(i -> stoa.get(Triple.class, "t" + i)).toList();
      var next = new AtomicLong();
      var probes = new LinkedHashMap<String, Samples.Probe>();
      probes.put(NONE, writing(NONE, time, sheets(stoa, Plain.class, objects), next));
      probes.put(ONE, writing(ONE, time, sheets(stoa, Single.class, objects), next));
      probes.put(THREE, writing(THREE, time, sheets(stoa, Triple.class, objects), next));
      probes.put(
          TOUCHED,
          samples ->
              samples.add(TOUCHED, rate(CALLERS, time, i -> touched.get(i % objects).touch())));
      Samples samples = rounds(context, probes);
      double none = samples.median(NONE);
      findings.section(
          "durable calls that change all values of %,d objects, %d callers"
              .formatted(objects, CALLERS),
          List.of(
              Result.of(samples, NONE, "calls/s"),
              Result.of(samples, ONE, "calls/s").beside(NONE, none),
              Result.of(samples, THREE, "calls/s").beside(NONE, none),
              Result.of(samples, TOUCHED, "calls/s").beside(NONE, none)));
    }
  }

  private static <T extends Sheet> List<T> sheets(Stoa stoa, Class<T> type, int count) {
    return IntStream.range(0, count).mapToObj(i -> stoa.get(type, (long) i)).toList();
  }

  private static Samples.Probe writing(
      String measure, Duration time, List<? extends Sheet> sheets, AtomicLong next) {
    return samples ->
        samples.add(
            measure,
            rate(CALLERS, time, i -> sheets.get(i % sheets.size()).write(next.incrementAndGet())));
  }
}

package stoa.bench.maps;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;
import stoa.programs.Words;

/// Runs YCSB A to D on the key-value store of servers, with 10^6 records of 1 KB: Figure 4(a) of
/// the AOF paper, and 5(a) of the CRESON paper.
public final class RecordsBenchmark implements Benchmark<MapsScale> {
  private static final String FORCE = "append and force";
  private static final int LOADERS = 240;

  // The workloads of the papers' figures.
  private static final List<String> WORKLOADS = List.of("A", "B", "C", "D");

  /// Makes the benchmark.
  public RecordsBenchmark() {}

  @Override
  public String name() {
    return "records";
  }

  @Override
  public String description() {
    return "YCSB A to D on the key-value store of one server and of three, with a million records";
  }

  @Override
  public MapsScale full() {
    return MapsScale.served();
  }

  @Override
  public MapsScale smoke() {
    return MapsScale.smoke();
  }

  @Override
  public Outcome run(Context<MapsScale> context) throws Exception {
    var contenders = new ArrayList<>(StoaKeys.all());
    for (var others : ServiceLoader.load(ServedMaps.class)) {
      contenders.addAll(others.contenders());
    }
    var workloads = ServiceLoader.load(RecordWorkloads.class).findFirst();
    if (workloads.isEmpty()) {
      var findings = new Findings(context.sizes(), MapsScale.served());
      findings.matrix("left out", "YCSB is in the module peers\n");
      return findings.outcome();
    }
    return run(context, contenders, workloads.get());
  }

  /// Runs it with some contenders, one after the other; the others stand beside the first one.
  static Outcome run(
      Context<MapsScale> context, List<MapContender> contenders, RecordWorkloads workloads)
      throws Exception {
    var samples = new Samples();
    List<String> names = workloads.names().stream().filter(WORKLOADS::contains).toList();
    for (int round = 1; round <= context.sizes().rounds(); round++) {
      samples.add(FORCE, DiskLimits.appendAndForce(context.folder(), context.scale()));
    }
    for (MapContender contender : contenders) {
      Path folder = Files.createDirectories(context.folder().resolve("records"));
      try (OpenMap map = contender.open(folder)) {
        measure(context, contender.name(), new MapRecords(map), workloads, names, samples);
      } finally {
        Directories.delete(folder);
      }
    }
    return told(context.sizes(), samples, contenders, names);
  }

  private static void measure(
      Context<MapsScale> context,
      String name,
      MapRecords records,
      RecordWorkloads workloads,
      List<String> names,
      Samples samples)
      throws Exception {
    MapsScale sizes = context.sizes();
    Map<String, RecordWorkloads.Prepared> prepared = new LinkedHashMap<>();
    for (String workload : names) {
      prepared.put(
          workload, workloads.prepare(workload, sizes.records(), sizes.callers().getLast()));
    }
    context.progress().accept("loading " + name);
    var first = prepared.get(names.getFirst());
    if (first == null) throw new IllegalStateException("there are no workloads");
    Parallel.run(LOADERS, sizes.records(), _ -> first.load(records));
    for (int round = 1; round <= sizes.rounds(); round++) {
      for (var workload : prepared.entrySet()) {
        for (int callers : sizes.callers()) {
          String measure = measure(workload.getKey(), callers, name);
          context.progress().accept("round %d of %d: %s".formatted(round, sizes.rounds(), measure));
          var load = new Load(callers, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time());
          samples.add(measure, load.run((caller, _) -> workload.getValue().turn(caller, records)));
        }
      }
    }
  }

  private static String measure(String workload, int callers, String contender) {
    return "YCSB %s, %s, %s".formatted(workload, Words.count(callers, "caller"), contender);
  }

  private static Outcome told(
      MapsScale sizes, Samples samples, List<MapContender> contenders, List<String> names) {
    var findings = new Findings(sizes, MapsScale.served());
    var how = new StringBuilder();
    for (MapContender contender : contenders) {
      how.append(contender.name()).append(": ").append(contender.how()).append('\n');
    }
    findings.matrix("how the servers make a change durable", how.toString());
    String own = contenders.getFirst().name();
    for (int callers : sizes.callers()) {
      var results = new ArrayList<Result>();
      for (String workload : names) {
        double ours = samples.median(measure(workload, callers, own));
        for (MapContender contender : contenders) {
          String measure = measure(workload, callers, contender.name());
          Result rate = Result.of(samples, measure, "1/s");
          results.add(contender.name().equals(own) ? rate : rate.beside(own, ours));
          results.add(Result.of(samples, measure + ", p50", "µs"));
          results.add(Result.of(samples, measure + ", p99", "µs"));
        }
      }
      findings.section(
          "%,d records of 10 fields, %s".formatted(sizes.records(), Words.count(callers, "caller")),
          results);
    }
    findings.section("the disk", List.of(Result.of(samples, FORCE, "1/s")));
    return findings.outcome();
  }
}

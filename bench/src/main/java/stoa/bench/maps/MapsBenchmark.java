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

/// Runs the workloads of YCSB that need no order of keys on a shared map, and on the maps of other
/// engines in the process, all durable before they answer.
public final class MapsBenchmark implements Benchmark<MapsScale> {
  private static final String FORCE = "append and force";
  private static final int LOADERS = 240;

  /// Makes the benchmark.
  public MapsBenchmark() {}

  @Override
  public String name() {
    return "maps";
  }

  @Override
  public String description() {
    return "YCSB on a sharded map in the process, beside RocksDB and MVStore";
  }

  @Override
  public MapsScale full() {
    return MapsScale.full();
  }

  @Override
  public MapsScale smoke() {
    return MapsScale.smoke();
  }

  @Override
  public Outcome run(Context<MapsScale> context) throws Exception {
    var contenders = new ArrayList<MapContender>();
    contenders.add(new StoaMaps());
    ServiceLoader.load(MapContender.class).forEach(contenders::add);
    var workloads = ServiceLoader.load(RecordWorkloads.class).findFirst();
    if (workloads.isEmpty()) {
      var findings = new Findings(context.sizes(), MapsScale.full());
      findings.matrix("left out", "YCSB and the other engines are in the module peers\n");
      return findings.outcome();
    }
    return run(context, contenders, workloads.get());
  }

  /// Runs it with some contenders; the others are compared with the first one.
  static Outcome run(
      Context<MapsScale> context, List<MapContender> contenders, RecordWorkloads workloads)
      throws Exception {
    var findings = new Findings(context.sizes(), MapsScale.full());
    Path folder = context.folder().resolve("maps");
    Map<String, OpenMap> stores = new LinkedHashMap<>();
    try {
      for (MapContender contender : contenders) {
        Path own = Files.createDirectories(folder.resolve(contender.name()));
        stores.put(contender.name(), contender.open(own));
      }
      Samples samples = measure(context, stores, workloads);
      tell(findings, context.sizes(), samples, contenders, names(workloads));
    } finally {
      for (OpenMap store : stores.values()) store.close();
      Directories.delete(folder);
    }
    return findings.outcome();
  }

  private static List<String> names(RecordWorkloads workloads) {
    return workloads.names().stream().filter(name -> !workloads.scans(name)).toList();
  }

  private static Samples measure(
      Context<MapsScale> context, Map<String, OpenMap> stores, RecordWorkloads workloads)
      throws Exception {
    MapsScale scale = context.sizes();
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    probes.put(
        FORCE,
        samples ->
            samples.add(FORCE, DiskLimits.appendAndForce(context.folder(), context.scale())));
    for (var store : stores.entrySet()) {
      var records = new MapRecords(store.getValue());
      RecordWorkloads.Prepared loading = null;
      var prepared = new LinkedHashMap<String, RecordWorkloads.Prepared>();
      for (String workload : names(workloads)) {
        var one = workloads.prepare(workload, scale.records(), scale.callers().getLast());
        prepared.put(workload, one);
        if (loading == null) loading = one;
      }
      if (loading == null) throw new IllegalStateException("there are no workloads");
      context.progress().accept("loading " + store.getKey());
      RecordWorkloads.Prepared first = loading;
      Parallel.run(LOADERS, scale.records(), _ -> first.load(records));
      for (int callers : scale.callers()) {
        prepared.forEach((workload, turns) -> {
          String name = name(workload, callers, store.getKey());
          var load = new Load(callers, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
          probes.put(
              name,
              samples -> samples.add(name, load.run((caller, _) -> turns.turn(caller, records))));
        });
      }
    }
    return Samples.interleaved(scale.rounds(), probes, context.progress());
  }

  private static String name(String workload, int callers, String contender) {
    return "YCSB %s, %d caller%s, %s"
        .formatted(workload, callers, callers == 1 ? "" : "s", contender);
  }

  private static void tell(
      Findings findings,
      MapsScale scale,
      Samples samples,
      List<MapContender> contenders,
      List<String> workloads) {
    var how = new StringBuilder();
    for (MapContender contender : contenders) {
      how.append(contender.name()).append(": ").append(contender.how()).append('\n');
    }
    findings.matrix("how the engines make a change durable", how.toString());
    String own = contenders.getFirst().name();
    for (int callers : scale.callers()) {
      var results = new ArrayList<Result>();
      for (String workload : workloads) {
        String ours = name(workload, callers, own);
        for (MapContender contender : contenders) {
          String name = name(workload, callers, contender.name());
          Result result = Result.of(samples, name, "1/s");
          boolean isOwn = contender.name().equals(own);
          results.add(isOwn ? result : result.beside(own, samples.median(ours)));
          if (!isOwn) {
            findings.atLeast(
                "%s ÷ %s: at least 1".formatted(ours, contender.name()),
                1,
                samples.medianRatio(ours, name));
          }
        }
      }
      findings.section(
          "%,d records of 10 fields, %d callers".formatted(scale.records(), callers), results);
    }
    findings.section("the disk", List.of(Result.of(samples, FORCE, "1/s")));
  }
}

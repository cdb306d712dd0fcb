package stoa.bench.cluster;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.LoopbackLimits;
import stoa.bench.machine.MajorityAppend;
import stoa.bench.remote.RemoteRun;
import stoa.bench.report.Context;
import stoa.programs.Directories;
import stoa.programs.DiskWrites;

/// Calls and YCSB of the cluster benchmark. All contenders' servers run at the same time; the
/// benchmark calls one contender after the other, and the others are idle.
///
/// One thread uses it.
final class ClusterRun {
  /// The suffix of a measure's name: processor time per call of servers and client, in
  /// microseconds.
  static final String PROCESSOR = ", processor time";

  /// The suffix of a measure's name: what the disk writes per call meanwhile, in KiB.
  static final String WRITTEN = ", written";

  /// The name of the measure of a bare append to the disks of a majority.
  static final String MAJORITY = "bare append to 2 of 3 disks over sockets";

  private static final int RECORD_CALLERS = 24;
  private static final int LOADERS = 64;
  private static final String FAILED = "what it has changed is not what was answered";

  private final Context<ClusterScale> context;
  private final ClusterScale scale;
  private final ClusterReport report;
  private final Neighbours neighbours;

  ClusterRun(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.scale = context.sizes();
    this.report = report;
    this.neighbours = neighbours;
  }

  /// A contender with running servers.
  private record Running(ClusterContender contender, ClusterContender.Running servers) {}

  /// Counters of one kind under measurement.
  private record Kind(
      String name,
      ClusterContender.Running servers,
      ClusterContender.Counters counters,
      AtomicLongArray increments) {}

  /// Measures contenders.
  void measure(List<ClusterContender> contenders, List<RecordWorkloads> workloads)
      throws Exception {
    Path place = context.folder().resolve("servers");
    var running = new ArrayList<Running>();
    try {
      start(contenders, place, running);
      counters(running);
      for (RecordWorkloads each : workloads) records(each, running);
    } finally {
      close(running);
      Directories.delete(place);
    }
  }

  /// Starts the servers of all contenders at the same time, since each waits a while for its
  /// others.
  ///
  /// @param running receives those that started, also when others fail
  private void start(List<ClusterContender> contenders, Path place, List<Running> running)
      throws Exception {
    var names = contenders.stream().map(ClusterContender::name).toList();
    context.progress().accept("starting " + String.join(", ", names));
    var starts = new ArrayList<Future<ClusterContender.Running>>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (ClusterContender contender : contenders) {
        String name = contender.name().replaceAll("[^A-Za-z0-9]+", "-");
        Path folder = place.resolve(name);
        starts.add(
            threads.submit(
                () -> contender.start(Files.createDirectories(folder), scale.servers())));
      }
    }
    @Nullable ExecutionException failure = null;
    for (int i = 0; i < starts.size(); i++) {
      ClusterContender contender = contenders.get(i);
      try {
        running.add(new Running(contender, starts.get(i).get()));
        report.guarantee(contender.name(), contender.guarantee());
      } catch (ExecutionException e) {
        failure = e;
      }
    }
    if (failure != null) throw failure;
  }

  /// Closes contenders side by side: each may take a while to end its servers.
  private static void close(List<Running> running) throws Exception {
    Parallel.run(running.size(), running.size(), i -> running.get(i).servers.close());
  }

  // ---- counters

  private void counters(List<Running> running) throws Exception {
    var kinds = new ArrayList<Kind>();
    for (Running each : running) {
      each.servers
          .counters()
          .forEach((name, counters) ->
              kinds.add(
                  new Kind(
                      name,
                      each.servers,
                      counters,
                      new AtomicLongArray(ClusterLoad.COUNTERS_MAX))));
    }
    report.kinds(kinds.stream().map(Kind::name).toList());
    for (ClusterLoad load : heated(ClusterLoad.ALL)) {
      for (Kind kind : kinds) {
        context.progress().accept("warming up %s: %s".formatted(kind.name, load));
        var _ =
            run(kind, load, new Load(load.callers(), load.threads(), scale.heat(), scale.warmUp()));
      }
    }
    neighbours.mark();
    try (var loopback = LoopbackLimits.start();
        var majority = MajorityAppend.start(context.folder())) {
      for (int round = 1; round <= scale.rounds(); round++) {
        limits(loopback, majority);
        for (ClusterLoad load : ClusterLoad.ALL) {
          context.progress().accept("round %d of %d: %s".formatted(round, scale.rounds(), load));
          for (Kind kind : kinds) sample(kind, load);
          Collections.rotate(kinds, 1);
        }
      }
    }
    report.conditions("calls", neighbours.since());
    for (Kind kind : kinds) verify(kind);
  }

  /// Returns the loads that run once before the first round.
  private <T> List<T> heated(List<T> loads) {
    return scale.heat().isZero() ? List.of() : loads;
  }

  private record Done(Load.Seen seen, long calls) {}

  private static Done run(Kind kind, ClusterLoad load, Load callers) throws Exception {
    var calls = new LongAdder();
    var seen =
        callers.run((caller, turn) -> {
          int counter = (caller + turn) % load.counters();
          if (load.writes()) {
            kind.counters.increment(counter);
            kind.increments.incrementAndGet(counter);
          } else {
            kind.counters.value(counter);
          }
          calls.increment();
        });
    return new Done(seen, calls.sum());
  }

  private void sample(Kind kind, ClusterLoad load) throws Exception {
    long before = processorNanos(kind.servers);
    OptionalLong written = DiskWrites.of(context.folder());
    var done =
        run(kind, load, new Load(load.callers(), load.threads(), scale.warmUp(), scale.time()));
    double used = processorNanos(kind.servers) - before;
    String name = name(load, kind.name);
    report.samples().add(name, done.seen);
    report.samples().add(name + PROCESSOR, used / done.calls / 1e3);
    OptionalLong now = DiskWrites.of(context.folder());
    if (!load.writes() || written.isEmpty() || now.isEmpty()) return;
    double bytes = now.getAsLong() - written.getAsLong();
    report.samples().add(name + WRITTEN, bytes / done.calls / (1 << 10));
  }

  /// Returns the name of a load's measure.
  static String name(ClusterLoad load, String kind) {
    return load + ", " + kind;
  }

  private static long processorNanos(ClusterContender.Running servers) {
    return servers.processorTime().toNanos()
        + ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  private void limits(LoopbackLimits loopback, MajorityAppend majority) throws Exception {
    Path place = Files.createDirectories(context.folder().resolve("limits"));
    var one = new Load(1, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
    report.samples().add(RemoteRun.ECHO, loopback.roundTrips(1, one));
    report.samples().add(RemoteRun.FORCE, DiskLimits.appendAndForce(place, context.scale()));
    report.samples().add(MAJORITY, majority.appends(one));
    for (int callers : List.of(24, 240)) {
      var many = new Load(callers, Load.Threads.VIRTUAL, scale.warmUp(), scale.time());
      report.samples().add(RemoteRun.group(callers), DiskLimits.groupCommit(place, many));
    }
    Files.delete(place);
  }

  /// Compares the counters with the answers.
  private static void verify(Kind kind) throws Exception {
    for (int counter = 0; counter < ClusterLoad.COUNTERS_MAX; counter++) {
      long expected = kind.increments.get(counter);
      long found = kind.counters.value(counter);
      if (found != expected) {
        throw new IllegalStateException(
            "%s: counter %d is at %,d after %,d increments; %s"
                .formatted(kind.name, counter, found, expected, FAILED));
      }
    }
  }

  // ---- records

  private void records(RecordWorkloads workloads, List<Running> running) throws Exception {
    var names = running.stream().filter(each -> each.servers.records().isPresent()).toList();
    report.recordKeepers(names.stream().map(each -> each.contender.name()).toList());
    var prepared = new LinkedHashMap<String, Map<String, RecordWorkloads.Prepared>>();
    for (Running each : names) {
      var own = new LinkedHashMap<String, RecordWorkloads.Prepared>();
      String name = each.contender.name();
      prepared.put(name, own);
      for (boolean scans : new boolean[] {false, true}) load(workloads, each, own, scans);
    }
    workloads.names().forEach(report::workload);
    for (String workload : heated(workloads.names())) {
      for (Running each : names) {
        context
            .progress()
            .accept("warming up %s: YCSB %s".formatted(each.contender.name(), workload));
        var _ =
            turns(
                workloads,
                each,
                workload,
                prepared,
                new Load(RECORD_CALLERS, Load.Threads.PLATFORM, scale.heat(), scale.warmUp()));
      }
    }
    neighbours.mark();
    for (int round = 1; round <= scale.rounds(); round++) {
      for (String workload : workloads.names()) {
        context
            .progress()
            .accept("round %d of %d: YCSB %s".formatted(round, scale.rounds(), workload));
        for (Running each : names) {
          var load = new Load(RECORD_CALLERS, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
          report
              .samples()
              .add(
                  workload(workload, each.contender.name()),
                  turns(workloads, each, workload, prepared, load));
        }
      }
    }
    report.conditions("YCSB", neighbours.since());
  }

  /// Returns the name of a workload's measure.
  static String workload(String workload, String contender) {
    return "YCSB %s, %s".formatted(workload, contender);
  }

  /// Loads the records that some workloads read: those that scan have their own, which another kind
  /// of collection may hold.
  private void load(
      RecordWorkloads workloads,
      Running each,
      Map<String, RecordWorkloads.Prepared> prepared,
      boolean scans)
      throws Exception {
    Optional<Records> records = records(each, scans);
    if (records.isEmpty()) return;
    var mine = workloads.names().stream().filter(name -> workloads.scans(name) == scans).toList();
    for (String name : mine) {
      prepared.put(name, workloads.prepare(name, scale.records(), RECORD_CALLERS));
    }
    context
        .progress()
        .accept("loading %,d records: %s".formatted(scale.records(), each.contender.name()));
    var first = prepared.get(mine.getFirst());
    if (first == null) throw new IllegalStateException("nothing was prepared");
    Parallel.run(LOADERS, scale.records(), _ -> first.load(records.get()));
  }

  private static Optional<Records> records(Running each, boolean scans) {
    return scans ? each.servers.orderedRecords() : each.servers.records();
  }

  private static Load.Seen turns(
      RecordWorkloads workloads,
      Running each,
      String workload,
      Map<String, Map<String, RecordWorkloads.Prepared>> prepared,
      Load load)
      throws Exception {
    Records records = records(each, workloads.scans(workload)).orElseThrow();
    var own = prepared.get(each.contender.name());
    var turns = own == null ? null : own.get(workload);
    if (turns == null) throw new IllegalStateException(workload + " was not prepared");
    return load.run((caller, _) -> turns.turn(caller, records));
  }
}

package stoa.bench.coordination;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.LoopbackLimits;
import stoa.bench.remote.Meeting;
import stoa.bench.remote.RemoteBenchmark;
import stoa.bench.remote.RemoteContender;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Measures locks, blocking queues, barriers and timers over a socket, beside other servers that
/// have them.
///
/// All servers of one persistence run at the same time. The benchmark calls one after the other,
/// and the others are idle.
public final class CoordinationBenchmark implements Benchmark<CoordinationScale> {
  private static final String ECHO = "loopback echo";
  private static final String FORCE = "append and force";

  /// Makes the benchmark.
  public CoordinationBenchmark() {}

  @Override
  public String name() {
    return "coordination";
  }

  @Override
  public String description() {
    return "locks, blocking queues, barriers and timers beside Redisson with Redis, and Hazelcast";
  }

  @Override
  public CoordinationScale full() {
    return CoordinationScale.full();
  }

  @Override
  public CoordinationScale smoke() {
    return CoordinationScale.smoke();
  }

  @Override
  public Outcome run(Context<CoordinationScale> context) throws Exception {
    return run(context, RemoteBenchmark.contenders());
  }

  /// A server under measurement.
  private record Running(
      String name, RemoteContender.Connection client, Meeting meeting, AtomicLong rounds) {}

  /// Runs it with some contenders; the first one is compared with the others.
  static Outcome run(Context<CoordinationScale> context, List<RemoteContender> contenders)
      throws Exception {
    var findings = new Findings(context.sizes(), CoordinationScale.full());
    for (Persistence persistence : Persistence.values()) {
      var absent = new LinkedHashMap<String, String>();
      Samples samples = measure(context, contenders, persistence, absent);
      tell(findings, samples, persistence, contenders, absent);
    }
    return findings.outcome();
  }

  private static Samples measure(
      Context<CoordinationScale> context,
      List<RemoteContender> contenders,
      Persistence persistence,
      Map<String, String> absent)
      throws Exception {
    CoordinationScale sizes = context.sizes();
    var samples = new Samples();
    var running = new ArrayList<Running>();
    Path place = context.folder().resolve("servers");
    try (var loopback = LoopbackLimits.start()) {
      try {
        for (RemoteContender contender : contenders) {
          start(context, contender, persistence, place, running, absent);
        }
        for (Running each : running) {
          context.progress().accept("warming up %s, %s".formatted(each.name, persistence));
          for (MeetingLoad load : MeetingLoad.values()) {
            if (!load.fits(each.meeting)) continue;
            load.sample(
                new Samples(), "heat", each.meeting, each.rounds, sizes.warmUp(), sizes.heat());
          }
        }
        for (int round = 1; round <= sizes.rounds(); round++) {
          var one = new Load(1, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time());
          samples.add(ECHO, loopback.roundTrips(1, one));
          if (persistence == Persistence.SYNCED) {
            Path limits = Files.createDirectories(context.folder().resolve("limits"));
            samples.add(FORCE, DiskLimits.appendAndForce(limits, context.scale()));
            Directories.delete(limits);
          }
          for (MeetingLoad load : MeetingLoad.values()) {
            context
                .progress()
                .accept(
                    "%s, round %d of %d: %s".formatted(persistence, round, sizes.rounds(), load));
            for (Running each : running) {
              if (!load.fits(each.meeting)) continue;
              String name = name(load, each.name);
              load.sample(samples, name, each.meeting, each.rounds, sizes.warmUp(), sizes.time());
            }
            Collections.rotate(running, 1);
          }
        }
      } finally {
        close(running);
      }
    } finally {
      Directories.delete(place);
    }
    return samples;
  }

  private static void start(
      Context<CoordinationScale> context,
      RemoteContender contender,
      Persistence persistence,
      Path place,
      List<Running> running,
      Map<String, String> absent)
      throws Exception {
    if (!contender.meets()) return;
    if (contender.operations(persistence).isEmpty()) {
      absent.put(contender.name(), "it has no such persistence");
      return;
    }
    context.progress().accept("starting %s, %s".formatted(contender.name(), persistence));
    try {
      var client =
          contender.start(Files.createDirectories(place.resolve(contender.name())), persistence);
      running.add(new Running(contender.name(), client, client.meeting(), new AtomicLong()));
    } catch (RemoteContender.Missing e) {
      absent.put(contender.name(), String.valueOf(e.getMessage()));
    }
  }

  private static void close(List<Running> running) throws IOException {
    IOException first = null;
    for (Running each : running) {
      try {
        each.client.close();
      } catch (IOException e) {
        if (first == null) first = e;
        else first.addSuppressed(e);
      }
    }
    if (first != null) throw first;
  }

  private static String name(MeetingLoad load, String contender) {
    return load + ", " + contender;
  }

  // ---- the report

  private static void tell(
      Findings findings,
      Samples samples,
      Persistence persistence,
      List<RemoteContender> contenders,
      Map<String, String> absent) {
    var results = new ArrayList<Result>();
    String own = contenders.getFirst().name();
    for (MeetingLoad load : MeetingLoad.values()) {
      for (RemoteContender contender : contenders) {
        String name = name(load, contender.name());
        if (!samples.has(name)) continue;
        Result rate = Result.of(samples, name, load.unit());
        boolean isOwn = contender.name().equals(own);
        results.add(isOwn ? rate : rate.beside(own, samples.median(name(load, own))));
        if (!isOwn) {
          findings.atLeast(
              "%s, %s: Stoa ÷ %s: at least 1".formatted(load, persistence, contender.name()),
              1,
              samples.medianRatio(name(load, own), name));
        }
        for (String latency : List.of(", p50", ", p99")) {
          if (samples.has(name + latency)) {
            results.add(Result.of(samples, name + latency, "us"));
          }
        }
      }
    }
    results.add(Result.of(samples, ECHO, "1/s"));
    if (samples.has(FORCE)) results.add(Result.of(samples, FORCE, "1/s"));
    findings.section("coordination, " + persistence, results);
    if (!absent.isEmpty()) {
      var text = new StringBuilder();
      absent.forEach((who, why) -> text.append(who).append(": ").append(why).append('\n'));
      findings.matrix("left out, " + persistence, text.toString());
    }
  }
}

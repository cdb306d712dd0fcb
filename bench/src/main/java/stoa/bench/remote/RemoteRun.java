package stoa.bench.remote;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.load.Scale;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.LoopbackLimits;
import stoa.bench.remote.RemoteContender.Connection;
import stoa.bench.remote.RemoteContender.Operation;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.report.Context;
import stoa.programs.Directories;

/// The measuring of the remote benchmark. All servers of one persistence run at the same time; the
/// benchmark calls one after the other, and the others are idle.
///
/// One thread uses it.
public final class RemoteRun {
  /// The number of messages in a turn of the pipelined echo.
  public static final int PIPELINED = 24;

  public static final String ECHO = "loopback echo";
  static final String PIPELINED_ECHO = "loopback echo, %d at a time".formatted(PIPELINED);
  public static final String FORCE = "append and force";

  private final Path folder;
  private final Scale scale;
  private final RemoteScale sizes;
  private final Consumer<String> progress;
  private final Samples samples = new Samples();
  private final Map<String, String> absent = new LinkedHashMap<>();

  RemoteRun(Context<RemoteScale> context) {
    folder = context.folder();
    scale = context.scale();
    sizes = context.sizes();
    progress = context.progress();
  }

  /// Returns the measurements so far.
  Samples samples() {
    return samples;
  }

  /// Returns why contenders are left out, by contender and persistence.
  Map<String, String> absent() {
    return absent;
  }

  /// A server under measurement.
  private record Running(
      RemoteContender contender, Connection client, AtomicLongArray increments) {}

  /// Measures all contenders at a persistence.
  void measure(Persistence persistence, List<RemoteContender> contenders) throws Exception {
    Path place = folder.resolve("servers");
    var running = new ArrayList<Running>();
    try (var loopback = LoopbackLimits.start()) {
      try {
        for (RemoteContender contender : contenders) start(contender, persistence, place, running);
        for (RemoteLoad load : RemoteLoad.ALL) {
          for (Running each : running) heat(each, persistence, load);
        }
        for (int round = 1; round <= sizes.rounds(); round++) {
          limits(persistence, loopback);
          for (RemoteLoad load : RemoteLoad.ALL) {
            progress.accept(
                "%s, round %d of %d: %s".formatted(persistence, round, sizes.rounds(), load));
            for (Running each : running) sample(each, persistence, load);
            Collections.rotate(running, 1);
          }
        }
        for (Running each : running) verify(each);
      } finally {
        close(running);
      }
    } finally {
      Directories.delete(place);
    }
  }

  private void start(
      RemoteContender contender, Persistence persistence, Path place, List<Running> running)
      throws Exception {
    String what = contender.name() + ", " + persistence;
    if (contender.operations(persistence).isEmpty()) {
      absent.put(what, "it has no such persistence");
      return;
    }
    progress.accept("starting " + what);
    Path data = Files.createDirectories(place.resolve(contender.name()));
    try {
      Connection client = contender.start(data, persistence);
      running.add(new Running(contender, client, new AtomicLongArray(RemoteLoad.COUNTERS_MAX)));
    } catch (RemoteContender.Missing e) {
      absent.put(what, String.valueOf(e.getMessage()));
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

  private void heat(Running each, Persistence persistence, RemoteLoad load) throws Exception {
    Set<Operation> able = each.contender.operations(persistence);
    if (!able.contains(load.operation())) return;
    progress.accept("warming up %s, %s: %s".formatted(each.contender.name(), persistence, load));
    Duration time = sizes.heat().dividedBy(RemoteLoad.ALL.size());
    load.run(each.client, time, Duration.ZERO, each.increments);
  }

  private void sample(Running each, Persistence persistence, RemoteLoad load) throws Exception {
    if (!each.contender.operations(persistence).contains(load.operation())) return;
    Duration serverBefore = each.client.serverProcessorTime();
    long clientBefore = processorNanos();
    var done = load.run(each.client, sizes.warmUp(), sizes.time(), each.increments);
    double client = processorNanos() - clientBefore;
    double server = each.client.serverProcessorTime().minus(serverBefore).toNanos();
    String name = name(persistence, load, each.contender.name());
    samples.add(name, done.seen());
    samples.add(name + SERVER, server / done.calls() / 1e3);
    samples.add(name + CLIENT, client / done.calls() / 1e3);
    samples.add(name + PROCESSOR, (server + client) / done.calls() / 1e3);
  }

  /// The suffix of a measure's name: processor time per call in microseconds, of both sides and of
  /// each.
  static final String PROCESSOR = ", processor time";

  static final String SERVER = ", processor time of the server";
  static final String CLIENT = ", processor time of the client";

  /// Returns the name of a load's measure.
  static String name(Persistence persistence, RemoteLoad load, String contender) {
    return "%s, %s, %s".formatted(load, persistence, contender);
  }

  /// Returns the name of the measure of the bare group commit with a number of callers.
  public static String group(int callers) {
    return "bare group commit, %d callers".formatted(callers);
  }

  private void limits(Persistence persistence, LoopbackLimits loopback) throws Exception {
    var one = new Load(1, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time());
    samples.add(limit(ECHO, persistence), loopback.roundTrips(1, one));
    var turns = loopback.roundTrips(PIPELINED, one);
    samples.add(limit(PIPELINED_ECHO, persistence), PIPELINED * turns.callsPerSecond());
    if (persistence != Persistence.SYNCED) return;
    Path place = Files.createDirectories(folder.resolve("limits"));
    samples.add(limit(FORCE, persistence), DiskLimits.appendAndForce(place, scale));
    for (int callers : List.of(24, 240)) {
      var many = new Load(callers, Load.Threads.VIRTUAL, sizes.warmUp(), sizes.time());
      samples.add(limit(group(callers), persistence), DiskLimits.groupCommit(place, many));
    }
    Files.delete(place);
  }

  /// Returns the name of a limit's measure beside contenders at a persistence.
  static String limit(String limit, Persistence persistence) {
    return limit + ", beside " + persistence;
  }

  /// Compares the counters with the answers.
  private static void verify(Running each) throws Exception {
    for (int counter = 0; counter < RemoteLoad.COUNTERS_MAX; counter++) {
      long expected = each.increments.get(counter);
      long found = each.client.count(counter);
      if (found != expected) {
        throw new IllegalStateException(
            "%s: counter %d is at %,d after %,d increments"
                .formatted(each.contender.name(), counter, found, expected));
      }
    }
  }

  private static long processorNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}

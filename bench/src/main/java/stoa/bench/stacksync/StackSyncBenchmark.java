package stoa.bench.stacksync;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.load.Load;
import stoa.bench.load.OpenLoop;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Distribution;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;
import stoa.stacksync.Design;
import stoa.stacksync.SyncService;
import stoa.stacksync.ubuntuone.UbuntuOneRequests;

/// Measures the service of the AOF and CRESON papers: `doCommit` of new items in each design, on
/// one server and on clusters, beside the same service on SQL.
///
/// One contender runs at a time, and all of them in each round. Before its first measurement each
/// one answers the same requests, and the answers must be equal.
public final class StackSyncBenchmark implements Benchmark<StackSyncScale> {
  private static final int OPEN_CALLERS = 80; // as many as the papers' replay
  private static final int COMPILING_CALLERS = 24;
  private static final long SEED = 17;

  private final Set<StackSyncPart> parts;

  // The trace of the open loop; null for a generated one.
  private final @Nullable Path traceFile;

  // The rate at which that trace is replayed; 0 for its own times.
  private final double rate;

  /// The benchmark with all its parts.
  public StackSyncBenchmark() {
    this(EnumSet.allOf(StackSyncPart.class), null, 0);
  }

  /// The benchmark with some of its parts.
  ///
  /// @param traceFile a trace of Ubuntu One for the open loop; null for a generated one
  /// @param rate the mean number of commits in a second of that trace; 0 for its own times
  public StackSyncBenchmark(Set<StackSyncPart> parts, @Nullable Path traceFile, double rate) {
    this.parts = Set.copyOf(parts);
    this.traceFile = traceFile;
    this.rate = rate;
  }

  @Override
  public String name() {
    return "stacksync";
  }

  @Override
  public String description() {
    return "the papers' personal cloud in each design, beside the same service on PostgreSQL";
  }

  @Override
  public StackSyncScale full() {
    return StackSyncScale.full();
  }

  @Override
  public StackSyncScale smoke() {
    return StackSyncScale.smoke();
  }

  @Override
  public Outcome run(Context<StackSyncScale> context) throws Exception {
    var sizes = context.sizes();
    var file = traceFile;
    var trace = file == null ? OpenTrace.generated(sizes) : OpenTrace.read(file, rate, sizes);
    var findings = run(context, contenders(sizes), trace);
    if (parts.contains(StackSyncPart.CACHE)) new CachePhase(context).measure(findings);
    if (parts.contains(StackSyncPart.QUEUE)) new QueuePhase(context).measure(findings);
    return findings.outcome();
  }

  /// Returns the contenders of the parts, first the one that stands beside all others.
  private List<StackSyncContender> contenders(StackSyncScale sizes) {
    var contenders = new ArrayList<StackSyncContender>();
    if (parts.contains(StackSyncPart.SERVER)) {
      contenders.add(new StoaStackSync(Design.ITEMS_EMBEDDED));
      contenders.add(new StoaStackSync(Design.FACADE_ALONE));
      contenders.add(new StoaStackSync(Design.EVERYTHING_SHARED));
    }
    if (parts.contains(StackSyncPart.OTHERS)) {
      for (var others : ServiceLoader.load(StackSyncContender.Others.class)) {
        contenders.addAll(others.contenders(sizes.allForms()));
      }
    }
    if (parts.contains(StackSyncPart.CLUSTERS)) {
      for (var servers : ServiceLoader.load(ClusterServers.class)) {
        for (var shape : sizes.clusters()) contenders.add(new StoaClusterStackSync(servers, shape));
      }
    }
    return contenders;
  }

  /// Runs it with some contenders; the first one is compared with the others.
  static Findings run(
      Context<StackSyncScale> context, List<StackSyncContender> contenders, OpenTrace trace)
      throws Exception {
    var measuring = new Measuring(context, trace);
    for (int round = 1; round <= context.sizes().rounds(); round++) {
      for (var contender : contenders) {
        context
            .progress()
            .accept(
                "round %d of %d: %s".formatted(round, context.sizes().rounds(), contender.name()));
        measuring.round(contender);
      }
    }
    return measuring.findings(contenders);
  }

  /// The measurements of one run.
  private static final class Measuring {
    private final Context<StackSyncScale> context;
    private final Samples samples = new Samples();
    private final Map<String, String> absent = new LinkedHashMap<>();
    // In milliseconds, in ascending order.
    private final Map<String, List<Double>> open = new LinkedHashMap<>();
    private final OpenTrace trace;
    private List<String> answers = List.of();

    Measuring(Context<StackSyncScale> context, OpenTrace trace) {
      this.context = context;
      this.trace = trace;
    }

    /// Starts a contender, takes all its measures once, and ends it.
    void round(StackSyncContender contender) throws Exception {
      if (absent.containsKey(contender.name())) return;
      Path place = Files.createDirectory(context.folder().resolve("servers"));
      try (var running = contender.start(place)) {
        compareAnswers(contender, running);
        var load = new CommitLoad(context.sizes());
        load.populate(running);
        compile(running, load);
        for (int callers : context.sizes().callers()) commits(contender, running, load, callers);
        openLoop(contender, running);
      } catch (RemoteContender.Missing e) {
        absent.put(contender.name(), String.valueOf(e.getMessage()));
      } finally {
        Directories.delete(place);
      }
    }

    /// Makes the servers compile their code, with a load that is not measured.
    private void compile(StackSyncContender.Running running, CommitLoad load) throws Exception {
      var services = services(running, COMPILING_CALLERS);
      var random = new ArrayList<SplittableRandom>();
      for (int i = 0; i < COMPILING_CALLERS; i++) random.add(new SplittableRandom(SEED - 1 - i));
      var _ =
          new Load(
                  COMPILING_CALLERS,
                  Load.Threads.PLATFORM,
                  Duration.ZERO,
                  context.sizes().compiling())
              .run((caller, _) -> load.commit(services.get(caller), random.get(caller)));
    }

    private void compareAnswers(StackSyncContender contender, StackSyncContender.Running running)
        throws Exception {
      var own = Script.answers(running.service(0), context.sizes().script());
      if (answers.isEmpty()) answers = own;
      for (int i = 0; i < answers.size(); i++) {
        if (own.get(i).equals(answers.get(i))) continue;
        throw new IllegalStateException(
            "answer %d of %s is%n%s%nbut the first contender's is%n%s"
                .formatted(i, contender.name(), own.get(i), answers.get(i)));
      }
    }

    private void commits(
        StackSyncContender contender,
        StackSyncContender.Running running,
        CommitLoad load,
        int callers)
        throws Exception {
      var sizes = context.sizes();
      var services = services(running, callers);
      var random = new ArrayList<SplittableRandom>();
      for (int i = 0; i < callers; i++) random.add(new SplittableRandom(SEED + i));
      var made = new AtomicLong();
      var before = running.processorTime();
      var seen =
          new Load(callers, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time())
              .run((caller, _) -> {
                load.commit(services.get(caller), random.get(caller));
                made.incrementAndGet();
              });
      var used = running.processorTime().minus(before);
      samples.add(measure(contender, callers), seen);
      samples.add(processor(contender, callers), used.toNanos() / 1e3 / made.get());
    }

    private static List<SyncService> services(StackSyncContender.Running running, int callers)
        throws Exception {
      var services = new ArrayList<SyncService>();
      for (int i = 0; i < callers; i++) services.add(running.service(i));
      return services;
    }

    /// Replays a trace.
    private void openLoop(StackSyncContender contender, StackSyncContender.Running running)
        throws Exception {
      CommitLoad.populate(running, trace.users());
      var services = services(running, OPEN_CALLERS);
      for (var request : trace.before()) commit(services.getFirst(), request);
      // A file's changes go to one caller, one after the other, as its device sends them.
      var mine = new ArrayList<List<UbuntuOneRequests.Request>>();
      for (int i = 0; i < OPEN_CALLERS; i++) mine.add(new ArrayList<>());
      for (var request : trace.requests()) {
        mine.get(Math.floorMod(request.user().hashCode(), OPEN_CALLERS)).add(request);
      }
      var due =
          mine.stream()
              .map(requests ->
                  requests.stream().map(each -> Math.round(each.seconds() * 1e9)).toList())
              .toList();
      var latencies =
          OpenLoop.run(
              due,
              (caller, number) -> {
                commit(services.get(caller), mine.get(caller).get(number));
              });
      open.merge(
          contender.name(),
          latencies.stream().map(nanos -> nanos / 1e6).toList(),
          (some, more) -> {
            var all = new ArrayList<>(some);
            all.addAll(more);
            return all.stream().sorted().toList();
          });
    }

    private static void commit(SyncService service, UbuntuOneRequests.Request request) {
      var user = request.user();
      Object _ =
          CommitLoad.OUTAGE.bridge(
              () -> service.doCommit(user, user, user, List.of(request.change())));
    }

    // ---- the report

    private static String measure(StackSyncContender contender, int callers) {
      return contender.name() + ", " + callers + (callers == 1 ? " caller" : " callers");
    }

    private static String processor(StackSyncContender contender, int callers) {
      return measure(contender, callers) + ", processor";
    }

    Findings findings(List<StackSyncContender> contenders) {
      var sizes = context.sizes();
      var findings = new Findings(sizes, StackSyncScale.full());
      if (contenders.isEmpty()) return findings;
      var own = contenders.getFirst();
      for (int callers : sizes.callers()) {
        var results = new ArrayList<Result>();
        for (var contender : contenders) {
          String name = measure(contender, callers);
          if (!samples.has(name)) continue;
          var rate = Result.of(samples, name, "commits/s");
          results.add(
              contender.equals(own)
                  ? rate
                  : rate.beside(own.name(), samples.median(measure(own, callers))));
          results.add(Result.of(samples, name + ", p50", "us"));
          results.add(Result.of(samples, name + ", p99", "us"));
          results.add(Result.of(samples, processor(contender, callers), "us/commit"));
          if (isAim(own, contender)) {
            findings.atLeast(
                "%d callers: %s ÷ %s: at least 5".formatted(callers, own.name(), contender.name()),
                5,
                samples.medianRatio(measure(own, callers), name));
          }
        }
        findings.section(
            "doCommit of %d new items, %d users, %d callers"
                .formatted(sizes.items(), sizes.users(), callers),
            results);
      }
      findings.section(
          "open loop, %s, latency from when each was due".formatted(trace.text()), openResults());
      findings.figure("stacksync-latency.svg", latencyChart());
      var notes = new StringBuilder();
      for (var contender : contenders) {
        if (absent.containsKey(contender.name())) continue;
        notes
            .append(contender.name())
            .append(": an answered commit is ")
            .append(contender.durability())
            .append('\n');
      }
      findings.matrix("after a power failure", notes.toString());
      findings.matrix(
          "answers",
          "all contenders gave the same %,d answers to the same requests%n"
              .formatted(answers.size()));
      if (!absent.isEmpty()) {
        var text = new StringBuilder();
        absent.forEach((who, why) -> text.append(who).append(": ").append(why).append('\n'));
        findings.matrix("left out", text.toString());
      }
      return findings;
    }

    private static boolean isAim(StackSyncContender own, StackSyncContender other) {
      return own.name().startsWith("Stoa")
          && other.name().startsWith("PostgreSQL")
          && other.durability().equals("kept");
    }

    private List<Result> openResults() {
      var results = new ArrayList<Result>();
      open.forEach((name, latencies) -> {
        for (double share : List.of(0.5, 0.9, 0.99)) {
          results.add(
              Result.alone(
                  "%s, p%d".formatted(name, Math.round(share * 100)),
                  Distribution.quantile(latencies, share),
                  "ms"));
        }
      });
      return results;
    }

    private Chart latencyChart() {
      var sizes = context.sizes();
      return new Chart(
          "Latency of doCommit, as a cumulative distribution",
          "open loop, %s, for %d s; latency counts from when a commit was due"
              .formatted(trace.text(), sizes.openTime().toSeconds()),
          "latency, ms",
          Distribution.AXIS.formatted("commits"),
          List.of(Distribution.panel(open)));
    }
  }
}

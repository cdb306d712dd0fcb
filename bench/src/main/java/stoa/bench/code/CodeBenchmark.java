package stoa.bench.code;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import stoa.Keep;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.bench.load.Latencies;
import stoa.bench.load.Samples;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.objects.CodeService;
import stoa.objects.ObjectService;

/// Measures calls where a class has had many versions beside calls where it has had one, and calls
/// while another version is deployed beside calls before.
public final class CodeBenchmark implements Benchmark<CodeScale> {
  private static final int CALLED = 1_000;
  private static final double RATE_RATIO_MIN = 0.98;
  private static final double P99_RATIO_MAX = 2;

  private static final String ONE = "calls, one version";
  private static final String MANY = "calls, many versions";
  private static final String BEFORE = "before the deployment";
  private static final String TRYING = "while it tries all objects";
  private static final String CONVERTING = "while each object is converted";

  /// Makes the benchmark.
  public CodeBenchmark() {}

  @Override
  public String name() {
    return "code";
  }

  @Override
  public String description() {
    return "versions of code: calls behind many of them, and calls while one is deployed";
  }

  @Override
  public CodeScale full() {
    return CodeScale.full();
  }

  @Override
  public CodeScale smoke() {
    return CodeScale.smoke();
  }

  @Override
  public Outcome run(Context<CodeScale> context) throws Exception {
    var findings = new Findings(context.sizes(), CodeScale.full());
    versions(context, findings);
    deployments(context, findings);
    return findings.outcome();
  }

  /// In memory, so that no disk is in the figures; what is called has all of its past.
  private static Stoa open() {
    return Stoa.open(StoaConfig.of("memory:").withKeep(Keep.versions(0)));
  }

  private static Ledger[] ledgers(Stoa stoa, int count) {
    var ledgers = new Ledger[count];
    for (int i = 0; i < count; i++) ledgers[i] = stoa.get(Ledger.class, i);
    return ledgers;
  }

  private static void callAll(Ledger[] ledgers) {
    for (Ledger ledger : ledgers) ledger.add(1);
  }

  private static void deploy(Stoa stoa, int factor) {
    List<CodeService.Finding> found =
        ObjectService.of(stoa, _ -> true).code().deploy(LedgerVersions.version(factor), _ -> {});
    if (found.size() == 1 && found.getFirst().fits()) return;
    throw new IllegalStateException("the version does not fit: " + found);
  }

  // ---- many versions

  private static void versions(Context<CodeScale> context, Findings findings) throws Exception {
    int versions = context.sizes().versions();
    try (Stoa one = open();
        Stoa many = open()) {
      Ledger[] ofOne = ledgers(one, CALLED);
      callAll(ofOne);
      Ledger[] ofMany = ledgers(many, CALLED);
      callAll(ofMany);
      for (int factor = 2; factor <= versions; factor++) {
        deploy(many, factor);
        callAll(ofMany); // the objects pass from version to version
      }
      // The program's own class again, as in the other store.
      ofMany = ledgers(many, CALLED);
      callAll(ofMany);
      Ledger[] busy = ofMany;
      rate(ofOne, context.scale().warmUp().toNanos());
      rate(busy, context.scale().warmUp().toNanos());
      var probes = new LinkedHashMap<String, Samples.Probe>();
      long nanos = context.scale().time().toNanos();
      probes.put(ONE, samples -> samples.add(ONE, rate(ofOne, nanos)));
      probes.put(MANY, samples -> samples.add(MANY, rate(busy, nanos)));
      Samples samples =
          Samples.interleaved(2 * context.scale().rounds(), probes, context.progress());
      findings.section(
          "calls of %,d objects in turn, one caller, in memory; %d versions of their class beside one"
              .formatted(CALLED, versions),
          List.of(
              Result.of(samples, ONE, "/s"),
              Result.of(samples, MANY, "/s").beside(ONE, samples.median(ONE))));
      findings.atLeast(
          "calls/s with %d versions ÷ with one, at least %s".formatted(versions, RATE_RATIO_MIN),
          RATE_RATIO_MIN,
          samples.medianRatio(MANY, ONE));
    }
  }

  private static double rate(Ledger[] ledgers, long nanos) {
    long start = System.nanoTime();
    long calls = 0;
    long took;
    do {
      callAll(ledgers);
      calls += ledgers.length;
      took = System.nanoTime() - start;
    } while (took < nanos);
    return calls * 1e9 / took;
  }

  // ---- deployments

  private static void deployments(Context<CodeScale> context, Findings findings) {
    int objects = context.sizes().objects();
    var samples = new Samples();
    try (Stoa stoa = open()) {
      Ledger[] ledgers = ledgers(stoa, objects);
      callAll(ledgers);
      int rounds = context.scale().rounds();
      for (int round = 1; round <= rounds; round++) {
        context.progress().accept("round %d of %d: a deployment".formatted(round, rounds));
        // One pass, as the conversion is one.
        tell(samples, BEFORE, call(ledgers, ledgers.length, () -> false));
        int factor = round + 1;
        long start = System.nanoTime();
        var deployment = CompletableFuture.runAsync(() -> deploy(stoa, factor));
        Latencies trying = call(ledgers, Long.MAX_VALUE, deployment::isDone);
        deployment.join();
        samples.add("a deployment", (System.nanoTime() - start) / 1e6);
        tell(samples, TRYING, trying);
        tell(samples, CONVERTING, call(ledgers, ledgers.length, () -> false));
      }
    }
    var results = new ArrayList<Result>();
    results.add(Result.of(samples, "a deployment", "ms"));
    for (String unit : List.of(", p50", ", p99")) {
      for (String phase : List.of(BEFORE, TRYING, CONVERTING)) {
        Result result = Result.of(samples, phase + unit, "µs");
        String first = BEFORE + unit;
        results.add(phase.equals(BEFORE) ? result : result.beside(first, samples.median(first)));
      }
    }
    findings.section(
        "calls of %,d objects in turn, one caller, in memory, around a deployment"
            .formatted(objects),
        results);
    for (String phase : List.of(TRYING, CONVERTING)) {
      findings.atMost(
          "p99 %s ÷ before, at most %.0f".formatted(phase, P99_RATIO_MAX),
          P99_RATIO_MAX,
          samples.medianRatio(phase + ", p99", BEFORE + ", p99"));
    }
  }

  private static void tell(Samples samples, String phase, Latencies seen) {
    samples.add(phase + ", p50", seen.quantile(0.5) / 1e3);
    samples.add(phase + ", p99", seen.quantile(0.99) / 1e3);
  }

  /// Calls objects in turn.
  ///
  /// @param callsMax how many calls at most
  /// @param over whether there are to be no more
  private static Latencies call(Ledger[] ledgers, long callsMax, BooleanSupplier over) {
    var latencies = new Latencies();
    for (long call = 0; call < callsMax && !over.getAsBoolean(); call++) {
      Ledger ledger = ledgers[(int) (call % ledgers.length)];
      long start = System.nanoTime();
      ledger.add(1);
      latencies.add(System.nanoTime() - start);
    }
    return latencies;
  }
}

package stoa.bench.log;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.log.Sequencer;

/// Asks the sequencer for tokens: alone, and from several threads that take turns.
final class TokenPhase {
  private static final List<Integer> THREADS = List.of(1, 2, 8);
  private static final int TURN = 1_024;
  private static final double AIM = 1e6;

  // CorfuDB's sequencer, requests per second (its own measurement).
  private static final double CORFU = 600_000;

  private final Context<LogScale> context;

  TokenPhase(Context<LogScale> context) {
    this.context = context;
  }

  void measure(Findings findings) throws Exception {
    LogScale scale = context.sizes();
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    probes.put(
        "bare counter, 1 thread",
        samples -> {
          var counter = new AtomicLong();
          samples.add("bare counter, 1 thread", rate(1, counter::incrementAndGet));
        });
    for (int threads : THREADS) {
      String name = tokens(threads);
      probes.put(
          name,
          samples -> {
            var sequencer = new Sequencer(1, 0);
            samples.add(name, rate(threads, inTurn(() -> sequencer.grant(1).first().counter())));
          });
    }
    var samples = Samples.interleaved(scale.rounds(), probes, context.progress());
    var results = new ArrayList<Result>();
    results.add(Result.of(samples, "bare counter, 1 thread", "tokens/s"));
    for (int threads : THREADS) {
      results.add(
          Result.of(samples, tokens(threads), "tokens/s")
              .beside("CorfuDB's sequencer (its own figure)", CORFU));
    }
    findings.section("tokens of the sequencer", results);
    String most = tokens(THREADS.getLast());
    findings.atLeast(most + ", 1/s: at least 1,000,000", AIM, samples.median(most));
  }

  @FunctionalInterface
  private interface Ask {
    long next();
  }

  /// Serializes the questions, since a sequencer has one owner at a time.
  private static Ask inTurn(Ask ask) {
    var turn = new ReentrantLock();
    return () -> {
      turn.lock();
      try {
        return ask.next();
      } finally {
        turn.unlock();
      }
    };
  }

  private double rate(int threads, Ask ask) throws Exception {
    LogScale scale = context.sizes();
    var load = new Load(threads, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
    var seen =
        load.run((_, _) -> {
          long sum = 0;
          for (int i = 0; i < TURN; i++) sum += ask.next();
          if (sum == 0) throw new IllegalStateException("no token");
        });
    return seen.callsPerSecond() * TURN;
  }

  private static String tokens(int threads) {
    return "log tokens, %d thread%s".formatted(threads, threads == 1 ? "" : "s");
  }
}

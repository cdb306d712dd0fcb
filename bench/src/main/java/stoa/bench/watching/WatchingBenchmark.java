package stoa.bench.watching;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.bench.load.Counter;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.ServerJava;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;

/// Measures calls at a server whose metrics are read each second, and which records traces, beside
/// calls at a server that nobody watches.
public final class WatchingBenchmark implements Benchmark<WatchingScale> {
  private static final String MAIN = "stoa.cli.Main";
  private static final int CALLERS = 24;
  private static final int COUNTERS = 100;
  private static final double RATIO_MIN = 0.98;

  private static final String ALONE = "nobody watches";
  private static final String WATCHED = "metrics read each second, and traces";
  private static final String PROCESSOR = ", of a processor of the server";

  /// Makes the benchmark.
  public WatchingBenchmark() {}

  @Override
  public String name() {
    return "watching";
  }

  @Override
  public String description() {
    return "what metrics and traces cost the callers of a server";
  }

  @Override
  public WatchingScale full() {
    return WatchingScale.full();
  }

  @Override
  public WatchingScale smoke() {
    return WatchingScale.smoke();
  }

  private static BackgroundProcess server(Path data, String... further) throws Exception {
    var serving = new ArrayList<>(List.of("serve", "--data", data.toString()));
    serving.addAll(List.of("--listen", "127.0.0.1:0"));
    serving.addAll(List.of(further));
    return BackgroundProcess.java(MAIN, ServerJava.HEAP, serving);
  }

  @Override
  public Outcome run(Context<WatchingScale> context) throws Exception {
    var findings = new Findings(context.sizes(), WatchingScale.full());
    var samples = new Samples();
    // No call is sampled, so that nothing is ever sent to the collector.
    String[] watching = {"--http", "0", "--traces", "http://127.0.0.1:9"};
    try (var alone = server(context.folder().resolve("alone"));
        var watched = server(context.folder().resolve("watched"), watching);
        Stoa one = open(alone);
        Stoa other = open(watched)) {
      URI metrics = URI.create("http://" + watched.await("http on ") + "/metrics");
      var over = new CountDownLatch(1);
      Thread reader = Thread.ofVirtual().start(() -> read(metrics, over));
      var sides =
          List.of(
              new Side(ALONE, alone, counters(one)), new Side(WATCHED, watched, counters(other)));
      for (Side side : sides) side.call(context.scale().warmUp());
      for (int round = 1; round <= context.scale().rounds(); round++) {
        for (int window = 0; window < context.sizes().windows(); window++) {
          context.progress().accept("round %d, window %d".formatted(round, window + 1));
          for (Side side : window % 2 == 0 ? sides : sides.reversed()) {
            side.measure(context.scale().time(), samples);
          }
        }
      }
      over.countDown();
      reader.join();
    }
    findings.section(
        "durable increments of %d counters, %d callers".formatted(COUNTERS, CALLERS),
        List.of(
            Result.of(samples, ALONE, "calls/s"),
            Result.of(samples, WATCHED, "calls/s").beside(ALONE, samples.median(ALONE)),
            Result.of(samples, ALONE + PROCESSOR, "calls/s"),
            Result.of(samples, WATCHED + PROCESSOR, "calls/s")
                .beside(ALONE + PROCESSOR, samples.median(ALONE + PROCESSOR))));
    findings.atLeast(
        "watched ÷ not watched, at least %s".formatted(RATIO_MIN),
        RATIO_MIN,
        samples.medianRatio(WATCHED, ALONE));
    return findings.outcome();
  }

  private static Stoa open(BackgroundProcess server) throws InterruptedException {
    String address = server.await("listening on ");
    server.await("ready");
    return Stoa.open("stoa://" + address);
  }

  private static List<Counter> counters(Stoa stoa) {
    return IntStream.range(0, COUNTERS).mapToObj(i -> stoa.get(Counter.class, "c" + i)).toList();
  }

  /// Reads the metrics once a second, as Prometheus does at its quickest.
  private static void read(URI metrics, CountDownLatch over) {
    try (var client = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(metrics).build();
      do {
        var answer = client.send(request, HttpResponse.BodyHandlers.discarding());
        if (answer.statusCode() != 200) {
          throw new IllegalStateException(metrics + " answers " + answer.statusCode());
        }
      } while (!over.await(1, TimeUnit.SECONDS));
    } catch (IOException failed) {
      throw new IllegalStateException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// A server and its callers.
  private record Side(String name, BackgroundProcess server, List<Counter> counters) {
    void measure(Duration time, Samples samples) throws Exception {
      Duration before = server.processorTime();
      double calls = call(time);
      double processor = server.processorTime().minus(before).toNanos() / 1e9;
      samples.add(name, calls * 1e9 / time.toNanos());
      samples.add(name + PROCESSOR, calls / Math.max(processor, 1e-9));
    }

    /// Has all callers call for some time, and returns how often they did.
    long call(Duration time) throws Exception {
      long end = System.nanoTime() + time.toNanos();
      var calls = new LongAdder();
      Parallel.run(
          CALLERS,
          CALLERS,
          caller -> {
            for (int turn = caller; System.nanoTime() < end; turn++) {
              counters.get(turn % COUNTERS).add(1);
              calls.increment();
            }
          });
      return calls.sum();
    }
  }
}

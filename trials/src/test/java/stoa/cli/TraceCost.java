package stoa.cli;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.metrics.StoaMetrics;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.traces.StoaTraces;

/// Measures what metrics and traces cost, for docs/decisions/traces.md. Run it with a directory and
/// a number of rounds.
///
/// Each round takes every way of watching once, in turns that begin with another way each time. It
/// measures calls/s, and how much processor time of the process a call takes, which other work on
/// the machine changes less. The medians of the ratios to the unwatched store count.
final class TraceCost {
  private static final int CALLERS = 24;
  private static final long WARM_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  /// How a store is watched.
  private enum Way {
    UNWATCHED,
    METRICS_AND_NO_SPAN,
    METRICS_AND_UNSAMPLED_SPAN,
    METRICS_AND_ALL_SAMPLED
  }

  private TraceCost() {}

  /// The called object.
  @Shared(name = "cost.Traced")
  public static class Traced {
    private long value;

    /// Adds.
    public long add(long n) {
      return value += n;
    }

    /// Reads.
    @Accessor
    public long value() {
      return value;
    }
  }

  private interface Call {
    void run(Traced traced);
  }

  /// Runs the measurement.
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory(Path.of(arguments[0]), "traces");
    int rounds = Integer.parseInt(arguments[1]);
    Stoa store = new EmbeddedEngine().open(StoaConfig.of("file:" + directory));
    var service = ObjectService.of(store, _ -> true);
    try (Server server = Server.start(ServerConfig.of("127.0.0.1", 0), service);
        Stoa client = Stoa.open("stoa://127.0.0.1:" + server.port());
        Stoa memory = Stoa.open("memory:")) {
      compare(
          "increments over the network, " + CALLERS + " callers",
          rounds,
          way -> measured(way, server, client, CALLERS, traced -> traced.add(1)));
      compare(
          "increments in memory, 1 caller",
          rounds,
          way -> measured(way, null, memory, 1, traced -> traced.add(1)));
      compare(
          "accessors in memory, 1 caller",
          rounds,
          way -> measured(way, null, memory, 1, Traced::value));
    }
  }

  /// What calls took.
  ///
  /// @param perSecond calls/s
  /// @param perProcessorSecond calls in a second of processor time
  private record Rate(double perSecond, double perProcessorSecond) {}

  private interface Measuring {
    Rate rate(Way way) throws Exception;
  }

  private static void compare(String what, int rounds, Measuring measuring) throws Exception {
    Map<Way, List<Rate>> rates = new LinkedHashMap<>();
    for (Way way : Way.values()) {
      rates.put(way, new ArrayList<>());
      var _ = measuring.rate(way);
    }
    for (int round = 0; round < rounds; round++) {
      for (int turn = 0; turn < Way.values().length; turn++) {
        Way way = Way.values()[(round + turn) % Way.values().length];
        Objects.requireNonNull(rates.get(way)).add(measuring.rate(way));
      }
    }
    for (Way way : Way.values()) {
      tell(what + ", " + way + ", calls/s", rates, way, Rate::perSecond);
      tell(what + ", " + way + ", calls/s of a processor", rates, way, Rate::perProcessorSecond);
    }
  }

  private static void tell(
      String what, Map<Way, List<Rate>> rates, Way way, ToDoubleFunction<Rate> of) {
    var ratios = new ArrayList<Double>();
    var values = new ArrayList<Double>();
    List<Rate> mine = Objects.requireNonNull(rates.get(way));
    List<Rate> unwatched = Objects.requireNonNull(rates.get(Way.UNWATCHED));
    for (int i = 0; i < mine.size(); i++) {
      values.add(of.applyAsDouble(mine.get(i)));
      ratios.add(values.getLast() / of.applyAsDouble(unwatched.get(i)));
    }
    System.out.printf(
        "%s: %,.0f, ratio %.3f (%.3f to %.3f)%n",
        what, median(values), median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75));
  }

  private static double median(List<Double> values) {
    return quantile(values, 0.5);
  }

  private static double quantile(List<Double> values, double part) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return sorted[(int) (part * (sorted.length - 1))];
  }

  private static Rate measured(
      Way way, @Nullable Server server, Stoa client, int callers, Call call) throws Exception {
    if (way == Way.UNWATCHED) return rate(client, callers, call, Span.getInvalid());
    var sdk =
        OpenTelemetrySdk.builder().setTracerProvider(SdkTracerProvider.builder().build()).build();
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var over = new AtomicBoolean();
    try (var _ = StoaTraces.of(sdk).bindTo(client);
        var metrics = server == null ? StoaMetrics.of(client) : StoaMetrics.of(server::measure)) {
      if (server != null) server.trace(StoaTraces.of(sdk).tracer());
      metrics.bindTo(registry);
      var scraping =
          Thread.ofPlatform()
              .start(() -> {
                while (!over.get()) {
                  var _ = registry.scrape();
                  java.util.concurrent.locks.LockSupport.parkNanos(1_000_000_000L);
                }
              });
      Span span =
          switch (way) {
            case METRICS_AND_UNSAMPLED_SPAN -> Span.wrap(context(TraceFlags.getDefault()));
            case METRICS_AND_ALL_SAMPLED -> Span.wrap(context(TraceFlags.getSampled()));
            default -> Span.getInvalid();
          };
      Rate rate = rate(client, callers, call, span);
      over.set(true);
      java.util.concurrent.locks.LockSupport.unpark(scraping);
      scraping.join();
      return rate;
    } finally {
      if (server != null) server.trace(null);
      sdk.close();
      registry.close();
    }
  }

  private static SpanContext context(TraceFlags flags) {
    return SpanContext.create(
        "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", flags, TraceState.getDefault());
  }

  private static Rate rate(Stoa client, int callers, Call call, Span span) throws Exception {
    var counted = new LongAdder();
    var threads = new ArrayList<Thread>();
    long from = System.nanoTime() + WARM_NANOS;
    var processor = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var all = new LongAdder();
    long before = processor.getProcessCpuTime();
    for (int caller = 0; caller < callers; caller++) {
      Traced traced = client.get(Traced.class, "counter" + caller % 4);
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try (var _ = span.makeCurrent()) {
                  while (System.nanoTime() - from < 0) {
                    for (int i = 0; i < 16; i++) call.run(traced);
                    all.add(16);
                  }
                  while (System.nanoTime() - from < NANOS) {
                    for (int i = 0; i < 16; i++) call.run(traced);
                    counted.add(16);
                    all.add(16);
                  }
                }
              }));
    }
    for (Thread thread : threads) thread.join();
    long took = processor.getProcessCpuTime() - before;
    return new Rate(counted.sum() * 1e9 / NANOS, all.sum() * 1e9 / took);
  }
}

package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Durations;
import stoa.base.Latency;
import stoa.base.Measures;

/// The measures of a server over the last half hour, a sample every 5 seconds, so that a console
/// that is opened late shows how it came to this. Thread-safe.
final class Trends implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Trends.class);
  private static final int SAMPLES_MAX = 360;
  private static final Duration INTERVAL = Duration.ofSeconds(5);
  private static final int METHODS_MAX = 25;
  private static final double NANOS = 1e9;

  /// The values of a sample: counts for each second since the sample before, times in seconds.
  private enum Series {
    CALLS,
    CALL_P50,
    CALL_P99,
    BATCHES,
    BATCH_P50,
    BATCH_P99,
    ENTRIES,
    SYNCS,
    LOG_BYTES,
    CONFLICTS,
    TAKEN_BACK,
    ELECTIONS,
    UNDER_WAY,
    WAITING,
    SESSIONS,
    RESIDENT_BYTES,
    HEAP_BYTES,
    PROCESSOR,
    DISK_USED,
    DISK_FREE,
    LAG;

    /// Returns its name in JSON: `logBytes`.
    String text() {
      var text = new StringBuilder();
      for (String word : name().split("_", -1)) {
        boolean isFirst = text.isEmpty();
        text.append(isFirst ? Character.toLowerCase(word.charAt(0)) : word.charAt(0));
        text.append(word.substring(1).toLowerCase(java.util.Locale.ROOT));
      }
      return text.toString();
    }
  }

  private static final Map<String, Series> COUNTS =
      Map.of(
          "stoa.entries", Series.ENTRIES,
          "stoa.syncs", Series.SYNCS,
          "stoa.log", Series.LOG_BYTES,
          "stoa.conflicts", Series.CONFLICTS,
          "stoa.calls.taken.back", Series.TAKEN_BACK,
          "stoa.elections", Series.ELECTIONS);

  private static final Map<String, Series> GAUGES =
      Map.of(
          "stoa.requests.under.way", Series.UNDER_WAY,
          "stoa.requests.waiting", Series.WAITING,
          "stoa.sessions.connected", Series.SESSIONS,
          "stoa.resident", Series.RESIDENT_BYTES,
          "stoa.disk.used", Series.DISK_USED,
          "stoa.disk.free", Series.DISK_FREE,
          "stoa.replication.lag", Series.LAG);

  private record Method(String type, String method) {}

  private record Times(long count, long nanos, Latency latency) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Sample(long millis, double[] values) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Use(Method method, double perSecond, double mean, double[] quantiles) {}

  private final Consumer<Measures> source;
  private final Duration interval;
  private final ScheduledThreadPoolExecutor clock;

  // Guarded by this.
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();
  private Reading last = new Reading();
  private List<Use> methods = List.of();

  private Trends(Consumer<Measures> source, Duration interval) {
    this.source = source;
    this.interval = interval;
    clock =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("stoa-trends").factory());
  }

  /// Begins to read measures, every 5 seconds.
  static Trends begin(Consumer<Measures> source) {
    return begin(source, INTERVAL);
  }

  /// Begins to read measures.
  ///
  /// @param interval the time between two samples
  static Trends begin(Consumer<Measures> source, Duration interval) {
    var trends = new Trends(source, interval);
    source.accept(trends.last);
    long millis = interval.toMillis();
    var _ = trends.clock.scheduleAtFixedRate(trends::next, millis, millis, TimeUnit.MILLISECONDS);
    return trends;
  }

  /// All measures at a moment.
  private static final class Reading implements Measures {
    private final long nanos = System.nanoTime();
    private final Map<Series, Long> counts = new EnumMap<>(Series.class);
    private final EnumMap<Series, Double> gauges = new EnumMap<>(Series.class);
    private final Map<Method, Times> methods = new HashMap<>();
    private final SortedMap<Integer, Boolean> leads = new TreeMap<>();
    private final Durations calls = new Durations();
    private final Durations batches = new Durations();
    private long called;
    private long batched;

    @Override
    public void count(String name, String unit, String meaning, long total, String... tags) {
      Series series = COUNTS.get(name);
      if (series != null) counts.merge(series, total, Long::sum);
    }

    @Override
    public void gauge(String name, String unit, String meaning, double value, String... tags) {
      if (name.equals("stoa.group.leads")) {
        leads.put(Integer.parseInt(tag("group", tags)), value > 0);
      }
      Series series = GAUGES.get(name);
      if (series == null) return;
      gauges.merge(
          series,
          value,
          switch (series) {
            case LAG -> Math::max;
            case DISK_FREE -> Math::min; // the groups share a disk
            default -> Double::sum;
          });
    }

    @Override
    public void latency(String name, String meaning, Latency latency, String... tags) {
      if (name.equals("stoa.batches")) {
        batches.add(latency);
        batched += latency.count();
      }
      if (!name.equals("stoa.calls") || !"server".equals(tag("side", tags))) return;
      calls.add(latency);
      var times = new Times(latency.count(), latency.totalNanos(), latency);
      methods.put(new Method(tag("type", tags), tag("method", tags)), times);
      called += times.count;
    }

    private static String tag(String name, String... tags) {
      for (int i = 0; i < tags.length; i += 2) {
        if (tags[i].equals(name)) return tags[i + 1];
      }
      return "";
    }
  }

  private void next() {
    try {
      sample();
    } catch (RuntimeException failed) {
      LOG.debug("no measures now", failed); // a store that closes; the next sample may succeed
    }
  }

  /// Takes a sample now.
  synchronized void sample() {
    var now = new Reading();
    source.accept(now);
    double seconds = (now.nanos - last.nanos) / NANOS;
    var values = new EnumMap<Series, Double>(now.gauges);
    now.counts.forEach((series, total) -> {
      // It begins at 0 again when the leader of a group changes.
      long before = last.counts.getOrDefault(series, 0L);
      values.put(series, (total < before ? total : total - before) / seconds);
    });
    values.put(Series.CALLS, Math.max(0, now.called - last.called) / seconds);
    values.put(Series.CALL_P50, now.calls.quantileNanos(last.calls, 0.5) / NANOS);
    values.put(Series.CALL_P99, now.calls.quantileNanos(last.calls, 0.99) / NANOS);
    values.put(Series.BATCHES, Math.max(0, now.batched - last.batched) / seconds);
    values.put(Series.BATCH_P50, now.batches.quantileNanos(last.batches, 0.5) / NANOS);
    values.put(Series.BATCH_P99, now.batches.quantileNanos(last.batches, 0.99) / NANOS);
    Runtime runtime = Runtime.getRuntime();
    values.put(Series.HEAP_BYTES, (double) runtime.totalMemory() - runtime.freeMemory());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine) {
      double load = machine.getProcessCpuLoad();
      if (load >= 0) values.put(Series.PROCESSOR, load);
    }
    double[] row =
        Arrays.stream(Series.values())
            .mapToDouble(series -> values.getOrDefault(series, Double.NaN))
            .toArray();
    samples.addLast(new Sample(System.currentTimeMillis(), row));
    if (samples.size() > SAMPLES_MAX) samples.removeFirst();
    methods = used(now, seconds);
    last = now;
  }

  /// The methods whose calls took most of the time since the last sample.
  private List<Use> used(Reading now, double seconds) {
    var uses = new ArrayList<Use>();
    now.methods.forEach((method, times) -> {
      Times before = last.methods.get(method);
      long count = times.count - (before == null ? 0 : before.count);
      long nanos = times.nanos - (before == null ? 0 : before.nanos);
      if (count <= 0) return;
      double[] quantiles = times.latency.quantilesNanos(now.nanos, 0.5, 0.99);
      for (int i = 0; i < quantiles.length; i++) quantiles[i] /= NANOS;
      uses.add(new Use(method, count / seconds, nanos / NANOS / count, quantiles));
    });
    uses.sort(
        Comparator.comparingDouble((Use use) -> use.perSecond * Math.max(use.mean, 1e-9))
            .reversed());
    return uses.size() <= METHODS_MAX ? uses : List.copyOf(uses.subList(0, METHODS_MAX));
  }

  /// Returns the samples after a time, and the methods that were used since the last one.
  ///
  /// @param since in milliseconds since 1970
  synchronized JsonObject json(long since) {
    var names = new JsonArray();
    for (Series series : Series.values()) names.add(series.text());
    var rows = new JsonArray();
    for (Sample sample : samples) {
      if (sample.millis <= since) continue;
      var row = new JsonArray();
      row.add(sample.millis);
      for (double value : sample.values) add(row, value);
      rows.add(row);
    }
    var used = new JsonArray();
    for (Use use : methods) {
      var told = new JsonObject();
      told.addProperty("type", use.method.type);
      told.addProperty("method", use.method.method);
      told.addProperty("perSecond", rounded(use.perSecond));
      var times = new JsonArray();
      add(times, use.mean);
      for (double quantile : use.quantiles) add(times, quantile);
      told.add("seconds", times); // mean, p50, p99
      used.add(told);
    }
    var all = new JsonObject();
    all.addProperty("intervalMillis", interval.toMillis());
    all.addProperty("samplesMax", SAMPLES_MAX);
    if (!last.leads.isEmpty()) {
      var led = new JsonArray();
      last.leads.forEach((group, isLed) -> {
        if (isLed) led.add(group);
      });
      all.add("leads", led); // of a server that is one of several
    }
    all.add("series", names);
    all.add("samples", rows);
    all.add("methods", used);
    return all;
  }

  private static void add(JsonArray row, double value) {
    if (Double.isFinite(value)) row.add(rounded(value));
    else row.add(JsonNull.INSTANCE);
  }

  /// Four digits are more than a picture shows.
  private static double rounded(double value) {
    if (value == 0) return 0;
    return new java.math.BigDecimal(value).round(new java.math.MathContext(4)).doubleValue();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}

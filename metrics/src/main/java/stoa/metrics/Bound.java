package stoa.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Latency;
import stoa.base.Measures;

/// One source of measures in one registry. Thread-safe.
///
/// A source tells all measures at once, as many as there are at the moment. Each becomes a cell
/// with the last value, and each cell a meter that reads it. Reading any meter refreshes the cells,
/// when they are older than a second.
final class Bound {
  private static final Logger LOG = LoggerFactory.getLogger(Bound.class);
  private static final long AGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);
  private static final double[] QUANTILES = {0.5, 0.95, 0.99, 0.999};

  private final Consumer<Measures> source;
  private final Tags tags;
  private final MeterRegistry registry;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final Map<Id, Cell> cells = new HashMap<>();
  private boolean ended;

  private volatile long refreshedNanos;

  private record Id(String name, List<String> tags) {}

  private final class Cell {
    private final Meter.@Nullable Id meter;
    private volatile double value;
    private final @Nullable Latency latency;

    private Cell(@Nullable Latency latency, java.util.function.Function<Cell, Meter> making) {
      this.latency = latency;
      meter = making.apply(this).getId();
    }

    private double value() {
      look();
      return value;
    }

    private long count() {
      look();
      return latency == null ? 0 : latency.count();
    }

    private double totalNanos() {
      return latency == null ? 0 : (double) latency.totalNanos();
    }
  }

  Bound(Consumer<Measures> source, Tags tags, MeterRegistry registry) {
    this.source = source;
    this.tags = tags;
    this.registry = registry;
  }

  /// Refreshes the cells if they are old, and no other thread does so.
  private void look() {
    if (System.nanoTime() - refreshedNanos < AGE_NANOS_MAX) return;
    if (lock.isHeldByCurrentThread() || !lock.tryLock()) return;
    try {
      refresh();
    } finally {
      lock.unlock();
    }
  }

  void refresh() {
    lock.lock();
    try {
      if (ended) return;
      refreshedNanos = System.nanoTime();
      var taking = new Taking();
      try {
        source.accept(taking);
      } catch (RuntimeException closed) {
        // A store that is being closed: the last values stay.
        LOG.debug("nothing was measured", closed);
        return;
      }
      cells
          .entrySet()
          .removeIf(entry -> {
            if (taking.seen.contains(entry.getKey())) return false;
            remove(entry.getValue());
            return true;
          });
    } finally {
      lock.unlock();
    }
  }

  void end() {
    lock.lock();
    try {
      ended = true;
      cells.values().forEach(this::remove);
      cells.clear();
    } finally {
      lock.unlock();
    }
  }

  private void remove(Cell cell) {
    if (cell.meter != null) registry.remove(cell.meter);
  }

  /// Takes the measures of one moment; used by one thread, with lock held.
  private final class Taking implements Measures {
    private final Set<Id> seen = new HashSet<>();
    private final long now = System.nanoTime();

    @Override
    public void count(String name, String unit, String meaning, long total, String... own) {
      ToDoubleFunction<Cell> reading = Cell::value;
      cell(
                  name,
                  own,
                  null,
                  made ->
                      FunctionCounter.builder(name, made, reading)
                          .baseUnit(unit(unit))
                          .description(meaning)
                          .tags(tags.and(own))
                          .register(registry))
              .value =
          (double) total;
    }

    @Override
    public void gauge(String name, String unit, String meaning, double value, String... own) {
      cell(
                  name,
                  own,
                  null,
                  made ->
                      Gauge.builder(name, made, Cell::value)
                          .strongReference(true)
                          .baseUnit(unit(unit))
                          .description(meaning)
                          .tags(tags.and(own))
                          .register(registry))
              .value =
          value;
    }

    @Override
    public void latency(String name, String meaning, Latency latency, String... own) {
      var _ =
          cell(
              name,
              own,
              latency,
              made ->
                  FunctionTimer.builder(
                          name, made, Cell::count, Cell::totalNanos, TimeUnit.NANOSECONDS)
                      .description(meaning)
                      .tags(tags.and(own))
                      .register(registry));
      double[] found = latency.quantilesNanos(now, QUANTILES);
      for (int i = 0; i < found.length; i++) quantile(name, meaning, QUANTILES[i], found[i], own);
    }

    private void quantile(
        String name, String meaning, double quantile, double nanos, String... own) {
      String[] all = java.util.Arrays.copyOf(own, own.length + 2);
      all[own.length] = "quantile";
      all[own.length + 1] = Double.toString(quantile);
      cell(
                  name + ".quantile",
                  all,
                  null,
                  made ->
                      TimeGauge.builder(name + ".quantile", made, TimeUnit.NANOSECONDS, Cell::value)
                          .strongReference(true)
                          .description(meaning + " Quantiles of the last one to two minutes.")
                          .tags(tags.and(all))
                          .register(registry))
              .value =
          nanos;
    }

    private Cell cell(
        String name,
        String[] own,
        @Nullable Latency latency,
        java.util.function.Function<Cell, Meter> making) {
      var id = new Id(name, List.of(own));
      seen.add(id);
      return cells.computeIfAbsent(id, _ -> new Cell(latency, making));
    }

    private static @Nullable String unit(String unit) {
      return unit.isEmpty() ? null : unit;
    }
  }
}

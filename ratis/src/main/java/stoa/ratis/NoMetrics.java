package stoa.ratis;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.metrics.LongCounter;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.Timekeeper;
import org.apache.ratis.util.TimeDuration;

/// Turns Ratis' measurements of itself off: no one reads them, and its histograms cost about a
/// tenth of a command. Thread-safe. Ratis finds it with `ServiceLoader`.
public final class NoMetrics extends MetricRegistries {
  private static final Timekeeper NO_TIME = () -> () -> 0;
  private static final LongCounter NO_COUNT =
      new LongCounter() {
        @Override
        public void inc(long n) {}

        @Override
        public void dec(long n) {}

        @Override
        public long getCount() {
          return 0;
        }
      };

  private final Set<MetricRegistryInfo> created = ConcurrentHashMap.newKeySet();

  /// Creates it for `ServiceLoader`.
  public NoMetrics() {}

  /// Accepts all measurements of one thing and keeps none.
  private record Nothing(MetricRegistryInfo info) implements RatisMetricRegistry {
    @Override
    public Timekeeper timer(String name) {
      return NO_TIME;
    }

    @Override
    public LongCounter counter(String name) {
      return NO_COUNT;
    }

    @Override
    public boolean remove(String name) {
      return true;
    }

    @Override
    public <T> void gauge(String name, Supplier<Supplier<T>> gauge) {}

    @Override
    public MetricRegistryInfo getMetricRegistryInfo() {
      return info;
    }
  }

  @Override
  public void clear() {
    created.clear();
  }

  @Override
  public RatisMetricRegistry create(MetricRegistryInfo info) {
    created.add(info);
    return new Nothing(info);
  }

  @Override
  public boolean remove(MetricRegistryInfo info) {
    return created.remove(info);
  }

  @Override
  public Optional<RatisMetricRegistry> get(MetricRegistryInfo info) {
    return created.contains(info) ? Optional.of(new Nothing(info)) : Optional.empty();
  }

  @Override
  public Set<MetricRegistryInfo> getMetricRegistryInfos() {
    return Set.copyOf(created);
  }

  @Override
  public Collection<RatisMetricRegistry> getMetricRegistries() {
    return List.of();
  }

  @Override
  public void addReporterRegistration(
      Consumer<RatisMetricRegistry> report, Consumer<RatisMetricRegistry> stop) {}

  @Override
  public void enableJmxReporter() {}

  @Override
  public void enableConsoleReporter(TimeDuration rate) {}
}

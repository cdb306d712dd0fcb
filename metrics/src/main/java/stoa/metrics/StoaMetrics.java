package stoa.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import stoa.Stoa;
import stoa.base.Measures;
import stoa.front.SharedStoa;

/// The measures of a store in a Micrometer registry.
///
/// ```
/// var metrics = StoaMetrics.of(stoa);
/// metrics.bindTo(registry);
/// ```
///
/// The store counts without it, too; a registry costs nothing between two readings. A new meter,
/// such as that of a method that was called for the first time, joins the registry when any meter
/// of the store is read. Values are at most a second old. Thread-safe.
public final class StoaMetrics implements MeterBinder, AutoCloseable {
  private final Consumer<Measures> source;
  private final Tags tags;

  // Guarded by this.
  private final List<Bound> bound = new ArrayList<>();

  private StoaMetrics(Consumer<Measures> source, Tags tags) {
    this.source = source;
    this.tags = tags;
  }

  /// Returns the measures of a store that a program has open: embedded, or at a server.
  ///
  /// @throws IllegalArgumentException when another library made the store
  public static StoaMetrics of(Stoa stoa) {
    if (stoa instanceof SharedStoa shared) return of(shared::measure);
    throw new IllegalArgumentException(stoa + " is no store of Stoa.open");
  }

  /// Returns the measures of a part of Stoa that tells them, such as a server.
  public static StoaMetrics of(Consumer<Measures> source) {
    return new StoaMetrics(source, Tags.empty());
  }

  /// Returns these with further tags, by which a registry tells two stores apart.
  public StoaMetrics withTags(Iterable<Tag> further) {
    return new StoaMetrics(source, tags.and(further));
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var added = new Bound(source, tags, registry);
    synchronized (this) {
      bound.add(added);
    }
    added.refresh();
  }

  /// Brings the registries up to date now.
  public void refresh() {
    List<Bound> all;
    synchronized (this) {
      all = List.copyOf(bound);
    }
    all.forEach(Bound::refresh);
  }

  /// Removes the meters from the registries.
  @Override
  public void close() {
    List<Bound> all;
    synchronized (this) {
      all = List.copyOf(bound);
      bound.clear();
    }
    all.forEach(Bound::end);
  }
}

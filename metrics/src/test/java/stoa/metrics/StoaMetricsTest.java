package stoa.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.CallFailed;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TxOptions;
import stoa.base.Latency;
import stoa.base.Measures;

class StoaMetricsTest {
  @Shared(name = "metrics.Counter")
  static class Counter {
    private long value;

    public long add() {
      return ++value;
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    public int sink(int depth) {
      return sink(depth + 1) + 1;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  private final MeterRegistry registry = new SimpleMeterRegistry();

  /// Reads a measure after an action, with what is new.
  private double value(StoaMetrics metrics, String name, String... tags) {
    metrics.refresh();
    var found = registry.get(name).tags(tags).meter().measure().iterator();
    return found.next().getValue();
  }

  @Test
  void countsCallsByTypeAndMethodWithTheirTimes() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var metrics = StoaMetrics.of(stoa)) {
      metrics.bindTo(registry);
      Counter counter = stoa.get(Counter.class, "a");
      for (int i = 0; i < 40; i++) counter.add();
      assertEquals(40, counter.value());
      var later = stoa.async(counter, Counter::add);
      assertEquals(41, later.get(10, TimeUnit.SECONDS));
      metrics.refresh();
      var adds = registry.get("stoa.calls").tags("type", "metrics.Counter", "method", "add()");
      assertEquals(41, adds.functionTimer().count());
      assertTrue(adds.functionTimer().totalTime(TimeUnit.NANOSECONDS) > 0);
      assertTrue(
          registry
                  .get("stoa.calls.quantile")
                  .tags("method", "add()", "quantile", "0.99")
                  .timeGauge()
                  .value(TimeUnit.NANOSECONDS)
              > 0);
      assertEquals(1, value(metrics, "stoa.calls", "method", "value()", "side", "program"));
    }
  }

  @Test
  void countsBatchesSyncsAndBytesOfADirectory(@TempDir Path directory) {
    try (Stoa stoa = Stoa.open("file:" + directory);
        var metrics = StoaMetrics.of(stoa)) {
      metrics.bindTo(registry);
      double batches = value(metrics, "stoa.batches");
      double syncs = value(metrics, "stoa.syncs");
      double entries = value(metrics, "stoa.entries");
      double log = value(metrics, "stoa.log");
      stoa.get(Counter.class, "a").add();
      assertTrue(value(metrics, "stoa.batches") > batches);
      assertTrue(value(metrics, "stoa.syncs") > syncs);
      assertTrue(value(metrics, "stoa.entries") > entries);
      assertTrue(value(metrics, "stoa.log") > log);
      assertTrue(value(metrics, "stoa.entries.payload") > 0);
      assertTrue(value(metrics, "stoa.disk.used") > 0);
      assertTrue(value(metrics, "stoa.disk.free") > 0);
      assertEquals(0, value(metrics, "stoa.disk.failed"));
      assertEquals(0, value(metrics, "stoa.failed"));
    }
  }

  @Test
  void tellsWhichObjectTransactionsConflictOver() {
    try (Stoa stoa = Stoa.open("memory:");
        var metrics = StoaMetrics.of(stoa)) {
      metrics.bindTo(registry);
      Counter hot = stoa.get(Counter.class, "hot");
      Counter cold = stoa.get(Counter.class, "cold");
      hot.add();
      cold.add();
      var attempts = new AtomicLong();
      stoa.transact(() -> {
        long seen = hot.value();
        if (attempts.incrementAndGet() == 1) outside(hot::add);
        cold.add();
        return seen;
      });
      assertEquals(2, attempts.get());
      assertEquals(1, value(metrics, "stoa.transactions"));
      assertEquals(1, value(metrics, "stoa.transactions.lost"));
      assertEquals(1, value(metrics, "stoa.conflicts"));
      String object = "metrics.Counter[hot]";
      assertEquals(1, value(metrics, "stoa.conflicts.object", "object", object));
    }
  }

  /// Calls on another thread, and so outside of the transaction.
  private static void outside(Runnable call) {
    try {
      Thread.ofVirtual().start(call).join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void tellsWhatIsInMemoryAndWhatLeavesIt() {
    var limits = Limits.standard().withResidentBytesMax(1 << 20);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits));
        var metrics = StoaMetrics.of(stoa)) {
      metrics.bindTo(registry);
      double before = value(metrics, "stoa.resident");
      stoa.get(Counter.class, "first").add();
      assertTrue(value(metrics, "stoa.resident") > before);
      assertTrue(value(metrics, "stoa.objects.resident") >= 1);
      assertEquals(0, value(metrics, "stoa.objects.evicted"));
      for (int i = 0; i < 3_000; i++) stoa.get(Counter.class, i).add();
      assertTrue(value(metrics, "stoa.objects.evicted") > 0);
      assertTrue(value(metrics, "stoa.objects.loaded") > 3_000);
      assertTrue(value(metrics, "stoa.resident") <= value(metrics, "stoa.resident.limit"));
    }
  }

  @Test
  void countsWhatIsTakenBackAndPinned() {
    try (Stoa stoa = Stoa.open("memory:");
        var metrics = StoaMetrics.of(stoa)) {
      metrics.bindTo(registry);
      Counter counter = stoa.get(Counter.class, "a");
      counter.add();
      assertEquals(0, value(metrics, "stoa.pins"));
      try (var reading = stoa.begin(TxOptions.reading())) {
        assertEquals(1, value(metrics, "stoa.pins"), "" + reading);
      }
      assertEquals(0, value(metrics, "stoa.pins"));
      assertThrows(CallFailed.class, () -> counter.sink(0));
      assertEquals(1, value(metrics, "stoa.calls.taken.back"));
      assertEquals(0, value(metrics, "stoa.requests.waiting"));
      assertEquals(0, value(metrics, "stoa.requests.under.way"));
      assertEquals(0, value(metrics, "stoa.objects.quarantined"));
    }
  }

  @Test
  void addsAndRemovesMetersAsTheyComeAndGo() {
    var now = new AtomicLong(1);
    Consumer<Measures> source =
        out -> {
          long which = now.get();
          out.gauge("t.which", Measures.NO_UNIT, "Which.", (double) which, "which", "" + which);
          out.count("t.bytes", Measures.BYTES, "Bytes.", which);
          out.latency("t.took", "Time.", new Latency());
        };
    var metrics = StoaMetrics.of(source).withTags(Tags.of("store", "s"));
    metrics.bindTo(registry);
    assertEquals(1, value(metrics, "t.which", "which", "1", "store", "s"));
    assertEquals("bytes", registry.get("t.bytes").meter().getId().getBaseUnit());
    now.set(2);
    assertEquals(2, value(metrics, "t.which", "which", "2"));
    assertEquals(1, registry.find("t.which").meters().size());
    metrics.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void refusesAStoreOfAnotherLibrary() {
    Stoa other =
        (Stoa)
            java.lang.reflect.Proxy.newProxyInstance(
                Stoa.class.getClassLoader(),
                new Class<?>[] {Stoa.class},
                (_, method, _) -> method.getName().equals("toString") ? "another" : null);
    assertThrows(IllegalArgumentException.class, () -> StoaMetrics.of(other));
  }
}

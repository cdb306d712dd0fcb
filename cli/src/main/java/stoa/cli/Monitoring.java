package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import stoa.base.Measures;
import stoa.metrics.StoaMetrics;
import stoa.node.HttpDoor;
import stoa.node.Server;

/// The HTTP endpoint of a server, which reports its metrics, and whether the server lives and is
/// ready; beside that it answers what others add. Thread-safe.
final class Monitoring implements AutoCloseable {
  private static final String METRICS = "text/plain; version=0.0.4";
  private static final int UNAVAILABLE = 503;
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final long AGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final Server server;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final StoaMetrics metrics;
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final HttpDoor door;

  // Why it was not ready, and when that was asked: however many ask, the store is asked once a
  // second. Guarded by this.
  private List<String> reasons = List.of();
  private long askedNanos = System.nanoTime() - AGE_NANOS_MAX;

  private Monitoring(
      HttpDoor.Config config,
      Server server,
      Consumer<Measures> source,
      Map<String, HttpDoor.Route> more)
      throws IOException {
    this.server = server;
    metrics = StoaMetrics.of(source);
    var routes = new HashMap<>(more);
    routes.put("/metrics", _ -> metrics());
    routes.put("/health/live", open(this::live));
    routes.put("/health/ready", open(this::ready));
    door = HttpDoor.open(config, server.access(), routes);
    metrics.bindTo(registry);
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    collections.bindTo(registry);
  }

  /// Begins to tell.
  ///
  /// @param source tells the measures of the server
  /// @param more further routes by path
  /// @throws IOException when the address is not available, or the certificate cannot be read
  static Monitoring open(
      HttpDoor.Config config,
      Server server,
      Consumer<Measures> source,
      Map<String, HttpDoor.Route> more)
      throws IOException {
    return new Monitoring(config, server, source, more);
  }

  private static HttpDoor.Route open(HttpDoor.Route route) {
    return new HttpDoor.Route() {
      @Override
      public HttpDoor.Reply reply(HttpDoor.HttpRequest asked) throws Exception {
        return route.reply(asked);
      }

      @Override
      public boolean isOpen() {
        return true;
      }
    };
  }

  /// Returns the port that it listens on.
  int port() {
    return door.port();
  }

  private HttpDoor.Reply metrics() {
    metrics.refresh();
    return HttpDoor.Reply.text(200, METRICS, registry.scrape());
  }

  private HttpDoor.Reply live(HttpDoor.HttpRequest asked) {
    Throwable broken = server.broken();
    List<String> why = broken == null ? List.of() : List.of(String.valueOf(broken.getMessage()));
    return told("live", "broken", why, List.of(), asked);
  }

  private HttpDoor.Reply ready(HttpDoor.HttpRequest asked) {
    List<String> warnings = asked.isTrusted() ? server.warnings() : List.of();
    return told("ready", "unready", unready(), warnings, asked);
  }

  private synchronized List<String> unready() {
    if (System.nanoTime() - askedNanos >= AGE_NANOS_MAX) {
      reasons = server.unready(PATIENCE);
      askedNanos = System.nanoTime();
    }
    return reasons;
  }

  /// Strangers learn whether, and not why.
  private static HttpDoor.Reply told(
      String good,
      String bad,
      List<String> why,
      List<String> warnings,
      HttpDoor.HttpRequest asked) {
    var body = new JsonObject();
    body.addProperty("status", why.isEmpty() ? good : bad);
    if (asked.isTrusted()) {
      add(body, "reasons", why);
      add(body, "warnings", warnings);
    }
    int status = why.isEmpty() ? 200 : UNAVAILABLE;
    return HttpDoor.Reply.text(status, "application/json", body + "\n");
  }

  private static void add(JsonObject body, String name, List<String> words) {
    if (words.isEmpty()) return;
    var all = new JsonArray();
    words.forEach(all::add);
    body.add(name, all);
  }

  @Override
  public void close() {
    door.close();
    metrics.close();
    collections.close();
    registry.close();
  }
}

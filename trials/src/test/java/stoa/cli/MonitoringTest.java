package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.ConnectionSecurity;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.base.Clock;
import stoa.metrics.StoaMetrics;
import stoa.node.HttpDoor;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.programs.ChildProcess;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// The answers of a server to the HTTP requests of Prometheus and a supervisor.
class MonitoringTest {
  @Shared(name = "monitoring.Counter")
  static class Counter {
    private long value;

    public long add() {
      return ++value;
    }
  }

  private static final Pattern HELP = Pattern.compile("# HELP (stoa_\\w+) (.*)");
  private static final Pattern ROW = Pattern.compile("\\| `(stoa_\\w+)` \\| [^|]* \\| ([^|]*) \\|");

  private final HttpClient client = HttpClient.newHttpClient();
  private final SimulatedDisk disk = new SimulatedDisk(1);

  private Server serve(List<String> tokens) throws IOException {
    Stoa store =
        EmbeddedEngine.open(StoaConfig.of("memory:"), disk, Clock.system(), Threads.real());
    var config = ServerConfig.of("127.0.0.1", 0).withTokens(tokens);
    return Server.start(config, ObjectService.of(store, _ -> true));
  }

  private static Monitoring open(Server server) throws IOException {
    var config = HttpDoor.Config.plain("127.0.0.1", 0);
    return Monitoring.open(config, server, server::measure, Map.of());
  }

  private HttpResponse<String> ask(String address, String path, String... headers)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create("http://" + address + path));
    if (headers.length > 0) request.headers(headers);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String address(Monitoring monitoring) {
    return "127.0.0.1:" + monitoring.port();
  }

  private static JsonObject json(HttpResponse<String> answer) {
    return JsonParser.parseString(answer.body()).getAsJsonObject();
  }

  /// Waits until a server answers so; each question that it answers takes its time.
  private HttpResponse<String> await(String address, int status) throws Exception {
    while (true) {
      var answer = ask(address, "/health/ready");
      if (answer.statusCode() == status) return answer;
    }
  }

  @Test
  void tellsPrometheusOfCallsOfClients() throws Exception {
    try (Server server = serve(List.of());
        Monitoring monitoring = open(server);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      Counter counter = stoa.get(Counter.class, "a");
      for (int i = 0; i < 5; i++) counter.add();
      var answer = ask(address(monitoring), "/metrics");
      assertEquals(200, answer.statusCode());
      String calls =
          "stoa_calls_seconds_count{method=\"add()\",side=\"server\",type=\"monitoring.Counter\"}"
              + " 5";
      assertTrue(answer.body().contains(calls), answer.body());
      assertTrue(answer.body().contains("stoa_sessions{group=\"0\"} 1"), answer.body());
      assertTrue(answer.body().contains("stoa_sessions_connected{group=\"0\"} 1"));
      assertTrue(answer.body().contains("jvm_memory_used_bytes{area=\"heap\""));
      assertTrue(answer.body().contains("jvm_buffer_memory_used_bytes{id=\"direct\"}"));
    }
  }

  @Test
  void isNotReadyWhenTheDiskHasFailed() throws Exception {
    var security = ConnectionSecurity.none().withToken("token");
    try (Server server = serve(List.of("token"));
        Monitoring monitoring = open(server);
        Stoa stoa =
            Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()).withSecurity(security))) {
      Counter counter = stoa.get(Counter.class, "a");
      counter.add();
      var ready = ask(address(monitoring), "/health/ready");
      assertEquals(200, ready.statusCode());
      assertEquals("{\"status\":\"ready\"}\n", ready.body());
      assertEquals(200, ask(address(monitoring), "/health/live").statusCode());
      disk.failSync(0);
      assertThrows(StoaException.class, counter::add);
      var unready = await(address(monitoring), 503);
      assertEquals("{\"status\":\"unready\"}\n", unready.body());
      var told = ask(address(monitoring), "/health/ready", "Authorization", "Bearer token");
      String reason = json(told).getAsJsonArray("reasons").get(0).getAsString();
      assertTrue(reason.contains("a write or sync failed"), reason);
      server.awaitClosed();
      var live = ask(address(monitoring), "/health/live", "Authorization", "Bearer token");
      assertEquals(503, live.statusCode());
      assertEquals("broken", json(live).get("status").getAsString());
      assertEquals(401, ask(address(monitoring), "/metrics").statusCode());
      var metrics = ask(address(monitoring), "/metrics", "Authorization", "Bearer token");
      assertTrue(metrics.body().contains("stoa_disk_failed{group=\"0\"} 1"), metrics.body());
    }
  }

  @Test
  void isNotReadyWithoutAMajorityAndThePageListsAllMeasures(@TempDir Path directory)
      throws Exception {
    List<String> first = List.of("--replicated", "--groups", "1", "--http", "0", "--log", "json");
    var told = new TreeMap<String, String>();
    try (var one = ServerProcess.start(directory.resolve("1"), first)) {
      var joining = new ArrayList<>(one.joining());
      joining.addAll(List.of("--http", "0"));
      try (var two = ServerProcess.start(directory.resolve("2"), joining);
          Stoa stoa = Stoa.open(one.url())) {
        for (int i = 0; i < 3; i++) stoa.get(Blob.class, "b").write(i, new byte[1]);
        conflict(stoa);
        await(one.http(), 200);
        await(two.http(), 200);
        String metrics;
        do {
          metrics = ask(one.http(), "/metrics").body() + ask(two.http(), "/metrics").body();
        } while (!isComplete(metrics));
        collect(metrics, told);
        awaitMembers(one);
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        StoaMetrics.of(stoa).bindTo(registry);
        collect(registry.scrape(), told);
        two.kill();
        await(one.http(), 503);
        assertEquals(200, ask(one.http(), "/health/live").statusCode());
      }
    }
    String page = Files.readString(Path.of("../docs/guide/monitoring.md"));
    var listed = new TreeMap<String, String>();
    ROW.matcher(page).results().forEach(row -> listed.put(row.group(1), row.group(2).strip()));
    assertEquals(lines(told), lines(listed));
  }

  /// Waits until both servers are members. A step counts when it begins, and the loss of a server
  /// that is no member yet takes no majority away.
  private static void awaitMembers(ServerProcess server) {
    var operator = new Operator(server.address(), null, null, "--server");
    var question = StatusRequest.getDefaultInstance();
    long members = 0;
    while (members < 2) {
      StatusReply status = operator.askItself(asked -> asked.status(question));
      members =
          status.getServersList().stream()
              .flatMap(one -> one.getGroupsList().stream())
              .filter(member -> member.getMove().isEmpty())
              .count();
    }
  }

  /// Has a transaction lose to another call, so that there is an object to be told.
  private static void conflict(Stoa stoa) throws InterruptedException {
    SharedMap<String, Integer> map = stoa.map("m", String.class, Integer.class);
    map.put("a", 1);
    var lost = new boolean[1];
    stoa.transact(() -> {
      int seen = map.get("a");
      if (!lost[0]) {
        lost[0] = true;
        Thread.ofVirtual().start(() -> map.put("a", 2)).join();
      }
      map.put("a", seen + 1);
      return seen;
    });
    assertEquals(3, map.get("a"));
  }

  /// Whether there is all that comes when the second server has become a member.
  private static boolean isComplete(String metrics) {
    return metrics.contains("stoa_moves_total{step=\"add\"}")
        && metrics.contains("stoa_replica_compared")
        && metrics.contains("stoa_servers{state=\"here\"} 2");
  }

  private static void collect(String scraped, Map<String, String> into) {
    HELP.matcher(scraped).results().forEach(help -> into.put(help.group(1), help.group(2)));
  }

  private static String lines(Map<String, String> named) {
    var text = new StringBuilder();
    named.forEach((name, meaning) -> text.append(name).append(" | ").append(meaning).append('\n'));
    return text.toString();
  }

  @Test
  void logsJsonLinesWhenAsked(@TempDir Path directory) throws Exception {
    var command =
        ChildProcess.command(
            List.of(),
            Main.class.getName(),
            List.of(),
            ChildProcess.classPath(),
            List.of(
                "serve",
                "--data",
                directory.resolve("data").toString(),
                "--listen",
                "127.0.0.1:0",
                "--replicated",
                "--groups",
                "1",
                "--log",
                "json"));
    var starting = new ProcessBuilder(command);
    starting.environment().remove("JAVA_TOOL_OPTIONS"); // of which Java tells
    Process process = starting.start();
    try (var log = process.errorReader();
        var _ = process.inputReader()) {
      String line = log.readLine();
      var fields = JsonParser.parseString(line).getAsJsonObject();
      assertEquals("INFO", fields.get("level").getAsString(), line);
      assertTrue(fields.get("logger").getAsString().startsWith("stoa.cluster."), line);
      assertTrue(fields.has("time") && fields.has("thread") && fields.has("message"), line);
    } finally {
      process.destroy();
      process.waitFor();
    }
  }
}

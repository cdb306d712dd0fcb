package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.node.HttpDoor;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// The night of docs/guide/operations.md: each trouble is found with what operators have, and
/// settled. Those of several servers are in `NightClusterTest` of `trials`.
class NightTest {
  private static final String METER =
      "@Shared(name = \"night.Meter\") public class Meter { private long total;"
          + " public long add(long n) { long was = total; total += n; return total - was; }"
          + " public void endless() { while (true) total++; }"
          + " @Accessor public byte[] page(int bytes) { return new byte[bytes]; }"
          + " @Accessor public long total() { return total; } }";

  private static final String WRONG = METER.replace("total += n;", "total += 2 * n;");

  /// A page of bytes.
  @Shared(name = "night.Page")
  static class Page {
    private byte[] bytes = {};

    public int write(byte[] newBytes) {
      bytes = newBytes;
      return bytes.length;
    }
  }

  @TempDir private static Path directory;

  private static Build meters;
  private static ServerProcess server;
  private static HttpClient http;
  private static ExecutorService threads;

  @BeforeAll
  static void serve() throws IOException {
    meters = new Build(directory.resolve("right"), METER);
    server =
        ServerProcess.start(
            directory.resolve("data"), List.of("--http", "0", "--classpath", meters.path()));
    http = HttpClient.newHttpClient();
    threads = Executors.newVirtualThreadPerTaskExecutor();
  }

  @AfterAll
  static void close() {
    threads.close();
    http.close();
    server.close();
  }

  // ---- what operators have

  private static String run(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private static String stoa(String... arguments) {
    var all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--server", server.address()));
    return run(0, all.toArray(String[]::new));
  }

  private static JsonObject json(String... arguments) {
    var all = new ArrayList<>(List.of(arguments));
    all.add("--json");
    return JsonParser.parseString(stoa(all.toArray(String[]::new))).getAsJsonObject();
  }

  private static JsonObject top() {
    return json("top", "--once", "--seconds", "0.3");
  }

  private static JsonArray calls() {
    return top().getAsJsonArray("calls");
  }

  private static double metric(String name) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://" + server.http() + "/metrics"));
    String all = http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
    return all.lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .max()
        .orElseThrow();
  }

  /// Runs a task on a thread of its own.
  private static CompletableFuture<Object> started(Supplier<Object> task) {
    return CompletableFuture.supplyAsync(task, threads);
  }

  private interface Look {
    boolean sees() throws Exception;
  }

  /// Looks until it sees something; each look takes the time of a command.
  private static void await(Look look) throws Exception {
    while (!look.sees()) Thread.onSpinWait();
  }

  /// Returns the message of a task that failed, or a text that it did not.
  private static String told(CompletableFuture<Object> task) {
    try {
      return "session kept: " + task.join();
    } catch (CompletionException failed) {
      return String.valueOf(failed.getCause());
    }
  }

  private static JsonObject first(JsonArray all, String name, String value) {
    for (JsonElement one : all) {
      JsonElement found = one.getAsJsonObject().get(name);
      if (found != null && found.getAsString().equals(value)) return one.getAsJsonObject();
    }
    throw new AssertionError("no " + name + " is " + value + " in " + all);
  }

  // ---- a hot object

  /// Calls from eight threads, until told to stop.
  private static List<CompletableFuture<Object>> busy(
      IntFunction<Object> meter, AtomicBoolean over) {
    var all = new ArrayList<CompletableFuture<Object>>();
    for (int caller = 0; caller < 8; caller++) {
      Object mine = meter.apply(caller);
      all.add(
          started(() -> {
            while (!over.get()) Build.call(mine, "add", 1L);
            return null;
          }));
    }
    return all;
  }

  private static double changes(JsonObject top, String prefix) {
    double most = 0;
    for (JsonElement one : top.getAsJsonArray("objects")) {
      if (!one.getAsJsonObject().get("object").getAsString().startsWith(prefix)) continue;
      most = Math.max(most, one.getAsJsonObject().get("changesPerSecond").getAsDouble());
    }
    return most;
  }

  @Test
  void aHotObject() {
    meters.client(
        server.url(),
        client -> {
          var over = new AtomicBoolean();
          var callers = busy(_ -> meters.object(client, "Meter", "hot"), over);
          JsonObject top;
          do {
            top = top();
          } while (changes(top, "night.Meter[hot]") == 0);
          JsonObject hottest = top.getAsJsonArray("objects").get(0).getAsJsonObject();
          assertEquals("night.Meter[hot]", hottest.get("object").getAsString());
          // The call names its session, and the address of the client.
          JsonObject history =
              json("history", "night.Meter", "hot", "--newest-first", "--max", "1");
          String session =
              history.getAsJsonArray("entries").get(0).getAsJsonObject().get("session").toString();
          JsonObject status = json("status");
          JsonObject caller = first(status.getAsJsonArray("sessions"), "session", session);
          assertTrue(caller.get("peer").getAsString().contains("127.0.0.1:"), caller::toString);
          over.set(true);
          callers.forEach(CompletableFuture::join);
          // Its program divides the object; each part changes less than the whole did.
          over.set(false);
          callers = busy(part -> meters.object(client, "Meter", "part" + part), over);
          double sum;
          do {
            top = top();
            sum = 0;
            for (int part = 0; part < 8; part++) sum += changes(top, "night.Meter[part" + part);
          } while (sum == 0 || changes(top, "night.Meter[part") > sum / 2);
          over.set(true);
          callers.forEach(CompletableFuture::join);
          return null;
        });
  }

  // ---- an endless call

  @Test
  void anEndlessCall() throws Exception {
    double before = metric("stoa_calls_taken_back_total");
    meters.client(
        server.url(),
        client -> {
          Object meter = meters.object(client, "Meter", "stuck");
          assertEquals(1L, Build.call(meter, "add", 1L));
          var endless = started(() -> Build.call(meter, "endless"));
          while (calls().isEmpty()) Thread.onSpinWait();
          var behind = started(() -> Build.call(meter, "add", 1L));
          while (calls().size() < 2) Thread.onSpinWait();
          JsonArray calls = calls();
          JsonObject runs = first(calls, "method", "endless()");
          assertEquals("night.Meter[stuck]", runs.get("object").getAsString());
          assertTrue(runs.get("running").getAsBoolean());
          String id = runs.get("call").getAsString();
          String why = first(calls, "method", "add(long)").get("why").getAsString();
          assertTrue(why.startsWith("waits behind call " + id + ", endless()"), why);
          stoa("cancel", id);
          assertThrows(RuntimeException.class, endless::join);
          assertEquals(1L, behind.join());
          assertEquals(0, calls().size());
          return null;
        });
    assertTrue(metric("stoa_calls_taken_back_total") > before);
  }

  // ---- a slow client

  @Test
  void aSlowClient() throws Exception {
    try (var relay = new StallingRelay(server.port())) {
      meters.client(
          relay.url(),
          client -> {
            Object meter = meters.object(client, "Meter", "read");
            assertTrue(Build.call(meter, "page", 0) instanceof byte[]);
            try {
              relay.stall(true);
              var pages = new ArrayList<CompletableFuture<Object>>();
              for (int i = 0; i < 10; i++) {
                pages.add(started(() -> Build.call(meter, "page", 1_000_000)));
              }
              await(() -> !top().getAsJsonArray("slowClients").isEmpty());
              JsonObject slow = top().getAsJsonArray("slowClients").get(0).getAsJsonObject();
              assertTrue(slow.get("unreadBytes").getAsLong() >= 1_000_000, slow::toString);
              String peer = slow.get("client").getAsString();
              assertTrue(peer.contains("127.0.0.1:"), peer);
              assertTrue(stoa("status").contains(peer));
              assertTrue(metric("stoa_sessions_unread_bytes") >= 1_000_000);
              // Its program reads again.
              relay.stall(false);
              for (var page : pages) assertEquals(1_000_000, ((byte[]) page.join()).length);
              await(() -> top().getAsJsonArray("slowClients").isEmpty());
              // Another time it does not, and an operator ends its session.
              relay.stall(true);
              var unread = started(() -> Build.call(meter, "page", 2_000_000));
              await(() -> !top().getAsJsonArray("slowClients").isEmpty());
              slow = top().getAsJsonArray("slowClients").get(0).getAsJsonObject();
              String session = slow.get("session").getAsString();
              String group = slow.get("group").getAsString();
              assertEquals(
                  "session " + session + " has ended\n",
                  stoa("end-session", session, "--group", group));
              await(() -> top().getAsJsonArray("slowClients").isEmpty());
              assertTrue(stoa("audit").contains("end session " + session));
              // When its program runs again, it has another session. The client makes a question
              // again that it sent in the old one.
              relay.stall(false);
              assertTrue(told(unread).contains("session"), told(unread));
              assertTrue(Build.call(meter, "page", 0) instanceof byte[]);
              assertEquals(1L, Build.call(meter, "add", 1L));
              run(1, "end-session", session, "--server", server.address());
              return null;
            } catch (RuntimeException passedOn) {
              throw passedOn;
            } catch (Exception failed) {
              throw new IllegalStateException(failed);
            }
          });
    }
  }

  // ---- a wrong deploy

  @Test
  void aWrongDeploy() throws Exception {
    Build wrong = new Build(directory.resolve("wrong"), WRONG);
    meters.client(
        server.url(),
        client -> {
          Object meter = meters.object(client, "Meter", "deployed");
          assertEquals(5L, Build.call(meter, "add", 5L));
          // It was to be seen before: the check executes the last calls once more.
          String check = stoa("check", "--classpath", wrong.path());
          assertTrue(check.contains("come to something else"), check);
          stoa("deploy", wrong.path());
          assertEquals(10L, Build.call(meter, "add", 5L));
          String versions = stoa("deploy", "--list");
          assertTrue(versions.contains("night.Meter"), versions);
          String history = stoa("history", "night.Meter", "deployed", "--results");
          assertTrue(history.contains("add(5) = 5"), history);
          assertTrue(history.contains("add(5) = 10"), history);
          String audit = stoa("audit", "--max", "20");
          assertTrue(audit.contains("deploy night.Meter"), audit);
          stoa("deploy", "--rollback", "night.Meter");
          assertEquals(5L, Build.call(meter, "add", 5L));
          return null;
        });
  }

  // ---- a filling disk, and a quota

  private static void full(Stoa client) {
    Page page = client.get(Page.class, "a");
    for (int i = 0; ; i++) {
      try {
        page.write(new byte[50_000]);
      } catch (Unavailable full) {
        assertTrue(i > 50, "after " + i + " writes");
        assertTrue(String.valueOf(full.getMessage()).contains("nothing was logged"));
        return;
      }
    }
  }

  /// Returns whether a server says that it is ready, and what it warns of.
  private static String ready(Server own) throws Exception {
    var config = HttpDoor.Config.plain("127.0.0.1", 0);
    try (var door = Monitoring.open(config, own, own::measure, Map.of())) {
      var asked =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + door.port() + "/health/ready"));
      var answer = http.send(asked.build(), HttpResponse.BodyHandlers.ofString());
      assertEquals(200, answer.statusCode());
      return answer.body();
    }
  }

  @Test
  void aFillingDiskAndAQuota() throws Exception {
    var disk = new SimulatedDisk(1);
    disk.limit(24L << 20);
    Stoa store =
        EmbeddedEngine.open(StoaConfig.of("file:simulated"), disk, Clock.system(), Threads.real());
    var service = ObjectService.of(store, _ -> true);
    try (Server own = Server.start(ServerConfig.of("127.0.0.1", 0), service);
        Stoa client = Stoa.open("stoa://127.0.0.1:" + own.port())) {
      String at = "127.0.0.1:" + own.port();
      Page page = client.get(Page.class, "a");
      full(client);
      String status = run(0, "status", "--server", at);
      assertTrue(status.contains(" used, ") && status.contains(" free"), status);
      // What takes the room: the objects, and how much of their past is kept.
      assertTrue(run(0, "objects", "--server", at).contains("night.Page"));
      assertTrue(run(0, "keep", "--server", at).startsWith("all\n"));
      assertEquals(
          "1 object trimmed\n", run(0, "trim", "night.Page", "--versions", "5", "--server", at));
      for (int i = 0; i < 20; i++) assertEquals(50_000, page.write(new byte[50_000]));
      long newest = client.history(page).version();
      assertTrue(client.history(page).oldest() > newest / 2);
      run(0, "keep", "versions=10", "--server", at);
      for (int i = 0; i < 500; i++) assertEquals(50_000, page.write(new byte[50_000]));

      // A quota refuses before the disk does, and names itself.
      String rules = run(0, "keep", "all", "disk=16MB", "--server", at);
      assertEquals("all\nstoa.Stream=all\ndisk=16MB\n", rules);
      full(client);
      // Other rules leave the quota, and it leaves them.
      assertEquals(
          "versions=1000\nstoa.Stream=versions=1000\ndisk=16MB\n",
          run(0, "keep", "versions=1000", "--server", at));
      String refused =
          String.valueOf(
              assertThrows(Unavailable.class, () -> page.write(new byte[50_000])).getMessage());
      assertTrue(refused.contains("its quota of 16,000,000 bytes"), refused);
      assertTrue(refused.contains("./stoa keep"), refused);
      status = run(0, "status", "--server", at);
      assertTrue(status.contains("of a quota of "), status);
      assertTrue(status.contains("its quota of 16,000,000 bytes refuses changes at "), status);
      assertTrue(ready(own).contains("its quota of 16,000,000 bytes refuses changes at "));
      run(0, "trim", "night.Page", "a", "--server", at);
      assertEquals(50_000, page.write(new byte[50_000]));
      full(client);
      assertEquals(
          "versions=1000\nstoa.Stream=versions=1000\ndisk=20MB\n",
          run(0, "keep", "disk=20MB", "--server", at));
      assertEquals(50_000, page.write(new byte[50_000]));
      assertEquals(
          "versions=1000\nstoa.Stream=versions=1000\n",
          run(0, "keep", "disk=none", "--server", at));
      assertTrue(client.delete(page));
    }
  }
}

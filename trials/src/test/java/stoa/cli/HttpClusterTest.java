package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.access.Proof;

/// The HTTP endpoints of two servers that keep one store in three groups.
class HttpClusterTest {
  private static final String TOKEN = "a-long-word-of-this-test";

  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.close();
  }

  private HttpResponse<String> send(
      ServerProcess server, String method, String path, String body, String... headers)
      throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://" + server.http() + "/v1/" + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .header("Content-Type", "application/json");
    if (headers.length > 0) request.headers(headers);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /// Sends a request again and again while its server answers that it has done nothing, as one does
  /// while a group changes its leader.
  private HttpResponse<String> sendUntilDone(
      ServerProcess server, String method, String path, String body, String... headers)
      throws Exception {
    while (true) {
      var answer = send(server, method, path, body, headers);
      if (answer.statusCode() != HttpURLConnection.HTTP_UNAVAILABLE) return answer;
    }
  }

  /// The answers that the callers of an account have got.
  ///
  /// @param done deposits that were answered
  /// @param open deposits of which nobody knows whether they were made
  private record Told(AtomicInteger done, AtomicInteger open) {
    Told() {
      this(new AtomicInteger(), new AtomicInteger());
    }
  }

  /// Deposits 1 by one of several servers, by the next one while one does not answer.
  ///
  /// @param key the `Idempotency-Key`, with which it repeats the request until it is answered;
  ///   empty for none
  private void deposit(List<ServerProcess> servers, String account, String key, Told told)
      throws Exception {
    String path = "objects/shop.Account/" + account + "/call/deposit";
    String[] headers = key.isEmpty() ? new String[0] : new String[] {"Idempotency-Key", key};
    for (int i = 0; ; i++) {
      ServerProcess server = servers.get(i % servers.size());
      try {
        var answer = send(server, "POST", path, "[1]", headers);
        if (answer.statusCode() == 200) {
          told.done.incrementAndGet();
          return;
        }
        var problem = JsonParser.parseString(answer.body()).getAsJsonObject();
        String title = problem.get("title").getAsString();
        assertEquals(answer.statusCode(), problem.get("status").getAsInt());
        assertTrue(
            Set.of("Unavailable", "UnknownOutcome", "DeadlineExceeded", "Closed").contains(title),
            answer.body());
        if (!title.equals("UnknownOutcome")) continue; // nothing was changed
      } catch (IOException gone) {
        // Without an answer, a request without a key must not be repeated.
      }
      if (!key.isEmpty()) continue;
      told.open.incrementAndGet();
      return;
    }
  }

  @Tag("long")
  @Test
  void aLeaderDiesAmidCallsAndEachWithAKeyIsMadeOnce(@TempDir Path directory) throws Exception {
    List<String> door = List.of("--http", "0");
    var first = new ArrayList<>(List.of("--replicated", "--groups", "1"));
    first.addAll(door);
    // It begins the group alone, so it leads.
    try (var one = ServerProcess.start(directory.resolve("1"), first)) {
      var joining = new ArrayList<>(one.joining());
      joining.addAll(door);
      try (var two = ServerProcess.start(directory.resolve("2"), joining);
          var three = ServerProcess.start(directory.resolve("3"), joining);
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        PlacementWait.await(one.address(), 3);
        try (Stoa stoa = Stoa.open(one.url())) { // brings the code
          stoa.get(HttpShop.Account.class, "keyed").deposit(0);
          stoa.get(HttpShop.Account.class, "plain").deposit(0);
        }
        var keyed = new Told();
        var plain = new Told();
        var before = new CountDownLatch(4);
        var after = new CountDownLatch(1);
        var calls = new ArrayList<Future<?>>();
        for (int i = 0; i < 4; i++) {
          int caller = i;
          // A caller of the leader's own door, and callers of the others.
          List<ServerProcess> servers =
              caller % 2 == 0 ? List.of(one, two, three) : List.of(two, three);
          calls.add(
              callers.submit(() -> {
                for (int n = 0; n < 30; n++) {
                  deposit(servers, "keyed", "key " + caller + " " + n, keyed);
                  deposit(servers, "plain", "", plain);
                  if (n == 9) before.countDown();
                  if (n == 25) after.await();
                }
                return null;
              }));
        }
        before.await();
        one.kill();
        after.countDown();
        for (Future<?> call : calls) call.get();
        assertEquals(120, keyed.done.get());
        assertEquals("120\n", balance(two, "keyed"));
        int made = Integer.parseInt(balance(three, "plain").strip());
        int least = plain.done.get();
        assertTrue(least <= made && made <= least + plain.open.get(), made + " of " + plain);
        assertEquals(120, least + plain.open.get());
      }
    }
  }

  private String balance(ServerProcess server, String account) throws Exception {
    String path = "objects/shop.Account/" + account + "/call/balance";
    return send(server, "GET", path, "").body();
  }

  private static String file(Path file, String... lines) throws Exception {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, String.join("\n", lines)).toString();
  }

  @Test
  void eachServerAnswersForTheObjectsOfAllGroups(@TempDir Path directory) throws Exception {
    String identities =
        file(
            directory.resolve("identities"),
            "boss token " + Proof.token(TOKEN).hash(),
            "boss may read,call,create,deploy",
            "node token " + Proof.token("node").hash(),
            "node may member");
    String joiner = file(directory.resolve("token"), "node");
    String right = "Bearer " + TOKEN;
    List<String> door = List.of("--http", "0", "--identities", identities);
    var first = new ArrayList<>(List.of("--replicated", "--groups", "3"));
    first.addAll(door);
    try (var one = ServerProcess.start(directory.resolve("1"), first)) {
      var joining = new ArrayList<>(one.joining());
      joining.addAll(door);
      joining.addAll(List.of("--token-file", joiner));
      var config =
          StoaConfig.of(one.url()).withSecurity(ConnectionSecurity.none().withToken(TOKEN));
      try (var two = ServerProcess.start(directory.resolve("2"), joining);
          Stoa stoa = Stoa.open(config)) {
        // The servers name no class path: their endpoints take the code from the store.
        for (int i = 0; i < 6; i++) stoa.get(HttpShop.Account.class, "a" + i).deposit(i);
        for (int i = 0; i < 6; i++) {
          String account = "objects/shop.Account/a" + i + "/call/";
          for (ServerProcess server : List.of(two, one)) {
            var added =
                sendUntilDone(
                    server,
                    "POST",
                    account + "deposit",
                    "[10]",
                    "Authorization",
                    right,
                    "Idempotency-Key",
                    "key" + i);
            assertEquals(i + 10 + "\n", added.body());
          }
          var balance =
              sendUntilDone(two, "GET", account + "balance?at=1", "", "Authorization", right);
          assertEquals(i + "\n", balance.body());
        }
        var calls = new ArrayList<String>();
        for (int i = 0; i < 6; i++) {
          calls.add(
              "{\"type\": \"shop.Account\", \"key\": \"a%d\", \"method\": \"deposit\",".formatted(i)
                  + " \"arguments\": [100]}");
        }
        var all =
            sendUntilDone(
                two, "POST", "transactions", "{\"calls\": " + calls + "}", "Authorization", right);
        assertEquals("{\"results\":[110,111,112,113,114,115]}\n", all.body());
        assertEquals(401, sendUntilDone(two, "GET", "openapi.json", "").statusCode());
        assertEquals(
            401,
            sendUntilDone(two, "GET", "status", "", "Authorization", "Bearer wrong").statusCode());
        // The one server's door stands for the identity at the other server, too.
        for (ServerProcess server : List.of(one, two)) {
          var forbidden = sendUntilDone(server, "PUT", "keep", "[\"all\"]", "Authorization", right);
          assertEquals(403, forbidden.statusCode(), forbidden.body());
        }
      }
    }
  }
}

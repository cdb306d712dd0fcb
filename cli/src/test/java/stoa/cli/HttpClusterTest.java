package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
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
                send(
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
          var balance = send(two, "GET", account + "balance?at=1", "", "Authorization", right);
          assertEquals(i + "\n", balance.body());
        }
        var calls = new ArrayList<String>();
        for (int i = 0; i < 6; i++) {
          calls.add(
              "{\"type\": \"shop.Account\", \"key\": \"a%d\", \"method\": \"deposit\",".formatted(i)
                  + " \"arguments\": [100]}");
        }
        var all =
            send(two, "POST", "transactions", "{\"calls\": " + calls + "}", "Authorization", right);
        assertEquals("{\"results\":[110,111,112,113,114,115]}\n", all.body());
        assertEquals(401, send(two, "GET", "openapi.json", "").statusCode());
        assertEquals(
            401, send(two, "GET", "status", "", "Authorization", "Bearer wrong").statusCode());
        // The one server's door stands for the identity at the other server, too.
        for (ServerProcess server : List.of(one, two)) {
          var forbidden = send(server, "PUT", "keep", "[\"all\"]", "Authorization", right);
          assertEquals(403, forbidden.statusCode(), forbidden.body());
        }
      }
    }
  }
}

package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.node.access.Role;

/// The roles of identities against the paths of the HTTP door, which passes on the identities of
/// its clients.
class HttpRolesTest {
  private static final int AT_A_TIME = 6;
  private static final Set<Role> ANY = EnumSet.allOf(Role.class);
  private static final Set<Role> READS = EnumSet.of(Role.READ, Role.CALL, Role.OPERATE);
  private static final Set<Role> CALL = EnumSet.of(Role.CALL);
  private static final Set<Role> CREATE = EnumSet.of(Role.CREATE);
  private static final Set<Role> OPERATE = EnumSet.of(Role.OPERATE);

  /// A request; `ROLE` in its path stands for the role of the client.
  private record Asked(String method, String path, String body, Set<Role> roles) {}

  private static final List<Asked> ALL =
      List.of(
          new Asked("GET", "openapi.json", "", ANY),
          new Asked("GET", "code", "", ANY),
          new Asked("GET", "objects/shop.Account/ROLE/call/balance", "", READS),
          new Asked("GET", "objects/shop.Account/ROLE/call/balance?at=1", "", READS),
          new Asked("GET", "objects/shop.Account", "", READS),
          new Asked("GET", "objects", "", READS),
          new Asked("GET", "objects/shop.Account/ROLE", "", READS),
          new Asked("GET", "objects/shop.Account/ROLE/history", "", READS),
          new Asked("GET", "objects/shop.Account/ROLE/diff?from=1&to=1", "", READS),
          new Asked("GET", "values/v", "", READS),
          new Asked("GET", "status", "", READS),
          new Asked("GET", "top?millis=1", "", READS),
          new Asked("GET", "keep", "", READS),
          new Asked("PUT", "keep", "[\"all\"]", OPERATE),
          new Asked("POST", "cancel?call=999", "", OPERATE),
          new Asked("POST", "end-session?session=999", "", OPERATE),
          new Asked("GET", "identity", "", ANY),
          new Asked("GET", "audit?max=1", "", OPERATE),
          new Asked("POST", "objects/shop.Account/ROLE/call/deposit", "[1]", CALL),
          new Asked(
              "POST",
              "transactions",
              "{\"calls\": [{\"type\": \"shop.Account\", \"key\": \"ROLE\", \"method\":"
                  + " \"deposit\", \"arguments\": [1]}]}",
              CALL),
          new Asked("PUT", "values/ROLE", "1", CALL),
          new Asked("DELETE", "values/ROLE", "", CALL),
          new Asked("POST", "objects/shop.Account/ROLE/call/deposit?new", "[1]", Set.of()),
          new Asked("DELETE", "objects/shop.Account/ROLE", "", CREATE));

  private static String hash(String token) {
    return Proof.hash(token.getBytes(StandardCharsets.UTF_8));
  }

  private static HttpResponse<String> send(
      HttpClient client, HttpShopServer server, String token, Asked asked) throws Exception {
    String path = asked.path.replace("ROLE", token);
    if (path.endsWith("?new")) path = path.replace("?new", "").replace("/" + token + "/", "/new/");
    String body = asked.body.replace("ROLE", token);
    var request =
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/" + path))
            .method(
                asked.method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + token);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static List<String> problems(
      HttpClient client, HttpShopServer server, Role role, ExecutorService threads)
      throws Exception {
    var problems = new ArrayList<String>();
    var forbidden = new ArrayList<Callable<List<String>>>();
    for (Asked asked : ALL) {
      if (asked.roles.contains(role)) problems.addAll(problems(client, server, role, asked));
      else forbidden.add(() -> problems(client, server, role, asked));
    }
    // Refusals take a while, and more than a few at a time are refused without being looked at.
    for (int from = 0; from < forbidden.size(); from += AT_A_TIME) {
      var some = forbidden.subList(from, Math.min(from + AT_A_TIME, forbidden.size()));
      for (Future<List<String>> one : threads.invokeAll(some)) problems.addAll(one.get());
    }
    return problems;
  }

  private static List<String> problems(
      HttpClient client, HttpShopServer server, Role role, Asked asked) throws Exception {
    var problems = new ArrayList<String>();
    var answer = send(client, server, role.word(), asked);
    boolean isForbidden = answer.statusCode() == 403;
    if (asked.roles.contains(role) == isForbidden || answer.statusCode() >= 500) {
      problems.add(role + " " + asked + " " + answer.statusCode() + " " + answer.body());
    }
    if (isForbidden && !answer.body().contains("the identity " + role.word() + " has not")) {
      problems.add(answer.body());
    }
    return problems;
  }

  @Test
  void eachPathNeedsTheRoleOfItsOwnClient(@TempDir Path directory) throws Exception {
    var text =
        new StringBuilder("boss token " + hash("boss") + "\nboss may " + Role.words() + "\n");
    for (Role role : Role.values()) {
      text.append(role.word()).append(" token ").append(hash(role.word())).append('\n');
      text.append(role.word()).append(" may ").append(role.word()).append('\n');
    }
    Path file = Files.writeString(directory.resolve("identities"), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    try (var server = HttpShopServer.open(new IdentitySource.Named(file));
        var client = HttpClient.newHttpClient();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Role role : Role.values()) {
        var begun =
            new Asked("POST", "objects/shop.Account/" + role.word() + "/call/deposit", "[1]", ANY);
        assertEquals(200, send(client, server, "boss", begun).statusCode());
      }
      var asking = new ArrayList<Callable<List<String>>>();
      for (Role role : Role.values()) asking.add(() -> problems(client, server, role, threads));
      var found = new ArrayList<String>();
      for (Future<List<String>> one : threads.invokeAll(asking)) found.addAll(one.get());
      assertTrue(found.isEmpty(), () -> String.join("\n", found));
      assertEquals(401, send(client, server, "nobody", ALL.getFirst()).statusCode());

      var said = new java.io.StringWriter();
      var out = new java.io.PrintWriter(said);
      Path token = Files.writeString(directory.resolve("token"), "boss");
      Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
      String address = "127.0.0.1:" + server.server().port();
      String[] audit = {"audit", "--server", address, "--token-file", token.toString()};
      assertEquals(0, Main.run(out, out, audit), said::toString);
      List<String> lines = said.toString().lines().toList();
      assertEquals(3, lines.size(), said::toString);
      String both = String.join("\n", lines);
      assertTrue(both.contains("operate          127.0.0.1        keep all"), both);
      assertTrue(both.contains("end session 999  NOT DONE: group 0 has no session 999"), both);
      assertTrue(both.contains("cancel 999  NOT DONE: no call 999 is in progress"), both);
    }
  }
}

package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.node.access.Access;
import stoa.node.access.IdentitySource;
import stoa.objects.ObjectService;
import stoa.transport.Status;
import stoa.wire.proto.ClientFrame;

/// Encrypted connections, and who is let in.
class SecurityTest {
  private static Server start(ServerConfig config) throws Exception {
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static void assertServes(RawClient client) throws Exception {
    client.open();
    client.ask(RawClient.use(1, Counter.class));
    int increment = client.number(2, Counter.class, "increment()");
    client.ask(RawClient.open(3, 1, Counter.class, "c"));
    assertTrue(client.ask(RawClient.call(4, 1, increment)).hasAnswered());
  }

  private static void sayHello(RawClient client) {
    client.send(ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY)));
  }

  @Test
  void anEncryptedServerServesWhoTrustsItsCertificateAndKnowsItsToken(@TempDir Path directory)
      throws Exception {
    var own = TestCertificate.make(Files.createDirectory(directory.resolve("own")));
    var foreign = TestCertificate.make(Files.createDirectory(directory.resolve("foreign")));
    var config =
        ServerConfig.of("127.0.0.1", 0).withTls(own.certificate(), own.key()).withToken("secret");
    try (Server server = start(config)) {
      try (var client = encrypted(server, own, "secret")) {
        assertServes(client);
      }
      try (var client = encrypted(server, own, "other")) {
        sayHello(client);
        assertEquals(Status.Code.UNAUTHENTICATED, client.end().code());
      }
      try (var client = encrypted(server, foreign, "secret")) {
        sayHello(client);
        assertEquals(Status.Code.UNAVAILABLE, client.end().code());
      }
      try (var client = new RawClient(server.port())) {
        sayHello(client);
        assertNotEquals(Status.Code.OK, client.end().code());
      }
      try (var client = encrypted(server, own, "secret")) {
        assertServes(client);
      }
    }
  }

  private static RawClient encrypted(Server server, TestCertificate trusted, String token) {
    return new RawClient(
        server.port(), ConnectionSecurity.trusting(trusted.certificate()).withToken(token));
  }

  @Test
  void aWrongTokenIsRefusedAndTheRightOneIsNot() throws Exception {
    try (Server server = start(ServerConfig.of("127.0.0.1", 0).withToken("secret"))) {
      for (String wrong : new String[] {"", "secre", "secrets", "SECRET"}) {
        try (var client = shown(server, wrong)) {
          sayHello(client);
          assertEquals(Status.Code.UNAUTHENTICATED, client.end().code(), wrong);
        }
      }
      try (var client = shown(server, "secret")) {
        assertServes(client);
      }
    }
  }

  @Test
  void eachOfSeveralTokensIsRightAndLeavesSessionsToTheOthers() throws Exception {
    var config =
        ServerConfig.of("127.0.0.1", 0)
            .withTokens(List.of("secret", "other", "third"))
            .withSessionsMax(8);
    var idle = new ArrayList<RawClient>();
    try (Server server = start(config);
        var two = new Relay("127.0.0.2", server.port());
        var three = new Relay("127.0.0.3", server.port());
        var four = new Relay("127.0.0.4", server.port())) {
      for (int i = 0; i < 4; i++) {
        var client = shown(i % 2 == 0 ? two.port() : three.port(), "other");
        idle.add(client);
        client.open();
      }
      try (var client = shown(four.port(), "other")) {
        sayHello(client);
        Status end = client.end();
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.code());
        String words = String.valueOf(end.description());
        assertTrue(words.contains("clients of the identity token-2"), words);
        assertTrue(words.contains("have 4 sessions"), words);
        assertTrue(words.contains("sessionsOfIdentityMax"), words);
        assertFalse(words.contains("other"), words);
      }
      try (var client = shown(server, "secret")) {
        assertServes(client);
      }
      try (var client = shown(two.port(), "third")) {
        assertServes(client);
      }
    } finally {
      idle.forEach(RawClient::close);
    }
  }

  @Test
  void oneTokenForAllLimitsNobody() throws Exception {
    var config = ServerConfig.of("127.0.0.1", 0).withSessionsMax(4).withToken("secret");
    var open = new ArrayList<RawClient>();
    try (Server server = start(config);
        var two = new Relay("127.0.0.2", server.port());
        var three = new Relay("127.0.0.3", server.port())) {
      for (int i = 0; i < 4; i++) {
        var client = shown(i % 2 == 0 ? two.port() : three.port(), "secret");
        open.add(client);
        client.open();
      }
    } finally {
      open.forEach(RawClient::close);
    }
  }

  private static RawClient shown(Server server, String token) {
    return shown(server.port(), token);
  }

  private static RawClient shown(int port, String token) {
    return new RawClient(port, ConnectionSecurity.none().withToken(token));
  }

  @Test
  void theDoorForHttpEncryptsWithTheSameCertificate(@TempDir Path directory) throws Exception {
    var made = TestCertificate.make(directory);
    var config = new HttpDoor.Config("127.0.0.1", 0, made.certificate(), made.key(), null);
    var access = Access.of(new IdentitySource.Words(List.of("token"), Set.of()));
    HttpDoor.Route route = _ -> HttpDoor.Reply.text(200, "text/plain", "secret");
    SSLContext context = TestCertificate.context(made, null);
    try (var door = HttpDoor.open(config, access, Map.of("/a", route));
        var client = HttpClient.newBuilder().sslContext(context).build()) {
      var request =
          HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + door.port() + "/a"))
              .header("Authorization", "Bearer token")
              .build();
      assertEquals("secret", client.send(request, BodyHandlers.ofString()).body());
    }
  }
}

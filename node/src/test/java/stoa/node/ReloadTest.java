package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.StreamKey;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.objects.ObjectService;
import stoa.transport.Status;
import stoa.wire.Channels;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.StatusRequest;

/// Identities and certificates that change under a running server, clients with certificates, and
/// the audit log.
class ReloadTest {
  @TempDir Path directory;

  private static String hash(String token) {
    return Proof.token(token).hash();
  }

  private Path write(String name, String... lines) throws Exception {
    Path file = Files.writeString(directory.resolve(name), String.join("\n", lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private static Server start(ServerConfig config) throws Exception {
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static ConnectionSecurity showing(String token) {
    return ConnectionSecurity.none().withToken(token);
  }

  private static RawClient client(Server server, String token) {
    return new RawClient(server.port(), showing(token));
  }

  private static Status.Code code(RawClient client) throws Exception {
    client.send(ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY)));
    return client.endOrHello();
  }

  @Test
  void aTokenIsReplacedUnderRunningClientsAndABrokenFileChangesNothing() throws Exception {
    String may = "a may read,call,create,operate";
    Path file = write("identities", "a token " + hash("old"), may);
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(new IdentitySource.Named(file));
    try (Server server = start(config);
        var old = client(server, "old")) {
      old.open();
      old.ask(RawClient.use(1, Counter.class));
      int increment = old.number(2, Counter.class, "increment()");
      old.ask(RawClient.open(3, 1, Counter.class, "c"));
      write("identities", "a token " + hash("old"), "a token " + hash("new"), may);
      server.reload();
      assertTrue(old.ask(RawClient.call(4, 1, increment)).hasAnswered());
      try (var other = client(server, "new")) {
        assertEquals(Status.Code.OK, code(other));
      }

      write("identities", "a token new");
      server.reload();
      assertTrue(old.ask(RawClient.call(5, 1, increment)).hasAnswered());
      try (var channels = new Channels(showing("new"))) {
        var operator = RawClient.questions(channels, server.port());
        var status = operator.status(StatusRequest.getDefaultInstance());
        assertEquals(1, status.getAlarmsCount(), status::toString);
        String alarm = status.getAlarms(0);
        assertTrue(alarm.contains("those of before stay"), alarm);
        assertTrue(alarm.contains("line 1: the token is not hashed"), alarm);
        write("identities", "a token " + hash("new"), may);
        server.reload();
        var mended = operator.status(StatusRequest.getDefaultInstance());
        assertEquals(0, mended.getAlarmsCount(), mended::toString);
      }
      // The client with the old token is cut off, and may come with another.
      assertEquals(Status.Code.UNAVAILABLE, old.end().code());
      try (var late = client(server, "old")) {
        assertEquals(Status.Code.UNAUTHENTICATED, code(late));
      }
    }
  }

  @Test
  void theServerNoticesAChangeByItself() throws Exception {
    Path file = write("tokens", "old");
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(new IdentitySource.Tokens(file));
    try (Server server = start(config);
        var client = client(server, "old")) {
      client.open();
      write("tokens", "new");
      assertEquals(Status.Code.UNAVAILABLE, client.end().code());
      try (var other = client(server, "new")) {
        assertEquals(Status.Code.OK, code(other));
      }
    }
  }

  private static RawClient encrypted(
      Server server, TestCertificate trusted, @Nullable TestCertificate own) throws Exception {
    var security = ConnectionSecurity.trusting(trusted.certificate());
    if (own != null) security = security.withCertificate(own.certificate(), own.key());
    return new RawClient(server.port(), security);
  }

  @Test
  void clientsProveThemselvesByCertificatesWhichAreReadAgain() throws Exception {
    var own = TestCertificate.make(directory.resolve("own"));
    var alice = TestCertificate.make(directory.resolve("alice"), "CN=alice, O=Example");
    var bob = TestCertificate.make(directory.resolve("bob"), "CN=bob");
    var foreign = TestCertificate.make(directory.resolve("foreign"), "CN=alice, O=Example");
    Path authorities =
        write(
            "authorities",
            Files.readString(alice.certificate()),
            Files.readString(bob.certificate()));
    Path file =
        write(
            "identities",
            "alice certificate O=Example+CN=other",
            "alice certificate CN=alice,O=Example",
            "alice may read",
            "bob certificate " + bob.fingerprint() + " until 2020-01-01",
            "bob may read");
    var config =
        ServerConfig.of("127.0.0.1", 0)
            .withTls(own.certificate(), own.key())
            .withAuthorities(authorities)
            .withIdentities(new IdentitySource.Named(file));
    HttpDoor.Route route =
        asked ->
            HttpDoor.Reply.text(
                200,
                "text/plain",
                String.valueOf(java.util.Objects.requireNonNull(asked.caller())));
    var door = new HttpDoor.Config("127.0.0.1", 0, own.certificate(), own.key(), authorities);
    try (Server server = start(config);
        var http = HttpDoor.open(door, server.access(), Map.of("/who", route))) {
      try (var client = encrypted(server, own, alice)) {
        assertEquals(Status.Code.OK, code(client));
      }
      try (var client = encrypted(server, own, bob)) {
        assertEquals(Status.Code.UNAUTHENTICATED, code(client));
      }
      try (var client = encrypted(server, own, null)) {
        assertEquals(Status.Code.UNAUTHENTICATED, code(client));
      }
      // Another signer's: the handshake fails.
      try (var client = encrypted(server, own, foreign)) {
        assertEquals(Status.Code.UNAVAILABLE, code(client));
      }
      var request =
          HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + http.port() + "/who")).build();
      try (var client =
              HttpClient.newBuilder().sslContext(TestCertificate.context(own, alice)).build();
          var nobody =
              HttpClient.newBuilder().sslContext(TestCertificate.context(own, null)).build()) {
        assertEquals("alice", client.send(request, BodyHandlers.ofString()).body());
        assertEquals(401, nobody.send(request, BodyHandlers.ofString()).statusCode());
      }

      // The server becomes another one; first its key is missing.
      Files.copy(bob.certificate(), own.certificate(), StandardCopyOption.REPLACE_EXISTING);
      server.reload();
      try (var client = encrypted(server, foreign, alice)) {
        assertEquals(Status.Code.UNAVAILABLE, code(client));
      }
      Files.writeString(own.key(), Files.readString(bob.key()));
      server.reload();
      try (var client = encrypted(server, bob, alice)) {
        assertEquals(Status.Code.OK, code(client));
      }
      // Its clients' signers too.
      write("authorities", Files.readString(foreign.certificate()));
      server.reload();
      try (var client = encrypted(server, bob, foreign)) {
        assertEquals(Status.Code.OK, code(client));
      }
    }
  }

  @Test
  void theStoreKeepsTheCommandsOfOperators() throws Exception {
    Path file = write("identities", "ann token " + hash("x"), "ann may operate,call,create");
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(new IdentitySource.Named(file));
    var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    try (Server server = Server.start(config, service)) {
      try (var channels = new Channels(showing("x"))) {
        var operator = RawClient.questions(channels, server.port());
        var _ = operator.status(StatusRequest.getDefaultInstance());
        var _ = operator.cancel(CancelRequest.newBuilder().setId("7").build());
        var _ = operator.accept(AcceptRequest.newBuilder().setAll(true).build());
      }
      StreamKey stream = AuditEntry.stream(0, 1);
      assertTrue(AuditEntry.streams().contains(stream));
      while (service.streams().all().check(stream) < 2) Thread.onSpinWait();
      var entries =
          service.streams().all().readAll(stream).stream()
              .map(one -> AuditEntry.of(one.data()))
              .toList();
      assertEquals("ann", entries.get(0).identity());
      assertEquals("127.0.0.1", entries.get(0).address());
      assertEquals("cancel 7", entries.get(0).command());
      assertTrue(entries.get(0).outcome().startsWith("no call 7 is in progress"));
      assertEquals("accept all objects in quarantine", entries.get(1).command());
      assertEquals(AuditEntry.DONE, entries.get(1).outcome());

      // Clients read it, and cannot write it.
      try (var client = client(server, "x")) {
        client.open();
        int sequence = 1;
        for (var operation :
            new stoa.wire.StreamOperation[] {
              stoa.wire.StreamOperation.APPEND, stoa.wire.StreamOperation.TRIM
            }) {
          var arguments = new stoa.base.Encoder(64);
          if (operation == stoa.wire.StreamOperation.APPEND) arguments.varint(1);
          stoa.wire.StreamForms.key(arguments, stream);
          arguments.varint(1).u8('x');
          var change =
              stoa.wire.proto.Stream.newBuilder()
                  .setOperation(operation.number())
                  .setArguments(ByteString.copyFrom(arguments.toBytes()));
          var answer = client.ask(RawClient.request(sequence++).setStream(change));
          assertTrue(
              answer.getFailure().getMessage().contains("is the audit log"), answer::toString);
        }
      }
    }
  }
}

package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.wire.proto.ClientFrame;

/// Encrypted connections, and who is let in.
class SecurityTest {
  private static final String WORD = "only-for-this-test";

  /// A certificate for 127.0.0.1 and its key, in PEM.
  private record Certificate(Path certificate, Path key) {
    static Certificate make(Path directory) throws Exception {
      Path store = directory.resolve("keys.p12");
      var keytool =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                  "-genkeypair",
                  "-alias",
                  "server",
                  "-keyalg",
                  "EC",
                  "-dname",
                  "CN=localhost",
                  "-ext",
                  "SAN=ip:127.0.0.1,dns:localhost",
                  "-storetype",
                  "PKCS12",
                  "-keystore",
                  store.toString(),
                  "-storepass",
                  WORD)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("keytool.log").toFile())
              .start();
      assertEquals(0, keytool.waitFor(), () -> "keytool failed");
      var keys = KeyStore.getInstance(store.toFile(), WORD.toCharArray());
      Path certificate = directory.resolve("certificate.pem");
      Path key = directory.resolve("key.pem");
      pem(certificate, "CERTIFICATE", keys.getCertificate("server").getEncoded());
      pem(key, "PRIVATE KEY", keys.getKey("server", WORD.toCharArray()).getEncoded());
      return new Certificate(certificate, key);
    }

    private static void pem(Path file, String what, byte[] bytes) throws Exception {
      var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
      Files.writeString(
          file,
          "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
              .formatted(what, lines.encodeToString(bytes)));
    }
  }

  private static Server start(ServerConfig config) throws Exception {
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static ClientInterceptor showing(String token) {
    var headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
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
    var own = Certificate.make(Files.createDirectory(directory.resolve("own")));
    var foreign = Certificate.make(Files.createDirectory(directory.resolve("foreign")));
    var config =
        ServerConfig.of("127.0.0.1", 0).withTls(own.certificate(), own.key()).withToken("secret");
    try (Server server = start(config)) {
      try (var client = encrypted(server, own, "secret")) {
        assertServes(client);
      }
      try (var client = encrypted(server, own, "other")) {
        sayHello(client);
        assertEquals(Status.Code.UNAUTHENTICATED, client.end().getCode());
      }
      try (var client = encrypted(server, foreign, "secret")) {
        sayHello(client);
        assertEquals(Status.Code.UNAVAILABLE, client.end().getCode());
      }
      try (var client = new RawClient(server.port())) {
        sayHello(client);
        assertNotEquals(Status.Code.OK, client.end().getCode());
      }
      try (var client = encrypted(server, own, "secret")) {
        assertServes(client);
      }
    }
  }

  private static RawClient encrypted(Server server, Certificate trusted, String token)
      throws Exception {
    return new RawClient(
        NettyChannelBuilder.forAddress("127.0.0.1", server.port())
            .sslContext(
                GrpcSslContexts.forClient().trustManager(trusted.certificate().toFile()).build())
            .intercept(showing(token))
            .build());
  }

  @Test
  void aWrongTokenIsRefusedAndTheRightOneIsNot() throws Exception {
    try (Server server = start(ServerConfig.of("127.0.0.1", 0).withToken("secret"))) {
      for (String wrong : new String[] {"", "secre", "secrets", "SECRET"}) {
        try (var client = shown(server, wrong)) {
          sayHello(client);
          assertEquals(Status.Code.UNAUTHENTICATED, client.end().getCode(), wrong);
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
    try (Server server = start(config)) {
      for (int i = 0; i < 4; i++) {
        var client = shownFrom("127.0.0." + (2 + i % 2), server, "other");
        idle.add(client);
        client.open();
      }
      try (var client = shownFrom("127.0.0.4", server, "other")) {
        sayHello(client);
        Status end = client.end();
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.getCode());
        String words = String.valueOf(end.getDescription());
        assertTrue(words.contains("clients with token 2"), words);
        assertTrue(words.contains("have 4 sessions"), words);
        assertTrue(words.contains("sessionsOfTokenMax"), words);
        assertFalse(words.contains("other"), words);
      }
      try (var client = shown(server, "secret")) {
        assertServes(client);
      }
      try (var client = shownFrom("127.0.0.2", server, "third")) {
        assertServes(client);
      }
    } finally {
      idle.forEach(RawClient::close);
    }
  }

  @Test
  void oneTokenForAllLimitsNobody() {
    var config = ServerConfig.of("127.0.0.1", 0).withSessionsMax(8);
    assertEquals(8, config.sessionsOfTokenMax());
    assertEquals(8, config.withToken("secret").sessionsOfTokenMax());
    assertEquals(4, config.withTokens(List.of("secret", "other")).sessionsOfTokenMax());
  }

  /// A client at another address of this machine.
  private static RawClient shownFrom(String address, Server server, String token) {
    return new RawClient(HostileTest.to(server.port(), address).intercept(showing(token)).build());
  }

  @Test
  void anAddressIsNotToldOfManyTokensAtATimeAndOthersAre() throws Exception {
    var wrong = new WrongTokens();
    var ended = new CountDownLatch(WrongTokens.WAITING_MAX);
    for (int i = 0; i < WrongTokens.WAITING_MAX; i++) {
      assertTrue(wrong.mayTry("one"));
      wrong.refuse("one", ended::countDown);
    }
    assertTrue(!wrong.mayTry("one"));
    assertTrue(wrong.mayTry("other"));
    ended.await();
    assertTrue(wrong.mayTry("one"));
  }

  private static RawClient shown(Server server, String token) {
    return new RawClient(
        NettyChannelBuilder.forAddress("127.0.0.1", server.port())
            .usePlaintext()
            .intercept(showing(token))
            .build());
  }

  @Test
  void theDoorForHttpEncryptsWithTheSameCertificate(@TempDir Path directory) throws Exception {
    var made = Certificate.make(directory);
    var config =
        new HttpDoor.Config("127.0.0.1", 0, made.certificate(), made.key(), List.of("token"));
    HttpDoor.Route route = _ -> HttpDoor.Reply.text(200, "text/plain", "secret");
    var trusted = KeyStore.getInstance(directory.resolve("keys.p12").toFile(), WORD.toCharArray());
    var anchors = KeyStore.getInstance(KeyStore.getDefaultType());
    anchors.load(null, null);
    anchors.setCertificateEntry("server", trusted.getCertificate("server"));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(anchors);
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    try (var door = HttpDoor.open(config, Map.of("/a", route));
        var client = HttpClient.newBuilder().sslContext(context).build()) {
      var request =
          HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + door.port() + "/a"))
              .header("Authorization", "Bearer token")
              .build();
      assertEquals("secret", client.send(request, BodyHandlers.ofString()).body());
    }
  }
}

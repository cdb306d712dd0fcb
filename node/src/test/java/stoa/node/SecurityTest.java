package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
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
}

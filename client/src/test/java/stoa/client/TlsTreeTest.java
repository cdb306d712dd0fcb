package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.client.MigratingTest.Purse;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.transport.Address;
import stoa.wire.SingleRequests;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TreeStatus;

/// Objects migrate over encrypted connections, between clients too.
class TlsTreeTest {
  private static final String WORD = "only-for-this-test";

  /// A certificate for 127.0.0.1 and its key, in PEM.
  private record Certificate(Path certificate, Path key) {
    static Certificate make(Path directory) throws Exception {
      Path store = directory.resolve("keys.p12");
      var command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
              "-genkeypair",
              "-alias",
              "own",
              "-keyalg",
              "EC",
              "-dname",
              "CN=localhost",
              "-ext",
              "SAN=ip:127.0.0.1",
              "-storetype",
              "PKCS12",
              "-keystore",
              store.toString(),
              "-storepass",
              WORD);
      var keytool =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("keytool.log").toFile())
              .start();
      assertEquals(0, keytool.waitFor(), () -> "keytool failed");
      var keys = KeyStore.getInstance(store.toFile(), WORD.toCharArray());
      var made =
          new Certificate(directory.resolve("certificate.pem"), directory.resolve("key.pem"));
      pem(made.certificate, "CERTIFICATE", keys.getCertificate("own").getEncoded());
      pem(made.key, "PRIVATE KEY", keys.getKey("own", WORD.toCharArray()).getEncoded());
      Files.setPosixFilePermissions(made.key, PosixFilePermissions.fromString("rw-------"));
      return made;
    }

    private static void pem(Path file, String what, byte[] bytes) throws Exception {
      var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
      Files.writeString(
          file,
          "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
              .formatted(what, lines.encodeToString(bytes)));
    }
  }

  private static StoaConfig config(Server server, Certificate known, TreeMembership membership) {
    return StoaConfig.of("stoa://127.0.0.1:" + server.port())
        .withSecurity(ConnectionSecurity.trusting(known.certificate()).withToken("secret"))
        .withMembership(membership);
  }

  private static Purse purse(Stoa stoa) {
    return stoa.get(Purse.class, "a", 100L);
  }

  private static List<TreeStatus> members(Server server, ConnectionSecurity security) {
    return SingleRequests.ask(
            security,
            new Address("127.0.0.1", server.port()),
            60_000,
            questions -> questions.status(StatusRequest.getDefaultInstance()))
        .getTreeList();
  }

  @Test
  void innerNodesShowACertificateAndObjectsPassBetweenThem(@TempDir Path directory)
      throws Exception {
    var own = Certificate.make(directory);
    var serving =
        ServerConfig.of("127.0.0.1", 0).withTls(own.certificate(), own.key()).withToken("secret");
    var inner = TreeMembership.inner().withTls(own.certificate(), own.key());
    List<Stoa> clients = new ArrayList<>();
    try (var server =
        Server.start(serving, ObjectService.open(StoaConfig.of("memory:"), _ -> true))) {
      try {
        long balance = 100;
        for (int i = 0; i < 8; i++) {
          var stoa = Stoa.open(config(server, own, i % 3 == 2 ? TreeMembership.leaf() : inner));
          clients.add(stoa);
          assertEquals(++balance, purse(stoa).add(1));
        }
        for (var stoa : clients) assertEquals(++balance, purse(stoa).add(1));
        // With more clients than fit below the root, some are below others: they have connected.
        while (members(server, config(server, own, inner).security()).stream()
            .noneMatch(member -> member.getParent().startsWith("tcp://"))) {
          Thread.onSpinWait();
        }
      } finally {
        for (var stoa : clients.reversed()) stoa.close();
      }
    }
  }

  @Test
  void anInnerNodeIsEncryptedWhenTheServerIsAndOnlyThen(@TempDir Path directory) throws Exception {
    var own = Certificate.make(directory);
    var inner = TreeMembership.inner().withTls(own.certificate(), own.key());
    var plain = StoaConfig.of("stoa://127.0.0.1:1");
    var security = ConnectionSecurity.trusting(own.certificate());
    for (var wrong :
        List.<Runnable>of(
            () -> plain.withMembership(inner),
            () -> plain.withSecurity(security).withMembership(TreeMembership.inner()))) {
      var refused = assertThrows(IllegalArgumentException.class, wrong::run);
      assertTrue(String.valueOf(refused.getMessage()).contains("withTls"), refused::getMessage);
    }
    assertEquals(inner, plain.withSecurity(security).withMembership(inner).membership());
  }
}

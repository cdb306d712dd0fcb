package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.ConnectionSecurity;
import stoa.Forbidden;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.objects.ObjectService;

/// Clients whose tokens are replaced while they run, and clients with certificates.
class RotationTest {
  @Shared(name = "rotation.Counter")
  static class Counter {
    private long value;

    public long add() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  @TempDir Path directory;

  private Path write(String name, String... lines) throws Exception {
    Path next = Files.writeString(directory.resolve(name + ".next"), String.join("\n", lines));
    Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
    return Files.move(
        next, directory.resolve(name), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }

  private Server start(ServerConfig config, String... identities) throws Exception {
    Path file = write("identities", identities);
    return Server.start(
        config.withIdentities(new IdentitySource.Named(file)),
        ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static Stoa open(Server server, ConnectionSecurity security) {
    return Stoa.open(
        StoaConfig.of("stoa://127.0.0.1:" + server.port() + "?wait=0s").withSecurity(security));
  }

  private static String hash(String token) {
    return Proof.token(token).hash();
  }

  @Test
  void aClientGoesOnWithTheNewTokenOfItsFile() throws Exception {
    String may = "a may call,create";
    Path token = write("token", "old");
    try (var server = start(ServerConfig.of("127.0.0.1", 0), "a token " + hash("old"), may);
        var stoa = open(server, ConnectionSecurity.none().withTokenFile(token))) {
      Counter counter = stoa.get(Counter.class, "c");
      assertEquals(1, counter.add());
      write("token", "new");
      write("identities", "a token " + hash("new"), may);
      // A client that knows the old token alone is refused when the server has noticed. In that
      // moment, the server may also end a connection that it has just admitted.
      String refused = "";
      while (!refused.contains("refuses this client")) {
        try {
          open(server, ConnectionSecurity.none().withToken("old")).close();
        } catch (Unavailable ended) {
          refused = String.valueOf(ended.getMessage());
        }
      }
      for (int i = 2; i < 10; i++) assertEquals(i, counter.add());
    }
  }

  @Test
  void aCallThatTheRolesDoNotAllowIsForbidden() throws Exception {
    try (var server = start(ServerConfig.of("127.0.0.1", 0), "r token " + hash("x"), "r may read");
        var stoa = open(server, ConnectionSecurity.none().withToken("x"))) {
      Counter counter = stoa.get(Counter.class, "c");
      assertEquals(0, counter.value());
      var refused = assertThrows(Forbidden.class, counter::add);
      assertTrue(
          String.valueOf(refused.getMessage())
              .contains("has not the role call on rotation.Counter"),
          refused::toString);
      assertThrows(Forbidden.class, () -> stoa.transact(() -> counter.add()));
      assertThrows(Forbidden.class, () -> stoa.store().put("k", 1L));
    }
  }

  @Test
  void aClientShowsItsCertificate() throws Exception {
    Path store = directory.resolve("keys.p12");
    String word = "only-for-this-test";
    var keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                "EC",
                "-dname",
                "CN=client",
                "-ext",
                "SAN=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                word)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertEquals(0, keytool.waitFor(), () -> "keytool failed");
    var keys = KeyStore.getInstance(store.toFile(), word.toCharArray());
    Path certificate = pem("cert", "CERTIFICATE", keys.getCertificate("own").getEncoded());
    Path key = pem("key", "PRIVATE KEY", keys.getKey("own", word.toCharArray()).getEncoded());
    var config =
        ServerConfig.of("127.0.0.1", 0).withTls(certificate, key).withAuthorities(certificate);
    var trusting = ConnectionSecurity.trusting(certificate);
    try (var server = start(config, "c certificate CN=client", "c may call,create");
        var stoa = open(server, trusting.withCertificate(certificate, key))) {
      assertEquals(1, stoa.get(Counter.class, "c").add());
      assertThrows(Unavailable.class, () -> open(server, trusting));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> ConnectionSecurity.none().withCertificate(certificate, key));
  }

  private Path pem(String name, String what, byte[] bytes) throws Exception {
    var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    return write(
        name,
        "-----BEGIN " + what + "-----",
        lines.encodeToString(bytes),
        "-----END " + what + "-----");
  }
}

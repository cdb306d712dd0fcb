package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The HTTP endpoint of a server with a certificate, which listens on all addresses, and whose code
/// changes.
class HttpCodeTest {
  private static final String WORD = "only-for-this-test";
  private static final String METER =
      "@Shared(name = \"meter\") public class Meter { long total;"
          + " public long add(long n) { return total += n; }"
          + " public void spin() { for (long i = 0; i >= 0; i += 2) total++; } %s }";

  @TempDir private Path directory;

  private Path secret(String name, String text) throws Exception {
    Path file = directory.resolve(name);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, text);
  }

  private static String pem(String what, byte[] bytes) {
    var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
        .formatted(what, lines.encodeToString(bytes));
  }

  private KeyStore keys() throws Exception {
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
                "SAN=ip:127.0.0.1",
                "-keystore",
                store.toString(),
                "-storepass",
                WORD)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertEquals(0, keytool.waitFor(), () -> "keytool failed");
    return KeyStore.getInstance(store.toFile(), WORD.toCharArray());
  }

  private static HttpResponse<String> call(
      ServerProcess server, String method, String body, String... headers) throws Exception {
    var uri = URI.create("http://" + server.http() + "/v1/objects/meter/a/call/" + method);
    var request =
        HttpRequest.newBuilder(uri)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + WORD);
    if (headers.length > 0) request.headers(headers);
    try (var client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void aDeployedMethodIsCalledAtOnceAndAnEndlessOneIsTakenBack() throws Exception {
    var before = new Build(directory.resolve("before"), METER.formatted(""));
    String more = "public long twice(long n) { return total += 2 * n; }";
    var after = new Build(directory.resolve("after"), METER.formatted(more));
    KeyStore keys = keys();
    Path certificate = directory.resolve("certificate.pem");
    Files.writeString(certificate, pem("CERTIFICATE", keys.getCertificate("server").getEncoded()));
    Path key =
        secret(
            "key.pem", pem("PRIVATE KEY", keys.getKey("server", WORD.toCharArray()).getEncoded()));
    Path tokens = secret("tokens", WORD);
    List<String> options =
        List.of(
            "--http",
            "0",
            "--classpath",
            before.path(),
            "--tls-certificate",
            certificate.toString(),
            "--tls-key",
            key.toString(),
            "--token-file",
            tokens.toString());
    var everywhere = new ServerProcess.Site("0.0.0.0", List.of(), List.of());
    try (var server = ServerProcess.start(everywhere, directory.resolve("data"), 0, options)) {
      assertEquals("5\n", call(server, "add", "[5]").body());
      assertEquals(404, call(server, "twice", "[5]").statusCode());
      var told = new StringWriter();
      var out = new PrintWriter(told);
      int code =
          Main.run(
              out,
              out,
              "deploy",
              after.path(),
              "--server",
              "127.0.0.1:" + server.port(),
              "--tls-certificate",
              certificate.toString(),
              "--token-file",
              tokens.toString());
      assertEquals(0, code, told::toString);
      assertTrue(told.toString().contains("meter  changed"), told::toString);
      HttpResponse<String> twice = call(server, "twice", "[5]");
      assertEquals("15\n", twice.body());
      assertEquals("16\n", call(server, "add", "[1]").body());
      var late = call(server, "spin", "[]", "Stoa-Timeout", "500ms");
      assertEquals(504, late.statusCode(), late.body());
      assertTrue(late.body().contains("urn:stoa:problem:DeadlineExceeded"), late.body());
      assertEquals("17\n", call(server, "add", "[1]").body());
    }
  }
}

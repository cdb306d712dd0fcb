package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Proof;

/// A certificate for 127.0.0.1 and its key, in PEM. It is its own signer.
record TestCertificate(Path certificate, Path key, Path store) {
  private static final String WORD = "only-for-this-test";

  static TestCertificate make(Path directory) throws Exception {
    return make(directory, "CN=localhost");
  }

  static TestCertificate make(Path directory, String subject) throws Exception {
    Files.createDirectories(directory);
    Path store = directory.resolve("keys.p12");
    var keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                "EC",
                "-dname",
                subject,
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
    pem(certificate, "CERTIFICATE", keys.getCertificate("own").getEncoded());
    pem(key, "PRIVATE KEY", keys.getKey("own", WORD.toCharArray()).getEncoded());
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    return new TestCertificate(certificate, key, store);
  }

  private static void pem(Path file, String what, byte[] bytes) throws Exception {
    var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    Files.writeString(
        file,
        "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
            .formatted(what, lines.encodeToString(bytes)));
  }

  /// The hash by which a file of identities names it.
  String fingerprint() throws Exception {
    try (InputStream in = Files.newInputStream(certificate)) {
      var read = CertificateFactory.getInstance("X.509").generateCertificate(in);
      return Proof.certificate((X509Certificate) read).hash();
    }
  }

  /// The TLS of a client for HTTP.
  ///
  /// @param own the certificate that it shows; null for none
  static SSLContext context(TestCertificate trusted, @Nullable TestCertificate own)
      throws Exception {
    var anchors = KeyStore.getInstance(KeyStore.getDefaultType());
    anchors.load(null, null);
    var known = KeyStore.getInstance(trusted.store.toFile(), WORD.toCharArray());
    anchors.setCertificateEntry("server", known.getCertificate("own"));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(anchors);
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    if (own == null) keys.init(null, null);
    else
      keys.init(KeyStore.getInstance(own.store.toFile(), WORD.toCharArray()), WORD.toCharArray());
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}

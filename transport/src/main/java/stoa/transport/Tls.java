package stoa.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/// How connections are encrypted, by the TLS of this Java. Thread-safe.
///
/// @param context asked for each connection, so that later ones may use other certificates
/// @param clients what a server asks of its clients
/// @param hosts whether a client makes sure that the server's certificate is for its host
public record Tls(Supplier<SSLContext> context, Clients clients, boolean hosts) {
  /// The proof that a server asks of its clients.
  public enum Clients {
    /// No certificate.
    NO_PROOF,
    /// A certificate, if they have one: those that show one must show one that is trusted.
    ANY_PROOF,
    /// A certificate that is trusted.
    PROOF
  }

  // The protocols of a connection. Clients of gRPC offer the second, and then learn why they are
  // refused.
  private static final String PROTOCOL = "stoa";
  private static final String HTTP2 = "h2";

  private static final char[] NONE = {};
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  /// Creates it for clients that make sure of the host, and servers.
  ///
  /// @param asks whether a server asks clients for certificates: those that show one must show one
  ///   that is trusted
  public Tls(Supplier<SSLContext> context, boolean asks) {
    this(context, asks ? Clients.ANY_PROOF : Clients.NO_PROOF, true);
  }

  /// Returns the encryption of clients.
  public static Tls client(SSLContext context) {
    return new Tls(() -> context, false);
  }

  /// Returns an encryption in which both ends must show certificates that the other one trusts.
  ///
  /// @param hosts whether a client makes sure that the server's certificate is for its host
  public static Tls both(SSLContext context, boolean hosts) {
    return new Tls(() -> context, Clients.PROOF, hosts);
  }

  /// Returns a context of files in PEM.
  ///
  /// @param certificate the own certificates; null to show none
  /// @param key their private key, in PKCS 8
  /// @param authorities the signers of the other side's certificates; null for those of this Java
  /// @throws IOException when a file cannot be read or used
  public static SSLContext context(
      @Nullable Path certificate, @Nullable Path key, @Nullable Path authorities)
      throws IOException {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(
          certificate == null || key == null ? null : keys(certificate, key),
          authorities == null ? null : trusted(authorities),
          null);
      return context;
    } catch (NoSuchFileException missing) {
      throw new IOException(missing.getFile() + " is not there", missing);
    } catch (GeneralSecurityException unusable) {
      throw new IOException(reason(unusable), unusable);
    }
  }

  private static String reason(Throwable failure) {
    Throwable first = failure;
    while (first.getCause() != null) first = first.getCause();
    return String.valueOf(first.getMessage());
  }

  private static KeyManager[] keys(Path certificate, Path key)
      throws GeneralSecurityException, IOException {
    var keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    Certificate[] chain = certificates(certificate);
    PrivateKey secret = privateKey(key);
    requireFit(chain[0], secret, key);
    keys.setKeyEntry("own", secret, NONE, chain);
    var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, NONE);
    return managers.getKeyManagers();
  }

  private static void requireFit(Certificate certificate, PrivateKey key, Path file)
      throws GeneralSecurityException {
    String algorithm = key.getAlgorithm();
    String kind =
        switch (algorithm) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> algorithm;
        };
    byte[] text = {1, 2, 3};
    boolean fits;
    try {
      var signing = java.security.Signature.getInstance(kind);
      signing.initSign(key);
      signing.update(text);
      var verifying = java.security.Signature.getInstance(kind);
      verifying.initVerify(certificate.getPublicKey());
      verifying.update(text);
      fits = verifying.verify(signing.sign());
    } catch (java.security.InvalidKeyException | java.security.SignatureException other) {
      fits = false;
    }
    if (!fits)
      throw new InvalidKeySpecException("the key in " + file + " is not the certificate's");
  }

  private static TrustManager[] trusted(Path authorities)
      throws GeneralSecurityException, IOException {
    var known = KeyStore.getInstance("PKCS12");
    known.load(null, null);
    int number = 0;
    for (Certificate authority : certificates(authorities)) {
      known.setCertificateEntry("authority" + number++, authority);
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(known);
    return trust.getTrustManagers();
  }

  private static Certificate[] certificates(Path file)
      throws GeneralSecurityException, IOException {
    Certificate[] all;
    try (InputStream in = Files.newInputStream(file)) {
      all =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(in)
              .toArray(new Certificate[0]);
    }
    if (all.length == 0) throw new IOException(file + " has no certificate");
    return all;
  }

  private static PrivateKey privateKey(Path file) throws GeneralSecurityException, IOException {
    var found = KEY.matcher(Files.readString(file));
    if (!found.find()) {
      throw new IOException(file + " has no private key in PKCS 8 (BEGIN PRIVATE KEY)");
    }
    var encoded = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(1)));
    for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException another) {
        // The key is of another kind.
      }
    }
    throw new InvalidKeySpecException(file + " has no private key of a kind that is known here");
  }

  /// Returns the engine of a connection that is accepted.
  SSLEngine accepting() {
    SSLEngine engine = context.get().createSSLEngine();
    engine.setUseClientMode(false);
    var parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {PROTOCOL, HTTP2});
    switch (clients) {
      case NO_PROOF -> {}
      case ANY_PROOF -> parameters.setWantClientAuth(true);
      case PROOF -> parameters.setNeedClientAuth(true);
    }
    engine.setSSLParameters(parameters);
    return engine;
  }

  /// Returns the engine of a connection that this side makes.
  SSLEngine connecting(Address to) {
    SSLEngine engine = context.get().createSSLEngine(to.host(), to.port());
    engine.setUseClientMode(true);
    var parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {PROTOCOL});
    if (hosts) parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    return engine;
  }
}

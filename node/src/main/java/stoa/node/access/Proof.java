package stoa.node.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;

/// The way in which a client proves who it is. Immutable; has no secret.
public sealed interface Proof {
  /// The beginning of a hash in a file of identities.
  String HASH = "sha256:";

  /// A client that proves nothing.
  record None() implements Proof {}

  /// A token.
  ///
  /// @param hash of the token
  record Token(String hash) implements Proof {}

  /// A certificate that the server's authorities have signed.
  ///
  /// @param hash of the certificate: its fingerprint
  /// @param subject its subject, as RFC 2253 writes it
  record Certificate(String hash, String subject) implements Proof {}

  /// The word of a server for its own client.
  ///
  /// @param name of the identity that it stands for
  record Vouched(String name) implements Proof {}

  /// Returns the proof by a token.
  static Token token(String token) {
    return new Token(hash(token.getBytes(StandardCharsets.UTF_8)));
  }

  /// Returns the proof by a certificate.
  static Certificate certificate(X509Certificate certificate) {
    try {
      return new Certificate(
          hash(certificate.getEncoded()), certificate.getSubjectX500Principal().getName());
    } catch (CertificateEncodingException impossible) {
      throw new IllegalStateException("a verified certificate has an encoding", impossible);
    }
  }

  /// Returns the hash of a token or a certificate, as files of identities have it.
  static String hash(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HASH + HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}

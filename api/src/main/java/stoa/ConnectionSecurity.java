package stoa;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a client and its server authenticate each other. Without effect for a store in this process.
///
/// The client reads its files again for each connection, so that they can be replaced while it
/// runs.
///
/// @param certificate a PEM file with the server's certificate, or the one that signed it; the
///   connection is then encrypted. Null for a connection without encryption
/// @param token the token that the server asks for; null for none
/// @param tokenFile a file whose first word is the token; null for none
/// @param ownCertificate a PEM file with the certificates that the client shows; null for none
/// @param ownKey a PEM file with their private key, in PKCS 8; null when the client shows none
public record ConnectionSecurity(
    @Nullable Path certificate,
    @Nullable String token,
    @Nullable Path tokenFile,
    @Nullable Path ownCertificate,
    @Nullable Path ownKey) {
  private static final ConnectionSecurity NONE =
      new ConnectionSecurity(null, null, null, null, null);

  /// Checks the values.
  public ConnectionSecurity {
    if ((ownCertificate == null) != (ownKey == null)) {
      throw new IllegalArgumentException("a certificate and its key go together; give both");
    }
    if (ownCertificate != null && certificate == null) {
      throw new IllegalArgumentException(
          "a client shows its certificate over an encrypted connection only; begin with"
              + " ConnectionSecurity.trusting");
    }
    if (token != null && tokenFile != null) {
      throw new IllegalArgumentException("a client has one token; give it, or a file with it");
    }
  }

  /// Returns the settings for servers that listen on this machine only.
  public static ConnectionSecurity none() {
    return NONE;
  }

  /// Returns the settings for an encrypted connection to a server whose certificate is in the file,
  /// or was signed by one in it.
  public static ConnectionSecurity trusting(Path certificate) {
    Objects.requireNonNull(certificate, "certificate");
    return new ConnectionSecurity(certificate, null, null, null, null);
  }

  /// Returns these settings with the token that the server asks for.
  public ConnectionSecurity withToken(String value) {
    Objects.requireNonNull(value, "value");
    return new ConnectionSecurity(certificate, value, null, ownCertificate, ownKey);
  }

  /// Returns these settings with a file whose first word is the token that the server asks for.
  public ConnectionSecurity withTokenFile(Path value) {
    Objects.requireNonNull(value, "value");
    return new ConnectionSecurity(certificate, null, value, ownCertificate, ownKey);
  }

  /// Returns these settings with the certificates that the client shows, and their private key.
  ///
  /// @throws IllegalArgumentException when the connection is not encrypted
  public ConnectionSecurity withCertificate(Path value, Path key) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(key, "key");
    return new ConnectionSecurity(certificate, token, tokenFile, value, key);
  }

  /// Omits the token.
  @Override
  public String toString() {
    boolean hasToken = token != null || tokenFile != null;
    return "Security[certificate="
        + certificate
        + (ownCertificate == null ? "" : ", own certificate=" + ownCertificate)
        + (hasToken ? ", with a token]" : "]");
  }
}

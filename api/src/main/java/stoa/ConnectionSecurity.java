package stoa;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a client and its server authenticate each other. Without effect for a store in this process.
///
/// @param certificate a PEM file with the server's certificate, or the one that signed it; the
///   connection is then encrypted. Null for a connection without encryption
/// @param token the token that the server asks for; null for none
public record ConnectionSecurity(@Nullable Path certificate, @Nullable String token) {
  private static final ConnectionSecurity NONE = new ConnectionSecurity(null, null);

  /// Returns the settings for servers that listen on this machine only.
  public static ConnectionSecurity none() {
    return NONE;
  }

  /// Returns the settings for an encrypted connection to a server whose certificate is in the file,
  /// or was signed by one in it.
  public static ConnectionSecurity trusting(Path certificate) {
    return new ConnectionSecurity(Objects.requireNonNull(certificate, "certificate"), null);
  }

  /// Returns these settings with the token that the server asks for.
  public ConnectionSecurity withToken(String value) {
    return new ConnectionSecurity(certificate, Objects.requireNonNull(value, "value"));
  }

  /// Omits the token.
  @Override
  public String toString() {
    return "Security[certificate=" + certificate + (token == null ? "]" : ", with a token]");
  }
}

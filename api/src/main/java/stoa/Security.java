package stoa;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a client and its server know each other. Means nothing for a store in this process.
///
/// @param certificate a file with the certificate that the server's is, or is signed by, in PEM;
///   the connection is encrypted then. Null for one that is not
/// @param token what the server asks its clients for; null for nothing
public record Security(@Nullable Path certificate, @Nullable String token) {
  private static final Security NONE = new Security(null, null);

  /// For servers that listen on this machine only.
  public static Security none() {
    return NONE;
  }

  /// An encrypted connection to a server with, or signed by, the certificate in a file.
  public static Security trusting(Path certificate) {
    return new Security(Objects.requireNonNull(certificate, "certificate"), null);
  }

  /// This with the token that the server asks for.
  public Security withToken(String value) {
    return new Security(certificate, Objects.requireNonNull(value, "value"));
  }

  /// Without the token.
  @Override
  public String toString() {
    return "Security[certificate=" + certificate + (token == null ? "]" : ", with a token]");
  }
}

package stoa.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import stoa.base.Permissions;
import stoa.transport.Tls;

/// The files of a server's TLS, in PEM. Immutable.
///
/// @param certificate the server's certificates
/// @param key their private key
/// @param authorities the signers of clients' certificates; null when clients show none
record TlsFiles(Path certificate, Path key, @Nullable Path authorities) {
  /// Returns the files.
  List<Path> files() {
    var files = new ArrayList<>(List.of(certificate, key));
    if (authorities != null) files.add(authorities);
    return files;
  }

  /// Reads the files. A client that shows a certificate of other signers is cut off; the entrance
  /// decides whether a client may show none.
  ///
  /// @throws IOException when a file cannot be read, or the key is not the certificate's
  SSLContext context() throws IOException {
    Permissions.requirePrivate(key);
    try {
      return Tls.context(certificate, key, authorities);
    } catch (IOException unusable) {
      throw new IOException(
          "the certificates of " + certificate + " cannot be used: " + unusable.getMessage(),
          unusable);
    }
  }
}

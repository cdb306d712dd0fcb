package stoa.node;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.JdkSslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import stoa.base.Permissions;

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

  /// Reads the files for gRPC. A client that shows a certificate of other signers is cut off; the
  /// entrance decides whether a client may show none.
  ///
  /// @throws IOException when a file cannot be read, or the key is not the certificate's
  SslContext grpc() throws IOException {
    return built(GrpcSslContexts.configure(builder()));
  }

  /// Reads the files for HTTP.
  ///
  /// @throws IOException as [#grpc]
  SSLContext http() throws IOException {
    return ((JdkSslContext) built(builder().sslProvider(SslProvider.JDK))).context();
  }

  private SslContextBuilder builder() throws IOException {
    Permissions.requirePrivate(key);
    try {
      return SslContextBuilder.forServer(certificate.toFile(), key.toFile());
    } catch (IllegalArgumentException unusable) {
      throw unusable(unusable);
    }
  }

  private SslContext built(SslContextBuilder builder) throws IOException {
    Path signers = authorities;
    try {
      if (signers != null) {
        builder.trustManager(signers.toFile()).clientAuth(ClientAuth.OPTIONAL);
      }
      return builder.build();
    } catch (IllegalArgumentException unusable) {
      throw unusable(unusable);
    }
  }

  private IOException unusable(IllegalArgumentException cause) {
    Throwable first = cause;
    while (first.getCause() != null) first = first.getCause();
    return new IOException(
        "the certificates of " + certificate + " cannot be used: " + first.getMessage(), cause);
  }
}

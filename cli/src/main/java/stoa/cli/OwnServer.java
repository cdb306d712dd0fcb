package stoa.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.ServerConfig;

/// How the HTTP endpoint of a server reaches the server itself, and through it the others that keep
/// the store: as a client. Immutable.
///
/// @param address HOST:PORT of the server
/// @param trusted certificates of it or of its signers; null for connections without encryption
/// @param tokenFile the file with its tokens; null for none
record OwnServer(String address, @Nullable Path trusted, @Nullable Path tokenFile) {
  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;

  /// Returns the way to a server.
  ///
  /// @param port that it listens on
  /// @param authorities the signers of the certificates of all servers; null when they are unknown
  static OwnServer of(
      ServerConfig config, int port, @Nullable Path authorities, @Nullable Path tokenFile) {
    Path certificate = config.certificate();
    Path trusted = certificate == null || authorities == null ? certificate : authorities;
    String host = config.host();
    if (isAny(host)) host = certificate == null ? "127.0.0.1" : name(certificate);
    return new OwnServer(host + ":" + port, trusted, tokenFile);
  }

  private static boolean isAny(String host) {
    try {
      return InetAddress.getByName(host).isAnyLocalAddress();
    } catch (UnknownHostException unknown) {
      return false; // the server itself has found it
    }
  }

  /// Returns a name that a certificate is for.
  private static String name(Path certificate) {
    try (InputStream in = Files.newInputStream(certificate)) {
      var read = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
      Collection<List<?>> names = read.getSubjectAlternativeNames();
      if (names != null) {
        for (List<?> one : names) {
          boolean isHost = one.getFirst().equals(DNS_NAME) || one.getFirst().equals(IP_ADDRESS);
          String name = String.valueOf(one.getLast());
          if (isHost && !name.startsWith("*")) return name;
        }
      }
      throw new IllegalArgumentException(
          certificate + " names no host (subjectAltName); let --listen name one for --http");
    } catch (IOException | CertificateException unreadable) {
      throw new IllegalArgumentException(
          certificate + " cannot be read: " + unreadable, unreadable);
    }
  }

  /// Returns the operator's way to it.
  Operator operator() {
    return new Operator(address, trusted, tokenFile, "--http");
  }

  /// Connects to the store.
  Stoa open() {
    ConnectionSecurity security = ConnectionSecurity.none();
    Path certificates = trusted;
    Path tokens = tokenFile;
    if (certificates != null) security = ConnectionSecurity.trusting(certificates);
    if (tokens != null) {
      try {
        security = security.withToken(Operator.tokens(tokens).getFirst());
      } catch (IOException unreadable) {
        throw new IllegalArgumentException(tokens + " cannot be read: " + unreadable, unreadable);
      }
    }
    return Stoa.open(StoaConfig.of("stoa://" + address + "?wait=2s").withSecurity(security));
  }
}

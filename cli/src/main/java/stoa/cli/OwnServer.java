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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.ServerConfig;
import stoa.node.access.Access;
import stoa.node.access.Caller;

/// How the HTTP endpoint of a server reaches the server itself, and through it the others that keep
/// the store: as a client. Immutable.
///
/// @param address HOST:PORT of the server
/// @param trusted certificates of it or of its signers; null for connections without encryption
/// @param vouchers returns the token by which this stands for a client, or for the server itself
///   when the argument is null; null when the server needs none
record OwnServer(
    String address, @Nullable Path trusted, Function<@Nullable Caller, @Nullable String> vouchers) {
  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;

  /// Returns the way to a server.
  ///
  /// @param port that it listens on
  /// @param authorities the signers of the certificates of all servers; null when they are unknown
  /// @param access of the server
  static OwnServer of(ServerConfig config, int port, @Nullable Path authorities, Access access) {
    Path certificate = config.certificate();
    Path trusted = certificate == null || authorities == null ? certificate : authorities;
    String host = config.host();
    if (isAny(host)) host = certificate == null ? "127.0.0.1" : name(certificate);
    return new OwnServer(host + ":" + port, trusted, access::voucher);
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
  ///
  /// @param caller the client that asks; null for the server itself, which reads the code
  Operator operator(@Nullable Caller caller) {
    return new Operator(address, trusted, null, "--http").sending(vouchers.apply(caller));
  }

  /// Connects to the store.
  ///
  /// @param caller the client for which the door makes calls
  Stoa open(Caller caller) {
    ConnectionSecurity security = ConnectionSecurity.none();
    Path certificates = trusted;
    if (certificates != null) security = ConnectionSecurity.trusting(certificates);
    String voucher = vouchers.apply(caller);
    if (voucher != null) security = security.withToken(voucher);
    return Stoa.open(StoaConfig.of("stoa://" + address + "?wait=2s").withSecurity(security));
  }
}

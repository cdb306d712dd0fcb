package stoa;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a client of a server takes part in the tree of processes among which objects migrate that
/// are placed at clients (self-service, section 3). It joins when it first calls such an object.
/// Means nothing for a store in this process, which is the root.
public sealed interface Membership {
  /// Where the process is, so that it gets a place in the tree beside those that are near to it;
  /// [Locality#UNKNOWN] when the program does not say so: then it is the host by which the server
  /// sees it.
  Locality locality();

  /// It connects to others, and nobody to it.
  record Leaf(Locality locality) implements Membership {
    /// This at some place.
    ///
    /// @param path names from the widest to the narrowest, such as `eu-west/rack-3`
    /// @throws IllegalArgumentException when it is no [Locality]
    public Leaf at(String path) {
      return new Leaf(Locality.of(path));
    }
  }

  /// Others may connect to it, so that objects pass between them without the server. They show
  /// tickets that the server gives them. What is said is encrypted when it is with the server, see
  /// [Security]: then it shows a certificate, which is, or is signed by, the one that all trust.
  ///
  /// @param host the address to listen on, by which others reach it; its certificate is for that
  /// @param port 0 for any
  /// @param certificate a file with its certificates in PEM; null for connections that are not
  ///   encrypted
  /// @param key a file with the certificate's private key in PEM; null without a certificate
  record Inner(
      String host, int port, @Nullable Path certificate, @Nullable Path key, Locality locality)
      implements Membership {
    public Inner {
      Objects.requireNonNull(host, "host");
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException("a certificate and its key go together; give both");
      }
    }

    /// Without a certificate.
    public Inner(String host, int port) {
      this(host, port, null, null, Locality.UNKNOWN);
    }

    /// This with a certificate to show.
    public Inner withTls(Path newCertificate, Path newKey) {
      return new Inner(
          host,
          port,
          Objects.requireNonNull(newCertificate, "certificate"),
          Objects.requireNonNull(newKey, "key"),
          locality);
    }

    /// This at some place.
    ///
    /// @param path names from the widest to the narrowest, such as `eu-west/rack-3`
    /// @throws IllegalArgumentException when it is no [Locality]
    public Inner at(String path) {
      return new Inner(host, port, certificate, key, Locality.of(path));
    }
  }

  /// It stays outside: its calls on such objects execute at the server, and are durable before they
  /// are answered.
  record Outside() implements Membership {
    /// Nobody is near to it.
    @Override
    public Locality locality() {
      return Locality.UNKNOWN;
    }
  }

  /// The usual one.
  static Leaf leaf() {
    return new Leaf(Locality.UNKNOWN);
  }

  /// Of a process that those of this machine may connect to.
  static Inner inner() {
    return new Inner("127.0.0.1", 0);
  }
}

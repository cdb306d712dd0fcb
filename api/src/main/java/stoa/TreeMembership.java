package stoa;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a client of a server takes part in the tree of processes through which client-placed objects
/// migrate (self-service, section 3). A client joins at its first call of such an object. Without
/// effect for a store in this process, which is the root.
public sealed interface TreeMembership {
  /// Returns the place of the process, which gets a place in the tree beside near ones. With
  /// [Locality#UNKNOWN], the default, the place is the host by which the server sees the process.
  Locality locality();

  /// A process that connects to others, and to which none connects.
  record Leaf(Locality locality) implements TreeMembership {
    /// Returns this membership at another place.
    ///
    /// @param path names from the widest to the narrowest, such as `eu-west/rack-3`
    /// @throws IllegalArgumentException when it is not a [Locality]
    public Leaf at(String path) {
      return new Leaf(Locality.of(path));
    }
  }

  /// A process to which others may connect, so that objects pass between them without the server.
  /// Others show tickets that the server gives them. Connections are encrypted if those with the
  /// server are, see [ConnectionSecurity]: then this process shows a certificate that is, or is
  /// signed by, the one that all trust.
  ///
  /// @param host the address to listen on, by which others reach it; its certificate names it
  /// @param port 0 for any
  /// @param certificate a file with its certificates in PEM; null for connections without
  ///   encryption
  /// @param key a file with the certificate's private key in PEM; null without a certificate
  record Inner(
      String host, int port, @Nullable Path certificate, @Nullable Path key, Locality locality)
      implements TreeMembership {
    public Inner {
      Objects.requireNonNull(host, "host");
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException("a certificate and its key go together; give both");
      }
    }

    /// Creates one without a certificate.
    public Inner(String host, int port) {
      this(host, port, null, null, Locality.UNKNOWN);
    }

    /// Returns this membership with a certificate to show.
    public Inner withTls(Path newCertificate, Path newKey) {
      return new Inner(
          host,
          port,
          Objects.requireNonNull(newCertificate, "certificate"),
          Objects.requireNonNull(newKey, "key"),
          locality);
    }

    /// Returns this membership at another place.
    ///
    /// @param path names from the widest to the narrowest, such as `eu-west/rack-3`
    /// @throws IllegalArgumentException when it is not a [Locality]
    public Inner at(String path) {
      return new Inner(host, port, certificate, key, Locality.of(path));
    }
  }

  /// A process outside the tree: its calls on such objects execute at the server, and are durable
  /// when they return. For [Stoa#together] it becomes a leaf, and stays one; its other calls go to
  /// the server as before.
  record Outside() implements TreeMembership {
    /// Returns [Locality#UNKNOWN].
    @Override
    public Locality locality() {
      return Locality.UNKNOWN;
    }
  }

  /// Returns the default membership, a leaf.
  static Leaf leaf() {
    return new Leaf(Locality.UNKNOWN);
  }

  /// Returns the membership of a process to which others on this machine may connect.
  static Inner inner() {
    return new Inner("127.0.0.1", 0);
  }
}

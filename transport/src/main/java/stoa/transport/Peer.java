package stoa.transport;

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/// The ends of a connection. Immutable.
///
/// @param remote the address of the other end; null before there is one
/// @param local the address of this end; null before there is one
/// @param certificate what the other end has shown, and an authority has signed; null for none
public record Peer(
    @Nullable InetSocketAddress remote,
    @Nullable InetSocketAddress local,
    @Nullable X509Certificate certificate) {
  /// An end that is not known yet.
  public static final Peer UNKNOWN = new Peer(null, null, null);
}

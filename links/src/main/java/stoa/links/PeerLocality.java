package stoa.links;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.transport.Peer;

/// The locality of the other side of a stream, as this side sees it: its host, which has one name
/// for all processes of this machine. Stateless.
final class PeerLocality {
  private static final Locality HERE = Locality.of("localhost");

  private PeerLocality() {}

  /// Returns the locality of the other side of a connection.
  static Locality of(Peer peer) {
    if (peer.remote() == null) return Locality.UNKNOWN;
    return of(peer.remote().getAddress(), peer.local() == null ? null : peer.local().getAddress());
  }

  /// Returns the locality of a host.
  ///
  /// @param here the address at which it reaches this side
  static Locality of(InetAddress host, @Nullable InetAddress here) {
    if (host.isLoopbackAddress() || host.equals(here)) return HERE;
    String address = host.getHostAddress();
    int zone = address.indexOf('%'); // which this machine knows alone
    return Locality.of(zone < 0 ? address : address.substring(0, zone));
  }
}

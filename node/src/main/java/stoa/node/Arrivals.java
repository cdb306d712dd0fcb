package stoa.node;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/// Connections on which no call has begun: there is room for so many, and one that comes when there
/// is none takes the place of the oldest. Thread-safe.
///
/// That they have a time is up to the transport.
final class Arrivals {
  private final int countMax;

  // By the address of the other side, the oldest first. Guarded by this.
  private final LinkedHashMap<SocketAddress, Channel> waiting = new LinkedHashMap<>();

  Arrivals(int countMax) {
    this.countMax = countMax;
  }

  /// A connection was accepted.
  void enter(Channel channel) {
    SocketAddress address = channel.remoteAddress();
    if (address == null) return; // it is gone
    @Nullable Channel oldest = null;
    synchronized (this) {
      if (waiting.size() >= countMax) oldest = waiting.pollFirstEntry().getValue();
      waiting.put(address, channel);
    }
    if (oldest != null && oldest.isRegistered()) {
      var _ = oldest.close();
    }
  }

  /// It belongs to a thread now.
  void registered(Channel channel) {
    SocketAddress address = channel.remoteAddress();
    if (address == null) return;
    var _ = channel.closeFuture().addListener(_ -> leave(address, channel));
  }

  private synchronized void leave(SocketAddress address, Channel closed) {
    waiting.remove(address, closed);
  }

  /// A call has begun on a connection.
  synchronized void leave(SocketAddress address) {
    waiting.remove(address);
  }

  synchronized int count() {
    return waiting.size();
  }
}

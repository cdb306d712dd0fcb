package stoa.node;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/// Connections on which no call has begun. There is room for a fixed number; one more takes the
/// place of the oldest. Thread-safe.
///
/// The transport limits how long they may stay so.
final class Arrivals {
  private final int countMax;

  // By the address of the other side, the oldest first. Guarded by this.
  private final LinkedHashMap<SocketAddress, Channel> waiting = new LinkedHashMap<>();

  Arrivals(int countMax) {
    this.countMax = countMax;
  }

  /// Records that a connection was accepted.
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

  /// Records that a thread owns it now.
  void registered(Channel channel) {
    SocketAddress address = channel.remoteAddress();
    if (address == null) return;
    var _ = channel.closeFuture().addListener(_ -> leave(address, channel));
  }

  private synchronized void leave(SocketAddress address, Channel closed) {
    waiting.remove(address, closed);
  }

  /// Records that a call has begun on a connection.
  synchronized void leave(SocketAddress address) {
    waiting.remove(address);
  }

  synchronized int count() {
    return waiting.size();
  }
}

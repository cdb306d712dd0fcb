package stoa.node;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Connections on which no call has begun. There is room for a fixed number; one more takes the
/// place of the oldest. A connection that begins no call within a time limit is closed.
/// Thread-safe.
///
/// Such a connection is cut off at once. gRPC's own way of closing gives the other side half a
/// minute for a farewell, and a stranger that opens connections would hold all of them so long.
final class Arrivals {
  private final int countMax;
  private final long timeMaxMillis;

  // By the address of the other side, the oldest first. Guarded by this.
  private final LinkedHashMap<SocketAddress, Arrival> waiting = new LinkedHashMap<>();

  private static final class Arrival {
    private final Channel channel;
    private @Nullable Future<?> end;

    Arrival(Channel channel) {
      this.channel = channel;
    }
  }

  Arrivals(int countMax, Duration timeMax) {
    this.countMax = countMax;
    this.timeMaxMillis = timeMax.toMillis();
  }

  /// Records that a connection was accepted.
  void enter(Channel channel) {
    SocketAddress address = channel.remoteAddress();
    if (address == null) return; // it is gone
    @Nullable Arrival oldest = null;
    synchronized (this) {
      if (waiting.size() >= countMax) {
        oldest = waiting.pollFirstEntry().getValue();
        if (oldest.end != null) oldest.end.cancel(false);
      }
      waiting.put(address, new Arrival(channel));
    }
    if (oldest == null) return;
    Channel closing = oldest.channel;
    // Behind its registration, which may not have happened yet when many come at once.
    if (oldest.end != null) closing.eventLoop().execute(() -> cutOff(closing));
  }

  /// Records that a thread owns it now.
  void registered(Channel channel) {
    SocketAddress address = channel.remoteAddress();
    if (address == null) return;
    synchronized (this) {
      Arrival arrival = waiting.get(address);
      if (arrival != null && arrival.channel.equals(channel)) {
        arrival.end =
            channel
                .eventLoop()
                .schedule(() -> expire(address, channel), timeMaxMillis, TimeUnit.MILLISECONDS);
      }
    }
    var _ = channel.closeFuture().addListener(_ -> leave(address, channel));
  }

  private void expire(SocketAddress address, Channel channel) {
    if (leave(address, channel)) cutOff(channel);
  }

  /// The first handler is the nearest to the socket, so that no other handler sees the close.
  private static void cutOff(Channel channel) {
    ChannelHandlerContext first = channel.pipeline().firstContext();
    var _ = first == null ? channel.close() : first.close();
  }

  private synchronized boolean leave(SocketAddress address, Channel channel) {
    Arrival arrival = waiting.get(address);
    if (arrival == null || !arrival.channel.equals(channel)) return false;
    leave(address);
    return true;
  }

  /// Records that a call has begun on a connection.
  synchronized void leave(SocketAddress address) {
    Arrival arrival = waiting.remove(address);
    if (arrival != null && arrival.end != null) arrival.end.cancel(false);
  }

  synchronized int count() {
    return waiting.size();
  }
}

package stoa.transport;

import java.nio.ByteBuffer;
import java.util.concurrent.Executor;

/// A connection of which both ends are in this process: streams, frames and checksums are the real
/// ones, and there is no network.
public final class Loopback {
  private final Executor thread;
  private final Connection client;
  private final Connection server;

  private Loopback(StreamAcceptor service, ConnectionLimits limits, Executor thread) {
    this.thread = thread;
    client = new Connection(new End(true), limits, null, () -> {});
    server = new Connection(new End(false), limits, service, () -> {});
  }

  /// Connects to a service.
  ///
  /// @param thread runs both ends: one task at a time, in order, and none within `execute`
  /// @return the client's end
  public static Connection connect(
      StreamAcceptor service, ConnectionLimits limits, Executor thread) {
    return new Loopback(service, limits, thread).client;
  }

  /// One end.
  private final class End implements Connection.Wire {
    private final boolean isClient;

    End(boolean isClient) {
      this.isClient = isClient;
    }

    @Override
    public void flush() {
      thread.execute(this::send);
    }

    /// Hands over whole frames, so the other end leaves nothing of them.
    private void send() {
      var frames = ByteBuffer.allocate(Frames.FRAME_BYTES_MAX);
      while ((isClient ? client : server).fill(frames.clear())) {
        (isClient ? server : client).received(frames.flip());
      }
    }

    @Override
    public void execute(Runnable task) {
      thread.execute(task);
    }

    @Override
    public void cut(Status why) {
      thread.execute(() -> {
        client.lost(why);
        server.lost(why);
      });
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public Peer peer() {
      return Peer.UNKNOWN;
    }
  }
}

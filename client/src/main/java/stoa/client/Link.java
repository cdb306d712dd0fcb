package stoa.client;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.StoreGrpc;

/// One connection to a server: a stream of frames each way. One thread at a time sends.
final class Link implements ClientResponseObserver<ClientFrame, ServerFrame> {
  /// The events of a connection. The reading thread calls it.
  interface Events {
    /// Receives a frame.
    void frame(Link link, ServerFrame frame);

    /// Notes that the connection takes frames again.
    void ready();

    /// Notes the end of the connection.
    void over(Link link, Status status);
  }

  private static final long END_MILLIS = 500;

  private final ServerUrl.Address address;
  private final ManagedChannel channel;
  private final Events events;
  private volatile @Nullable ClientCallStreamObserver<ClientFrame> sending;
  private volatile boolean reached;

  /// Begins to connect.
  Link(ServerUrl.Address address, ManagedChannel channel, Events events) {
    this.address = address;
    this.channel = channel;
    this.events = events;
  }

  /// Connects, and sends the first frame.
  void open(ClientFrame hello) {
    var _ = StoreGrpc.newStub(channel).converse(this);
    send(hello);
  }

  ServerUrl.Address address() {
    return address;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<ClientFrame> requests) {
    sending = requests;
    requests.setOnReadyHandler(() -> {
      reached = true;
      events.ready();
    });
  }

  /// Returns whether the server was reachable.
  boolean isReached() {
    return reached;
  }

  /// Returns whether a frame would leave soon.
  boolean isReady() {
    ClientCallStreamObserver<ClientFrame> out = sending;
    return out != null && out.isReady();
  }

  /// Sends a frame. When a connection loses a frame, the next connection repeats its requests.
  void send(ClientFrame frame) {
    ClientCallStreamObserver<ClientFrame> out = sending;
    if (out == null) return;
    try {
      out.onNext(frame);
    } catch (IllegalStateException over) {
      // onError learns of the end of the connection.
    }
  }

  @Override
  public void onNext(ServerFrame frame) {
    events.frame(this, frame);
  }

  @Override
  public void onError(Throwable failure) {
    events.over(this, Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    events.over(this, Status.OK);
  }

  /// Ends it, and waits shortly until it has ended.
  void close() {
    ClientCallStreamObserver<ClientFrame> out = sending;
    if (out != null) {
      try {
        out.onCompleted();
      } catch (IllegalStateException | StatusRuntimeException over) {
        // It has ended already.
      }
    }
    channel.shutdown();
    try {
      if (!channel.awaitTermination(END_MILLIS, TimeUnit.MILLISECONDS)) channel.shutdownNow();
    } catch (InterruptedException e) {
      channel.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  /// Ends it at once.
  void cut() {
    channel.shutdownNow();
  }
}

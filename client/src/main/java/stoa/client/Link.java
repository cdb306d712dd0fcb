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
  /// What happens on a connection. Called by the thread that reads it.
  interface Events {
    /// A frame has arrived.
    void frame(Link link, ServerFrame frame);

    /// Frames may be sent again.
    void ready();

    /// It is over.
    void over(Link link, Status status);
  }

  private static final long END_MILLIS = 500;

  private final Addresses.Address address;
  private final ManagedChannel channel;
  private final Events events;
  private volatile @Nullable ClientCallStreamObserver<ClientFrame> sending;
  private volatile boolean reached;

  /// Begins to connect.
  Link(Addresses.Address address, ManagedChannel channel, Events events) {
    this.address = address;
    this.channel = channel;
    this.events = events;
  }

  /// Connects, and says the first frame.
  void open(ClientFrame hello) {
    var _ = StoreGrpc.newStub(channel).converse(this);
    send(hello);
  }

  Addresses.Address address() {
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

  /// Returns whether the server was there.
  boolean isReached() {
    return reached;
  }

  /// Returns whether a frame that is sent now goes out soon.
  boolean isReady() {
    ClientCallStreamObserver<ClientFrame> out = sending;
    return out != null && out.isReady();
  }

  /// Sends a frame. One that is lost with the connection is not missed: its requests are due again.
  void send(ClientFrame frame) {
    ClientCallStreamObserver<ClientFrame> out = sending;
    if (out == null) return;
    try {
      out.onNext(frame);
    } catch (IllegalStateException over) {
      // The end of the connection is told to onError.
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

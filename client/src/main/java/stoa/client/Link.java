package stoa.client;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.Rpc;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;

/// One connection to a server: a stream of frames each way. One thread at a time sends.
final class Link implements Receiver {
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

  private final Channel channel;
  private final Events events;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Stream sending;
  private volatile boolean reached;

  /// Creates it.
  Link(Channel channel, Events events) {
    this.channel = channel;
    this.events = events;
  }

  /// Connects, and sends the first frame.
  ///
  /// @throws IllegalArgumentException when a certificate is unusable
  void open(ClientFrame hello) {
    Stream made = channel.open(Rpc.CONVERSE.path(), this);
    sending = made;
    made.request(1);
    send(hello);
  }

  Address address() {
    return channel.address();
  }

  /// Returns whether the server was reachable.
  boolean isReached() {
    return reached;
  }

  /// Returns whether a frame would leave soon.
  boolean isReady() {
    Stream out = sending;
    return out != null && out.isReady();
  }

  /// Sends a frame. When a connection loses a frame, the next connection repeats its requests.
  void send(ClientFrame frame) {
    Stream out = sending;
    if (out != null) out.send(frame.toByteArray());
  }

  @Override
  public void message(byte[] message) {
    Stream from = sending;
    ServerFrame frame;
    try {
      frame = ServerFrame.parseFrom(message);
    } catch (InvalidProtocolBufferException none) {
      var why = Status.of(Status.Code.INTERNAL, "a frame of the server is no message");
      if (from != null) from.cancel(why);
      over(why);
      return;
    }
    events.frame(this, frame);
    if (from != null) from.request(1);
  }

  @Override
  public void ready() {
    reached = true;
    events.ready();
  }

  @Override
  public void over(Status status) {
    events.over(this, status);
    ended.countDown();
  }

  /// Ends it, and waits shortly until it has ended, if there is a server at the other end.
  void close() {
    Stream out = sending;
    if (out == null || !reached) {
      channel.cut();
      return;
    }
    out.finish();
    channel.close();
    try {
      if (!ended.await(END_MILLIS, TimeUnit.MILLISECONDS)) channel.cut();
    } catch (InterruptedException e) {
      channel.cut();
      Thread.currentThread().interrupt();
    }
  }

  /// Ends it at once.
  void cut() {
    channel.cut();
  }
}

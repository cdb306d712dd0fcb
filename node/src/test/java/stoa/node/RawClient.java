package stoa.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.base.Encoder;
import stoa.front.types.Keys;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.Channels;
import stoa.wire.FrameLimits;
import stoa.wire.Rpc;
import stoa.wire.SingleRequests;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ClientHello;
import stoa.wire.proto.Find;
import stoa.wire.proto.Names;
import stoa.wire.proto.Open;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ServerHello;
import stoa.wire.proto.TypeNames;

/// A client that says what it is told to, also what no client should.
final class RawClient implements AutoCloseable {
  private static final long WAIT_SECONDS = 60;

  private final @Nullable Channels own;
  private final Channel channel;
  private final BlockingQueue<ServerFrame> frames = new LinkedBlockingQueue<>();
  private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
  private final BlockingQueue<Status> ends = new LinkedBlockingQueue<>();
  private final AtomicReference<@Nullable ServerHello> hello = new AtomicReference<>();
  private final Stream out;

  RawClient(int port) {
    this(port, ConnectionSecurity.none());
  }

  /// @param security how it proves itself
  RawClient(int port, ConnectionSecurity security) {
    this(new Channels(security), port);
  }

  private RawClient(Channels own, int port) {
    this(channel(own, port), own);
  }

  /// @param channel to the server; cut with the client
  RawClient(Channel channel) {
    this(channel, null);
  }

  private RawClient(Channel channel, @Nullable Channels own) {
    this.channel = channel;
    this.own = own;
    out = channel.open(Rpc.CONVERSE.path(), new Heard());
    out.request(Integer.MAX_VALUE);
  }

  private final class Heard implements Receiver {
    @Override
    public void message(byte[] message) {
      ServerFrame frame;
      try {
        frame = ServerFrame.parseFrom(message);
      } catch (InvalidProtocolBufferException none) {
        throw new AssertionError("the server's frame is no message", none);
      }
      if (frame.hasHello()) hello.set(frame.getHello());
      frames.add(frame);
      answers.addAll(frame.getAnswersList());
    }

    @Override
    public void over(Status status) {
      ends.add(status);
    }
  }

  /// A channel to a server of this machine.
  static Channel channel(Channels channels, int port) {
    return channels.to(new Address("127.0.0.1", port));
  }

  /// The questions to a server of this machine.
  static SingleRequests questions(Channels channels, int port) {
    return new SingleRequests(channel(channels, port), WAIT_SECONDS * 1_000);
  }

  void send(ClientFrame.Builder frame) {
    out.send(frame.build().toByteArray());
  }

  void send(Request.Builder... requests) {
    var frame = ClientFrame.newBuilder();
    for (Request.Builder request : requests) frame.addRequests(request);
    send(frame);
  }

  /// Opens a session.
  ServerHello open() throws InterruptedException {
    return resume(0, ByteString.EMPTY);
  }

  /// Goes on with a session.
  ServerHello resume(long session, ByteString secret) throws InterruptedException {
    send(ClientFrame.newBuilder().setHello(hello(session, secret)));
    frame();
    return java.util.Objects.requireNonNull(hello.get());
  }

  static ClientHello.Builder hello(long session, ByteString secret) {
    return ClientHello.newBuilder()
        .setProtocol(FrameLimits.PROTOCOL)
        .setSession(session)
        .setSecret(secret);
  }

  ServerFrame frame() throws InterruptedException {
    ServerFrame frame = frames.poll(WAIT_SECONDS, TimeUnit.SECONDS);
    if (frame == null) throw new AssertionError("no frame came; ended with " + ends.peek());
    return frame;
  }

  Answer answer() throws InterruptedException {
    Answer answer = answers.poll(WAIT_SECONDS, TimeUnit.SECONDS);
    if (answer == null) throw new AssertionError("no answer came; ended with " + ends.peek());
    return answer;
  }

  boolean hasEnded() {
    return !ends.isEmpty();
  }

  /// How the connection ended.
  Status end() throws InterruptedException {
    Status status = ends.poll(WAIT_SECONDS, TimeUnit.SECONDS);
    if (status == null) throw new AssertionError("the connection did not end");
    return status;
  }

  /// How the connection ended; OK when the server said hello.
  Status.Code endOrHello() throws InterruptedException {
    while (true) {
      Status status = ends.poll(10, TimeUnit.MILLISECONDS);
      if (status != null) return status.code();
      if (hello.get() != null) return Status.Code.OK;
    }
  }

  Answer ask(Request.Builder request) throws InterruptedException {
    send(request);
    return answer();
  }

  static Request.Builder request(long sequence) {
    return Request.newBuilder().setSequence(sequence);
  }

  static Request.Builder use(long sequence, Class<?> type) {
    return request(sequence).setTypeNames(TypeNames.newBuilder().setClassName(type.getName()));
  }

  static Request.Builder open(long sequence, int container, Class<?> type, Object key) {
    var open = Open.newBuilder().setContainer(container).setType(type.getName());
    return request(sequence).setOpen(open.setKey(ByteString.copyFrom(Keys.encode(key))));
  }

  /// The number of a method of a class that is in use.
  int number(long sequence, Class<?> type, String method) throws InterruptedException {
    Answer answer =
        ask(
            request(sequence)
                .setNames(Names.newBuilder().addNumber("method " + type.getName() + "#" + method)));
    if (!answer.hasNames()) throw new AssertionError(answer);
    return answer.getNames().getNumbers(0) + 1;
  }

  /// A call without arguments.
  static Request.Builder call(long sequence, int container, int method) {
    // 0xA1.. is written by the marshaller; no arguments are its one byte.
    return request(sequence)
        .setCall(Call.newBuilder().setContainer(container).setCall(bytes(method)));
  }

  private static ByteString bytes(int method) {
    return ByteString.copyFrom(new Encoder(8).varint(method).u8(ARGUMENTS).toBytes());
  }

  private static final int ARGUMENTS = 1;

  /// Asks whether an object is there.
  static Request.Builder find(long sequence, int container) {
    return request(sequence).setFind(Find.newBuilder().setContainer(container));
  }

  /// Breaks the connection.
  void cut() {
    channel.cut();
  }

  @Override
  public void close() {
    channel.cut();
    if (own != null) own.close();
  }
}

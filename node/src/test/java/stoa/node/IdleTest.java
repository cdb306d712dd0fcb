package stoa.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.ConnectionSecurity;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.Channels;
import stoa.wire.Rpc;
import stoa.wire.SingleRequests;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Clients that do nothing, or only ask.
class IdleTest {
  private static final int SESSIONS = 1_000;
  private static final int ANSWER_BYTES_MAX = 1 << 20;
  private static final int BULK_BYTES = 64 << 10;

  /// An object with a long answer.
  @Shared
  static class Bulk {
    private final byte[] bytes = new byte[BULK_BYTES];

    protected Bulk() {}

    @Accessor
    public byte[] bytes() {
      return bytes;
    }
  }

  private static Server start(ServerConfig config) throws IOException {
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static StatusReply status(Channel channel) {
    return new SingleRequests(channel, 60_000).status(StatusRequest.getDefaultInstance());
  }

  /// Says hello and asks for one frame; what else comes waits.
  private static Stream converse(Channel channel, Semaphore frames) {
    Stream stream =
        channel.open(
            Rpc.CONVERSE.path(),
            new Receiver() {
              @Override
              public void message(byte[] frame) {
                frames.release();
              }

              @Override
              public void over(Status status) {}
            });
    stream.request(1);
    send(stream, ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY)));
    return stream;
  }

  private static void send(Stream stream, ClientFrame.Builder frame) {
    stream.send(frame.build().toByteArray());
  }

  @Test
  void aThousandIdleSessionsEndWithTheirLeaseWhileOthersGoOn() throws Exception {
    var config = ServerConfig.of("127.0.0.1", 0).withLease(Duration.ofMillis(500));
    try (Server server = start(config);
        var good = new RawClient(server.port())) {
      good.open();
      good.ask(RawClient.use(1, Counter.class));
      int increment = good.number(2, Counter.class, "increment()");
      good.ask(RawClient.open(3, 1, Counter.class, "good"));
      long sequence = 4;
      try (var channels = new Channels(ConnectionSecurity.none())) {
        Channel channel = RawClient.channel(channels, server.port());
        var frames = new Semaphore(0);
        for (int i = 0; i < SESSIONS; i++) {
          var call = converse(channel, frames);
          frames.acquire();
          call.cancel(Status.of(Status.Code.CANCELLED, "idle"));
          if (i % 20 == 0) {
            assertTrue(good.ask(RawClient.call(sequence++, 1, increment)).hasAnswered());
          }
        }
        while (status(channel).getSessionsCount() > 1) Thread.onSpinWait();
      }
      assertTrue(good.ask(RawClient.call(sequence, 1, increment)).hasAnswered());
    }
  }

  @Test
  void aClientThatNeverReadsIsCutOffAtItsBoundWhileOthersGoOn() throws Exception {
    var config = ServerConfig.of("127.0.0.1", 0).withAnswerBytesMax(ANSWER_BYTES_MAX);
    try (Server server = start(config);
        var good = new RawClient(server.port())) {
      good.open();
      good.ask(RawClient.use(1, Bulk.class));
      int bytes = good.number(2, Bulk.class, "bytes()");
      good.ask(RawClient.open(3, 1, Bulk.class, "bulk"));
      try (var channels = new Channels(ConnectionSecurity.none())) {
        Channel channel = RawClient.channel(channels, server.port());
        Channel operator = RawClient.channel(channels, server.port());
        var frames = new Semaphore(0);
        var call = converse(channel, frames);
        frames.acquire();
        send(call, ClientFrame.newBuilder().addRequests(RawClient.open(1, 1, Bulk.class, "bulk")));
        // It asks for three times as much as it may leave unread, and reads nothing.
        int calls = 3 * ANSWER_BYTES_MAX / BULK_BYTES;
        for (int i = 0; i < calls; i++) {
          send(call, ClientFrame.newBuilder().addRequests(RawClient.call(2 + i, 1, bytes)));
        }
        int sequence = 4;
        while (status(operator).getSessionsList().stream()
                .filter(session -> session.getConnected())
                .count()
            > 1) {
          var frame = ClientFrame.newBuilder().setAcknowledged(sequence - 1);
          good.send(frame.addRequests(RawClient.call(sequence++, 1, bytes)));
          assertTrue(good.answer().hasAnswered());
        }
        var frame = ClientFrame.newBuilder().setAcknowledged(sequence - 1);
        good.send(frame.addRequests(RawClient.call(sequence, 1, bytes)));
        assertTrue(good.answer().hasAnswered());
      }
    }
  }
}

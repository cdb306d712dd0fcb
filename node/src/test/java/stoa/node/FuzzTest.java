package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.wire.Channels;
import stoa.wire.Rpc;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Commit;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Entries;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.Follow;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.ListObjects;
import stoa.wire.proto.Listen;
import stoa.wire.proto.Names;
import stoa.wire.proto.Pin;
import stoa.wire.proto.Request;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.Stream;
import stoa.wire.proto.TakeSnapshot;

/// Bytes that no client would send, from seeds: the server refuses them, and serves the others.
class FuzzTest {
  private static final int CONNECTIONS = 20;
  private static final int FRAMES = 12;
  private static final int BYTES_MAX = 200;

  private static Server start() throws IOException {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0), ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  /// Returns requests that a client can send, one of each of many kinds.
  private static List<Request.Builder> requests(Random random) {
    var key = ByteString.copyFromUtf8("key");
    var bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    var any = ByteString.copyFrom(bytes);
    var all = new ArrayList<Request.Builder>();
    all.add(RawClient.use(0, Counter.class));
    all.add(RawClient.open(0, 1, Counter.class, "fuzzed"));
    all.add(Request.newBuilder().setCall(Call.newBuilder().setContainer(1).setCall(any)));
    all.add(Request.newBuilder().setDelete(Delete.newBuilder().setContainer(1)));
    all.add(Request.newBuilder().setNames(Names.newBuilder().setFrom(random.nextInt())));
    all.add(
        Request.newBuilder()
            .setBegin(
                Begin.newBuilder().setTransaction(1).setTimeMicros(1_000_000 + random.nextInt())));
    all.add(
        Request.newBuilder()
            .setTransaction(1)
            .setCall(Call.newBuilder().setContainer(1).setCall(any)));
    all.add(Request.newBuilder().setTransaction(1).setCommit(Commit.newBuilder()));
    all.add(Request.newBuilder().setFollow(Follow.newBuilder().setContainer(1)));
    all.add(Request.newBuilder().setFetch(Fetch.newBuilder().setContainer(1)));
    all.add(Request.newBuilder().setPin(Pin.newBuilder().setPin(random.nextLong())));
    all.add(Request.newBuilder().setTakeSnapshot(TakeSnapshot.newBuilder().setName("s")));
    all.add(
        Request.newBuilder()
            .setEntries(Entries.newBuilder().setContainer(1).setTo(Long.MAX_VALUE)));
    all.add(Request.newBuilder().setListObjects(ListObjects.newBuilder().setPage(any)));
    all.add(
        Request.newBuilder()
            .setBlob(
                Blob.newBuilder().setKey(key).setOperation(random.nextInt(30)).setArguments(any)));
    all.add(
        Request.newBuilder()
            .setStream(Stream.newBuilder().setOperation(random.nextInt(16)).setArguments(any)));
    all.add(
        Request.newBuilder()
            .setListen(Listen.newBuilder().setListener(1).setKey(key).setHandler(any)));
    all.add(
        Request.newBuilder()
            .setKeyPut(KeyPut.newBuilder().setKey(key).setPresent(true).setValue(any)));
    return all;
  }

  /// A frame of some requests, with some of its bytes changed, cut off or made up.
  private static byte[] frame(Random random, int number) {
    var all = requests(random);
    var frame = ClientFrame.newBuilder();
    for (int i = 0; i < 4; i++) {
      frame.addRequests(all.get(random.nextInt(all.size())).setSequence(4L * number + i + 1));
    }
    byte[] bytes = frame.build().toByteArray();
    switch (random.nextInt(4)) {
      case 0 -> {
        bytes = new byte[random.nextInt(BYTES_MAX)];
        random.nextBytes(bytes);
      }
      case 1 -> bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
      case 2 -> {
        for (int i = 0; i < 3; i++) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
      }
      default -> {
        // As it is: its contents are strange enough.
      }
    }
    return bytes;
  }

  /// Sends frames after a hello, and waits until the server ends the connection or has them.
  private static void converse(Channel channel, Random random) throws Exception {
    var heard = new Heard();
    var stream = channel.open(Rpc.CONVERSE.path(), heard);
    stream.request(Integer.MAX_VALUE);
    if (random.nextInt(5) > 0) {
      stream.send(hello());
      assertTrue(heard.greeted.await(60, TimeUnit.SECONDS));
    }
    for (int i = 0; i < FRAMES && !heard.ended.isDone(); i++) stream.send(frame(random, i));
    stream.finish();
    var _ = heard.ended.get(60, TimeUnit.SECONDS);
  }

  private static byte[] hello() {
    var hello = ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY));
    return hello.build().toByteArray();
  }

  private static final class Heard implements Receiver {
    private final CountDownLatch greeted = new CountDownLatch(1);
    private final CompletableFuture<Status> ended = new CompletableFuture<>();

    @Override
    public void message(byte[] message) {
      greeted.countDown();
    }

    @Override
    public void over(Status status) {
      greeted.countDown();
      ended.complete(status);
    }
  }

  private static void assertServes(Server server) throws Exception {
    try (var client = new RawClient(server.port())) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      int increment = client.number(2, Counter.class, "increment()");
      client.ask(RawClient.open(3, 1, Counter.class, "good"));
      assertTrue(client.ask(RawClient.call(4, 1, increment)).hasAnswered());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void strangeFramesHarmOnlyTheirConversation(long seed) throws Exception {
    var random = new Random(seed);
    try (Server server = start()) {
      try (var channels = new Channels(ConnectionSecurity.none())) {
        Channel channel = RawClient.channel(channels, server.port());
        for (int i = 0; i < CONNECTIONS; i++) {
          converse(channel, random);
          if (i % 10 == 0) assertServes(server);
        }
        var operator = RawClient.questions(channels, server.port());
        // An ended session does not count as connected, and its requests end.
        while (operator.status(StatusRequest.getDefaultInstance()).getSessionsList().stream()
            .anyMatch(session -> session.getConnected() || session.getRequests() > 0)) {
          Thread.onSpinWait();
        }
      }
      assertServes(server);
    }
  }

  @Test
  void aFrameThatIsNoMessageIsRefusedAsNonsense() throws Exception {
    try (Server server = start()) {
      try (var channels = new Channels(ConnectionSecurity.none())) {
        Channel channel = RawClient.channel(channels, server.port());
        for (boolean greet : new boolean[] {true, false}) {
          var heard = new Heard();
          var stream = channel.open(Rpc.CONVERSE.path(), heard);
          stream.request(2);
          if (greet) stream.send(hello());
          stream.send(new byte[] {-1, -1, -1});
          var status = heard.ended.get(60, TimeUnit.SECONDS);
          assertEquals(Status.Code.INVALID_ARGUMENT, status.code(), status::toString);
        }
      }
      assertServes(server);
    }
  }

  @Test
  void aQuestionThatIsNoMessageIsRefusedAsNonsense() throws Exception {
    try (Server server = start();
        var channels = new Channels(ConnectionSecurity.none())) {
      Channel channel = RawClient.channel(channels, server.port());
      for (Rpc rpc : Rpc.values()) {
        if (rpc == Rpc.TREE) continue; // its messages are parts of others
        var heard = new Heard();
        var stream = channel.open(rpc.path(), heard);
        stream.request(1);
        stream.send(new byte[] {-1, -1, -1});
        stream.finish();
        var status = heard.ended.get(60, TimeUnit.SECONDS);
        assertEquals(Status.Code.INVALID_ARGUMENT, status.code(), () -> rpc + " " + status);
      }
    }
  }

  @Test
  void bytesThatAreNoConversationAtAllHarmNobody() throws Exception {
    var random = new Random(9);
    try (Server server = start()) {
      for (int i = 0; i < 50; i++) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
          var bytes = new byte[random.nextInt(20_000)];
          random.nextBytes(bytes);
          socket.getOutputStream().write(bytes);
          socket.getOutputStream().flush();
          if (i % 2 == 0) socket.setSoLinger(true, 0);
        } catch (IOException cut) {
          // The server had enough of it.
        }
      }
      assertServes(server);
    }
  }
}

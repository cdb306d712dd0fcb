package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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
import stoa.StoaConfig;
import stoa.objects.ObjectService;
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
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.Stream;
import stoa.wire.proto.TakeSnapshot;

/// Bytes that no client would send, from seeds: the server refuses them, and serves the others.
class FuzzTest {
  private static final int CONNECTIONS = 20;
  private static final int FRAMES = 12;
  private static final int BYTES_MAX = 200;

  /// The connection, with frames of any bytes in the place of messages.
  private static final MethodDescriptor<byte[], byte[]> BYTES =
      StoreGrpc.getConverseMethod().toBuilder(new Bytes(), new Bytes()).build();

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

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
  private static void converse(ManagedChannel channel, Random random) throws Exception {
    ClientCall<byte[], byte[]> call = channel.newCall(BYTES, CallOptions.DEFAULT);
    var greeted = new CountDownLatch(1);
    var ended = new CountDownLatch(1);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(byte[] message) {
            greeted.countDown();
            call.request(1);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            greeted.countDown();
            ended.countDown();
          }
        },
        new Metadata());
    call.request(1);
    var hello = ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY));
    if (random.nextInt(5) > 0) {
      call.sendMessage(hello.build().toByteArray());
      assertTrue(greeted.await(60, TimeUnit.SECONDS));
    }
    for (int i = 0; i < FRAMES && ended.getCount() > 0; i++) call.sendMessage(frame(random, i));
    call.halfClose();
    assertTrue(ended.await(60, TimeUnit.SECONDS), "the server did not end the connection");
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
      ManagedChannel channel = RawClient.channel(server.port());
      try {
        for (int i = 0; i < CONNECTIONS; i++) {
          converse(channel, random);
          if (i % 10 == 0) assertServes(server);
        }
        var operator = StoreGrpc.newBlockingStub(channel);
        // An ended session does not count as connected, and its requests end.
        while (operator.status(StatusRequest.getDefaultInstance()).getSessionsList().stream()
            .anyMatch(session -> session.getConnected() || session.getRequests() > 0)) {
          Thread.onSpinWait();
        }
      } finally {
        channel.shutdownNow();
      }
      assertServes(server);
    }
  }

  @Test
  void aFrameThatIsNoMessageIsRefusedAsNonsense() throws Exception {
    try (Server server = start()) {
      ManagedChannel channel = RawClient.channel(server.port());
      try {
        for (boolean greet : new boolean[] {true, false}) {
          ClientCall<byte[], byte[]> call = channel.newCall(BYTES, CallOptions.DEFAULT);
          var end = new CompletableFuture<Status>();
          call.start(
              new ClientCall.Listener<>() {
                @Override
                public void onClose(Status status, Metadata trailers) {
                  end.complete(status);
                }
              },
              new Metadata());
          call.request(2);
          var hello = ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY));
          if (greet) call.sendMessage(hello.build().toByteArray());
          call.sendMessage(new byte[] {-1, -1, -1});
          var status = end.get(60, TimeUnit.SECONDS);
          assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode(), status::toString);
        }
      } finally {
        channel.shutdownNow();
      }
      assertServes(server);
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

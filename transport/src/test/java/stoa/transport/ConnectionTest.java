package stoa.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Connections over the simulated network.
class ConnectionTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Address SERVER = new Address("server", 1);

  private final Net time = new Net();

  private SimulatedNetwork network(long seed) {
    return new SimulatedNetwork(new SplittableRandom(seed), time);
  }

  private static byte[] message(SplittableRandom random, int most) {
    byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  /// Sends each message back, and ends after the last one.
  private static final class Echo implements StreamAcceptor {
    private int ends;

    @Override
    public Receiver begin(Stream stream) {
      stream.request(1);
      return new Receiver() {
        @Override
        public void message(byte[] message) {
          stream.send(message);
          stream.request(1);
        }

        @Override
        public void finished() {
          stream.end(Status.OK);
        }

        @Override
        public void over(Status status) {
          ends++;
        }
      };
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void messagesOfManyStreamsArriveWholeAndInOrder(long seed) throws IOException {
    var random = new SplittableRandom(seed);
    var network = network(seed);
    network.listen(SERVER, ConnectionLimits.DEFAULT, new Echo());
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var sent = new ArrayList<List<byte[]>>();
    var heard = new ArrayList<Net.Heard>();
    for (int i = 0; i < 10; i++) {
      var one = new Net.Heard();
      Stream stream = connection.open("echo", Map.of(), one);
      stream.request(Integer.MAX_VALUE);
      var messages = new ArrayList<byte[]>();
      int count = random.nextInt(30);
      for (int j = 0; j < count; j++) {
        messages.add(message(random, random.nextInt(10) == 0 ? 3 << 20 : 2_000));
        stream.send(messages.getLast());
        time.run(random.nextInt(1_000_000));
      }
      stream.finish();
      sent.add(messages);
      heard.add(one);
    }
    time.run(60 * SECOND);
    for (int i = 0; i < sent.size(); i++) {
      var got = heard.get(i);
      assertEquals(Status.OK, got.over, "stream " + i);
      assertEquals(sent.get(i).size(), got.messages.size());
      for (byte[] expected : sent.get(i)) assertArrayEquals(expected, got.messages.remove());
    }
    assertEquals(0, connection.count());
  }

  @Test
  void aLoopbackConnectsWithinTheProcess() {
    var connection =
        Loopback.connect(new Echo(), ConnectionLimits.DEFAULT, task -> time.after(0, task));
    var heard = new Net.Heard();
    Stream stream = connection.open("echo", Map.of(), heard);
    stream.request(Integer.MAX_VALUE);
    byte[] large = message(new SplittableRandom(1), 3 << 20);
    for (byte[] sent : List.of(large, new byte[0], new byte[] {1})) stream.send(sent);
    time.run(SECOND);
    for (byte[] sent : List.of(large, new byte[0], new byte[] {1})) {
      assertArrayEquals(sent, heard.messages.remove());
    }
    var other = new Net.Heard();
    connection.open("echo", Map.of(), other).request(1);
    stream.finish();
    time.run(SECOND);
    assertEquals(Status.OK, heard.over);
    var why = Status.of(Status.Code.UNAVAILABLE, "it ends");
    connection.cut(why);
    time.run(SECOND);
    assertEquals(why, other.over);
    assertTrue(connection.isLost());
  }

  /// Takes a stream, and nothing of what comes until it is asked.
  private static final class Slow implements StreamAcceptor {
    private Net.Heard heard = new Net.Heard();
    private @org.jspecify.annotations.Nullable Stream stream;

    @Override
    public Receiver begin(Stream begun) {
      if (stream != null) heard = new Net.Heard();
      stream = begun;
      return heard;
    }

    private Stream stream() {
      return java.util.Objects.requireNonNull(stream);
    }
  }

  @Test
  void aSlowReaderHoldsItsSenderBackAndNobodyElse() throws IOException {
    var network = network(3);
    var slow = new Slow();
    var echo = new Echo();
    network.listen(
        SERVER,
        ConnectionLimits.DEFAULT,
        began -> (began.method().equals("slow") ? slow : echo).begin(began));
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var sender = new Net.Heard();
    Stream stream = connection.open("slow", Map.of(), sender);
    time.run(SECOND);
    int sent = 0;
    while (stream.isReady() && sent < 10_000) {
      stream.send(new byte[1_000]);
      sent++;
      time.run(10_000_000);
    }
    assertTrue(sent * 1_013L <= Frames.WINDOW_BYTES + 2 * Stream.READY_BYTES, "sent " + sent);
    assertTrue(sent * 1_013L >= Frames.WINDOW_BYTES, "sent " + sent);
    assertTrue(slow.heard.messages.isEmpty());

    var other = new Net.Heard();
    Stream quick = connection.open("quick", Map.of(), other);
    quick.request(1);
    quick.send(new byte[] {7});
    time.run(SECOND);
    assertEquals(1, other.messages.size());

    int ready = sender.ready;
    slow.stream().request(Integer.MAX_VALUE);
    time.run(SECOND);
    assertEquals(sent, slow.heard.messages.size());
    assertTrue(stream.isReady());
    assertTrue(sender.ready > ready);
  }

  @Test
  void emptyMessagesThatNobodyAskedForAreHeldBackToo() throws IOException {
    var network = network(4);
    var slow = new Slow();
    network.listen(SERVER, ConnectionLimits.DEFAULT, slow);
    Stream stream =
        network.connect(SERVER, ConnectionLimits.DEFAULT).open("slow", Map.of(), new Net.Heard());
    time.run(SECOND);
    for (int i = 0; i < 200_000; i++) stream.send(new byte[0]);
    time.run(SECOND);
    slow.stream().request(Integer.MAX_VALUE);
    assertFalse(stream.isReady());
    time.run(10 * SECOND);
    assertEquals(200_000, slow.heard.messages.size());
    assertTrue(stream.isReady());
  }

  @Test
  void aStreamThatQueuesTooMuchEnds() throws IOException {
    var network = network(5);
    network.listen(SERVER, ConnectionLimits.DEFAULT, new Slow());
    var heard = new Net.Heard();
    Stream stream =
        network
            .connect(SERVER, ConnectionLimits.DEFAULT.withQueuedBytesMax(4 << 20))
            .open("slow", Map.of(), heard);
    time.run(SECOND);
    for (int i = 0; i < 100; i++) stream.send(new byte[100_000]);
    time.run(SECOND);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, over(heard).code());
    assertTrue(stream.isOver());
  }

  private static Status over(Net.Heard heard) {
    Status over = heard.over;
    assertNotNull(over, "the stream has not ended");
    return over;
  }

  @Test
  void aMessageThatIsTooLargeEndsItsStreamAlone() throws IOException {
    var network = network(6);
    network.listen(SERVER, ConnectionLimits.DEFAULT.withMessageBytesMax(10_000), new Echo());
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var large = new Net.Heard();
    connection.open("echo", Map.of(), large).send(new byte[10_001]);
    var good = new Net.Heard();
    Stream other = connection.open("echo", Map.of(), good);
    other.request(1);
    other.send(new byte[10_000]);
    time.run(SECOND);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, over(large).code());
    assertEquals("a message of more than 10000 bytes", over(large).description());
    assertEquals(1, good.messages.size());
  }

  @Test
  void tooManyStreamsAreRefusedOneByOne() throws IOException {
    var network = network(7);
    network.listen(SERVER, ConnectionLimits.DEFAULT.withStreamsMax(2), new Slow());
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var all = new ArrayList<Net.Heard>();
    Stream first = null;
    for (int i = 0; i < 3; i++) {
      all.add(new Net.Heard());
      Stream made = connection.open("slow", Map.of(), all.getLast());
      if (first == null) first = made;
    }
    time.run(SECOND);
    assertNull(all.get(0).over);
    assertNull(all.get(1).over);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, over(all.get(2)).code());
    java.util.Objects.requireNonNull(first).cancel(Status.of(Status.Code.CANCELLED, null));
    time.run(SECOND);
    var later = new Net.Heard();
    connection.open("slow", Map.of(), later);
    time.run(SECOND);
    assertNull(later.over);
  }

  @Test
  void answersBeforeTheEndArriveHoweverSlowTheyAreTaken() throws IOException {
    var network = network(8);
    network.listen(
        SERVER,
        ConnectionLimits.DEFAULT,
        stream -> {
          for (int i = 0; i < 50; i++) stream.send(new byte[50_000]);
          stream.end(Status.of(Status.Code.NOT_FOUND, "gone"));
          return new Net.Heard();
        });
    var heard = new Net.Heard();
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    Stream stream = connection.open("a", Map.of(), heard);
    for (int i = 0; i < 50; i++) {
      time.run(SECOND / 10);
      assertNull(heard.over);
      assertEquals(i, heard.messages.size());
      stream.request(1);
    }
    time.run(SECOND);
    assertEquals("NOT_FOUND: gone", over(heard).toString());
    assertEquals(0, connection.count());
  }

  @Test
  void aClientThatGivesUpIsHeardOfAtOnce() throws IOException {
    var network = network(9);
    var slow = new Slow();
    network.listen(SERVER, ConnectionLimits.DEFAULT, slow);
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    Stream stream = connection.open("slow", Map.of(), new Net.Heard());
    stream.send(new byte[500_000]);
    time.run(SECOND);
    stream.send(new byte[5_000_000]);
    stream.cancel(Status.of(Status.Code.CANCELLED, "no more"));
    time.run(SECOND);
    assertEquals("CANCELLED: no more", over(slow.heard).toString());
    assertEquals(0, connection.count());
    assertTrue(connection.isOpen());
  }

  @Test
  void silenceEndsAConnectionAndABrokenOneEndsItsStreams() throws IOException {
    var limits = ConnectionLimits.DEFAULT.withSilence(Duration.ofSeconds(2), Duration.ofSeconds(1));
    var network = network(10);
    var slow = new Slow();
    network.listen(SERVER, limits, slow);
    var heard = new Net.Heard();
    Connection connection = network.connect(SERVER, limits);
    connection.open("slow", Map.of(), heard);
    time.run(60 * SECOND);
    assertNull(heard.over, "signs of life keep it");
    network.lose("server", true);
    network.lose("client", true);
    time.run(4 * SECOND);
    assertEquals(Status.Code.UNAVAILABLE, over(heard).code());
    assertTrue(
        String.valueOf(over(heard).description()).contains("silent"),
        () -> String.valueOf(heard.over));
    assertTrue(connection.isLost());
    network.lose("server", false);
    network.lose("client", false);
    time.run(4 * SECOND);
    assertEquals(Status.Code.UNAVAILABLE, over(slow.heard).code());

    var second = new Net.Heard();
    network.connect(SERVER, limits).open("slow", Map.of(), second);
    time.run(SECOND);
    network.breakAll("server");
    time.run(SECOND);
    assertEquals(Status.Code.UNAVAILABLE, over(second).code());
  }

  @Test
  void aPortThatDrainsLetsStreamsEnd() throws IOException {
    var network = network(11);
    var port = network.listen(SERVER, ConnectionLimits.DEFAULT, new Echo());
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var heard = new Net.Heard();
    Stream stream = connection.open("echo", Map.of(), heard);
    stream.request(2);
    stream.send(new byte[] {1});
    time.run(SECOND);
    port.drain(Status.of(Status.Code.UNAVAILABLE, "it stops"));
    time.run(SECOND);
    assertFalse(connection.isOpen());
    var late = new Net.Heard();
    connection.open("echo", Map.of(), late);
    stream.send(new byte[] {2});
    time.run(SECOND);
    assertEquals(2, heard.messages.size());
    assertEquals(Status.Code.UNAVAILABLE, over(late).code());
    assertFalse(port.isOver());
    stream.finish();
    time.run(SECOND);
    assertEquals(Status.OK, heard.over);
    assertTrue(connection.isLost());
    assertTrue(port.isOver());
    var nobody = new Net.Heard();
    network.connect(SERVER, ConnectionLimits.DEFAULT).open("echo", Map.of(), nobody);
    time.run(SECOND);
    assertEquals(Status.Code.UNAVAILABLE, over(nobody).code());
  }

  @Test
  void anIdleConnectionIsClosed() throws IOException {
    var network = network(12);
    network.listen(SERVER, ConnectionLimits.DEFAULT.withIdle(Duration.ofSeconds(3)), new Echo());
    Connection connection = network.connect(SERVER, ConnectionLimits.DEFAULT);
    var heard = new Net.Heard();
    Stream stream = connection.open("echo", Map.of(), heard);
    time.run(10 * SECOND);
    assertTrue(connection.isOpen());
    stream.finish();
    time.run(5 * SECOND);
    assertTrue(connection.isLost());
  }

  /// Both ends of a connection without a network between them.
  private static final class Bare implements Connection.Wire {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final AtomicLong cuts = new AtomicLong();

    @Override
    public void flush() {
      // The test fills.
    }

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public void cut(Status why) {
      cuts.incrementAndGet();
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Peer peer() {
      return Peer.UNKNOWN;
    }
  }

  /// Returns the frames that a client says for some streams.
  private static byte[] honest(SplittableRandom random) {
    var client = new Connection(new Bare(), ConnectionLimits.DEFAULT, null, () -> {});
    client.connected();
    for (int i = 0; i < 5; i++) {
      Stream stream = client.open("echo", Map.of("a", "b"), new Net.Heard());
      for (int j = 0; j < 5; j++) stream.send(message(random, 300));
      switch (random.nextInt(3)) {
        case 0 -> stream.finish();
        case 1 -> stream.cancel(Status.of(Status.Code.CANCELLED, "x"));
        default -> stream.request(3);
      }
    }
    var out = ByteBuffer.allocate(1 << 20);
    while (client.fill(out)) {}
    return java.util.Arrays.copyOf(out.array(), out.position());
  }

  /// Frames of any contents with right checksums.
  private static byte[] strange(SplittableRandom random) {
    var out = ByteBuffer.allocate(1 << 20);
    out.put(Frames.first());
    for (int i = 0; i < 200; i++) {
      byte[] payload = message(random, random.nextBoolean() ? 12 : 400);
      int kind = random.nextInt(12);
      Frames.write(out, kind, random.nextInt(-1, 6), payload, 0, payload.length);
    }
    return java.util.Arrays.copyOf(out.array(), out.position());
  }

  @Test
  void bytesThatNoClientSaysEndTheConnectionAndNothingElse() {
    for (long seed = 0; seed < 3_000; seed++) {
      var random = new SplittableRandom(seed);
      var wire = new Bare();
      var echo = new Echo();
      var server = new Connection(wire, ConnectionLimits.DEFAULT, echo, () -> {});
      byte[] bytes = seed % 3 == 0 ? strange(random) : honest(random);
      if (seed % 3 == 1) {
        for (int i = 0; i < 3; i++) bytes[random.nextInt(bytes.length)] ^= (byte) random.nextInt();
      } else if (seed % 3 == 2) {
        random.nextBytes(bytes);
        if (random.nextBoolean()) System.arraycopy(Frames.first(), 0, bytes, 0, 8);
      }
      var in = ByteBuffer.allocate(bytes.length);
      int at = 0;
      while (at < bytes.length) {
        int piece = Math.min(1 + random.nextInt(5_000), bytes.length - at);
        in.put(bytes, at, piece).flip();
        at += piece;
        server.received(in);
        in.compact();
        while (!wire.tasks.isEmpty()) wire.tasks.remove().run();
        server.fill(ByteBuffer.allocate(Frames.FRAME_BYTES_MAX));
      }
      server.lost(Status.of(Status.Code.UNAVAILABLE, "gone"));
      assertEquals(0, server.count(), "seed " + seed);
    }
  }

  @Test
  void oneThatSendsMoreThanItWasAllowedIsCutOff() {
    var wire = new Bare();
    var server = new Connection(wire, ConnectionLimits.DEFAULT, new Slow(), () -> {});
    var in = ByteBuffer.allocate(4 << 20);
    in.put(Frames.first());
    Frames.write(in, Frames.OPEN, 1, new byte[] {1, 'a', 0}, 0, 3);
    server.received(in.flip());
    assertEquals(1, server.count());
    byte[] payload = new byte[Frames.PAYLOAD_BYTES_MAX];
    for (int i = 0; i < 33; i++) {
      in.clear();
      Frames.write(in, Frames.LAST, 1, payload, 0, payload.length);
      server.received(in.flip());
    }
    assertEquals(0, server.count());
    var out = ByteBuffer.allocate(64 << 10);
    assertTrue(server.fill(out));
    String said =
        new String(out.array(), 0, out.position(), java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(said.contains("more bytes of stream 1 than were allowed"), said);
    assertTrue(server.isDone());
  }

  @Test
  void oneThatAsksAndNeverReadsIsCutOff() {
    var wire = new Bare();
    var server =
        new Connection(wire, ConnectionLimits.DEFAULT.withStreamsMax(1), new Slow(), () -> {});
    var in = ByteBuffer.allocate(1 << 20);
    in.put(Frames.first());
    for (int i = 1; i < 100_000; i++) {
      if (in.remaining() < 100) {
        server.received(in.flip());
        in.clear();
      }
      Frames.write(in, Frames.OPEN, i, new byte[] {1, 'a', 0}, 0, 3);
      Frames.write(in, Frames.PING, 0, payloadOf(0), 0, 0);
    }
    server.received(in.flip());
    assertFalse(server.fill(ByteBuffer.allocate(Frames.FRAME_BYTES_MAX)));
    assertEquals(1, wire.cuts.get());
  }

  private static byte[] payloadOf(int length) {
    return new byte[length];
  }

  @Test
  void aClientOfHttp2LearnsWhyItIsRefused() {
    var wire = new Bare();
    var server = new Connection(wire, ConnectionLimits.DEFAULT, new Slow(), () -> {});
    server.received(
        ByteBuffer.wrap(
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                .getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
    var out = ByteBuffer.allocate(1_000);
    assertTrue(server.fill(out));
    String said =
        new String(out.array(), 0, out.position(), java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(said.contains("use a client of Stoa of the server's version"), said);
    assertTrue(server.isDone());
  }

  @Test
  void aServerSaysNothingBeforeItsClient() {
    var server = new Connection(new Bare(), ConnectionLimits.DEFAULT, new Slow(), () -> {});
    server.connected();
    var out = ByteBuffer.allocate(1_000);
    assertFalse(server.fill(out));
    server.received(ByteBuffer.wrap(Frames.first()));
    assertTrue(server.fill(out));
    assertArrayEquals(Frames.first(), java.util.Arrays.copyOf(out.array(), out.position()));
  }

  @Test
  void aStreamIsReadyWhenTheServerHasSpoken() {
    var heard = new Net.Heard();
    var client = new Connection(new Bare(), ConnectionLimits.DEFAULT, null, () -> {});
    Stream stream = client.open("a", Map.of(), heard);
    client.connected();
    assertFalse(stream.isReady());
    client.received(ByteBuffer.wrap(Frames.first()));
    assertTrue(stream.isReady());
    assertEquals(1, heard.ready);
  }

  @Test
  void aServerThatSpeaksOtherwiseIsRefusedAtOnce() {
    var heard = new Net.Heard();
    var client = new Connection(new Bare(), ConnectionLimits.DEFAULT, null, () -> {});
    client.connected();
    client.open("a", Map.of(), heard);
    client.received(
        ByteBuffer.wrap(
            "HTTP/1.1 400 Bad Request".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
    assertEquals(Status.Code.UNIMPLEMENTED, over(heard).code());
    assertEquals(0, heard.ready);
  }

  @Test
  void anotherVersionOfTheFramesIsRefusedWithTheRemedy() {
    var heard = new Net.Heard();
    var client = new Connection(new Bare(), ConnectionLimits.DEFAULT, null, () -> {});
    client.connected();
    client.open("a", Map.of(), heard);
    byte[] first = Frames.first();
    first[5] = 9;
    client.received(ByteBuffer.wrap(first));
    assertEquals(Status.Code.FAILED_PRECONDITION, over(heard).code());
    assertTrue(
        String.valueOf(over(heard).description()).contains("version 9"),
        () -> String.valueOf(heard.over));
  }
}

package stoa.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Connections over sockets.
class SocketsTest {
  private static final long WAIT_SECONDS = 60;
  private static final Address ANY = new Address("127.0.0.1", 0);

  /// Hears on the thread of the network, and tells the test.
  private static final class Heard implements Receiver {
    private final BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> over = new CompletableFuture<>();
    private final BlockingQueue<String> ready = new LinkedBlockingQueue<>();

    @Override
    public void message(byte[] message) {
      messages.add(message);
    }

    @Override
    public void ready() {
      ready.add("ready");
    }

    @Override
    public void over(Status status) {
      over.complete(status);
    }

    private byte[] next() throws Exception {
      byte[] next = messages.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      if (next == null) throw new AssertionError("no message came; ended with " + over);
      return next;
    }

    private Status end() throws Exception {
      return over.get(WAIT_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static Receiver echo(Stream stream) {
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
        // Nothing is kept.
      }
    };
  }

  private static Sockets sockets(@Nullable Tls tls) {
    return sockets(tls, Sockets.Sending.GATHERED);
  }

  private static Sockets sockets(@Nullable Tls tls, Sockets.Sending sending) {
    return new Sockets(2, Thread.ofPlatform().daemon().name("test-net").factory(), tls, sending);
  }

  private static Channel channel(Sockets of, Network.Listening to) {
    return channel(of, to.port());
  }

  private static Channel channel(Sockets of, int port) {
    return new Channel(of, new Address("localhost", port), ConnectionLimits.DEFAULT, Map::of);
  }

  private static void assertServes(Channel channel) throws Exception {
    assertArrayEquals(new byte[] {1, 2}, channel.ask("echo", new byte[] {1, 2}, 60_000));
    var heard = new Heard();
    Stream stream = channel.open("echo", heard);
    stream.request(Integer.MAX_VALUE);
    var random = new Random(1);
    var sent = new ArrayList<byte[]>();
    for (int i = 0; i < 60; i++) {
      byte[] message = new byte[random.nextInt(i % 10 == 0 ? 2_000_000 : 3_000)];
      random.nextBytes(message);
      sent.add(message);
      stream.send(message);
    }
    for (byte[] message : sent) assertArrayEquals(message, heard.next());
    stream.finish();
    assertEquals(Status.OK, heard.end());
  }

  @Test
  void messagesPassOverSockets() throws Exception {
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo);
        var channel = channel(client, port)) {
      assertServes(channel);
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyCallersShareAConnection(Sockets.Sending sending) throws Exception {
    try (var server = sockets(null, sending);
        var client = sockets(null, sending);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo);
        var channel = channel(client, port)) {
      var heard = new Heard();
      Stream stream = channel.open("echo", heard);
      stream.request(Integer.MAX_VALUE);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < 8; i++) {
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  for (int j = 0; j < 5_000; j++) stream.send(new byte[] {7});
                }));
      }
      for (int i = 0; i < 40_000; i++) assertEquals(1, heard.next().length);
      for (Thread thread : threads) thread.join();
    }
  }

  // ---- TLS

  /// A certificate that is its own signer, among the resources of this test.
  private record Own(Path certificate, Path key) {
    static Own of(String name, Path directory) throws IOException {
      return new Own(copy(name + ".pem", directory), copy(name + ".key.pem", directory));
    }

    private static Path copy(String name, Path directory) throws IOException {
      try (InputStream in = SocketsTest.class.getResourceAsStream(name)) {
        Files.copy(java.util.Objects.requireNonNull(in), directory.resolve(name));
      }
      return directory.resolve(name);
    }
  }

  @ParameterizedTest
  @EnumSource
  void bothEndsProveThemselves(Sockets.Sending sending, @TempDir Path directory) throws Exception {
    var servers = Own.of("server", directory);
    var clients = Own.of("client", directory);
    var foreign = Own.of("foreign", directory);
    var now =
        new AtomicReference<SSLContext>(
            Tls.context(servers.certificate(), servers.key(), clients.certificate()));
    var shown = new LinkedBlockingQueue<String>();
    StreamAcceptor service =
        stream -> {
          var certificate = stream.peer().certificate();
          shown.add(certificate == null ? "none" : certificate.getSubjectX500Principal().getName());
          return echo(stream);
        };
    try (var server = sockets(new Tls(now::get, true), sending);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, service)) {
      try (var client = trusting(servers, clients);
          var channel = channel(client, port)) {
        assertServes(channel);
        assertEquals("CN=client", shown.take());
      }
      shown.clear();
      try (var client = trusting(servers, null);
          var channel = channel(client, port)) {
        assertServes(channel);
        assertEquals("none", shown.take());
      }
      shown.clear();
      // Java shows no certificate that the server has not asked for.
      try (var client = trusting(servers, foreign);
          var channel = channel(client, port)) {
        assertServes(channel);
        assertEquals("none", shown.take());
      }
      assertRefused(port, trusting(foreign, clients));
      assertRefused(port, sockets(null));

      // Later connections see the certificate of then.
      now.set(Tls.context(foreign.certificate(), foreign.key(), clients.certificate()));
      assertRefused(port, trusting(servers, clients));
      try (var client = trusting(foreign, clients);
          var channel = channel(client, port)) {
        assertServes(channel);
      }
    }
    var other =
        assertThrows(
            IOException.class, () -> Tls.context(servers.certificate(), clients.key(), null));
    assertTrue(other.toString().contains("is not the certificate's"), other::toString);
  }

  private static Sockets trusting(Own trusted, @Nullable Own own) throws IOException {
    return sockets(
        Tls.client(
            Tls.context(
                own == null ? null : own.certificate(),
                own == null ? null : own.key(),
                trusted.certificate())));
  }

  private static void assertRefused(Network.Listening port, Sockets client) {
    try (client;
        var channel = channel(client, port)) {
      var refused =
          assertThrows(StatusException.class, () -> channel.ask("echo", new byte[1], 60_000));
      assertEquals(Status.Code.UNAVAILABLE, refused.status().code());
    }
  }

  // ---- limits

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void connectionsThatSayNothingAreClosedInTimeOrForLackOfRoom(boolean inTime) throws Exception {
    var limits =
        inTime
            ? ConnectionLimits.DEFAULT.withArrivals(Duration.ofMillis(300), 100)
            : ConnectionLimits.DEFAULT.withArrivals(Duration.ofMinutes(10), 5);
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, limits, SocketsTest::echo);
        var channel = channel(client, port)) {
      assertServes(channel);
      var silent = new ArrayList<Socket>();
      try {
        for (int i = 0; i < 15; i++) {
          silent.add(new Socket(InetAddress.getLoopbackAddress(), port.port()));
        }
        for (Socket socket : silent.subList(0, 10)) {
          socket.setSoTimeout(60_000);
          while (socket.getInputStream().read() >= 0) {}
        }
        assertServes(channel);
      } finally {
        for (Socket socket : silent) socket.close();
      }
    }
  }

  @Test
  void anEndThatReadsNothingIsCutOffAndHoldsNobodyUp() throws Exception {
    var limits =
        ConnectionLimits.DEFAULT.withSilence(Duration.ofMillis(300), Duration.ofMillis(300));
    var over = new CompletableFuture<Status>();
    StreamAcceptor service =
        stream -> {
          if (stream.method().equals("echo")) return echo(stream);
          while (stream.isReady()) stream.send(new byte[10_000]);
          return new Receiver() {
            @Override
            public void message(byte[] message) {
              over.completeExceptionally(new AssertionError("it sends nothing"));
            }

            @Override
            public void ready() {
              while (stream.isReady()) stream.send(new byte[10_000]);
            }

            @Override
            public void over(Status status) {
              over.complete(status);
            }
          };
        };
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, limits, service);
        var channel = channel(client, port);
        var socket = new Socket(InetAddress.getLoopbackAddress(), port.port())) {
      var out = java.nio.ByteBuffer.allocate(100);
      out.put(Frames.first());
      Frames.write(out, Frames.OPEN, 1, new byte[] {1, 'a', 0}, 0, 3);
      socket.getOutputStream().write(out.array(), 0, out.position());
      socket.getOutputStream().flush();
      assertServes(channel);
      var status = over.get(WAIT_SECONDS, TimeUnit.SECONDS);
      assertTrue(String.valueOf(status.description()).contains("silent"), status::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aServiceThatKeepsAThreadKeepsNoNewConnectionsOut(int kept) throws Exception {
    var entered = new CompletableFuture<Boolean>();
    var leave = new CompletableFuture<Boolean>();
    StreamAcceptor service =
        stream -> {
          if (stream.method().equals("keep")) {
            entered.complete(true);
            leave.join();
          }
          return echo(stream);
        };
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, service)) {
      try {
        for (int i = 0; i < 2; i++) {
          var channel = channel(client, port);
          if (i == kept) channel.open("keep", new Heard());
          else channel.ask("echo", new byte[1], 60_000);
        }
        assertTrue(entered.get(WAIT_SECONDS, TimeUnit.SECONDS));
        var any = new Heard();
        for (int i = 0; i < 2; i++) {
          Stream stream = channel(client, port).open("echo", any);
          stream.request(1);
          stream.send(new byte[] {3});
        }
        assertArrayEquals(new byte[] {3}, any.next());
      } finally {
        leave.complete(true);
      }
    }
  }

  @Test
  void bytesThatAreNoConnectionHarmNobody() throws Exception {
    var random = new Random(9);
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo);
        var channel = channel(client, port)) {
      for (int i = 0; i < 50; i++) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port.port())) {
          byte[] bytes = new byte[8 + random.nextInt(20_000)];
          random.nextBytes(bytes);
          if (i % 3 == 0) System.arraycopy(Frames.first(), 0, bytes, 0, 8);
          socket.getOutputStream().write(bytes);
          socket.getOutputStream().flush();
          if (i % 2 == 0) socket.setSoLinger(true, 0);
        } catch (IOException cut) {
          // The server had enough of it.
        }
      }
      assertServes(channel);
    }
  }

  @Test
  void aClientOfHttp2IsRefusedWithTheRemedy() throws Exception {
    try (var server = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo);
        var socket = new Socket(InetAddress.getLoopbackAddress(), port.port())) {
      socket.setSoTimeout(60_000);
      socket
          .getOutputStream()
          .write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      String said = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(said.contains("use a client of Stoa of the server's version"), said);
    }
  }

  // ---- ends

  @Test
  void anAddressWhereNothingListensIsSaidToBeSo() throws Exception {
    int free;
    try (var server = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo)) {
      free = port.port();
    }
    try (var client = sockets(null);
        var channel = channel(client, free)) {
      var refused =
          assertThrows(StatusException.class, () -> channel.ask("echo", new byte[1], 60_000));
      assertTrue(refused.toString().contains("localhost:" + free), refused::toString);
      var unknown =
          new Channel(client, new Address("nowhere.invalid", 1), ConnectionLimits.DEFAULT, Map::of);
      refused = assertThrows(StatusException.class, () -> unknown.ask("echo", new byte[1], 60_000));
      assertTrue(refused.toString().contains("is unknown"), refused::toString);
    }
  }

  @Test
  void aServerThatEndsEndsItsStreamsAndTheNextOneIsFoundAgain() throws Exception {
    try (var client = sockets(null)) {
      var heard = new Heard();
      Channel channel;
      Network.Listening gone;
      try (var server = sockets(null);
          var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo)) {
        gone = port;
        channel = channel(client, port);
        channel.open("echo", heard).request(1);
        assertServes(channel);
        port.drain(Status.of(Status.Code.UNAVAILABLE, "it stops"));
        assertFalse(port.isOver());
      }
      assertEquals(Status.Code.UNAVAILABLE, heard.end().code());
      while (!gone.isOver()) Thread.onSpinWait();
      var again = new Address("127.0.0.1", gone.port());
      try (channel;
          var server = sockets(null);
          var port = server.listen(again, ConnectionLimits.DEFAULT, SocketsTest::echo)) {
        assertEquals(gone.port(), port.port());
        assertServes(channel);
        channel.cut();
        assertThrows(StatusException.class, () -> channel.ask("echo", new byte[1], 60_000));
        while (!channel.isOver()) Thread.onSpinWait();
      }
    }
  }

  @Test
  void aQuestionHasATime() throws Exception {
    var cancelled = new CompletableFuture<Status>();
    StreamAcceptor service =
        _ ->
            new Receiver() {
              @Override
              public void message(byte[] message) {
                cancelled.completeExceptionally(new AssertionError("it asked for none"));
              }

              @Override
              public void over(Status status) {
                cancelled.complete(status);
              }
            };
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, service);
        var channel = channel(client, port)) {
      var late = assertThrows(StatusException.class, () -> channel.ask("a", new byte[1], 200));
      assertEquals(Status.Code.DEADLINE_EXCEEDED, late.status().code());
      var status = cancelled.get(WAIT_SECONDS, TimeUnit.SECONDS);
      assertEquals(Status.Code.DEADLINE_EXCEEDED, status.code());
    }
  }

  @Test
  void aClosedNetworkEndsWhatItHas() throws Exception {
    var heard = new Heard();
    Channel channel;
    Sockets gone;
    try (var server = sockets(null);
        var client = sockets(null);
        var port = server.listen(ANY, ConnectionLimits.DEFAULT, SocketsTest::echo)) {
      gone = client;
      channel = channel(client, port);
      channel.open("echo", heard);
    }
    try (channel) {
      assertEquals(Status.Code.UNAVAILABLE, heard.end().code());
      assertTrue(gone.await(10_000));
      var later = new Heard();
      channel.open("echo", later);
      assertEquals(Status.Code.UNAVAILABLE, later.end().code());
    }
  }
}

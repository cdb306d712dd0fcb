package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Tree;
import stoa.Tree.Whereabouts;
import stoa.TreeMembership;
import stoa.UnknownOutcome;
import stoa.View;
import stoa.client.MigratingTest.Purse;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

/// A client of a server learns of its part in the tree: where objects and it are, and whether it
/// was disconnected.
class OwnTreeTest {
  /// Reads texts, and keeps their lengths.
  @Shared(name = "test.Discreet", placement = Placement.CLIENT)
  public static class Discreet {
    private long length;
    private String shown = "";

    public long read(String text) {
      if (text.startsWith("!")) throw new IllegalArgumentException(text);
      length += text.length();
      shown = "the state of the discreet one is " + length;
      return length;
    }

    @Accessor
    public String shown() {
      return shown;
    }
  }

  /// The same at the server.
  @Shared(name = "test.Indiscreet")
  public static class Indiscreet {
    private long length;

    public long read(String text) {
      length += text.length();
      return length;
    }
  }

  private static Purse purse(Stoa stoa, String name) {
    return stoa.get(Purse.class, name, 100L);
  }

  private static Server serve(String url, int port) throws IOException {
    var store = new EmbeddedEngine().open(StoaConfig.of(url));
    var config = ServerConfig.of("127.0.0.1", port).withTreeLease(Duration.ofSeconds(3));
    return Server.start(config, ObjectService.of(store, _ -> true));
  }

  private static Stoa client(int port, TreeMembership membership) {
    return Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + port).withMembership(membership));
  }

  @Test
  void everyProcessCanAskWhereAnObjectAndItselfAre() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server.port(), TreeMembership.inner());
        var two = client(server.port(), TreeMembership.leaf());
        var outside = client(server.port(), new TreeMembership.Outside())) {
      assertEquals(List.of(), one.tree().places());
      for (var each : List.of(one, two, one)) {
        var other = each.equals(one) ? two : one;
        assertEquals(100, purse(other, "a").balance());
        purse(each, "a").add(1);
        purse(each, "a").add(-1);
        assertEquals(new Whereabouts.Here(), each.tree().where(purse(each, "a")));
        var its = other.tree().places().getFirst();
        var beyond =
            assertInstanceOf(Whereabouts.Beyond.class, other.tree().where(purse(other, "a")));
        var holder = each.tree().places().getFirst();
        assertEquals("default", holder.domain());
        assertEquals(1, holder.objects());
        assertTrue(Set.of(its.above().orElseThrow(), holder.node()).contains(beyond.node()));
      }
      assertEquals(new Whereabouts.Unknown(), outside.tree().where(purse(outside, "a")));
      assertEquals(List.of(), outside.tree().places());
    }
  }

  @Test
  void aFlushNeedsNoWaiting() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server.port(), TreeMembership.leaf());
        var two = client(server.port(), TreeMembership.leaf())) {
      one.tree().flush().join();
      purse(one, "a").add(1);
      one.tree().flush().join();
      assertEquals(
          101, two.view(Purse.class, two.ref(purse(two, "a")), new View.Local()).balance());
    }
  }

  @Test
  void aProgramIsToldThatItWasDisconnectedAndItsNextCallCanThrow(@TempDir Path directory)
      throws Exception {
    String url = "file:" + directory;
    var server = serve(url, 0);
    int port = server.port();
    try (var told = client(port, TreeMembership.leaf());
        var careless = client(port, TreeMembership.inner())) {
      told.tree().throwAfterLoss();
      List<CompletableFuture<Tree.Disconnected>> events = new ArrayList<>();
      for (var each : List.of(told, careless)) {
        var event = new CompletableFuture<Tree.Disconnected>();
        each.tree()
            .listen(_ -> {
              throw new IllegalStateException("a listener may fail");
            });
        each.tree().listen(event::complete);
        events.add(event);
        String name = each.equals(told) ? "a" : "b";
        assertEquals(101, purse(each, name).add(1));
        each.flush();
        assertEquals(111, purse(each, name).add(10));
      }
      server.close();
      server = serve(url, port);
      for (var event : events) {
        assertEquals(new Tree.Disconnected("default", true, false), event.get());
      }
      var lost = assertThrows(UnknownOutcome.class, () -> purse(told, "a").add(1));
      assertTrue(String.valueOf(lost.getMessage()).endsWith("This call did nothing"));
      assertEquals(102, purse(told, "a").add(1));
      told.flush();
      assertEquals(102, purse(careless, "b").add(1));
      var flush = careless.tree().flush();
      assertInstanceOf(UnknownOutcome.class, flush.handle((_, failed) -> failed.getCause()).join());
      careless.flush();
    } finally {
      server.close();
    }
  }

  @Test
  void clientsOutsideOfTheTreeHaveSeveralObjectsToThemselves() throws Exception {
    try (var server = serve("memory:", 0);
        var inside = client(server.port(), TreeMembership.leaf());
        var one = client(server.port(), new TreeMembership.Outside());
        var two = client(server.port(), new TreeMembership.Outside());
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (var stoa : List.of(inside, one, two)) {
        all.add(
            threads.submit(() -> {
              for (int i = 0; i < 20; i++) {
                var from = purse(stoa, i % 2 == 0 ? "a" : "b");
                var to = purse(stoa, i % 2 == 0 ? "b" : "a");
                long sum =
                    stoa.<Long, RuntimeException>together(
                        List.of(from, to), () -> from.add(-1) + to.add(1));
                assertEquals(200, sum);
              }
            }));
      }
      for (var each : all) each.get();
      assertEquals(100, purse(one, "a").balance());
      assertEquals(101, purse(two, "a").add(1));
      var both = List.of(purse(one, "a"), purse(one, "b"));
      one.together(both, () -> purse(one, "b").add(1));
      // It is durable.
      var seen = two.view(Purse.class, two.ref(purse(two, "b")), new View.Local());
      assertEquals(101, seen.balance());
      assertThrows(
          IllegalArgumentException.class,
          () -> one.together(both, () -> both.getFirst().add(-1_000)));
    }
  }

  @Test
  void argumentsOfClientPlacedCallsReachNeitherTheNetworkNorTheDisk(@TempDir Path directory)
      throws Exception {
    String secret = "only the caller may know this: 93f1c2d87ab4";
    String open = "everybody may know this: 5b21e0c4d7aa";
    try (var server = serve("file:" + directory, 0);
        var wire = new Wire(server.port())) {
      try (var stoa = client(wire.port(), TreeMembership.leaf())) {
        var discreet = stoa.get(Discreet.class, "d");
        assertEquals(secret.length(), discreet.read(secret));
        assertEquals(2L * secret.length(), stoa.async(discreet, each -> each.read(secret)).join());
        var thrown =
            assertThrows(IllegalArgumentException.class, () -> discreet.read("!" + secret));
        assertEquals("!" + secret, thrown.getMessage());
        assertEquals(
            3L * secret.length(),
            stoa.<Long, RuntimeException>together(List.of(discreet), () -> discreet.read(secret)));
        assertEquals(open.length(), stoa.get(Indiscreet.class, "i").read(open));
      }
      String state = "the state of the discreet one is " + 3 * secret.length();
      for (String place : List.of(wire.heard(), written(directory))) {
        assertTrue(place.contains(open), "arguments at the server can be found");
        assertTrue(place.contains(state), "states can be found");
        assertFalse(place.contains(secret));
      }
    }
  }

  /* All bytes of a store's files, as characters. */
  private static String written(Path directory) throws IOException {
    var all = new StringBuilder();
    try (var files = Files.walk(directory)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
      }
    }
    return all.toString();
  }

  /* The network before a server, which keeps all bytes that it carries. */
  private static final class Wire implements AutoCloseable {
    private final int server;
    private final ServerSocket listening;
    private final List<Socket> sockets = new ArrayList<>(); // guarded by this
    private final ByteArrayOutputStream heard = new ByteArrayOutputStream(); // thread-safe

    private Wire(int server) throws IOException {
      this.server = server;
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      var _ = Thread.ofVirtual().start(this::accept);
    }

    private int port() {
      return listening.getLocalPort();
    }

    private String heard() {
      return heard.toString(StandardCharsets.ISO_8859_1);
    }

    private void accept() {
      try {
        while (true) {
          var near = keep(listening.accept());
          var far = keep(new Socket(InetAddress.getLoopbackAddress(), server));
          var _ = Thread.ofVirtual().start(() -> carry(near, far));
          var _ = Thread.ofVirtual().start(() -> carry(far, near));
        }
      } catch (IOException closed) {
        // Nobody connects any more.
      }
    }

    private synchronized Socket keep(Socket socket) {
      sockets.add(socket);
      return socket;
    }

    private void carry(Socket from, Socket to) {
      var buffer = new byte[65_536];
      try {
        while (true) {
          int count = from.getInputStream().read(buffer);
          if (count < 0) break;
          heard.write(buffer, 0, count);
          to.getOutputStream().write(buffer, 0, count);
        }
        to.shutdownOutput();
      } catch (IOException closed) {
        // The other direction ends likewise.
      }
    }

    @Override
    public synchronized void close() throws IOException {
      listening.close();
      for (var socket : sockets) socket.close();
    }
  }
}

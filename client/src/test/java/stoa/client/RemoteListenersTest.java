package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.CallFailed;
import stoa.ConnectionSecurity;
import stoa.DeadlineExceeded;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.KeyValueStore;
import stoa.Limits;
import stoa.ListenerRegistration;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.front.types.Keys;
import stoa.node.Server;
import stoa.spi.Cancellation;
import stoa.transport.Address;
import stoa.wire.SingleRequests;
import stoa.wire.proto.Listen;
import stoa.wire.proto.Request;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.Unlisten;

/// Listeners of keys in a server, over connections that are cut and servers that start again.
class RemoteListenersTest {
  private static final long SECONDS = 60;

  record Reading(String place, double degrees) {}

  record Above(double limit) implements KeyHandler<Reading, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable Reading value, @Nullable Reading before) {
      if (value == null) throw new IllegalStateException("no reading");
      return value.degrees() > limit ? value.place() + " " + value.degrees() : null;
    }
  }

  /// Says which put it is, and what it follows.
  static final class Counting implements KeyHandler<Long, String> {
    private long count;

    @Override
    public @Nullable String handle(Object key, @Nullable Long value, @Nullable Long before) {
      count++;
      return count + ": " + before + " -> " + value;
    }
  }

  private static final class Ear<W> implements KeyListener<W> {
    private final LinkedBlockingQueue<KeyEvent<? extends W>> events = new LinkedBlockingQueue<>();
    private final CompletableFuture<StoaException> end = new CompletableFuture<>();

    @Override
    public void on(KeyEvent<W> event) {
      events.add(event);
    }

    @Override
    public void ended(StoaException cause) {
      end.complete(cause);
    }

    KeyEvent<? extends W> next() throws InterruptedException {
      return Objects.requireNonNull(events.poll(SECONDS, TimeUnit.SECONDS), "no event came");
    }
  }

  private static StoaConfig client(int port) {
    return StoaConfig.of("stoa://127.0.0.1:" + port)
        .withLimits(Limits.standard().withCallTimeMax(Duration.ofSeconds(30)));
  }

  @Test
  void putsGetsAndListensAsInOneProcess() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa one = Stoa.open(client(server.port()));
        Stoa two = Stoa.open(client(server.port()))) {
      KeyValueStore store = one.store();
      assertNull(store.get("boiler"));
      var ear = new Ear<String>();
      ListenerRegistration registration = store.register("boiler", ear, new Above(90));
      two.store().put("boiler", new Reading("cellar", 80));
      two.store().put("boiler", new Reading("cellar", 95));
      assertEquals(new Reading("cellar", 95), store.get("boiler"));
      assertEquals(new KeyEvent<>("boiler", "cellar 95.0", 1), ear.next());
      assertTrue(two.store().remove("boiler"));
      var cause = assertInstanceOf(CallFailed.class, ear.end.get(SECONDS, TimeUnit.SECONDS));
      assertInstanceOf(IllegalStateException.class, cause.getCause());
      assertTrue(!registration.isOpen());
      var closed = new Ear<String>();
      store.register("boiler", closed, new Above(0)).close();
      var open = new Ear<String>();
      var _ = store.register("boiler", open, new Above(0));
      two.store().put("boiler", new Reading("roof", 5));
      assertEquals("roof 5.0", open.next().value());
      assertTrue(closed.events.isEmpty());
    }
  }

  /// Does not come to an end when it is put 0.
  record Endless() implements KeyHandler<Long, Long> {
    @Override
    public @Nullable Long handle(Object key, @Nullable Long value, @Nullable Long before) {
      while (value != null && value == 0) Cancellation.check();
      return value;
    }
  }

  @Test
  void aPutEndsInTheTimeOfItsClient() throws Exception {
    try (Server server =
            ServedEngine.serve(
                StoaConfig.of("memory:")
                    .withLimits(Limits.standard().withCallTimeMax(Duration.ofMinutes(5))),
                0);
        Stoa patient = Stoa.open(client(server.port()));
        Stoa hasty =
            Stoa.open(
                StoaConfig.of("stoa://127.0.0.1:" + server.port())
                    .withLimits(Limits.standard().withCallTimeMax(Duration.ofMillis(500))))) {
      var ear = new Ear<Long>();
      var _ = patient.store().register("endless", ear, new Endless());
      hasty.store().put("endless", 1L);
      assertEquals(1L, ear.next().value());
      assertThrows(DeadlineExceeded.class, () -> hasty.store().put("endless", 0L));
      assertEquals(1L, patient.store().get("endless"));
    }
  }

  @Test
  void whatIsAskedOfAListenerIsDoneInOrder() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        var service =
            RemoteService.open(
                StoaConfig.of("stoa://127.0.0.1:" + server.port())
                    .withLimits(Limits.standard().withCallTimeMax(Duration.ofSeconds(60))))) {
      RemotePart remote = service.first();
      service.stoa().store().register("k", new Ear<String>(), new Counting()).close();
      var handler = ByteString.copyFrom(remote.marshaller().value(new Counting()));
      var key = ByteString.copyFrom(Keys.encode("k"));
      var asked = new ArrayList<Outgoing>();
      for (long number = 1_000; number < 1_200; number++) {
        var listen =
            Listen.newBuilder()
                .setListener(number)
                .setKey(key)
                .setHandler(handler)
                .setPendingEventsMax(10)
                .setPendingBytesMax(1_000);
        var unlisten = Unlisten.newBuilder().setListener(number).setKey(key);
        asked.add(Outgoing.of(Request.newBuilder().setListen(listen), Outgoing.Recovery.READ, 0));
        asked.add(
            Outgoing.of(Request.newBuilder().setUnlisten(unlisten), Outgoing.Recovery.READ, 0));
      }
      for (Outgoing one : asked) remote.conversation().begin(one);
      for (Outgoing one : asked) {
        var _ = remote.sound(remote.conversation().await(one));
      }
      var status =
          SingleRequests.ask(
              ConnectionSecurity.none(),
              new Address("127.0.0.1", server.port()),
              SECONDS * 1_000,
              questions -> questions.status(StatusRequest.getDefaultInstance()));
      assertEquals(0, status.getSessions(0).getListeners());
    }
  }

  @Test
  void refusesHandlersThatHaveNoName() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa = Stoa.open(client(server.port()))) {
      KeyHandler<Long, Long> lambda = (_, value, _) -> value;
      assertThrows(NotShareable.class, () -> stoa.store().register("k", _ -> {}, lambda));
    }
  }

  /// Each event is the next put, numbered as it is counted in the store.
  private static void check(Ear<String> ear, List<Long> puts) throws Exception {
    String before = "null";
    for (int i = 0; i < puts.size(); i++) {
      var event = ear.next();
      assertEquals(i + 1, event.number());
      assertEquals((i + 1) + ": " + before + " -> " + puts.get(i), event.value());
      before = String.valueOf(puts.get(i));
    }
    assertTrue(ear.events.isEmpty(), () -> "told again: " + ear.events);
  }

  @Test
  void missesNothingOverConnectionsThatAreCutAgainAndAgain() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        var network = new Cuts(server.port(), 11, 20_000);
        Stoa listening = Stoa.open(client(network.port()));
        Stoa putting = Stoa.open(client(server.port()))) {
      var ears = new ArrayList<Ear<String>>();
      for (int i = 0; i < 5; i++) {
        var ear = new Ear<String>();
        ears.add(ear);
        var _ = listening.store().register("k", ear, new Counting());
      }
      var puts = new ArrayList<Long>();
      for (long i = 0; i < 300; i++) {
        putting.store().put("k", i);
        puts.add(i);
      }
      for (var ear : ears) check(ear, puts);
      assertTrue(network.cuts() > 2, "only " + network.cuts() + " cuts");
      network.calm();
    }
  }

  record Containing(String text) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value != null && text.contains(value) ? value : null;
    }
  }

  @Test
  void aListenerEndsWithTheReasonWhenTheServerDoesNotTakeItAgain(@TempDir Path directory)
      throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var network = new Cuts(server.port(), 7, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open(client(network.port()))) {
      var ear = new Ear<String>();
      var registration = stoa.store().register("k", ear, new Containing("a".repeat(5_000)));
      server.close();
      server = ServedEngine.serve(config.withLimits(Limits.standard().withCallBytesMax(4_096)), 0);
      network.target(server.port());
      stoa.store().put("k", "a");
      StoaException cause = ear.end.get(SECONDS, TimeUnit.SECONDS);
      assertTrue(
          String.valueOf(cause.getMessage()).contains("callBytesMax is 4096"), cause::toString);
      assertTrue(!registration.isOpen());
    } finally {
      server.close();
    }
  }

  @Test
  void missesNothingWhenTheServerIsStartedAgain(@TempDir Path directory) throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var network = new Cuts(server.port(), 7, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open(client(network.port()))) {
      var ear = new Ear<String>();
      var _ = stoa.store().register("k", ear, new Counting());
      var puts = new ArrayList<Long>();
      for (int restarts = 0; restarts < 3; restarts++) {
        var begun = new ArrayList<CompletableFuture<?>>();
        for (long i = 0; i < 100; i++) {
          begun.add(stoa.store().putAsync("k", 1_000L * restarts + i));
          puts.add(1_000L * restarts + i);
        }
        for (var put : begun) put.get();
        server.close();
        server = ServedEngine.serve(config, 0);
        network.target(server.port());
      }
      stoa.store().put("k", -1L);
      puts.add(-1L);
      check(ear, puts);
    } finally {
      server.close();
    }
  }
}

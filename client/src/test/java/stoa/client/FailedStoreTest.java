package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Blob;
import stoa.ConnectionSecurity;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;
import stoa.transport.Address;
import stoa.wire.SingleRequests;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// A server that keeps its store alone, on a disk that fails.
class FailedStoreTest {
  @Shared(name = "failed.Counter")
  static class Counter {
    private long value;

    public long add() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  private final SimulatedDisk disk = new SimulatedDisk(1);

  private Server serve() throws IOException {
    Stoa store =
        EmbeddedEngine.open(StoaConfig.of("memory:"), disk, Clock.system(), Threads.real());
    return Server.start(ServerConfig.of("127.0.0.1", 0), ObjectService.of(store, _ -> true));
  }

  private static StoaConfig client(Server server) {
    return StoaConfig.of("stoa://127.0.0.1:" + server.port());
  }

  /// Opens a store that does not answer, without waiting for long.
  private static Stoa openLate(Server server) {
    var limits = Limits.standard().withCallTimeMax(Duration.ofSeconds(3));
    return Stoa.open(client(server).withLimits(limits));
  }

  private static StatusReply status(Server server) {
    return SingleRequests.ask(
        ConnectionSecurity.none(),
        new Address("127.0.0.1", server.port()),
        60_000,
        questions -> questions.status(StatusRequest.getDefaultInstance()));
  }

  private static void assertNamesTheSync(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("a write or sync failed"), message);
  }

  @Test
  void tellsItsClientsTheCauseAndIsToBeClosed() throws Exception {
    try (Server server = serve();
        Stoa stoa = Stoa.open(client(server))) {
      Counter counter = stoa.get(Counter.class, "a");
      assertEquals(1, counter.add());
      assertEquals("", status(server).getFailure());
      disk.failSync(0);
      assertNamesTheSync(assertThrows(StoaException.class, counter::add));
      assertNamesTheSync(assertFailed(server.awaitClosed()));
      assertNamesTheSync(assertThrows(Unavailable.class, counter::value));
      assertTrue(status(server).getFailure().contains("a write or sync failed"));
      Unavailable late = assertThrows(Unavailable.class, () -> openLate(server));
      assertNamesTheSync(late);
      assertTrue(!String.valueOf(late.getMessage()).contains("majority"), late.getMessage());
    }
  }

  @Test
  void isToBeClosedThoughNoCallHasMetTheFailure() throws Exception {
    try (Server server = serve();
        Stoa stoa = Stoa.open(client(server))) {
      Blob blob = stoa.get(Blob.class, "b");
      blob.write(0, new byte[] {1});
      disk.failSync(0);
      assertThrows(StoaException.class, () -> blob.write(0, new byte[] {2}));
      assertNamesTheSync(assertFailed(server.awaitClosed()));
    }
  }

  private static Throwable assertFailed(@Nullable Throwable failure) {
    return Objects.requireNonNull(failure);
  }
}

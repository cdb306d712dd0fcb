package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.test.StoaAssertions.assertLinearizable;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;

class StoaServerTest {
  private static final int MINUTE = 60;

  @RegisterExtension
  static final StoaExtension extension =
      StoaExtension.with(
          StoaConfig.of("memory:")
              .withLimits(Limits.standard().withCallTimeMax(Duration.ofSeconds(MINUTE))));

  @Test
  void aClientGoesOnWhenItsServerIsKilledAndStartedAgain(StoaServer server) {
    Account ada = server.client().get(Account.class, "ada");
    assertEquals(5, ada.deposit(5));
    server.kill();
    assertFalse(server.isRunning());
    CompletableFuture<Long> waits = server.client().async(ada, a -> a.deposit(5));
    server.restart();
    assertEquals(10, waits.orTimeout(MINUTE, TimeUnit.SECONDS).join());
  }

  @Test
  void aClientGoesOnAfterALossOfPower(@Served Stoa stoa, StoaServer server) {
    Account ada = stoa.get(Account.class, "ada");
    ada.deposit(5);
    server.losePower();
    server.restart();
    assertEquals(10, ada.deposit(5));
  }

  @Test
  void aPausedServerAnswersWhenItGoesOn(StoaServer server) throws Exception {
    Account ada = server.client().get(Account.class, "ada");
    ada.deposit(5);
    server.pause();
    CompletableFuture<Long> waits = server.client().async(ada, a -> a.deposit(5));
    assertThrows(TimeoutException.class, () -> waits.get(200, TimeUnit.MILLISECONDS));
    server.resume();
    assertEquals(10, waits.get(MINUTE, TimeUnit.SECONDS));
  }

  @Test
  void aClientThatIsCutOffFindsItsServerAgain(StoaServer server) {
    Account ada = server.client().get(Account.class, "ada");
    ada.deposit(5);
    server.cutClients();
    CompletableFuture<Long> waits = server.client().async(ada, a -> a.deposit(5));
    server.connectClients();
    assertEquals(10, waits.orTimeout(MINUTE, TimeUnit.SECONDS).join());
  }

  @Test
  void callsStayLinearizableWhileTheServerIsKilled(StoaServer server) {
    assertLinearizable(
        server.client(),
        Account.class,
        "ada",
        3,
        caller -> {
          for (int i = 0; i < 12; i++) {
            caller.call("deposit 1", a -> a.deposit(1));
            if (caller.number() == 0 && i % 6 == 3) {
              server.kill();
              server.restart();
            }
          }
        });
  }

  @Test
  void aFullDiskOfAServerRefusesCalls(StoaServer server) {
    Account ada = server.client().get(Account.class, "ada");
    ada.deposit(5);
    server.disk().fill();
    assertThrows(
        StoaException.class,
        () -> {
          for (int i = 0; i < 100_000; i++) ada.deposit(1);
        });
    server.disk().mend();
    long there = ada.balance();
    assertEquals(there + 1, ada.deposit(1));
  }

  @Test
  void wrongUseIsRefused(StoaServer server) {
    assertThrows(IllegalStateException.class, server::restart);
    server.stop();
    assertThrows(IllegalStateException.class, server::kill);
    server.restart();
    assertTrue(server.isRunning());
  }

  @Test
  void nothingIsLeftOfAServerThatIsClosed() throws Exception {
    StoaServer server = StoaServer.start();
    server.client().get(Account.class, "ada").deposit(1);
    server.disk().slow(Duration.ofMillis(1));
    server.close();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("stoa-writer")) {
        assertTrue(thread.join(Duration.ofSeconds(MINUTE)), thread + " goes on");
      }
    }
    assertThrows(
        ConnectException.class,
        () -> {
          int colon = server.url().lastIndexOf(':');
          int port = Integer.parseInt(server.url().substring(colon + 1));
          new Socket(InetAddress.getLoopbackAddress(), port).close();
        });
  }
}

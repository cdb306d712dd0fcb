package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static stoa.test.StoaAssertions.assertLinearizable;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@StoaTest
class StoaClusterTest {
  @SuppressWarnings("NullAway.Init") // the extension sets it
  @Clustered(3)
  private static StoaCluster cluster;

  @BeforeEach
  void settle() {
    cluster.awaitSettled();
  }

  private static Account account(String name) {
    return cluster.client().get(Account.class, name);
  }

  @Test
  void callsStayLinearizableWhenTheLeaderIsKilledAndItComesBack() {
    assertLinearizable(
        cluster.client(),
        Account.class,
        "kill",
        2,
        caller -> {
          for (int i = 0; i < 10; i++) {
            caller.call("deposit 1", account -> account.deposit(1));
            if (caller.number() > 0 || i != 5) continue;
            StoaServer leader = cluster.leader();
            leader.kill();
            assertNotEquals(leader.name(), cluster.leader().name());
            leader.restart();
          }
        });
  }

  @Test
  void theLibrariesOfTheServersLogNothing() {
    assertFalse(LoggerFactory.getLogger("io.microraft.impl.RaftNodeImpl").isErrorEnabled());
    assertFalse(Logger.getLogger("io.microraft.impl").isLoggable(Level.SEVERE));
  }

  @Test
  void anotherServerLeadsWhileTheLeaderIsPaused() {
    Account ada = account("pause");
    ada.deposit(5);
    StoaServer leader = cluster.leader();
    leader.pause();
    assertEquals(10, ada.deposit(5));
    assertNotEquals(leader.name(), cluster.leader().name());
    leader.resume();
  }

  @Test
  void aLeaderThatIsCutOffLeadsNoMore() {
    Account ada = account("partition");
    ada.deposit(5);
    StoaServer leader = cluster.leader();
    cluster.partition(leader);
    assertEquals(10, ada.deposit(5));
    assertNotEquals(leader.name(), cluster.leader().name());
    cluster.heal();
  }

  @Test
  void aServerWhoseDiskHasFailedIsMendedAndHasTheStoreAgain() {
    Account ada = account("disk");
    ada.deposit(5);
    StoaServer broken = cluster.leader();
    broken.disk().fail();
    assertEquals(10, ada.deposit(5));
    broken.losePower();
    broken.disk().mend();
    broken.restart();
    cluster.awaitSettled();
    assertEquals(15, ada.deposit(5));
  }
}

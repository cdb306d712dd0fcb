package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@StoaTest
class StoaClusterTest {
  @Clustered(3) private static StoaCluster cluster;

  @BeforeEach
  void settle() {
    cluster.awaitSettled();
  }

  private static Account account(String name) {
    return cluster.client().get(Account.class, name);
  }

  @Test
  void callsGoOnWhenTheLeaderIsKilledAndItComesBack() {
    Account ada = account("kill");
    ada.deposit(5);
    StoaServer leader = cluster.leader();
    leader.kill();
    assertEquals(10, ada.deposit(5));
    assertNotEquals(leader.name(), cluster.leader().name());
    leader.restart();
    cluster.awaitSettled();
    assertEquals(15, ada.deposit(5));
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
  void aServerWhosePowerFailedHasTheStoreAgain() {
    Account ada = account("power");
    ada.deposit(5);
    StoaServer other = cluster.others(cluster.leader()).getFirst();
    other.losePower();
    ada.deposit(5);
    other.restart();
    cluster.awaitSettled();
    cluster.leader().kill();
    assertEquals(15, ada.deposit(5));
    cluster.servers().stream().filter(server -> !server.isRunning()).forEach(StoaServer::restart);
  }
}

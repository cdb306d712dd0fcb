package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;

class ReplicaCountTest {
  private static final MemberStatus LEADS = MemberStatus.newBuilder().setLeads(true).build();
  private static final MemberStatus FOLLOWS = MemberStatus.getDefaultInstance();

  private static StatusReply status(int wanted, MemberStatus... members) {
    var status = StatusReply.newBuilder().setGroups(1).setReplicas(wanted);
    for (MemberStatus member : members) {
      status.addServers(ServerStatus.newBuilder().addGroups(member));
    }
    return status.build();
  }

  private static String count(StatusReply status) {
    return ReplicaCount.of(status, 0).map(ReplicaCount::toString).orElse("unknown");
  }

  @Test
  void serversThatExecuteAreReplicas() {
    MemberStatus keepsLog = MemberStatus.newBuilder().setLogUnit(true).build();
    MemberStatus failed = MemberStatus.newBuilder().setFailed(true).build();
    MemberStatus joins = MemberStatus.newBuilder().setMove("joins").build();
    MemberStatus leaves = MemberStatus.newBuilder().setMove("leaves").build();
    assertEquals("2 of 3", count(status(3, LEADS, FOLLOWS, keepsLog)));
    assertEquals("3 of 1", count(status(1, LEADS, FOLLOWS, leaves)));
    assertEquals("1 of 5", count(status(5, LEADS, failed, joins)));
    assertEquals(Optional.empty(), ReplicaCount.of(status(3, LEADS, FOLLOWS), 1));
  }

  @Test
  void ofAGroupWithoutALeaderAndOfAnEarlierServerItIsUnknown() {
    assertEquals("unknown", count(status(3, FOLLOWS, FOLLOWS, FOLLOWS)));
    assertEquals("unknown", count(status(0, LEADS, FOLLOWS, FOLLOWS)));
  }

  @Test
  void tooFewServersForTheReplicasAreNamedWithTheRemedy() {
    assertEquals(
        "each group should have 5 replicas, and 3 servers can have them: start 2 more with --join",
        ReplicaCount.advice(5, status(5, LEADS, FOLLOWS, FOLLOWS)).orElseThrow());
    assertEquals(Optional.empty(), ReplicaCount.advice(3, status(3, LEADS, FOLLOWS, FOLLOWS)));
    var leaving =
        status(3, LEADS, FOLLOWS).toBuilder()
            .addServers(ServerStatus.newBuilder().setState("drains"))
            .addServers(ServerStatus.newBuilder().setState("lost"))
            .build();
    assertEquals(
        "each group should have 3 replicas, and 2 servers can have them: start 1 more with --join",
        ReplicaCount.advice(3, leaving).orElseThrow());
    assertEquals(Optional.empty(), ReplicaCount.advice(3, StatusReply.getDefaultInstance()));
  }
}

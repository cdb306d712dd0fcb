package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;

class PlacementWaitTest {
  private static final int MEMBERS_MAX = 3;

  private static ServerStatus.Builder server(String state, MemberStatus... groups) {
    var server = ServerStatus.newBuilder().setState(state);
    for (MemberStatus group : groups) server.addGroups(group);
    return server;
  }

  private static MemberStatus member(boolean leads, String move) {
    return MemberStatus.newBuilder().setLeads(leads).setMove(move).build();
  }

  private static StatusReply status(ServerStatus.Builder... servers) {
    var status = StatusReply.newBuilder().setGroups(1);
    for (var server : servers) status.addServers(server);
    return status.build();
  }

  private static boolean isSettled(ServerStatus.Builder... servers) {
    return PlacementWait.unsettled(status(servers), MEMBERS_MAX).isEmpty();
  }

  @Test
  void aServerThatIsToHaveTheGroupAndHasNotIsWaitedForAlsoBetweenTwoMoves() {
    var leads = server("", member(true, ""));
    var follows = server("", member(false, ""));
    assertFalse(isSettled(leads, follows, server("")));
    assertFalse(isSettled(leads, follows, server("", member(false, "joins"))));
    assertTrue(isSettled(leads, follows, follows));
  }

  @Test
  void whoIsToHaveNothingIsNotWaitedFor() {
    var leads = server("", member(true, ""));
    var follows = server("", member(false, ""));
    assertTrue(isSettled(leads, follows, server("lost")));
    assertTrue(isSettled(leads, follows, server("drains")));
    assertTrue(isSettled(leads, follows, follows, server("")));
    assertFalse(isSettled(follows, follows, follows), "nobody leads");
  }

  @Test
  void aLogUnitThatIsToGiveTheLeadershipBackIsWaitedForWhereLeadersMatter() {
    var leads = server("", MemberStatus.newBuilder().setLeads(true).setGivesBack(true).build());
    var follows = server("", member(false, ""));
    assertTrue(isSettled(leads, follows, follows));
    StatusReply before = status(leads.setServer("s1"), follows, follows);
    assertEquals(
        Optional.of("group 0: server s1, a log unit, has not given the leadership back"),
        PlacementWait.unsteady(before, MEMBERS_MAX));
    StatusReply after = status(follows, server("", member(true, "")), follows);
    assertEquals(Optional.empty(), PlacementWait.unsteady(after, MEMBERS_MAX));
    StatusReply meanwhile = status(leads, server("", member(false, "takes over")), follows);
    assertTrue(PlacementWait.unsteady(meanwhile, MEMBERS_MAX).isPresent());
  }

  @Test
  void aWaitThatTakesTooLongSaysWhatItWaitsFor() {
    StatusReply joins =
        status(server("", member(true, "")), server("", member(false, "joins")).setServer("s2"));
    var failure =
        assertThrows(
            IllegalStateException.class,
            () ->
                PlacementWait.await(
                    () -> joins,
                    status -> PlacementWait.unsteady(status, MEMBERS_MAX),
                    Duration.ZERO));
    assertEquals(
        "the servers are not settled after 0 s: group 0: server s2 joins", failure.getMessage());
  }
}

package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

  private static boolean isSettled(ServerStatus.Builder... servers) {
    var status = StatusReply.newBuilder().setGroups(1);
    for (var server : servers) status.addServers(server);
    return PlacementWait.isSettled(status.build(), MEMBERS_MAX);
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
}

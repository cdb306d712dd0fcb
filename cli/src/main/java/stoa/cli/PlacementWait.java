package stoa.cli;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Waits until the groups of a store are in their places, after servers have joined.
public final class PlacementWait {
  private static final long BETWEEN_MILLIS = 50;

  // How many looks in a row must find that nothing moves: between two moves nothing does.
  private static final int LOOKS = 15;

  // Each group is at least on so many servers, if there are so many.
  private static final int MEMBERS_MIN = 3;

  private PlacementWait() {}

  /// Waits until all groups have a leader and as many servers as they should, and nothing moves.
  ///
  /// @param server the address of one of the servers
  /// @param replicas how many servers should execute the calls of each group
  public static void await(String server, int replicas) {
    var operator = new Operator(server, null, null, "--server");
    int looks = 0;
    while (looks < LOOKS) {
      StatusReply status = operator.ask(asked -> asked.status(StatusRequest.getDefaultInstance()));
      looks = isSettled(status, Math.max(MEMBERS_MIN, replicas)) ? looks + 1 : 0;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(BETWEEN_MILLIS));
    }
  }

  static boolean isSettled(StatusReply status, int membersMax) {
    int led = 0;
    int members = 0;
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (!member.getMove().isEmpty()) return false;
        members++;
        if (member.getLeads()) led++;
      }
    }
    int groups = status.getGroups();
    return led > 0
        && led == groups
        && members >= groups * Math.min(membersMax, ReplicaCount.staying(status));
  }
}

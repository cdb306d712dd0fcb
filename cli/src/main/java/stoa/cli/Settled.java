package stoa.cli;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Waits until the groups of a store are where they should be, after servers have come.
final class Settled {
  private static final long BETWEEN_MILLIS = 50;

  /// So many looks in turn must find that nothing moves: between two moves nothing does.
  private static final int LOOKS = 15;

  private Settled() {}

  /// Waits until all groups are led, and nothing moves.
  ///
  /// @param server the address of one of the servers
  static void await(String server) {
    var operator = new Operator(server, null, null, "--server");
    int looks = 0;
    while (looks < LOOKS) {
      StatusReply status = operator.ask(asked -> asked.status(StatusRequest.getDefaultInstance()));
      looks = isSettled(status) ? looks + 1 : 0;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(BETWEEN_MILLIS));
    }
  }

  private static boolean isSettled(StatusReply status) {
    int led = 0;
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (!member.getMove().isEmpty()) return false;
        if (member.getLeads()) led++;
      }
    }
    return led > 0 && led == status.getGroups();
  }
}

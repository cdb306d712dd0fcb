package stoa.cli;

import java.util.Optional;
import java.util.Set;
import stoa.programs.Words;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;

/// How many servers execute the calls of a group, and how many should.
///
/// @param present how many do
/// @param wanted how many should
record ReplicaCount(int present, int wanted) {
  // The states of servers that must have nothing.
  private static final Set<String> LEAVING = Set.of("drains", "lost");

  // The move by which a server gets a replica that it does not have yet.
  private static final String JOINS = "joins";

  /// Returns the count of a group; empty when its leader is unknown, and from a server of an
  /// earlier version, which does not tell how many there should be.
  static Optional<ReplicaCount> of(StatusReply status, int group) {
    int present = 0;
    boolean led = false;
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (member.getGroup() != group) continue;
        led |= member.getLeads();
        if (executes(member)) present++;
      }
    }
    if (!led || status.getReplicas() == 0) return Optional.empty();
    return Optional.of(new ReplicaCount(present, status.getReplicas()));
  }

  /// Returns how many servers keep their replicas.
  static int staying(StatusReply status) {
    return (int)
        status.getServersList().stream()
            .filter(server -> !LEAVING.contains(server.getState()))
            .count();
  }

  private static boolean executes(MemberStatus member) {
    return !member.getLogUnit() && !member.getFailed() && !member.getMove().equals(JOINS);
  }

  /// Returns what an operator can do when there are fewer servers than replicas; empty when there
  /// are enough.
  ///
  /// @param wanted how many servers should execute the calls of each group
  static Optional<String> advice(int wanted, StatusReply status) {
    int staying = staying(status);
    if (staying == 0 || wanted <= staying) return Optional.empty();
    return Optional.of(
        "each group should have "
            + wanted
            + " replicas, and "
            + Words.count(staying, "server")
            + " can have them: start "
            + (wanted - staying)
            + " more with --join");
  }

  @Override
  public String toString() {
    return present + " of " + wanted;
  }
}

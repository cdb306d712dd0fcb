package stoa.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
    await(asking(server), status -> unsettled(status, members(replicas)), null);
  }

  /// Waits as [#await(String, int)], and until no log unit is about to give a leadership back to a
  /// member that executes.
  ///
  /// @param server the address of one of the servers
  /// @param replicas how many servers should execute the calls of each group
  /// @param most how long
  /// @throws IllegalStateException when it takes longer, with the reason
  public static void awaitLeaders(String server, int replicas, Duration most) {
    await(asking(server), status -> unsteady(status, members(replicas)), most);
  }

  private static Supplier<StatusReply> asking(String server) {
    var operator = new Operator(server, null, null, "--server");
    return () -> operator.ask(asked -> asked.status(StatusRequest.getDefaultInstance()));
  }

  private static int members(int replicas) {
    return Math.max(MEMBERS_MIN, replicas);
  }

  /// Waits until several looks in a row find no reason to wait.
  ///
  /// @param reason returns why to wait longer; empty for no reason
  /// @param most how long; null for as long as it takes
  static void await(
      Supplier<StatusReply> looks,
      Function<StatusReply, Optional<String>> reason,
      @Nullable Duration most) {
    long began = System.nanoTime();
    for (int good = 0; good < LOOKS; ) {
      Optional<String> found = reason.apply(looks.get());
      good = found.isPresent() ? 0 : good + 1;
      if (most != null && found.isPresent() && System.nanoTime() - began > most.toNanos()) {
        throw new IllegalStateException(
            "the servers are not settled after %d s: %s".formatted(most.toSeconds(), found.get()));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(BETWEEN_MILLIS));
    }
  }

  /// Returns what is not in its place yet; empty when nothing moves.
  static Optional<String> unsettled(StatusReply status, int membersMax) {
    int wanted = Math.min(membersMax, ReplicaCount.staying(status));
    var members = new TreeMap<Integer, Integer>();
    var led = new TreeMap<Integer, Integer>();
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (!member.getMove().isEmpty()) {
          return Optional.of(
              "group %d: server %s %s"
                  .formatted(member.getGroup(), server.getServer(), member.getMove()));
        }
        members.merge(member.getGroup(), 1, Integer::sum);
        if (member.getLeads()) led.merge(member.getGroup(), 1, Integer::sum);
      }
    }
    if (status.getGroups() == 0) return Optional.of("the server does not know the groups yet");
    for (int group = 0; group < status.getGroups(); group++) {
      int leaders = led.getOrDefault(group, 0);
      if (leaders != 1) return Optional.of("group %d has %d leaders".formatted(group, leaders));
      int has = members.getOrDefault(group, 0);
      if (has < wanted) {
        return Optional.of("group %d has %d of %d members".formatted(group, has, wanted));
      }
    }
    return Optional.empty();
  }

  /// Returns what is not in its place yet; empty when nothing moves, and no leadership is about to.
  static Optional<String> unsteady(StatusReply status, int membersMax) {
    Optional<String> unsettled = unsettled(status, membersMax);
    if (unsettled.isPresent()) return unsettled;
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (!member.getGivesBack()) continue;
        return Optional.of(
            "group %d: server %s, a log unit, has not given the leadership back"
                .formatted(member.getGroup(), server.getServer()));
      }
    }
    return Optional.empty();
  }
}

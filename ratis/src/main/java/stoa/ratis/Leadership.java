package stoa.ratis;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.FollowerInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;

/// Functions of Ratis' leadership that Ratis does not offer: submission in the process, without a
/// hop to another thread; whether the lease is held; and standing for election at a chosen time.
/// Only this class depends on Ratis' internals; with an incompatible version, opening a group
/// fails.
final class Leadership {
  /*
   * Ratis' own read index is not used: once an index was acknowledged, it answers for that index
   * without asking any member, so it would believe a leader that was paused and has no lease any
   * more.
   *
   * Ratis looks for the leader's silence once in each random time, so it may take twice the longest
   * time to notice it. The caller of stand() looks often, and says how long is too long. Then Ratis
   * acts as usual: it first asks the others whether the leader is silent to them, too, so that no
   * lease is broken, and a member that alone does not hear the leader disturbs no other.
   *
   * A candidate that is asked for its vote gives it, but sends its answer after the end of its own
   * election. That waits for an answer of each member, up to the longest election time, if the
   * votes do not decide it. So with one silent member of three, and one whose log is shorter, no
   * member was elected for up to 2 s. leave() ends it.
   */
  private static final Pattern ELECTION = Pattern.compile("LeaderElection\\d+$");

  // Room for threads that begin during the listing.
  private static final int THREADS_MORE = 8;

  private final RaftServer.Division division;
  private final RaftClientAsynchronousProtocol submitting;
  private final MethodHandle role;
  private final MethodHandle leaderState;
  private final MethodHandle hasLease;
  private final MethodHandle candidate;

  private final Continuity continuity;

  /// Creates it.
  ///
  /// @param breakNanos for how long a lease is over, at least, before another one may lead
  Leadership(RaftServer.Division division, long breakNanos) {
    this.division = division;
    this.continuity = new Continuity(breakNanos, System.nanoTime());
    if (!(division instanceof RaftClientAsynchronousProtocol protocol)) {
      throw new IllegalStateException("this version of Ratis takes no requests in the process");
    }
    this.submitting = protocol;
    try {
      Class<?> server = division.getClass();
      var lookup = MethodHandles.privateLookupIn(server, MethodHandles.lookup());
      Class<?> roles = lookup.findClass("org.apache.ratis.server.impl.RoleInfo");
      Class<?> state = lookup.findClass("org.apache.ratis.server.impl.LeaderStateImpl");
      role = generic(lookup.findVirtual(server, "getRole", MethodType.methodType(roles)));
      leaderState =
          generic(
              lookup.findVirtual(roles, "getLeaderState", MethodType.methodType(Optional.class)));
      hasLease =
          lookup
              .findVirtual(state, "hasLease", MethodType.methodType(boolean.class))
              .asType(MethodType.methodType(boolean.class, Object.class));
      candidate =
          lookup
              .findVirtual(
                  server, "changeToCandidate", MethodType.methodType(void.class, boolean.class))
              .asType(MethodType.methodType(void.class, Object.class, boolean.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this version of Ratis does not tell of its lease: " + e, e);
    }
  }

  private static MethodHandle generic(MethodHandle handle) {
    return handle.asType(MethodType.methodType(Object.class, Object.class));
  }

  /// Returns whether no other replica can have led at some moment since the call, and this one is
  /// ready.
  boolean isCertain() {
    long now = System.nanoTime();
    return hasLease() && continuity.holds(now);
  }

  /// Records that the others have agreed to a proposal made at a time of [System#nanoTime()].
  void agreed(long proposedNanos) {
    continuity.agreed(proposedNanos);
  }

  private boolean hasLease() {
    try {
      Object roles = (Object) role.invokeExact((Object) division);
      var state = (Optional<?>) (Object) leaderState.invokeExact(roles);
      return state.isPresent() && (boolean) hasLease.invokeExact((Object) state.get());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /// Returns whether this replica follows, and its leader has been silent for so long, or it looks
  /// for one.
  boolean isAlone(long silenceMillis) {
    RoleInfoProto told = division.getInfo().getRoleInfoProto();
    return switch (told.getRole()) {
      case FOLLOWER -> isSilent(told.getFollowerInfo(), silenceMillis);
      case CANDIDATE -> true;
      default -> false;
    };
  }

  private static boolean isSilent(FollowerInfoProto told, long millis) {
    return told.getOutstandingOp() == 0 && told.getLeaderInfo().getLastRpcElapsedTimeMs() >= millis;
  }

  /// Returns whether this replica leads, and another one has answered it within so long.
  boolean hears(String id, long silenceMillis) {
    RoleInfoProto told = division.getInfo().getRoleInfoProto();
    return told.getLeaderInfo().getFollowerInfoList().stream()
        .filter(follower -> follower.getId().getId().toStringUtf8().equals(id))
        .anyMatch(follower -> follower.getLastRpcElapsedTimeMs() < silenceMillis);
  }

  /// Returns whether this replica leads, and too few of the others have answered it within so long,
  /// so that they may have another leader.
  ///
  /// @param others the other members
  boolean hasLostQuorum(Set<String> others, long silenceMillis) {
    RoleInfoProto told = division.getInfo().getRoleInfoProto();
    if (told.getRole() != RaftPeerRole.LEADER) return false;
    long heard =
        told.getLeaderInfo().getFollowerInfoList().stream()
            .filter(follower -> others.contains(follower.getId().getId().toStringUtf8()))
            .filter(follower -> follower.getLastRpcElapsedTimeMs() < silenceMillis)
            .count();
    return heard + 1 <= (others.size() + 1) / 2;
  }

  /// Returns the index up to which each of the others is known to have the log; empty while this
  /// replica does not lead.
  Map<String, Long> matched() {
    DivisionInfo info = division.getInfo();
    List<ServerRpcProto> others = info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    long[] indices = info.getFollowerMatchIndices();
    var matched = new HashMap<String, Long>();
    // Both are in one order; when members have changed in between, nothing is known this time.
    if (indices == null || indices.length != others.size()) return matched;
    for (int i = 0; i < indices.length; i++) {
      matched.put(others.get(i).getId().getId().toStringUtf8(), indices[i]);
    }
    return matched;
  }

  /// Returns the index up to which each member is known to have all committed entries.
  Map<String, Long> committed() {
    var committed = new HashMap<String, Long>();
    for (CommitInfoProto told : division.getCommitInfos()) {
      committed.put(told.getServer().getId().toStringUtf8(), told.getCommitIndex());
    }
    long here = division.getRaftLog().getLastCommittedIndex();
    matched().forEach((id, index) -> committed.merge(id, Math.min(index, here), Math::max));
    return committed;
  }

  /// Stands for election, if this replica follows a leader that has been silent for so long.
  void stand(long silenceMillis) {
    DivisionInfo info = division.getInfo();
    // As Ratis itself does.
    synchronized (division) {
      if (!info.isFollower() || !info.getLifeCycleState().isRunning()) return;
      if (!isSilent(info.getRoleInfoProto().getFollowerInfo(), silenceMillis)) return;
      try {
        candidate.invokeExact((Object) division, false);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /// Ends the rest of an election in which this replica stood, if it follows again.
  void leave() {
    // No thread begins to stand under this lock.
    synchronized (division) {
      if (!division.getInfo().isFollower()) return;
      ThreadGroup group = division.getThreadGroup();
      var threads = new Thread[group.activeCount() + THREADS_MORE];
      int count = group.enumerate(threads, false);
      for (int i = 0; i < count; i++) {
        if (ELECTION.matcher(threads[i].getName()).find()) threads[i].interrupt();
      }
    }
  }

  CompletableFuture<RaftClientReply> submit(RaftClientRequest request) throws IOException {
    return submitting.submitClientRequestAsync(request);
  }
}

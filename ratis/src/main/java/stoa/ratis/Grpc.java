package stoa.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.jspecify.annotations.Nullable;

/// Ratis' gRPC, with a leader that continues where Ratis' own stops. Thread-safe. Ratis finds it by
/// its name.
public final class Grpc implements RpcType {
  /*
   * A member whose log ends just before the leader's first entry lacks no dropped entry, but the
   * leader no longer knows the term of that end, and notifies it of a snapshot. If the member's own
   * snapshot reaches its end, as after a restart, Ratis answers there that it has the snapshot
   * already, without asking GroupMachine. The leader knows as little as before, and both repeat
   * that a hundred times a second, until the leader drops more. This is common: when a leader is
   * killed, the next one begins another file of its log, and drops all before that.
   *
   * So the leader tells such a member that the log begins one entry later. Then the member gets
   * that entry as one of the dropped ones. The leader has executed it: otherwise its own snapshot
   * would end where the member's log does, and the term would be known.
   *
   * Raft needs members that keep forever what they have acknowledged. A member whose directory was
   * restored from an older copy does not, and Ratis silently sends it the missing entries. If it
   * helps to elect another leader before that, acknowledged entries may be lost. So the leader
   * checks the answers with the end of a member's log:
   * (1) it ends before the last entry that the member has acknowledged to this leader: the member
   *     was restored
   * (2) it has committed entries that the leader lacks, or has otherwise: others were restored, and
   *     have elected this leader. Ratis would ask that member the same again and again, or take its
   *     entries for the leader's, since restored members may give out a term again
   */

  /// Creates it for Ratis.
  public Grpc() {}

  @Override
  public String name() {
    return Grpc.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new GrpcFactory(parameters) {
      @Override
      public LogAppender newLogAppender(
          RaftServer.Division server, LeaderState state, FollowerInfo follower) {
        return new Appender(server, state, follower);
      }
    };
  }

  private static final class Appender extends GrpcLogAppender {
    private final GroupMachine machine;

    // The index after the member's committed entries; used by the thread that hears it.
    private long committedEnd = -1;

    private volatile boolean isPutBack;
    private volatile boolean isAhead;

    Appender(RaftServer.Division server, LeaderState state, FollowerInfo follower) {
      super(server, state, follower);
      machine = (GroupMachine) server.getStateMachine();
    }

    @Override
    protected long getNextIndexForInconsistency(long firstSent, long nextAtMember) {
      if (firstSent >= 0) look(firstSent, nextAtMember);
      return super.getNextIndexForInconsistency(firstSent, nextAtMember);
    }

    /// Compares the end of a member's log with its acknowledgements.
    ///
    /// @param firstSent the index of the first sent entry
    /// @param nextAtMember the index that the member wants
    private void look(long firstSent, long nextAtMember) {
      long acknowledged = getFollower().getMatchIndex();
      if (nextAtMember < firstSent && nextAtMember <= acknowledged)
        putBack(acknowledged, nextAtMember);
      boolean differs = firstSent == committedEnd && nextAtMember < firstSent;
      boolean lacksHere = nextAtMember > getRaftLog().getNextIndex();
      if (differs || (lacksHere && nextAtMember > firstSent))
        ahead(Math.max(firstSent, nextAtMember));
      if (nextAtMember > firstSent) committedEnd = nextAtMember;
    }

    private void putBack(long acknowledged, long next) {
      if (isPutBack) return;
      isPutBack = true;
      machine.alarm(
          getFollowerId().toString(),
          "its replica was put back to an older copy: it had acknowledged "
              + (acknowledged + 1)
              + " commands and came back with "
              + next
              + "; it gets the others from the leader");
    }

    private void ahead(long committed) {
      if (isAhead) return;
      isAhead = true;
      machine.alarm(
          getFollowerId().toString(),
          "its replica has "
              + committed
              + " commands that were acknowledged, and the leader has not the same; others were put"
              + " back to older copies and have elected a leader, so that acknowledged calls are"
              + " lost there, and this replica cannot follow; keep its directory");
    }

    @Override
    public @Nullable TermIndex shouldNotifyToInstallSnapshot() {
      // Called before each request. A member's last answer has its committed index.
      long committed = getFollower().getCommitIndex();
      if (committed >= getRaftLog().getNextIndex()) ahead(committed + 1);
      TermIndex first = super.shouldNotifyToInstallSnapshot();
      if (first == null || getFollower().getNextIndex() != first.getIndex()) return first;
      return TermIndex.valueOf(first.getTerm(), first.getIndex() + 1);
    }
  }
}

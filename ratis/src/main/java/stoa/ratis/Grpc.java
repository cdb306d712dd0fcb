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

/// Ratis' gRPC, with a leader that goes on where Ratis' own stands still. Thread-safe. Ratis finds
/// it by its name.
public final class Grpc implements RpcType {
  /*
   * A member whose log ends just before the first entry that the leader still has lacks nothing that was dropped, but the
   * leader knows no more of which term that end is, and notifies it of a snapshot. If the member's own snapshot is up to
   * its end, as after a restart, Ratis answers there that it has the snapshot already, without asking GroupMachine; the
   * leader knows as little as before, and both go on like that, a hundred times a second, until the leader drops more. It
   * is no rare end: when a leader is killed, the next one begins another file of its log, and drops all before that.
   *
   * So such a member is told that the log begins one entry later. Then it gets that entry as all that was dropped.
   * The leader has executed it: else its own snapshot would end where the member's log does, and the term be known.
   *
   * Raft relies on it that a member has for ever what it has acknowledged. A member whose directory was put back to
   * an older copy has not, and Ratis sends it what it lacks without a word; should it help to elect another leader
   * before, what it had acknowledged may be lost. So the answers by which a member says where its log ends are looked at:
   * (1) it ends before what this leader knows to be acknowledged by it: it was put back
   * (2) it has committed what the leader has not, or has otherwise: others were put back, and have elected this
   *     leader; Ratis would ask that member the same again and again, or take what it has for what the leader has,
   *     since who was put back may give out a term once more
   */

  /// For Ratis.
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

    // The index behind what the member says to have committed; of the thread that hears it.
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

    /// @param firstSent the index of the first entry that was sent
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
      // Called before each request. A member has told with its last answer what it has committed.
      long committed = getFollower().getCommitIndex();
      if (committed >= getRaftLog().getNextIndex()) ahead(committed + 1);
      TermIndex first = super.shouldNotifyToInstallSnapshot();
      if (first == null || getFollower().getNextIndex() != first.getIndex()) return first;
      return TermIndex.valueOf(first.getTerm(), first.getIndex() + 1);
    }
  }
}

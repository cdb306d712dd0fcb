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
    Appender(RaftServer.Division server, LeaderState state, FollowerInfo follower) {
      super(server, state, follower);
    }

    @Override
    public @Nullable TermIndex shouldNotifyToInstallSnapshot() {
      TermIndex first = super.shouldNotifyToInstallSnapshot();
      if (first == null || getFollower().getNextIndex() != first.getIndex()) return first;
      return TermIndex.valueOf(first.getTerm(), first.getIndex() + 1);
    }
  }
}

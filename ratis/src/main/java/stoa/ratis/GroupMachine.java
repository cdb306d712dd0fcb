package stoa.ratis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import stoa.log.Position;
import stoa.log.Replica;

/// Stands between Ratis and a [Replica].
///
/// A snapshot of Ratis is nothing but an index up to which the replica's device is durable: there
/// are no files. Ratis counts its log from 0, we from 1.
final class GroupMachine extends BaseStateMachine {
  /// A proposal that is being submitted here.
  static final class Pending {
    /// Whether it may have got into the log.
    volatile boolean appended;
  }

  /// Gets from another replica what this one lacks.
  interface CatchUp {
    /// Asks the leader, and answers up to where that brought this replica.
    Position from(Member leader);
  }

  private final Replica replica;
  private final Roles roles;
  private final Executor events;
  private final Executor background;
  private final CatchUp catchUp;
  private final ConcurrentHashMap<Long, Pending> submitting = new ConcurrentHashMap<>();
  private volatile boolean leads;
  private volatile boolean closing;

  /// @param events runs one at a time what the roles are told
  /// @param background runs what takes long
  GroupMachine(
      Replica replica, Roles roles, Executor events, Executor background, CatchUp catchUp) {
    this.replica = replica;
    this.roles = roles;
    this.events = events;
    this.background = background;
    this.catchUp = catchUp;
  }

  static long ratisIndex(Position position) {
    return position.index() - 1;
  }

  static Position position(long term, long ratisIndex) {
    return new Position(term, ratisIndex + 1);
  }

  private static TermIndex termIndex(Position position) {
    return TermIndex.valueOf(position.term(), ratisIndex(position));
  }

  // ---- life

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage storage)
      throws IOException {
    getLifeCycle()
        .startAndTransition(() -> {
          super.initialize(server, group, storage);
          // What is read from the device after a crash need not be durable, but is taken for a
          // snapshot.
          load(replica.sync());
        });
  }

  private void load(Position position) {
    if (position.index() > 0) setLastAppliedTermIndex(termIndex(position));
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() {
    getLifeCycle().startAndTransition(() -> load(replica.durable()));
  }

  @Override
  public void close() {
    getLifeCycle().checkStateAndClose(() -> {});
  }

  /// From now on an end is none that anybody need be told of.
  void closing() {
    closing = true;
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto role, boolean allServer) {
    if (closing) return;
    stopped(new IllegalStateException("the Raft server has stopped this replica"));
  }

  @Override
  public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
    stopped(cause);
  }

  /// Ends this replica's part. Not by throwing: what Ratis does then never ends, if it was
  /// stopping.
  private void stopped(Throwable cause) {
    if (closing) return;
    closing = true;
    try {
      events.execute(() -> roles.failed(cause));
      background.execute(() -> {
        try {
          division().close();
        } catch (UncheckedIOException gone) {
          // It is closed already.
        }
      });
    } catch (RejectedExecutionException ending) {
      // Its node is being closed, and ends it.
    }
  }

  private RaftServer.Division division() {
    try {
      return getServer().join().getDivision(getGroupId());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // ---- commands

  /// Notes that a proposal is being submitted under a call id.
  void begin(long callId, Pending pending) {
    submitting.put(callId, pending);
  }

  void end(long callId) {
    submitting.remove(callId);
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    Pending pending = submitting.get(request.getCallId());
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setClientRequest(request)
        .setStateMachineContext(pending)
        .build();
  }

  @Override
  public TransactionContext preAppendTransaction(TransactionContext context) {
    if (context.getStateMachineContext() instanceof Pending pending) pending.appended = true;
    return context;
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext context) {
    LogEntryProto entry = context.getLogEntry();
    byte[] command = entry.getStateMachineLogEntry().getLogData().toByteArray();
    byte[] answer;
    try {
      answer = replica.apply(position(entry.getTerm(), entry.getIndex()), command);
    } catch (RuntimeException | Error failure) {
      stopped(failure);
      return CompletableFuture.failedFuture(failure);
    }
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return CompletableFuture.completedFuture(
        Message.valueOf(UnsafeByteOperations.unsafeWrap(answer)));
  }

  @Override
  public void notifyTermIndexUpdated(long term, long index) {
    try {
      replica.advance(position(term, index));
    } catch (RuntimeException failure) {
      stopped(failure);
      return;
    }
    super.notifyTermIndexUpdated(term, index);
  }

  // ---- snapshots

  @Override
  public long takeSnapshot() throws IOException {
    try {
      Position durable = replica.sync();
      return durable.index() == 0 ? RaftLog.INVALID_LOG_INDEX : ratisIndex(durable);
    } catch (RuntimeException failure) {
      stopped(failure);
      throw new IOException(failure);
    }
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return new StateMachineStorage() {
      @Override
      public void init(RaftStorage storage) {}

      @Override
      public @Nullable SnapshotInfo getLatestSnapshot() {
        Position durable = replica.durable();
        return durable.index() == 0 ? null : new Snapshot(termIndex(durable));
      }

      @Override
      public void format() {}

      @Override
      public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {}
    };
  }

  private record Snapshot(TermIndex termIndex) implements SnapshotInfo {
    @Override
    public TermIndex getTermIndex() {
      return termIndex;
    }

    @Override
    public List<FileInfo> getFiles() {
      return List.of();
    }
  }

  @Override
  public CompletableFuture<TermIndex> notifyInstallSnapshotFromLeader(
      RoleInfoProto role, TermIndex firstInLog) {
    Member leader = RatisNode.member(role.getFollowerInfo().getLeaderInfo().getId());
    return CompletableFuture.supplyAsync(
        () -> {
          Position reached = catchUp.from(leader);
          events.execute(roles::caughtUp);
          return termIndex(reached);
        },
        background);
  }

  // ---- roles

  @Override
  public void notifyLeaderReady() {
    long term;
    try {
      term = division().getInfo().getCurrentTerm();
    } catch (UncheckedIOException ending) {
      return; // it is being released; not by throwing, as in `stopped`
    }
    leads = true;
    events.execute(() -> roles.leading(term));
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) {
    if (!leads) return;
    leads = false;
    events.execute(roles::following);
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId self, @Nullable RaftPeerId leader) {
    if (leader != null) events.execute(() -> roles.leader(leader.toString()));
  }
}

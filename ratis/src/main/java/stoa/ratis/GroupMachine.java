package stoa.ratis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.log.Position;
import stoa.log.Replica;

/// Stands between Ratis and a [Replica].
///
/// A snapshot of Ratis is nothing but an index up to which the replica's device is durable: there
/// are no files. Ratis counts its log from 0, we from 1.
final class GroupMachine extends BaseStateMachine {
  /*
   * A leader whose log begins behind the end of ours notifies us of it, again and again, and from the first of
   * these until we say that we have what is lacking, Ratis refuses all entries. It would hear that at the next
   * notification only, which never comes when the leader changes meanwhile and the next one's log begins
   * earlier; and a leader that is silent would be waited for. So a catch-up never answers Ratis: it ends by
   * failing, and then Ratis takes entries. What comes of that:
   *
   * (1) The replica may be ahead of Ratis, by what a catch-up has brought. Entries up to there change nothing.
   *     Ratis is shown no more than it has applied itself, also after a restart: else there would be a gap in its
   *     log. So before a catch-up begins it is noted up to where that is, and with each snapshot behind it.
   * (2) A notification that finds all of it here is answered on the spot. It brings the leader's members, and
   *     we skip the entries that tell of them, so it must have been made when the catch-up had ended. The first
   *     one behind that may not have been; the one behind it was, since a leader sends one at a time.
   * (3) A catch-up that was broken off leaves a replica that is not whole. The entries may come nevertheless,
   *     and change nothing but what is lacking. It is whole when a catch-up has ended, which is tried with
   *     each leader; or when it leads itself, and has applied all that others can have sent.
   * (4) While a catch-up runs no entries are applied, and who leads is not caught up.
   */

  /// A proposal that is being submitted here.
  static final class Pending {
    /// Whether it may have got into the log.
    volatile boolean appended;
  }

  /// Gets from another replica what this one lacks.
  interface CatchUp {
    /// Asks the leader, until this replica has what that has.
    ///
    /// @param still whether to go on; asked when [#leave] is not in vain any more
    /// @throws IOException when that breaks off
    void from(Member leader, BooleanSupplier still) throws IOException;

    /// Breaks off what asks anybody but this one, also when it has not begun to.
    void leave(@Nullable String leader);
  }

  /// That a catch-up has ended, of which Ratis has not heard; and whether it has notified since.
  private static final class Caught {
    boolean notified;
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupMachine.class);

  /// A file of Ratis' log, whose name has the index that it begins with.
  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  private static final long MENDING_PATIENCE_MILLIS = 50;
  private static final long BETWEEN_FAILURES_MILLIS = 100;

  /// So often in turn a leader may have less than this replica, which it will soon have. After that
  /// it has lost it.
  private static final int BEHIND_MAX = 50;

  private static final long BETWEEN_MENDING_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Replica replica;
  private final Roles roles;
  private final Executor events;
  private final Executor background;
  private final CatchUp catchUp;
  private final ConcurrentHashMap<Long, Pending> submitting = new ConcurrentHashMap<>();
  private final ReentrantLock applying = new ReentrantLock();
  private volatile @Nullable Caught caught;

  /// To where Ratis was told to jump last.
  private volatile @Nullable Position jump;

  /// How often in turn a leader had less than this replica; guarded by applying.
  private int behind;

  private long mendedNanos = System.nanoTime();
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
          Position durable = replica.sync();
          Position known = replica.known();
          if (known == null || !isInLog(known, storage)) {
            load(durable);
          } else {
            load(known);
            caught = new Caught();
          }
        });
  }

  /// Whether the log has what comes behind a position. If not, it was dropped in a jump, of which
  /// nothing more could be noted.
  private static boolean isInLog(Position position, RaftStorage storage) throws IOException {
    return LogSegmentPath.getLogSegmentPaths(storage).stream()
        .map(segment -> SEGMENT.matcher(segment.getPath().getFileName().toString()))
        .filter(Matcher::matches)
        .mapToLong(name -> Long.parseLong(name.group(1)))
        .anyMatch(first -> first <= ratisIndex(position) + 1);
  }

  private void load(Position position) {
    if (position.index() > 0) setLastAppliedTermIndex(termIndex(position));
  }

  @Override
  public void pause() {
    if (getLifeCycleState() == LifeCycle.State.PAUSED) return; // another jump came in between
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() {
    // What is noted of how far Ratis is stays until the next snapshot: its log may still be there.
    Position to = jump;
    getLifeCycle().startAndTransition(() -> load(to == null ? replica.durable() : to));
    caught = null;
  }

  @Override
  public void close() {
    getLifeCycle().checkStateAndClose(() -> {});
  }

  /// From now on an end is none that anybody need be told of.
  void closing() {
    closing = true;
    catchUp.leave(null);
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
  void stopped(Throwable cause) {
    if (closing) return;
    closing = true;
    hand(background, () -> catchUp.leave(null));
    hand(events, () -> roles.failed(cause));
    hand(
        background,
        () -> {
          try {
            division().close();
          } catch (UncheckedIOException gone) {
            // It is closed already.
          }
        });
  }

  private static void hand(Executor to, Runnable task) {
    try {
      to.execute(task);
    } catch (RejectedExecutionException ending) {
      // Its node is being closed, and ends all that this is about.
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
    applying.lock();
    try {
      answer = replica.apply(position(entry.getTerm(), entry.getIndex()), command);
    } catch (RuntimeException | Error failure) {
      stopped(failure);
      return CompletableFuture.failedFuture(failure);
    } finally {
      applying.unlock();
    }
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return CompletableFuture.completedFuture(
        Message.valueOf(UnsafeByteOperations.unsafeWrap(answer)));
  }

  @Override
  public void notifyTermIndexUpdated(long term, long index) {
    applying.lock();
    try {
      replica.advance(position(term, index));
    } catch (RuntimeException | Error failure) {
      stopped(failure);
      return;
    } finally {
      applying.unlock();
    }
    super.notifyTermIndexUpdated(term, index);
  }

  // ---- snapshots

  @Override
  public long takeSnapshot() throws IOException {
    applying.lock();
    try {
      Position durable = replica.sync();
      TermIndex shown = shown(durable);
      if (replica.known() != null) {
        boolean all = shown.getIndex() >= ratisIndex(durable);
        replica.know(all ? null : position(shown.getTerm(), shown.getIndex()));
      }
      return shown.getIndex();
    } catch (RuntimeException failure) {
      stopped(failure);
      throw new IOException(failure);
    } finally {
      applying.unlock();
    }
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return new StateMachineStorage() {
      @Override
      public void init(RaftStorage storage) {}

      @Override
      public @Nullable SnapshotInfo getLatestSnapshot() {
        TermIndex shown = shown(replica.durable());
        return shown.getIndex() < 0 ? null : new Snapshot(shown);
      }

      @Override
      public void format() {}

      @Override
      public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {}
    };
  }

  /// What Ratis is shown of what is durable.
  private TermIndex shown(Position durable) {
    TermIndex applied = getLastAppliedTermIndex();
    return ratisIndex(durable) > applied.getIndex() ? applied : termIndex(durable);
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
    Caught here = caught;
    Position reached = replica.durable();
    if (here != null && replica.isWhole() && ratisIndex(reached) >= needed(firstInLog)) {
      if (here.notified) {
        jump = reached;
        return CompletableFuture.completedFuture(termIndex(reached));
      }
      here.notified = true;
      return again(() -> true);
    }
    Member leader = RatisNode.member(role.getFollowerInfo().getLeaderInfo().getId());
    return again(() -> {
      applying.lock();
      try {
        return level(leader);
      } finally {
        applying.unlock();
      }
    });
  }

  /// Up to where all is needed that comes before what the leader's log begins with; nor does Ratis
  /// jump back behind what it has itself.
  private long needed(TermIndex firstInLog) {
    try {
      return Math.max(firstInLog.getIndex(), division().getRaftLog().getNextIndex()) - 1;
    } catch (UncheckedIOException ending) {
      return Long.MAX_VALUE;
    }
  }

  /// Does something, and then has Ratis take entries, or be notified once more; after a while if it
  /// failed.
  private CompletableFuture<TermIndex> again(BooleanSupplier doing) {
    var answer = new CompletableFuture<TermIndex>();
    hand(
        background,
        () -> {
          boolean done = doing.getAsBoolean();
          Runnable telling =
              () -> {
                // Ratis holds this while it is about to wait for the answer.
                synchronized (division()) {
                  answer.completeExceptionally(new IllegalStateException("to be notified again"));
                }
              };
          if (done) telling.run();
          else
            CompletableFuture.delayedExecutor(BETWEEN_FAILURES_MILLIS, TimeUnit.MILLISECONDS)
                .execute(telling);
        });
    return answer;
  }

  /// Tries to make this replica whole, if it is not: when Ratis need not, since the log has what
  /// comes next. To be called often while a leader is followed, by one thread.
  void mend(Member leader) {
    if (replica.isWhole() || closing) return;
    long now = System.nanoTime();
    if (now - mendedNanos < BETWEEN_MENDING_NANOS) return;
    mendedNanos = now;
    hand(
        background,
        () -> {
          try {
            // When it takes longer it is being caught up, or it is tried again.
            if (!applying.tryLock(MENDING_PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) return;
          } catch (InterruptedException closed) {
            return;
          }
          try {
            if (!replica.isWhole()) level(leader);
          } finally {
            applying.unlock();
          }
        });
  }

  /// Gets from the leader what this replica lacks; whether that came to an end. Called with
  /// applying held.
  private boolean level(Member leader) {
    BooleanSupplier still = () -> !closing && leader.id().equals(leading());
    if (!still.getAsBoolean()) return false;
    try {
      TermIndex applied = getLastAppliedTermIndex();
      replica.know(position(Math.max(0, applied.getTerm()), applied.getIndex()));
      catchUp.from(leader, still);
      behind = 0;
      caught = new Caught();
      hand(events, roles::caughtUp);
      return true;
    } catch (IOException brokenOff) {
      if (!(brokenOff.getCause() instanceof stoa.log.CatchUp.Behind)) behind = 0;
      else if (++behind == BEHIND_MAX) ahead(leader);
      if (!closing) LOG.info("{}", brokenOff.getMessage());
    } catch (RuntimeException | Error failure) {
      stopped(failure);
    }
    return false;
  }

  /// The leader has not what this replica has applied, which was acknowledged.
  private void ahead(Member leader) {
    alarm(
        String.valueOf(getId()),
        "its replica has "
            + replica.applied().index()
            + " commands that were acknowledged, and the leader, server "
            + leader.id()
            + ", has fewer; others were put back to older copies and have elected a leader, so that"
            + " acknowledged calls are lost there, and this replica cannot follow; keep its"
            + " directory");
  }

  private @Nullable String leading() {
    try {
      RaftPeerId leader = division().getInfo().getLeaderId();
      return leader == null ? null : leader.toString();
    } catch (UncheckedIOException ending) {
      return null;
    }
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
    catchUp.leave(null);
    applying.lock();
    try {
      if (!replica.isWhole()) replica.completed();
    } catch (RuntimeException | Error failure) {
      stopped(failure);
      return;
    } finally {
      applying.unlock();
    }
    leads = true;
    hand(events, () -> roles.leading(term));
  }

  /// Another member has not what it should have by what this one knows, which leads.
  void alarm(String member, String trouble) {
    if (!closing) hand(events, () -> roles.alarm(member, trouble));
  }

  /// This replica has what it had lost.
  void caughtUp() {
    if (!closing) hand(events, roles::caughtUp);
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) {
    if (!leads) return;
    leads = false;
    hand(events, roles::following);
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId self, @Nullable RaftPeerId leader) {
    if (leader == null) return;
    hand(background, () -> catchUp.leave(leader.toString()));
    hand(events, () -> roles.leader(leader.toString()));
  }
}

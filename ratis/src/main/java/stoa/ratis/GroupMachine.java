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
import stoa.raft.Member;
import stoa.raft.Roles;

/// The state machine between Ratis and a [Replica].
///
/// A snapshot of Ratis is only an index up to which the replica's device is durable: there are no
/// files. Ratis counts its log from 0, Stoa from 1.
final class GroupMachine extends BaseStateMachine {
  /*
   * When the leader's log begins after the end of this replica's log, the leader notifies this
   * replica again and again. From the first notification on, Ratis refuses all entries, until this
   * replica answers that it has the missing ones. Ratis would read that answer only at the next
   * notification. It would wait for a silent leader, and for ever if the next leader's log begins
   * earlier. So a catch-up never answers Ratis: it ends by failing, and then Ratis accepts entries.
   * It follows:
   *
   * (1) After a catch-up, the replica may be ahead of Ratis, and the entries that it already has
   *     change nothing. This class reports to Ratis only the entries that Ratis has applied itself,
   *     also after a restart: otherwise the log of Ratis would have a gap. So the replica notes the
   *     position of Ratis before each catch-up, and with each later snapshot.
   * (2) A notification that finds everything here is answered at once. It brings the leader's
   *     members, and this replica skips the entries that tell of them, so the notification must be
   *     later than the end of the catch-up. The first one after that may be older; the second is
   *     not, since a leader sends one at a time.
   * (3) A catch-up that broke off leaves an incomplete replica. Entries may come nevertheless, and
   *     add only missing results. The replica tries to catch up with each leader. It is complete
   *     when a catch-up has ended, or when it leads itself and has applied all entries that other
   *     replicas can have sent.
   * (4) While a catch-up runs no entries are applied, and a leader does not catch up.
   */

  /// A proposal that is being submitted here.
  static final class Pending {
    /// Whether it may have entered the log.
    volatile boolean appended;
  }

  /// Gets the missing entries from another replica.
  interface CatchUp {
    /// Asks the leader, until this replica has what the leader has.
    ///
    /// @param still whether to go on; asked once [#leave] has an effect
    /// @throws IOException when that breaks off
    void from(Member leader, BooleanSupplier still) throws IOException;

    /// Breaks off a catch-up from any other member than this one, even before it begins.
    void leave(@Nullable String leader);
  }

  /// The end of a catch-up of which Ratis has not heard; and whether Ratis has notified since.
  private static final class Caught {
    boolean notified;
  }

  private static final Logger LOG = LoggerFactory.getLogger(GroupMachine.class);

  // A file of Ratis' log, whose name has its first index.
  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  private static final long MENDING_PATIENCE_MILLIS = 50;
  private static final long BETWEEN_FAILURES_MILLIS = 100;

  // How many times in a row a leader may have less than this replica, as it briefly does. After
  // that it has lost it.
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

  // The target of Ratis' last jump.
  private volatile @Nullable Position jump;

  // How many times in a row a leader had less than this replica; guarded by applying.
  private int behind;

  private long mendedNanos = System.nanoTime();
  private volatile boolean leads;
  private volatile boolean closing;

  /// Creates it.
  ///
  /// @param events runs one event of the roles at a time
  /// @param background runs long tasks
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
          // State that a replica reads from the device after a crash need not be durable, but
          // counts as a snapshot.
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

  /// Returns whether the log has the entries after a position. If not, a jump dropped them, and no
  /// later note was possible.
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
    // The note of Ratis' position stays until the next snapshot: its log may still be there.
    Position to = jump;
    getLifeCycle().startAndTransition(() -> load(to == null ? replica.durable() : to));
    caught = null;
  }

  @Override
  public void close() {
    getLifeCycle().checkStateAndClose(() -> {});
  }

  /// From now on the end of this needs no report.
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

  /// Ends this replica's part. Not by throwing: Ratis would never end, if it was stopping.
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
            // It is already closed.
          }
        });
  }

  private static void hand(Executor to, Runnable task) {
    try {
      to.execute(task);
    } catch (RejectedExecutionException ending) {
      // Its node is closing, and ends all of this.
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

  /// Records that a proposal is being submitted under a call id.
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

  /// Returns Ratis' view of the durable position.
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

  /// Returns the position up to which everything before the leader's first log entry is needed;
  /// Ratis does not jump back behind its own position.
  private long needed(TermIndex firstInLog) {
    try {
      return Math.max(firstInLog.getIndex(), division().getRaftLog().getNextIndex()) - 1;
    } catch (UncheckedIOException ending) {
      return Long.MAX_VALUE;
    }
  }

  /// Runs an action, and then makes Ratis take entries, or be notified once more; after a while if
  /// the action failed.
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

  /// Tries to make this replica complete, if it is not, when Ratis does not demand it because the
  /// log has the next entry. One thread calls it often while a leader is followed.
  void mend(Member leader) {
    if (replica.isWhole() || closing) return;
    long now = System.nanoTime();
    if (now - mendedNanos < BETWEEN_MENDING_NANOS) return;
    mendedNanos = now;
    hand(
        background,
        () -> {
          try {
            // If it takes longer, a catch-up runs, or this tries again later.
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

  /// Gets the missing entries from the leader. The caller holds applying.
  ///
  /// @return whether that came to an end
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

  /// Records that the leader lacks entries that this replica has applied, and therefore
  /// acknowledged.
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

  /// Records, at the leader, that another member lacks entries that it should have.
  void alarm(String member, String trouble) {
    if (!closing) hand(events, () -> roles.alarm(member, trouble));
  }

  /// Records that this replica has its lost entries again.
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

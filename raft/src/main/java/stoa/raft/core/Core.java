package stoa.raft.core;

import io.microraft.MembershipChangeMode;
import io.microraft.QueryPolicy;
import io.microraft.RaftConfig;
import io.microraft.RaftEndpoint;
import io.microraft.RaftNode;
import io.microraft.RaftNodeStatus;
import io.microraft.RaftRole;
import io.microraft.exception.CannotReplicateException;
import io.microraft.exception.IndeterminateStateException;
import io.microraft.exception.NotLeaderException;
import io.microraft.exception.RaftException;
import io.microraft.executor.RaftNodeExecutor;
import io.microraft.impl.RaftNodeImpl;
import io.microraft.impl.state.FollowerState;
import io.microraft.impl.state.LeaderState;
import io.microraft.impl.statemachine.InternalCommitAware;
import io.microraft.impl.task.HeartbeatTask;
import io.microraft.impl.task.LeaderElectionTimeoutTask;
import io.microraft.impl.task.PreVoteTimeoutTask;
import io.microraft.model.groupop.RaftGroupOp;
import io.microraft.model.groupop.UpdateRaftGroupMembersOp;
import io.microraft.model.log.LogEntry;
import io.microraft.model.log.RaftGroupMembersView;
import io.microraft.model.message.AppendEntriesFailureResponse;
import io.microraft.model.message.AppendEntriesRequest;
import io.microraft.model.message.AppendEntriesSuccessResponse;
import io.microraft.model.message.InstallSnapshotRequest;
import io.microraft.model.message.PreVoteRequest;
import io.microraft.model.message.PreVoteResponse;
import io.microraft.model.message.RaftMessage;
import io.microraft.model.message.TriggerLeaderElectionRequest;
import io.microraft.model.message.VoteRequest;
import io.microraft.model.message.VoteResponse;
import io.microraft.report.RaftNodeReport;
import io.microraft.report.RaftNodeReport.RaftNodeReportReason;
import io.microraft.statemachine.StateMachine;
import io.microraft.transport.Transport;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.raft.Member;
import stoa.raft.Roles;

/// One member of a group: MicroRaft's core, and everything around it that it leaves to others or
/// does wrong.
///
/// One thread uses it, on which the [World] also runs its tasks; [#status] and [#isCertain] are for
/// any thread. It never waits but for its log's disk and its machine.
public final class Core {
  /*
   * MicroRaft 0.7 counts heartbeats in whole seconds. Here its second is a part of the real one, such
   * that its heartbeat timeout is the election time.
   *
   * The core does the following outside of it:
   *
   * (1) It takes an answer of an earlier term for one of the present term, and would count entries
   *     that its sender has lost since. Such answers are dropped.
   * (2) A member that has just started does not know that it answered a leader a moment ago, and would
   *     help to elect another one within the lease. It exchanges no votes for the election time,
   *     but those of a hand-over, which ends the lease by itself.
   * (3) A member whose log begins after a leader's message refuses it, and is never level when its log
   *     ends in void entries. Such a message passes without what comes before it, which is
   *     committed; the answer tells what the member has (`offset`). MicroRaft would take its number
   *     of entries for an index, so the commit index comes in a second message.
   *     An old message would set its commit index back, and passes without one.
   * (4) It would have at most one unfinished change of members among new entries, but only because the
   *     commit index comes with them. Without that, entries after a second change wait.
   * (5) Its installation of a snapshot keeps void entries behind the snapshot, and waits for the state.
   *     Here a member whose log ends before the leader's begins gets the state by a catch-up; then its
   *     log jumps, and MicroRaft begins again from the log, as after a crash.
   * (6) It turns an exception of the state machine into an answer, and repeats a failed sync. Both
   *     stop the member.
   * (7) The entries of a message have no limit in bytes. Here the next message takes those beyond it.
   * (8) A removed member is not told. Others tell it when it asks for votes; it believes those that know
   *     of a later change of members than itself, and than the one that added it.
   * (9) A member that asked for votes and then follows a leader of the same term, as after each start,
   *     would never stand again: it counts as asking. It begins to follow anew.
   * (10) A hand-over to a member that is removed meanwhile never ends, and its leader takes nothing any
   *     more. So the members do not change meanwhile.
   * (11) It commits with half of an even number of members: see Majority.
   * (12) A member that was removed and comes back has lost what it acknowledged before. A member that does
   *     not know of its removal counts on its vote. So a new member exchanges no votes until its log
   *     reaches to where the leader has added it, which messages to members that do not vote tell.
   * (13) A member that is to be removed counts its own vote all the same. It does not stand.
   * (14) A leader cannot append its first entry when the log is full of entries that are not committed,
   *     and then never commits anything. The core proposes less than there is room for.
   * (15) A member that was removed and comes back ends when its log tells of the removal. So its log
   *     jumps over that, which was committed before it could be added.
   * (16) A member that asks for votes does not learn a later term from the answers, and asks in vain for
   *     ever. It takes the term from them.
   * (17) Answers to a query may have been sent before the query was asked, when it joins an earlier one.
   *     So only one is asked at a time.
   * (18) A leader tells its members of each commit in a message of its own, which they answer. For a lone
   *     entry that is half of all messages. Here the next entries or the next heartbeat tell it, or a
   *     message after NEWS_NANOS or twice as long.
   * (19) It always waits for the whole election time. When nothing listens where the leader was, the
   *     end of the lease is enough: then its clock jumps over the rest, and one of the members asks
   *     for votes at once. A member whose lease is not over holds such a question back until it is.
   *     A leader of an earlier release may have a longer lease, and tells none: then all wait.
   * (20) After a snapshot it may count entries as held that an earlier snapshot has dropped, and then
   *     sends nothing to a member that needs one of them: see HeldEntries.
   * (21) It logs a failure inside, and goes on to lead. Here it begins again from the log.
   * (22) It always waits equally long for votes, and for the first answers to a leader. When these take
   *     longer, no election ends with a leader. Here the waits grow while elections fail: see Patience.
   * (23) A candidate begins one election after the other, also when the others refuse it for its log,
   *     and hinders those whose logs are longer. Here a candidate follows again after an election
   *     that had to wait longer, and first asks whether the others would vote for it.
   * (24) After a standstill of its process, a leader steps down before it has read the answers that came
   *     meanwhile, and a follower asks for votes. Here such a timer lets messages go first.
   */
  private static final Object GROUP = "group";
  private static final Object PROBE = new Object();

  static final String FAILED_INSIDE = "MicroRaft fails";

  private static final int REMOVED = 100;
  static final int HAD = 101;
  private static final int WHERE = 102;
  private static final int HERE = 103;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int TIMEOUT_SECONDS = 5;

  // How long a candidate waits for votes; like the timeout, in times of MicroRaft.
  private static final long VOTES_MILLIS = 2_000;
  private static final long CLOCK_BEGIN_MILLIS = 1L << 40;
  private static final int PENDING_MORE = 64;
  private static final int BATCH_ENTRIES = 1_024;
  private static final int REPORT_SECONDS = 1_000_000_000;
  private static final int TICKS_PER_ELECTION = 10;

  // Members learn of a commit after this time or twice as long, when nothing else tells them.
  private static final long NEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int TICKS_BETWEEN_TABLES = 10;

  // The number of no message, so that an answer to it answers none.
  private static final long NO_MESSAGE = -1;

  // The term of a question to a candidate: its sender need not lead.
  private static final int NO_TERM = 0;

  // How many times in a row a leader may show less than this member has, as it briefly does.
  private static final int LESS_MAX = 50;

  // The part of the election time for which a late timer lets messages go first.
  private static final int MESSAGES_FIRST_PART = 100;

  // Delays grow by up to this part, so that members do not stand at the same time again and again.
  private static final int JITTER = 8;

  private final RaftSettings settings;
  private final World world;
  private final LogStore store;
  private final AppliedState machine;
  private final Votes votes;
  private final Roles roles;
  private final Random random;
  private final Lease lease;
  private final Patience patience;
  private final Majority majority = new Majority();
  private final Encoder out = new Encoder(1 << 10);
  private final Set<Proposal> proposals = new LinkedHashSet<>();
  private final Map<String, Long> heard = new HashMap<>();
  private final Map<String, Doubt> doubts = new HashMap<>();

  // Up to where members had the log that were set back.
  private final Map<String, Long> setBack = new HashMap<>();

  // Candidates that seem to lack what they had, until they have told where their log ends; and
  // those about which an alarm was raised, until they have it.
  private final Map<String, Suspicion> suspicions = new HashMap<>();
  private final Set<String> reported = new HashSet<>();

  private RaftNode node;
  private HeldEntries held;
  private int life;
  private boolean stopped;
  private boolean removed;
  private List<Member> removedMembers = List.of();
  private long heldUntilNanos;
  private boolean catching;
  private boolean transferring;
  private boolean isAhead;
  private int lessTimes;
  private long mendedNanos;
  private long applied;
  private long bytesSince;
  private int ticks;

  private boolean leads;
  private boolean ready;
  private int leadingTerm;
  // The number of the last question to a member where its log ends. The first number is random, so
  // that no answer to a question before a restart counts.
  private long doubted;
  private @Nullable Member leader;

  // The leader, when nothing listens any more where it was; since when; and the number of such
  // leaders so far.
  private @Nullable String ended;
  private long endedNanos;
  private int endings;

  // The last term whose leader has told that its lease is not longer than this member's would be.
  private int leaseTerm = NO_TERM;

  // When this member was last told of a leader by the leader itself: it may have answered then.
  private long ledNanos;

  // How far MicroRaft's clock is ahead of the real one.
  private long skippedNanos;

  // A number that is added to the index in answers to the present message, and whether it is
  // answered.
  private long offset;
  private boolean mute;

  // The members that do not know the last commit yet, since a moment, and whether a task will tell
  // them.
  private final Set<RaftEndpoint> untold = new LinkedHashSet<>();
  private long untoldSinceNanos;
  private boolean tellsLater;

  // Whether the present task is one of a timer, which may send messages without entries.
  private boolean isTimer;

  // The callers that wait for the present question to the members, and those for the next one.
  private boolean asking;
  private List<Consumer<@Nullable RuntimeException>> waiting = new ArrayList<>();

  private volatile CoreStatus status = CoreStatus.NONE;
  // Whether it certainly leads, while its lease holds.
  private volatile boolean certain;
  // Whether its certainty was used since the last look.
  private volatile boolean used;

  /// Creates it. [#start] lets it take part.
  ///
  /// @param isNew whether its log has just begun, so that it has answered no leader
  /// @param seed of the random choices
  /// @throws Corrupt when the machine lacks commands that are before its log
  public Core(
      RaftSettings settings,
      World world,
      LogStore store,
      AppliedState machine,
      Votes votes,
      Roles roles,
      boolean isNew,
      long seed) {
    this.settings = settings;
    this.world = world;
    this.store = store;
    this.machine = machine;
    this.votes = votes;
    this.roles = roles;
    this.random = new Random(seed);
    this.doubted = seed >>> 16;
    this.lease = new Lease(settings.leaseNanos());
    this.heldUntilNanos = world.nanos() + (isNew ? 0 : settings.electionNanos());
    this.mendedNanos = world.nanos() - SECOND;
    this.ledNanos = world.nanos();
    Position begin = store.position();
    Position applied = machine.applied();
    if (applied.index() < begin.index()) {
      // A group begins with a position that has no command.
      if (begin.index() > 1) {
        throw new Corrupt(
            "the replica ends at %s, and its log begins at %s, so that commands are lost in between;"
                    .formatted(applied, begin)
                + " drain this server, and start a new one in an empty directory");
      }
      machine.advance(begin);
    }
    this.node = build();
    this.held = new HeldEntries((RaftNodeImpl) node);
    this.patience = new Patience(real(VOTES_MILLIS), settings.doublingsMax(), term());
  }

  // ---- life

  private RaftNode build() {
    var config =
        RaftConfig.newBuilder()
            .setLeaderHeartbeatPeriodSecs(1)
            .setLeaderHeartbeatTimeoutSecs(TIMEOUT_SECONDS)
            .setLeaderElectionTimeoutMillis(VOTES_MILLIS)
            .setCommitCountToTakeSnapshot(settings.snapshotCommands())
            .setMaxPendingLogEntryCount(2 * settings.pendingMax() + PENDING_MORE)
            .setAppendEntriesRequestBatchSize(BATCH_ENTRIES)
            .setTransferSnapshotsFromFollowersEnabled(false)
            .setRaftNodeReportPublishPeriodSecs(REPORT_SECONDS)
            .build();
    int mine = ++life;
    applied = store.position().index();
    return RaftNode.newBuilder()
        .setGroupId(GROUP)
        .setRestoredState(store.restored())
        .setConfig(config)
        .setExecutor(new Tasks(mine))
        .setTransport(new Sending(mine))
        .setStateMachine(new Applying(mine))
        .setStore(store)
        .setModelFactory(Models.ALL)
        .setRaftNodeReportListener(report -> {
          if (mine == life) told(report);
        })
        .setRandom(random)
        .setClock(new Scaled())
        .build();
  }

  /// Lets it take part.
  public void start() {
    var _ = node.start();
    tick();
  }

  /// Lets MicroRaft begin again from the log. Proposals in progress have unknown outcomes.
  private void again() {
    lose();
    transferring = false;
    endProposals("it begins again");
    leader = null;
    ended = null;
    heldUntilNanos = world.nanos() + settings.electionNanos();
    node = build();
    held = new HeldEntries((RaftNodeImpl) node);
    var _ = node.start();
  }

  private void tick() {
    if (stopped) return;
    world.schedule(this::tick, settings.electionNanos() / TICKS_PER_ELECTION);
    try {
      refresh();
      if (isHalfDone()) {
        beginAgain();
        return;
      }
      if (bytesSince >= settings.snapshotBytes()) {
        bytesSince = 0;
        var _ = node.takeSnapshot();
      }
      Member leads = leader;
      if (!machine.isWhole() && !isCompleted() && leads != null && !isSelf(leads)) mend(leads);
      if (ready && ++ticks % TICKS_BETWEEN_TABLES == 0) tellTable();
      prolong();
    } catch (RuntimeException | Error failure) {
      fail(failure);
    }
  }

  /// Asks the others ahead of time, so that no reader waits for the lease.
  private void prolong() {
    if (!used || !ready) return;
    used = false;
    long nextNanos = world.nanos() + 2 * settings.electionNanos() / TICKS_PER_ELECTION;
    if (!asking && !lease.holds(nextNanos)) confirm(_ -> {});
  }

  private boolean isSelf(Member member) {
    return member.id().equals(settings.self().id());
  }

  /// Ends its part for good.
  ///
  /// @param cause why; [Roles#failed] gets it
  public void fail(Throwable cause) {
    if (stopped) return;
    stop();
    roles.failed(cause);
  }

  /// Ends its part, as it was asked to.
  public void stop() {
    if (stopped) return;
    stopped = true;
    life++;
    lose();
    world.leave(null);
    endProposals("it has stopped");
    refresh();
  }

  /// Records that this member leads no more.
  private void lose() {
    boolean told = ready;
    leads = false;
    ready = false;
    certain = false;
    lease.end();
    untold.clear();
    if (told) roles.following();
  }

  private void endProposals(String why) {
    var ending = new ArrayList<>(proposals);
    proposals.clear();
    for (Proposal proposal : ending) proposal.end(outcome(proposal, new Unavailable(why)));
    var refused = waiting;
    waiting = new ArrayList<>();
    asking = false;
    for (var waits : refused) waits.accept(new Unavailable(why));
  }

  // ---- what MicroRaft gets

  private final class Scaled extends Clock {
    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis());
    }

    @Override
    public long millis() {
      // In two steps, so that nothing overflows.
      long nanos = world.nanos() + skippedNanos;
      long election = settings.electionNanos();
      long timeout = TIMEOUT_SECONDS * 1_000L;
      return CLOCK_BEGIN_MILLIS
          + nanos / election * timeout
          + nanos % election * timeout / election;
    }
  }

  private final class Tasks implements RaftNodeExecutor {
    private final int mine;

    Tasks(int mine) {
      this.mine = mine;
    }

    @Override
    public void execute(Runnable task) {
      if (mine != life) return;
      try {
        task.run();
      } catch (RuntimeException | Error failure) {
        fail(failure);
      }
      if (mine == life) tellMore();
      stopIfFailed();
    }

    @Override
    public void submit(Runnable task) {
      world.submit(() -> execute(task));
    }

    @Override
    public void schedule(Runnable task, long delay, TimeUnit unit) {
      double real = (double) unit.toNanos(delay) / (TIMEOUT_SECONDS * SECOND);
      long nanos = Math.round(real * settings.electionNanos());
      long more = Math.max(1, Math.min(nanos / JITTER, Integer.MAX_VALUE));
      long after = nanos + world.random((int) more);
      long due = world.nanos() + after;
      if (mayBeginElection(task)) world.schedule(() -> onElectionTimer(task, due), after);
      else world.schedule(() -> onTimer(() -> execute(task)), after);
    }

    private static boolean mayBeginElection(Runnable task) {
      return task instanceof HeartbeatTask
          || task instanceof PreVoteTimeoutTask
          || task instanceof LeaderElectionTimeoutTask;
    }

    private void onElectionTimer(Runnable task, long due) {
      if (world.nanos() - due < settings.electionNanos() / TIMEOUT_SECONDS) {
        inPatience(task);
        return;
      }
      world.reached("messages go first");
      // The others must hear a leader now; only whether it still leads is decided later.
      if (leads) onTimer(() -> execute(((RaftNodeImpl) node)::broadcastAppendEntriesRequest));
      world.schedule(() -> inPatience(task), settings.electionNanos() / MESSAGES_FIRST_PART);
    }

    /// Runs a task as soon as this member may begin an election, or leads.
    private void inPatience(Runnable task) {
      if (mine != life) return;
      if (!leads && patience.waits(world.nanos())) {
        long tick = settings.electionNanos() / TICKS_PER_ELECTION;
        int pause = (int) Math.min(tick, Integer.MAX_VALUE);
        world.schedule(() -> inPatience(task), pause + world.random(pause));
        return;
      }
      boolean asksFirst = task instanceof LeaderElectionTimeoutTask && patience.factor() > 1;
      onTimer(() -> execute(asksFirst ? Core.this::standNoMore : task));
    }
  }

  private final class Applying implements StateMachine, InternalCommitAware {
    private final int mine;

    Applying(int mine) {
      this.mine = mine;
    }

    @Override
    public @Nullable Object runOperation(long index, Object operation) {
      if (PROBE.equals(operation)) return null;
      return doing(() -> {
        applied = index;
        return switch (operation) {
          case Payload.Command(int term, byte[] bytes) -> {
            bytesSince += bytes.length;
            yield machine.apply(new Position(term, index), bytes);
          }
          case Payload.Begun(int term) -> {
            machine.advance(new Position(term, index));
            begun(term);
            yield null;
          }
          default -> throw new IllegalStateException("an entry with " + operation);
        };
      });
    }

    @Override
    public void onInternalCommit(long index) {
      var _ =
          doing(() -> {
            applied = index;
            machine.advance(new Position(store.termAt(index), index));
            return null;
          });
    }

    @Override
    public void takeSnapshot(long index, Consumer<Object> chunks) {
      var _ =
          doing(() -> {
            Position durable = machine.sync();
            Check.that(durable.index() >= index, "%s is durable, and not %s", durable, index);
            bytesSince = 0;
            world.reached("snapshot");
            chunks.accept(durable);
            return null;
          });
    }

    @Override
    public void installSnapshot(long index, List<Object> chunks) {
      // The machine has it: see jump.
    }

    @Override
    public Object getNewTermOperation() {
      return Models.BEGIN;
    }

    private @Nullable Object doing(Doing work) {
      if (mine != life) throw new IllegalStateException("it has ended");
      try {
        return work.run();
      } catch (RuntimeException | Error failure) {
        fail(failure);
        throw failure;
      }
    }
  }

  private interface Doing {
    @Nullable Object run();
  }

  private final class Sending implements Transport {
    private final int mine;

    Sending(int mine) {
      this.mine = mine;
    }

    @Override
    public boolean isReachable(RaftEndpoint endpoint) {
      return true;
    }

    @Override
    public void send(RaftEndpoint to, RaftMessage message) {
      if (mine != life || store.failure() != null || to.equals(Endpoint.NOBODY)) return;
      RaftMessage sent = message;
      switch (message) {
        case VoteRequest vote -> {
          if ((vote.isSticky() && isHeld()) || !mayStand()) return;
          patience.votes(world.nanos());
        }
        case PreVoteRequest _ -> {
          if (isHeld() || !mayStand()) return;
        }
        case VoteResponse answer -> {
          if (answer.isGranted()) patience.votes(world.nanos());
        }
        case TriggerLeaderElectionRequest _ -> lease.revoke(world.nanos());
        case AppendEntriesSuccessResponse has -> {
          if (mute) return;
          if (offset > 0) sent = moved(has);
        }
        case AppendEntriesFailureResponse _ -> {
          if (mute) return;
        }
        case AppendEntriesRequest append -> {
          if (isNews(append)) {
            tellLater(to);
            return;
          }
          untold.remove(to);
          sent = limited(append);
        }
        case InstallSnapshotRequest later -> {
          if (isDoubted(Codec.member(to), Long.MAX_VALUE, later)) return;
        }
        default -> {
          if (!Codec.isKnown(message)) return; // of the transfer of snapshots
        }
      }
      pass(to, sent);
    }
  }

  private void pass(RaftEndpoint to, RaftMessage message) {
    out.clear();
    Codec.message(message, out);
    if (isLearner(to)) out.varint(node.getEffectiveMembers().getLogIndex());
    world.send(Codec.member(to), out.toBytes());
  }

  private void onTimer(Runnable task) {
    isTimer = true;
    try {
      task.run();
    } finally {
      isTimer = false;
    }
  }

  /// Returns whether a message only tells of a commit.
  private boolean isNews(AppendEntriesRequest append) {
    return !isTimer
        && append.getLogEntries().isEmpty()
        && append.getFlowControlSequenceNumber() == 0;
  }

  private void tellLater(RaftEndpoint member) {
    if (untold.isEmpty()) untoldSinceNanos = world.nanos();
    untold.add(member);
    if (!tellsLater) tellLater();
  }

  private void tellLater() {
    tellsLater = true;
    long now = world.nanos();
    world.schedule(() -> tellCommitted(now), NEWS_NANOS);
  }

  private void tellCommitted(long sinceNanos) {
    tellsLater = false;
    if (untold.isEmpty() || stopped) return;
    if (untoldSinceNanos - sinceNanos > 0) { // they were told meanwhile, and of this commit not yet
      tellLater();
      return;
    }
    var members = List.copyOf(untold);
    untold.clear();
    var impl = (RaftNodeImpl) node;
    if (impl.state().leaderState() == null) return;
    world.reached("commit told later");
    try {
      onTimer(() -> members.forEach(impl::sendAppendEntriesRequest));
    } catch (RuntimeException | Error failure) {
      fail(failure);
    }
  }

  private boolean isLearner(RaftEndpoint member) {
    var members = node.getEffectiveMembers();
    return leads
        && members.getMembers().contains(member)
        && !members.getVotingMembers().contains(member);
  }

  private RaftMessage moved(AppendEntriesSuccessResponse has) {
    return Models.ALL
        .createAppendEntriesSuccessResponseBuilder()
        .setGroupId(GROUP)
        .setSender(has.getSender())
        .setTerm(has.getTerm())
        .setLastLogIndex(offset + has.getLastLogIndex())
        .setQuerySequenceNumber(has.getQuerySequenceNumber())
        .setFlowControlSequenceNumber(has.getFlowControlSequenceNumber())
        .build();
  }

  private AppendEntriesRequest limited(AppendEntriesRequest append) {
    List<LogEntry> entries = append.getLogEntries();
    long bytes = 0;
    for (int i = 0; i < entries.size(); i++) {
      bytes += ((RaftEntry) entries.get(i)).bytes();
      if (bytes <= settings.messageBytesMax() || i == 0) continue;
      world.reached("message limited");
      return with(
          append,
          append.getPreviousLogTerm(),
          append.getPreviousLogIndex(),
          append.getCommitIndex(),
          entries.subList(0, i));
    }
    return append;
  }

  private static AppendEntriesRequest with(
      AppendEntriesRequest append,
      int previousTerm,
      long previousIndex,
      long committed,
      List<LogEntry> entries) {
    return Models.ALL
        .createAppendEntriesRequestBuilder()
        .setGroupId(GROUP)
        .setSender(append.getSender())
        .setTerm(append.getTerm())
        .setPreviousLogTerm(previousTerm)
        .setPreviousLogIndex(previousIndex)
        .setCommitIndex(committed)
        .setLogEntries(entries)
        .setQuerySequenceNumber(append.getQuerySequenceNumber())
        .setFlowControlSequenceNumber(append.getFlowControlSequenceNumber())
        .build();
  }

  private boolean mayStand() {
    var members = node.getEffectiveMembers().getVotingMembers();
    return store.isJoined() && members.contains(new Endpoint(settings.self())) && votes.mayStand();
  }

  /// Returns whether this member must not take part in elections yet.
  private boolean isHeld() {
    return world.nanos() - heldUntilNanos < 0;
  }

  // ---- messages

  /// Receives a message of another member.
  ///
  /// @throws Decoder.MalformedException when it is none
  public void receive(byte[] message) {
    if (stopped) return;
    var in = new Decoder(message);
    switch (message.length == 0 ? 0 : message[0]) {
      case REMOVED -> wasRemoved(in);
      case HAD -> had(in);
      case WHERE -> where(in);
      case HERE -> here(in);
      default -> {
        RaftMessage received = Codec.message(in, GROUP);
        if (in.remaining() > 0 && received.getTerm() >= term()) added(in.varint());
        try {
          receive(received);
        } catch (RaftException failed) {
          fail(failed);
        }
      }
    }
    stopIfFailed();
  }

  private void added(long index) {
    try {
      store.added(index);
    } catch (IOException failure) {
      fail(failure);
    }
  }

  private void receive(RaftMessage message) {
    Member from = Codec.member(message.getSender());
    heard.put(from.id(), world.nanos());
    switch (message) {
      case AppendEntriesRequest append -> {
        led(from);
        follow(append.getTerm());
        append(append);
      }
      case InstallSnapshotRequest later -> {
        led(from);
        follow(later.getTerm());
        beginsLater(later);
      }
      case VoteRequest vote -> {
        if (mayVote(from, vote.getLastLogIndex(), vote.isSticky())) node.handle(vote);
      }
      case PreVoteRequest vote -> {
        if (ended != null && !isOver(() -> receive(vote))) return;
        if (mayVote(from, vote.getLastLogIndex(), true)) node.handle(vote);
      }
      case AppendEntriesSuccessResponse has -> {
        if (has.getTerm() >= term()) has(from.id(), has);
        else world.reached("answer of an earlier term");
      }
      case AppendEntriesFailureResponse lacks -> {
        if (lacks.getTerm() < term()) world.reached("answer of an earlier term");
        // With a later term it refuses the leader, and says nothing of its log.
        else if (lacks.getTerm() > term()
            || !isDoubted(from, lacks.getExpectedNextIndex() - 1, null)) node.handle(lacks);
      }
      case PreVoteResponse answer -> {
        if (answer.getTerm() > term() + 1 && !leads) {
          world.reached("later term in an answer");
          ((RaftNodeImpl) node).toFollower(answer.getTerm());
        }
        if (answer.isGranted() && patience.waits(world.nanos())) {
          world.reached("answer to an earlier question for votes");
          return;
        }
        node.handle(answer);
      }
      case TriggerLeaderElectionRequest _ -> {
        if (votes.mayStand() && !catching) node.handle(message);
      }
      default -> node.handle(message);
    }
  }

  // ---- a leader whose process has ended

  /// Notes that nothing listens any more where another member was, so that its process has ended.
  /// When it led, this member looks for another leader as soon as the lease is over, if the leader
  /// has told how long that is. A wrong notice does no harm: the lease is over then all the same.
  public void ended(String member) {
    Member lost = leader;
    if (stopped || leads || ended != null) return;
    if (lost == null || !lost.id().equals(member)) return;
    if (leaseTerm != term()) {
      world.reached("lease of unknown length");
      return;
    }
    world.reached("leader has ended");
    ended = member;
    endedNanos = world.nanos();
    int ending = ++endings;
    refresh();
    roles.leaderEnded();
    int asked = term();
    new Tasks(life).execute(() -> whenOver(ending, () -> stand(ending, asked)));
  }

  /// Notes a message of a leader.
  private void led(Member from) {
    ledNanos = world.nanos();
    if (!from.id().equals(ended)) return;
    // Its last messages may arrive after its end.
    if (ledNanos - endedNanos < settings.electionNanos() / TICKS_PER_ELECTION) return;
    world.reached("leader has not ended");
    ended = null;
    refresh();
    roles.leader(from.id());
  }

  private void whenOver(int ending, Runnable task) {
    if (stopped || ended == null || ending != endings) return;
    if (isOver(() -> whenOver(ending, task))) task.run();
  }

  /// Returns whether the lease of a leader that has ended is over, also for MicroRaft. If it is
  /// not, a task comes when it is.
  private boolean isOver(Runnable later) {
    long now = world.nanos();
    long left = ledNanos + settings.endedNanos() - now;
    if (left > 0) {
      int mine = life;
      world.schedule(
          () -> {
            if (mine == life) new Tasks(mine).execute(later);
          },
          left + TimeUnit.MICROSECONDS.toNanos(1));
      return false;
    }
    if (!((RaftNodeImpl) node).isLeaderHeartbeatTimeoutElapsed()) {
      world.reached("shorter silence");
      skippedNanos += settings.electionNanos();
    }
    return true;
  }

  /// Asks for votes, if it is the turn of this member. The others do so when MicroRaft looks next,
  /// unless there is a leader by then: members that ask at the same time may both fail.
  private void stand(int ending, int asked) {
    var state = ((RaftNodeImpl) node).state();
    if (ended == null || ending != endings || term() != asked || !mayStand()) return;
    if (state.role() != RaftRole.FOLLOWER || state.preCandidateState() != null) return;
    var others = new TreeSet<String>();
    for (RaftEndpoint member : state.effectiveGroupMembers().getVotingMembers()) {
      others.add(Codec.member(member).id());
    }
    others.remove(ended);
    var inTurn = List.copyOf(others);
    // With a single voting member, MicroRaft has another way.
    if (inTurn.size() < 2 || !settings.self().id().equals(inTurn.get(asked % inTurn.size())))
      return;
    world.reached("asks for votes at once");
    ((RaftNodeImpl) node).leader(null);
    ((RaftNodeImpl) node).runPreVote();
  }

  /// Ends an election that has brought no leader. MicroRaft then asks whether the others would vote
  /// for this member, before it begins the next one.
  private void standNoMore() {
    var impl = (RaftNodeImpl) node;
    if (impl.state().role() != RaftRole.CANDIDATE) return;
    world.reached("stands no more");
    impl.toFollower(term());
  }

  /// Ends the question for votes, since there is a leader.
  private void follow(int term) {
    var impl = (RaftNodeImpl) node;
    if (impl.state().preCandidateState() == null || term != term()) return;
    world.reached("no more questions for votes");
    impl.toFollower(term);
  }

  private int term() {
    return node.getTerm().getTerm();
  }

  private boolean mayVote(Member candidate, long last, boolean sticky) {
    if (sticky && isHeld()) {
      world.reached("no vote after a start");
      return false;
    }
    if (!store.isJoined()) {
      world.reached("no vote before it has joined");
      return false;
    }
    // It may also be a member of which this one does not know yet.
    if (isStranger(candidate)) tellRemoved(candidate);
    long had = votes.had(candidate.id());
    if (last < had) {
      suspect(candidate, had);
      return false;
    }
    reported.remove(candidate.id());
    return votes.mayVote(last);
  }

  private boolean isStranger(Member candidate) {
    var there = new Endpoint(candidate);
    return !node.getCommittedMembers().getMembers().contains(there)
        && !node.getEffectiveMembers().getMembers().contains(there);
  }

  // ---- majorities

  private boolean isEven() {
    return leads && Majority.concerns(node.getEffectiveMembers().getVotingMembers().size());
  }

  private void has(String member, AppendEntriesSuccessResponse has) {
    majority.has(member, has.getLastLogIndex());
    if (!isEven()) {
      majority.tell(member, has.getLastLogIndex());
      node.handle(has);
      return;
    }
    var others = others();
    boolean votes = others.contains(member);
    long index = votes ? majority.mayTell(member, others, flushed()) : has.getLastLogIndex();
    boolean holdsBack =
        votes && !isChanging() && majority.holdsBack(member, has.getQuerySequenceNumber());
    if (holdsBack) world.reached("answer held back");
    if (holdsBack && index <= majority.told(member) && !majority.mayAskAgain()) return;
    majority.tell(member, index);
    node.handle(told(has, index, holdsBack ? 0 : has.getQuerySequenceNumber()));
    tellMore();
  }

  /// Tells MicroRaft what a majority has by now.
  private void tellMore() {
    if (!isEven()) return;
    for (String other : others()) {
      if (!isEven()) return;
      long index = majority.mayTell(other, others(), flushed());
      if (index <= majority.told(other)) continue;
      world.reached("told later");
      majority.tell(other, index);
      var has =
          Models.ALL
              .createAppendEntriesSuccessResponseBuilder()
              .setGroupId(GROUP)
              .setSender(new Endpoint(new Member(other, "-", 0, 0)))
              .setTerm(term())
              .setLastLogIndex(index)
              .setQuerySequenceNumber(0)
              .setFlowControlSequenceNumber(0)
              .build();
      node.handle(has);
    }
  }

  private static RaftMessage told(AppendEntriesSuccessResponse has, long index, long query) {
    return Models.ALL
        .createAppendEntriesSuccessResponseBuilder()
        .setGroupId(GROUP)
        .setSender(has.getSender())
        .setTerm(has.getTerm())
        .setLastLogIndex(index)
        .setQuerySequenceNumber(query)
        .setFlowControlSequenceNumber(has.getFlowControlSequenceNumber())
        .build();
  }

  private List<String> others() {
    return node.getEffectiveMembers().getVotingMembers().stream()
        .map(member -> Codec.member(member).id())
        .filter(id -> !id.equals(settings.self().id()))
        .toList();
  }

  /// Returns up to where a leader has the log durably; 0 when it is no voting member any more.
  private long flushed() {
    LeaderState leading = ((RaftNodeImpl) node).state().leaderState();
    return leading == null ? 0 : leading.flushedLogIndex();
  }

  private boolean isChanging() {
    return node.getCommittedMembers().getLogIndex() != node.getEffectiveMembers().getLogIndex();
  }

  // ---- entries

  private void append(AppendEntriesRequest append) {
    long before = store.position().index();
    if (append.getTerm() < term()) {
      node.handle(append);
      return;
    }
    List<LogEntry> entries = append.getLogEntries();
    if (contradicts(entries)) {
      ahead(Codec.member(append.getSender()));
      return;
    }
    LogEntry removal = ownRemoval(entries);
    if (removal != null) {
      world.reached("earlier removal");
      beginsLater(after(removal, append));
      return;
    }
    noteLess(append);
    if (append.getPreviousLogIndex() > before || before == 0) {
      long known = Math.min(append.getCommitIndex(), append.getPreviousLogIndex() + entries.size());
      if (!catching && known >= applied) {
        node.handle(append);
        return;
      }
      // While the machine is brought level, nothing is applied.
      var unapplied = oneChange(entries);
      node.handle(
          with(append, append.getPreviousLogTerm(), append.getPreviousLogIndex(), 0, unapplied));
      return;
    }
    world.reached("message from before the log");
    List<LogEntry> rest =
        oneChange(entries.stream().filter(entry -> entry.getIndex() > before).toList());
    answering(before, with(append, 0, 0, 0, rest));
    if (rest.isEmpty() || catching || stopped || append.getCommitIndex() <= before) return;
    LogEntry last = rest.getLast();
    if (last.getIndex() <= applied) return;
    if (store.termAt(last.getIndex()) != last.getTerm()) return; // there was no room for it
    mute = true;
    try {
      node.handle(
          with(append, last.getTerm(), last.getIndex(), append.getCommitIndex(), List.of()));
    } finally {
      mute = false;
    }
  }

  /// Returns the last entry that removes this member, before the one that has added it again; null
  /// for none.
  private @Nullable LogEntry ownRemoval(List<LogEntry> entries) {
    for (LogEntry entry : entries.reversed()) {
      if (entry.getIndex() <= applied || entry.getIndex() >= store.addedAt()) continue;
      if (entry.getOperation() instanceof UpdateRaftGroupMembersOp change
          && change.getMode() == MembershipChangeMode.REMOVE_MEMBER
          && change.getEndpoint().equals(new Endpoint(settings.self()))) return entry;
    }
    return null;
  }

  /// Returns the message of a leader whose log begins after a removal.
  private static InstallSnapshotRequest after(LogEntry removal, AppendEntriesRequest append) {
    var change = (UpdateRaftGroupMembersOp) removal.getOperation();
    return Models.ALL
        .createInstallSnapshotRequestBuilder()
        .setGroupId(GROUP)
        .setSender(append.getSender())
        .setTerm(append.getTerm())
        .setSenderLeader(true)
        .setSnapshotTerm(removal.getTerm())
        .setSnapshotIndex(removal.getIndex())
        .setTotalSnapshotChunkCount(1)
        .setSnapshotChunk(null)
        .setSnapshottedMembers(List.of())
        .setGroupMembersView(
            Codec.view(removal.getIndex(), change.getMembers(), change.getVotingMembers()))
        .setQuerySequenceNumber(append.getQuerySequenceNumber())
        .setFlowControlSequenceNumber(append.getFlowControlSequenceNumber())
        .build();
  }

  /// Returns whether entries differ from those that the machine has applied.
  private boolean contradicts(List<LogEntry> entries) {
    Position there = machine.applied();
    long last = there.index();
    // Otherwise the machine was brought level beyond this log, whose last entries may be void.
    if (store.termAt(last) != there.term()) return false;
    for (LogEntry entry : entries) {
      if (entry.getIndex() > last) return false;
      int own = store.termAt(entry.getIndex());
      if (own != 0 && own != entry.getTerm()) return true;
    }
    return false;
  }

  /// Notes a leader whose log ends before what the machine has applied, whatever its terms are.
  private void noteLess(AppendEntriesRequest append) {
    long last = append.getPreviousLogIndex();
    boolean less =
        append.getLogEntries().isEmpty()
            && last > 0
            && last < machine.applied().index()
            && store.termAt(last) == append.getPreviousLogTerm();
    lessTimes = less ? lessTimes + 1 : 0;
    if (lessTimes == LESS_MAX) ahead(Codec.member(append.getSender()));
  }

  /// Records that a leader lacks commands that this member has applied, and that were therefore
  /// acknowledged.
  public void ahead(Member leads) {
    if (isAhead) return;
    isAhead = true;
    roles.alarm(
        settings.self().id(),
        "its replica has "
            + machine.applied().index()
            + " commands that were acknowledged, and the leader, server "
            + leads.id()
            + ", has others; others were put back to older copies and have elected a leader, so that"
            + " acknowledged calls are lost there, and this replica cannot follow; keep its"
            + " directory");
  }

  private List<LogEntry> oneChange(List<LogEntry> entries) {
    int changes = isChanging() ? 1 : 0;
    for (int i = 0; i < entries.size(); i++) {
      LogEntry entry = entries.get(i);
      if (!(entry.getOperation() instanceof RaftGroupOp)) continue;
      if (store.termAt(entry.getIndex()) == entry.getTerm() || ++changes < 2) continue;
      world.reached("second change of members");
      return entries.subList(0, i);
    }
    return entries;
  }

  private void answering(long has, AppendEntriesRequest append) {
    offset = has;
    try {
      node.handle(append);
    } finally {
      offset = 0;
    }
  }

  // ---- members that were set back

  /*
   * A member that lacks an entry which it had acknowledged was set back, or its answer is a late one of
   * before. So the leader asks where the member's log ends. A log does not get shorter than what its
   * member has acknowledged in this term, or was known to have of the committed entries; so an answer
   * with less proves it. The leader sends the member none of the missing entries before: then the answer
   * would prove nothing.
   */

  /// A question to a member where its log ends.
  ///
  /// @param follower what MicroRaft knows of the member, since it has become one
  /// @param had up to where it had the log before the question
  /// @param held the message that tells it that the log begins later, which waits; null for none
  private record Doubt(
      long number,
      Endpoint member,
      FollowerState follower,
      long had,
      @Nullable InstallSnapshotRequest held) {}

  /// Returns whether the leader must first learn where a member's log ends. Then it asks.
  ///
  /// @param lacks an index that the member lacks
  private boolean isDoubted(Member member, long lacks, @Nullable InstallSnapshotRequest held) {
    LeaderState leading = ((RaftNodeImpl) node).state().leaderState();
    if (leading == null || lacks <= 0) return false;
    var asked = new Endpoint(member);
    FollowerState follower = leading.getFollowerStateOrNull(asked);
    if (follower == null) return false;
    long had = had(member, follower);
    if (had == 0 || (held == null && lacks > had)) return false;
    Doubt before = doubts.get(member.id());
    if (before != null && !before.follower().equals(follower)) before = null;
    long number = before != null ? before.number() : ++doubted;
    long then = before != null ? before.had() : had;
    doubts.put(member.id(), new Doubt(number, asked, follower, then, held));
    askWhere(member, term(), number);
    return true;
  }

  private void askWhere(Member member, int term, long number) {
    out.clear().u8(WHERE).text(settings.self().toString()).varint(term).varint(number);
    world.send(member, out.toBytes());
  }

  /// Returns up to where a member had the log; 0 when that may be of an earlier membership, or when
  /// it has lost it.
  private long had(Member member, FollowerState follower) {
    long before = votes.had(member.id());
    if (before <= setBack.getOrDefault(member.id(), 0L)) before = 0;
    long index = Math.max(follower.matchIndex(), before);
    return index < node.getEffectiveMembers().getLogIndex() ? 0 : index;
  }

  private void where(Decoder in) {
    in.skip(1);
    var leading = Member.of(in.text());
    long askedTerm = in.varint();
    long asked = in.varint();
    // The log that this member had before its removal proves nothing.
    if (askedTerm == NO_TERM && !store.isJoined()) return;
    out.clear().u8(HERE).text(settings.self().id()).varint(askedTerm).varint(asked);
    world.send(leading, out.varint(term()).varint(store.lastIndex()).toBytes());
  }

  private void here(Decoder in) {
    in.skip(1);
    String id = in.text();
    long askedTerm = in.varint();
    long asked = in.varint();
    long term = in.varint();
    long last = in.varint();
    if (askedTerm == NO_TERM) {
      candidateEnds(id, asked, last);
      return;
    }
    Doubt doubt = doubts.get(id);
    LeaderState leading = ((RaftNodeImpl) node).state().leaderState();
    if (leading == null || askedTerm != term()) return;
    if (doubt == null || doubt.number() != asked) return;
    doubts.remove(id);
    if (!doubt.follower().equals(leading.getFollowerStateOrNull(doubt.member()))) return;
    // A later leader may have cut its log.
    if (term <= term() && last < doubt.had()) {
      world.reached("member was set back");
      setBack(doubt, last);
      return;
    }
    world.reached("member was not set back");
    if (doubt.held() != null) pass(doubt.member(), doubt.held());
  }

  /// Sends a member the entries that it has lost, and raises an alarm for operators.
  private void setBack(Doubt doubt, long last) {
    String id = doubt.member().member().id();
    doubt.follower().matchIndex(0);
    doubt.follower().nextIndex(Math.min(doubt.follower().nextIndex(), last + 1));
    doubt.follower().resetRequestBackoff();
    majority.forget(id);
    setBack.put(id, Math.max(doubt.had(), votes.had(id)));
    roles.alarm(
        id,
        "its replica was put back to an older copy: it had acknowledged %,d commands and has %,d"
            .formatted(doubt.had(), last));
    ((RaftNodeImpl) node).sendAppendEntriesRequest(doubt.member());
  }

  /*
   * So it is with a candidate that seems to lack an entry which it had: it was set back, or its request
   * for a vote is a late one of before. Any member that is asked for its vote asks where the candidate's
   * log ends. The entries that the candidate is known to have had are committed, so no leader cuts them.
   */

  /// A question to a candidate where its log ends.
  ///
  /// @param had up to where it had the log before the question
  private record Suspicion(long number, long had) {}

  private void suspect(Member candidate, long had) {
    var asked = suspicions.computeIfAbsent(candidate.id(), _ -> new Suspicion(++doubted, had));
    askWhere(candidate, NO_TERM, asked.number());
  }

  private void candidateEnds(String id, long asked, long last) {
    Suspicion suspicion = suspicions.get(id);
    if (suspicion == null || suspicion.number() != asked) return;
    suspicions.remove(id);
    if (last >= suspicion.had()) {
      world.reached("candidate was not set back");
      return;
    }
    world.reached("candidate was set back");
    if (!reported.add(id)) return;
    roles.alarm(
        id,
        ("its replica was put back to an older copy: it had acknowledged %,d commands and stands for"
                + " election with %,d; server %s does not vote for it")
            .formatted(suspicion.had(), last, settings.self().id()));
  }

  // ---- a log that begins later

  private void beginsLater(InstallSnapshotRequest later) {
    var alive =
        Models.ALL
            .createAppendEntriesRequestBuilder()
            .setGroupId(GROUP)
            .setSender(later.getSender())
            .setTerm(later.getTerm())
            .setPreviousLogTerm(0)
            .setPreviousLogIndex(0)
            .setCommitIndex(0)
            .setLogEntries(List.of())
            .setQuerySequenceNumber(later.getQuerySequenceNumber())
            .setFlowControlSequenceNumber(later.getFlowControlSequenceNumber())
            .build();
    if (later.getTerm() < term()) {
      node.handle(alive);
      return;
    }
    var begins = new Position(later.getSnapshotTerm(), later.getSnapshotIndex());
    if (begins.index() <= applied) {
      world.reached("log begins later and is here");
      answering(begins.index(), alive);
      return;
    }
    if (catching || !machine.isWhole() || machine.applied().index() < begins.index()) {
      node.handle(alive);
      if (!catching && !stopped) begin(Codec.member(later.getSender()));
      return;
    }
    jump(begins, later.getGroupMembersView());
    if (!stopped) answering(begins.index(), alive);
  }

  private void jump(Position to, RaftGroupMembersView members) {
    world.reached("log jumps");
    try {
      machine.sync();
      store.jump(to, members);
    } catch (IOException | RuntimeException | Error failure) {
      fail(failure);
      return;
    }
    again();
  }

  /// Completes a machine that has applied everything that a broken-off catch-up has brought. A
  /// leader may need that before it commits: the others get what they lack from its machine.
  private boolean isCompleted() {
    if (catching || !machine.complete()) return false;
    world.reached("machine completes itself");
    return true;
  }

  private void mend(Member leads) {
    if (catching || world.nanos() - mendedNanos < SECOND) return;
    world.reached("replica is mended");
    mendedNanos = world.nanos();
    begin(leads);
  }

  private void begin(Member from) {
    catching = true;
    world.catchUp(from);
  }

  /// Records that a catch-up has ended.
  ///
  /// @param isLevel whether the machine has all that the other one had
  public void caughtUp(boolean isLevel) {
    catching = false;
    if (isLevel && !stopped) roles.caughtUp();
  }

  // ---- removed members

  private void tellRemoved(Member stranger) {
    world.reached("removed member is told");
    var committed = node.getCommittedMembers();
    out.clear().u8(REMOVED);
    Codec.view(
        Codec.view(committed.getLogIndex(), committed.getMembers(), committed.getVotingMembers()),
        out);
    world.send(stranger, out.toBytes());
  }

  private void wasRemoved(Decoder in) {
    in.skip(1);
    RaftGroupMembersView view = Codec.view(in);
    if (view.getMembers().contains(new Endpoint(settings.self()))) return;
    long known = Math.max(node.getEffectiveMembers().getLogIndex(), store.addedAt());
    if (view.getLogIndex() <= known) return;
    isRemoved(view.getMembers());
  }

  private void isRemoved(Collection<RaftEndpoint> others) {
    removed = true;
    removedMembers = others.stream().map(Codec::member).toList();
    fail(new IllegalStateException("it was removed from the members"));
  }

  // ---- what members had

  /// Notes what each member is known to have had.
  public void noteTable() {
    refresh();
    if (!stopped) votes.had(status.members(), table());
  }

  private Map<String, Long> table() {
    CoreStatus now = status;
    var indices = new TreeMap<String, Long>();
    now.matched().forEach((id, index) -> indices.put(id, Math.min(index, now.committed())));
    // A leader may commit what only others have synced.
    long own = leads ? flushed() : now.last();
    indices.put(settings.self().id(), Math.min(own, now.committed()));
    return indices;
  }

  private void tellTable() {
    CoreStatus now = status;
    Map<String, Long> indices = table();
    votes.had(now.members(), indices);
    out.clear().u8(HAD).varint(now.members().size());
    for (Member member : now.members()) {
      out.text(member.toString()).varint(indices.getOrDefault(member.id(), 0L));
    }
    byte[] table = out.varint(term()).varint(settings.leaseNanos()).toBytes();
    for (Member member : now.members()) if (!isSelf(member)) world.send(member, table);
  }

  private void had(Decoder in) {
    in.skip(1);
    var members = new ArrayList<Member>();
    var indices = new TreeMap<String, Long>();
    for (int left = in.count(); left > 0; left--) {
      var member = Member.of(in.text());
      members.add(member);
      indices.put(member.id(), in.varint());
    }
    votes.had(members, indices);
    if (in.remaining() == 0) return; // a leader of an earlier release
    int leading = Math.toIntExact(in.varint());
    if (in.varint() <= settings.leaseNanos()) leaseTerm = Math.max(leaseTerm, leading);
  }

  // ---- roles

  private void told(RaftNodeReport report) {
    if (report.getReason() == RaftNodeReportReason.TAKE_SNAPSHOT && held.dropped()) {
      world.reached("entries are not held again");
    }
    boolean isLeader = report.getRole() == RaftRole.LEADER;
    int term = report.getTerm().getTerm();
    patience.inTerm(term);
    if (leads && (!isLeader || term != leadingTerm)) lose();
    if (isLeader && !leads) {
      leads = true;
      leadingTerm = term;
      lease.end();
      majority.clear();
      doubts.clear();
      world.leave(null);
      awaitAnswers();
    }
    RaftEndpoint leading = report.getTerm().getLeaderEndpoint();
    Member before = leader;
    leader = leading == null ? null : Codec.member(leading);
    if (leader != null && (before == null || !before.id().equals(leader.id()))) {
      world.leave(isSelf(leader) ? null : leader.id());
      if (!leader.id().equals(ended)) ended = null;
      roles.leader(leader.id());
    }
    if (leader != null && !isSelf(leader)) patience.hasLeader();
    note(report);
    if (report.getStatus() == RaftNodeStatus.TERMINATED && !stopped) {
      Collection<RaftEndpoint> members = report.getCommittedMembers().getMembers();
      // After the last messages, by which the others learn of it.
      world.submit(() -> isRemoved(members));
    }
  }

  /// Gives the others more time for their first answers, by the factor by which this member waited
  /// longer for votes. This lasts while the leader becomes ready, and for the first commands behind
  /// that: their answers take as long.
  private void awaitAnswers() {
    LeaderState leading = ((RaftNodeImpl) node).state().leaderState();
    if (leading == null || patience.factor() == 1) return;
    world.reached("waits longer for answers");
    long until = new Scaled().millis() + TIMEOUT_SECONDS * 1_000L * (patience.factor() - 1);
    for (FollowerState follower : leading.getFollowerStates().values()) {
      follower.responseReceived(NO_MESSAGE, until);
    }
  }

  /// Records that a leader has applied its first entry.
  private void begun(int term) {
    if (!leads || term != leadingTerm || ready) return;
    patience.hasLeader();
    if (!machine.isWhole()) {
      world.reached("leader completes itself");
      machine.completed();
    }
    ready = true;
    certain = true;
    refresh();
    tellTable();
    roles.leading(term);
  }

  private void refresh() {
    if (stopped) {
      CoreStatus last = status;
      status =
          new CoreStatus(
              false,
              false,
              false,
              last.term(),
              null,
              0,
              removed ? removedMembers : last.members(),
              last.membersIndex(),
              last.learners(),
              last.first(),
              last.last(),
              last.committed(),
              Map.of(),
              Map.of(),
              0);
      return;
    }
    var _ =
        node.getReport()
            .whenComplete((report, _) -> {
              if (report != null) note(report.getResult());
            });
  }

  private void note(RaftNodeReport report) {
    long now = world.nanos();
    var known = report.getEffectiveMembers();
    var self = new Endpoint(settings.self());
    var members = new ArrayList<Member>();
    var learners = new TreeSet<String>();
    if (known.getMembers().contains(self)) {
      for (RaftEndpoint member : known.getMembers()) {
        boolean voting = known.getVotingMembers().contains(member);
        if (!voting) learners.add(Codec.member(member).id());
        if (voting || member.equals(self)) members.add(Codec.member(member));
      }
    }
    var matched = new TreeMap<String, Long>();
    report
        .getLog()
        .getFollowerMatchIndices()
        .forEach((member, index) -> matched.put(Codec.member(member).id(), index));
    long clock = new Scaled().millis();
    status =
        new CoreStatus(
            true,
            leads,
            ready,
            report.getTerm().getTerm(),
            ended == null ? leader : null,
            leads ? 0 : real(clock - report.getLeaderHeartbeatTimestamp().orElse(clock)),
            List.copyOf(members),
            report.getCommittedMembers().getLogIndex(),
            learners,
            store.firstIndex(),
            store.lastIndex(),
            report.getLog().getCommitIndex(),
            matched,
            Map.copyOf(heard),
            Math.max(0, real(clock - report.getQuorumHeartbeatTimestamp().orElse(clock))));
    heard.values().removeIf(at -> now - at > settings.electionNanos() * TICKS_PER_ELECTION);
  }

  private long real(long scaledMillis) {
    return scaledMillis * settings.electionNanos() / (TIMEOUT_SECONDS * 1_000L);
  }

  /// Returns what is known of the group. For any thread.
  public CoreStatus status() {
    return status;
  }

  /// Returns whether no other member leads, and this one shows everything that was acknowledged.
  /// For any thread.
  public boolean isCertain(long nowNanos) {
    if (!used) used = true;
    return certain && lease.holds(nowNanos);
  }

  /// Returns the machine's index up to which MicroRaft has applied the log.
  public long applied() {
    return applied;
  }

  // ---- requests

  /// Proposes a command.
  ///
  /// @param begunNanos when its caller began
  /// @param done receives the outcome, on the core's thread
  public void propose(byte[] command, long begunNanos, Consumer<Consensus.Result> done) {
    var proposal = new Proposal(command, begunNanos, done);
    if (stopped) {
      proposal.end(new Consensus.Result.Refused(new Unavailable("it has stopped")));
      return;
    }
    if (store.lastIndex() - applied >= settings.pendingMax()) {
      proposal.end(new Consensus.Result.Refused(new Unavailable("it has too much to do")));
      return;
    }
    proposals.add(proposal);
    int mine = life;
    var _ =
        node.replicate(proposal)
            .whenComplete((result, failure) -> {
              beginAgainAfter(failure, mine);
              if (!proposals.remove(proposal)) return;
              if (failure != null || mine != life || store.failure() != null) {
                Throwable cause =
                    failure == null ? new IllegalStateException("it has ended") : failure;
                proposal.end(outcome(proposal, new Unavailable(reason(cause), cause)));
                return;
              }
              lease.agreed(proposal.begunNanos);
              proposal.end(new Consensus.Result.Applied((byte[]) result.getResult()));
            });
    stopIfFailed();
  }

  /// Stops the core when its log has failed, which MicroRaft does not report.
  private void stopIfFailed() {
    IOException failure = store.failure();
    if (failure != null && !stopped) fail(failure);
  }

  private static Consensus.Result outcome(Proposal proposal, Unavailable cause) {
    return proposal.appended
        ? new Consensus.Result.Unknown(cause)
        : new Consensus.Result.Refused(cause);
  }

  /// Lets MicroRaft begin again after a failure inside of it, which it logs. It would go on to
  /// lead.
  private void beginAgainAfter(@Nullable Throwable failure, int mine) {
    boolean isInside = failure != null && RaftException.class.equals(failure.getClass());
    if (!isInside || mine != life) return;
    world.submit(() -> {
      if (mine == life && !stopped) beginAgain();
    });
  }

  /// Returns whether MicroRaft has not applied all that it knows to be committed, which it does at
  /// once unless it fails.
  private boolean isHalfDone() {
    var state = ((RaftNodeImpl) node).state();
    return node.getStatus() != RaftNodeStatus.TERMINATED
        && state.lastApplied() < state.commitIndex();
  }

  private void beginAgain() {
    world.reached(FAILED_INSIDE);
    again();
  }

  private static String reason(Throwable cause) {
    return switch (cause) {
      case NotLeaderException _ -> "it does not lead";
      case CannotReplicateException _ -> "it hands the leadership over, or has too much to do";
      case IndeterminateStateException _ -> "it leads no more";
      default -> cause.toString();
    };
  }

  /// Asks the others whether this member still leads.
  ///
  /// @param done receives null when no other member can have led at some moment since the call; or
  ///   why that is not known
  public void confirm(Consumer<@Nullable RuntimeException> done) {
    if (stopped || !ready) {
      done.accept(new Unavailable("it does not lead"));
      return;
    }
    waiting.add(done);
    if (!asking) ask();
  }

  private void ask() {
    var round = waiting;
    waiting = new ArrayList<>();
    ask(round);
  }

  private void ask(List<Consumer<@Nullable RuntimeException>> round) {
    asking = true;
    int mine = life;
    long begun = world.nanos();
    long members = node.getEffectiveMembers().getLogIndex();
    boolean changing = isChanging();
    var _ =
        node.query(PROBE, QueryPolicy.LINEARIZABLE, Optional.empty(), Optional.empty())
            .whenComplete((_, failure) -> {
              beginAgainAfter(failure, mine);
              RuntimeException cause =
                  failure == null && mine == life
                      ? null
                      : new Unavailable(reason(failure == null ? new Exception() : failure));
              if (cause == null
                  && (changing || members != node.getEffectiveMembers().getLogIndex())) {
                // MicroRaft may have counted the answers as of other members than it asked.
                world.reached("asked again");
                world.submit(() -> askAgain(mine, round));
                return;
              }
              if (cause == null) lease.answered(begun);
              for (var waits : round) waits.accept(cause);
              if (mine != life) return;
              // MicroRaft is still busy with the list of its questions.
              world.submit(() -> {
                if (mine != life) return;
                asking = false;
                if (!waiting.isEmpty()) ask();
              });
            });
  }

  private void askAgain(int asked, List<Consumer<@Nullable RuntimeException>> round) {
    if (asked == life && ready) {
      ask(round);
      return;
    }
    if (asked == life) asking = false;
    for (var waits : round) waits.accept(new Unavailable("it leads no more"));
  }

  /// A change of the members.
  public enum Change {
    /// Adds a member that gets the log and does not vote.
    LEARN(MembershipChangeMode.ADD_LEARNER),
    /// Lets a member vote, and adds it if it is none.
    VOTE(MembershipChangeMode.ADD_OR_PROMOTE_TO_FOLLOWER),
    /// Removes a member.
    REMOVE(MembershipChangeMode.REMOVE_MEMBER);

    private final MembershipChangeMode mode;

    Change(MembershipChangeMode mode) {
      this.mode = mode;
    }
  }

  /// Changes the members by one.
  ///
  /// @param done receives null when that is committed; or why it is not, as far as is known
  public void change(Member member, Change change, Consumer<@Nullable RuntimeException> done) {
    if (stopped || !ready) {
      done.accept(new Unavailable("it does not lead"));
      return;
    }
    if (transferring) {
      done.accept(new Unavailable("it hands the leadership over"));
      return;
    }
    long index = node.getCommittedMembers().getLogIndex();
    var _ =
        node.changeMembership(new Endpoint(member), change.mode, index)
            .whenComplete((_, failure) -> {
              if (failure == null) {
                if (change == Change.REMOVE && !stopped && !isSelf(member)) tellRemoved(member);
                refresh();
              }
              done.accept(failure == null ? null : new Unavailable(reason(failure), failure));
            });
    stopIfFailed();
  }

  /// Makes another member the leader.
  ///
  /// @param done receives null when this one leads no more; or why it still does
  public void transfer(Member to, Consumer<@Nullable RuntimeException> done) {
    if (stopped || !ready) {
      done.accept(new Unavailable("it does not lead"));
      return;
    }
    if (transferring) {
      done.accept(new Unavailable("it hands the leadership over already"));
      return;
    }
    int mine = life;
    transferring = true;
    var _ =
        node.transferLeadership(new Endpoint(to))
            .whenComplete((_, failure) -> {
              if (mine == life) transferring = false;
              done.accept(failure == null ? null : new Unavailable(reason(failure), failure));
            });
  }

  /// Makes this member follow, if it leads, and ends its proposals.
  public void stepDown() {
    if (leads && !stopped) again();
  }
}

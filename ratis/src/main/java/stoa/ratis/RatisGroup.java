package stoa.ratis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.log.CatchUp;
import stoa.log.Replica;
import stoa.raft.Acknowledged;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.NodeConfig;
import stoa.raft.Standing;
import stoa.raft.SupplyPort;

/// One replica of a shard with its place in a Raft group. Thread-safe.
///
/// Proposing, confirming and changing the members work at the group's leader; other replicas refuse
/// them, and [#leader] names the leader.
public final class RatisGroup implements Group {
  private static final Logger LOG = LoggerFactory.getLogger(RatisGroup.class);
  private static final Duration MEMBERSHIP_PATIENCE = Duration.ofMinutes(10);

  private static final int ADDING_ATTEMPTS = 5;

  // Every fifth look notes the members' progress.
  private static final int HEAR_EVERY = 5;

  // The group accepts nothing during a hand-over, so a hand-over waits no longer.
  private static final Duration TRANSFER_PATIENCE = Duration.ofSeconds(2);

  // Members stand for election one after the other, so that votes do not split: each waits twice
  // this longer than the one before.
  private static final long BETWEEN_MILLIS = 50;

  private final NodeConfig config;
  private final RaftServer server;
  private final GroupId name;
  private final RaftGroupId group;
  private final RaftServer.Division division;
  private final Replica replica;
  private final GroupMachine machine;
  private final Standing standing;
  private final ExecutorService events;
  private final Executor background;
  private final Sources sources;
  private final Leadership leadership;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();

  // Whether this replica does not stand for election, since it lacks entries that it had.
  private volatile boolean paused;

  // The number of looks; only the looking thread uses it.
  private int looks;

  // Held while this asks the others, because there is no lease.
  private final ReentrantLock confirming = new ReentrantLock();

  /// The data that other members supply.
  interface Sources {
    SupplyPort.Client of(Member member) throws IOException;
  }

  RatisGroup(
      NodeConfig config,
      RaftServer server,
      GroupId name,
      RaftGroupId group,
      Replica replica,
      GroupMachine machine,
      Standing standing,
      ExecutorService events,
      Executor background,
      Sources sources)
      throws IOException {
    this.config = config;
    this.server = server;
    this.name = name;
    this.group = group;
    this.division = server.getDivision(group);
    this.replica = replica;
    this.machine = machine;
    this.standing = standing;
    this.events = events;
    this.background = background;
    this.sources = sources;
    this.leadership =
        new Leadership(
            division, Math.round(config.electionMin().toNanos() * (1 - NodeConfig.LEASE_PART)));
  }

  /// Lets the replica take part from now on. A replica that lacks entries that it had does not
  /// stand for election.
  void begin() {
    standing.begin(() -> division.getRaftLog().getNextIndex() - 1, machine::alarm);
    if (standing.isWhole()) return;
    paused = true;
    var request =
        LeaderElectionManagementRequest.newPause(
            client, server.getId(), group, calls.incrementAndGet());
    require(() -> server.leaderElectionManagementAsync(request), TRANSFER_PATIENCE);
    machine.alarm(config.id(), standing.lack());
  }

  /// Lets the replica stand for election again, once it has all entries that it had. Does not wait:
  /// the looking thread serves all groups.
  private void mayStand() {
    if (!standing.isWhole()) return;
    paused = false;
    var request =
        LeaderElectionManagementRequest.newResume(
            client, server.getId(), group, calls.incrementAndGet());
    var _ =
        server
            .leaderElectionManagementAsync(request)
            .whenComplete((reply, failed) -> {
              if (failed == null && reply.isSuccess()) machine.caughtUp();
              else paused = true; // the next look tries again
            });
  }

  /// Returns this node's knowledge of the members.
  Acknowledged acknowledged() {
    return standing.acknowledged();
  }

  /// Notes the known progress of each member. Touches no file.
  private Acknowledged hear() {
    Acknowledged known = standing.acknowledged();
    known.note(members(), leadership.committed());
    return known;
  }

  @Override
  public GroupId name() {
    return name;
  }

  @Override
  public Replica replica() {
    return replica;
  }

  // ---- commands

  @Override
  public int commandBytesMax() {
    return config.commandBytesMax();
  }

  @Override
  public Result propose(byte[] command) {
    if (command.length > config.commandBytesMax()) {
      return new Result.Refused(
          new LimitExceeded(
              "a command of %,d bytes; the most is %,d (commandBytesMax)"
                  .formatted(command.length, config.commandBytesMax())));
    }
    var pending = new GroupMachine.Pending();
    long call = calls.incrementAndGet();
    long began = System.nanoTime();
    machine.begin(call, pending);
    try {
      var reply = await(leadership.submit(request(call, command)), config.patience());
      var failure = reply.getException();
      if (failure == null) {
        leadership.agreed(began);
        return new Result.Applied(bytes(reply));
      }
      return failed(pending, failure);
    } catch (IOException | ExecutionException | TimeoutException | RuntimeException failure) {
      return failed(pending, failure);
    } finally {
      machine.end(call);
    }
  }

  private RaftClientRequest request(long call, byte[] command) {
    return RaftClientRequest.newBuilder()
        .setClientId(client)
        .setServerId(server.getId())
        .setGroupId(group)
        .setCallId(call)
        .setMessage(Message.valueOf(UnsafeByteOperations.unsafeWrap(command)))
        .setType(RaftClientRequest.writeRequestType())
        .build();
  }

  private static byte[] bytes(RaftClientReply reply) {
    return reply.getMessage().getContent().toByteArray();
  }

  /// Returns the outcome of a failed proposal. A proposal that was never appended here is nowhere;
  /// a later leader may have any other.
  private Result failed(GroupMachine.Pending pending, Exception failure) {
    var cause = unavailable(failure);
    return pending.appended ? new Result.Unknown(cause) : new Result.Refused(cause);
  }

  private Unavailable unavailable(Exception failure) {
    Throwable cause =
        failure instanceof ExecutionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return new Unavailable(
        "%s at %s: %s (leader: %s)"
            .formatted(name, config.id(), reason(cause), leader().orElse("unknown")),
        cause);
  }

  /// Describes the ordinary causes in a change of leaders.
  private static String reason(Throwable cause) {
    return switch (cause) {
      case LeaderSteppingDownException _ -> "it hands the leadership over";
      case LeaderNotReadyException _ -> "it was elected just now";
      case NotLeaderException _ -> "it does not lead";
      default -> cause.toString();
    };
  }

  /// Waits despite interrupts: the outcome is worth more.
  private static RaftClientReply await(CompletableFuture<RaftClientReply> future, Duration patience)
      throws ExecutionException, TimeoutException {
    boolean interrupted = false;
    long end = System.nanoTime() + patience.toNanos();
    try {
      while (true) {
        try {
          return future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  @Override
  public void confirm() {
    if (leadership.isCertain()) return;
    confirming.lock();
    try {
      // Another thread here may have brought the lease back.
      if (leadership.isCertain()) return;
      switch (propose(Replica.nothing())) {
        case Result.Applied _ -> {
          // The others have agreed to it, so they have no other leader.
        }
        case Result.Refused(RuntimeException cause) -> throw cause;
        case Result.Unknown(RuntimeException cause) -> throw cause;
      }
    } finally {
      confirming.unlock();
    }
  }

  // ---- roles and members

  @Override
  public Optional<String> leader() {
    if (leadership.isAlone(config.electionMin().toMillis() * 3 / 4)) return Optional.empty();
    return last();
  }

  @Override
  public void checkpoints(
      List<CatchUp.Wanted> wanted, BiConsumer<CatchUp.Wanted, byte @Nullable []> each)
      throws IOException {
    String leader = leader().orElse(config.id());
    Member from =
        members().stream()
            .filter(member -> member.id().equals(leader) && !leader.equals(config.id()))
            .findAny()
            .orElseThrow(() -> new IOException("no other member is known to lead " + name));
    try (var source = sources.of(from)) {
      CatchUp.checkpoints(source, wanted, each);
    }
  }

  private Optional<String> last() {
    return Optional.ofNullable(division.getInfo().getLeaderId()).map(RaftPeerId::toString);
  }

  @Override
  public boolean leads() {
    return division.getInfo().isLeaderReady();
  }

  @Override
  public boolean hears(String id) {
    return leadership.hears(id, config.electionMin().toMillis());
  }

  @Override
  public boolean hasLostQuorum() {
    Set<String> others = new HashSet<>();
    for (Member member : members()) if (!member.id().equals(config.id())) others.add(member.id());
    return leadership.hasLostQuorum(others, config.electionMin().toMillis() * 3 / 2);
  }

  @Override
  public void fail(Throwable cause) {
    machine.stopped(cause);
  }

  @Override
  public boolean isAlive() {
    return division.getInfo().isAlive();
  }

  @Override
  public List<Member> members() {
    return peers().stream().map(RatisNode::member).toList();
  }

  private List<RaftPeer> peers() {
    return List.copyOf(division.getRaftConf().getCurrentPeers());
  }

  @Override
  public Map<String, Long> lacking() {
    var lacking = new TreeMap<String, Long>();
    long first = division.getRaftLog().getStartIndex();
    long next = division.getRaftLog().getNextIndex();
    Map<String, Long> matched = leadership.matched();
    for (Member member : members()) {
      long last =
          member.id().equals(config.id()) ? next - 1 : matched.getOrDefault(member.id(), -1L);
      long lacks = Math.max(0, next - 1 - last);
      lacking.put(member.id(), last < first ? Math.max(lacks, LACKING_MAX + 1) : lacks);
    }
    return lacking;
  }

  @Override
  public void add(Member member) {
    var peers = new ArrayList<>(peers());
    peers.removeIf(peer -> peer.getId().toString().equals(member.id()));
    peers.add(RatisNode.peer(member));
    for (int attempt = 1; ; attempt++) {
      try {
        change(peers);
        return;
      } catch (Unavailable failed) {
        // It has not answered for six seconds, like one that starts on a busy machine.
        boolean slow = failed.getCause() instanceof ReconfigurationTimeoutException;
        if (!slow || attempt == ADDING_ATTEMPTS) throw failed;
      }
    }
  }

  @Override
  public void remove(String id) {
    var peers = new ArrayList<>(peers());
    if (!peers.removeIf(peer -> peer.getId().toString().equals(id))) return;
    change(peers);
  }

  @Override
  public void transfer(String id) {
    var request = leadershipTo(RaftPeerId.valueOf(id));
    require(() -> server.transferLeadershipAsync(request), TRANSFER_PATIENCE.multipliedBy(2));
  }

  @Override
  public void stepDown() {
    try {
      var _ = server.transferLeadershipAsync(leadershipTo(null));
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  /// @param id of the next leader; null for any elected one
  private TransferLeadershipRequest leadershipTo(@Nullable RaftPeerId id) {
    return new TransferLeadershipRequest(
        client, server.getId(), group, calls.incrementAndGet(), id, TRANSFER_PATIENCE.toMillis());
  }

  /// Makes this replica stand for election when its leader has been silent for too long, and
  /// completes it while there is one; while it leads, maintains the certainty that it does. One
  /// thread calls this every few milliseconds.
  void look() {
    if (++looks % HEAR_EVERY == 0) hear().keepSoon(background);
    if (paused) mayStand();
    if (leadership.isCertain()) return;
    Optional<String> leads = last();
    if (leads.isEmpty()) {
      leadership.leave(); // and a candidate, at the start or after an election, waits for others
      return;
    }
    List<Member> members = members();
    members.stream()
        .filter(member -> member.id().equals(leads.get()) && !member.id().equals(config.id()))
        .forEach(machine::mend);
    List<String> others =
        members.stream().map(Member::id).filter(id -> !id.equals(leads.get())).sorted().toList();
    if (paused) return;
    int rank = Math.max(0, others.indexOf(config.id()));
    leadership.stand(config.electionMin().toMillis() + (2 * rank + 1) * BETWEEN_MILLIS);
  }

  private void change(List<RaftPeer> peers) {
    var arguments =
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInNewConf(peers)
            .setServersInCurrentConf(peers())
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .build();
    var request =
        new SetConfigurationRequest(
            client, server.getId(), group, calls.incrementAndGet(), arguments);
    require(() -> server.setConfigurationAsync(request), MEMBERSHIP_PATIENCE);
  }

  private interface Ask {
    CompletableFuture<RaftClientReply> get() throws IOException;
  }

  private void require(Ask ask, Duration patience) {
    @Nullable Exception failure;
    try {
      failure = await(ask.get(), patience).getException();
    } catch (IOException | ExecutionException | TimeoutException | RuntimeException e) {
      failure = e;
    }
    if (failure != null) throw unavailable(failure);
  }

  // ---- the end

  void closing() {
    try {
      hear().keep();
    } catch (RuntimeException ended) {
      LOG.debug("{} has ended already", name, ended);
    }
    machine.closing();
  }

  /// Ends Raft's part. Returns when that holds nothing any more.
  void stop() {
    division.close();
  }

  /// Closes the rest, when Raft has stopped.
  void close() {
    events.close();
    replica.close();
  }
}

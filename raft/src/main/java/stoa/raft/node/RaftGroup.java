package stoa.raft.node;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Decoder;
import stoa.log.CatchUp;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.MemberNetwork;
import stoa.raft.NodeConfig;
import stoa.raft.Roles;
import stoa.raft.SupplyPort;
import stoa.raft.core.AppliedState;
import stoa.raft.core.Core;
import stoa.raft.core.CoreStatus;
import stoa.raft.core.Eligibility;
import stoa.raft.core.LogStore;
import stoa.raft.core.RaftSettings;
import stoa.raft.core.World;

/// One replica with its core, on a thread of its own. Thread-safe.
final class RaftGroup implements Group {
  /*
   * The core runs on the loop. Events go to a thread of their own, on which their receiver may wait. A
   * catch-up runs on a thread in the background and holds `applying`, so that no command is applied
   * meanwhile: the core breaks it off before it applies any, and waits until it has ended.
   */
  private static final Logger LOG = LoggerFactory.getLogger(RaftGroup.class);
  private static final Duration MEMBERSHIP_PATIENCE = Duration.ofMinutes(10);
  private static final Duration TRANSFER_PATIENCE = Duration.ofSeconds(4);
  private static final Duration NOTING_PATIENCE = Duration.ofSeconds(1);
  private static final long LOOK_MILLIS = 20;

  // How long a new member may bring nothing further, until its addition is given up.
  private static final Duration LEARNING_PATIENCE = Duration.ofMinutes(1);

  private static final int PENDING_MAX = 1_024;
  private static final int MESSAGE_BYTES_MAX = 4 << 20;
  private static final long SNAPSHOT_BYTES = 16 << 20;

  // The most messages of others that wait for the core.
  private static final int RECEIVED_MAX = 8_192;

  // How many times in a row a leader may have less than this replica, as it briefly does. After
  // that it has lost it.
  private static final int BEHIND_MAX = 50;

  private final NodeConfig config;
  private final GroupId name;
  private final Replica replica;
  private final Roles roles;
  private final Eligibility eligibility;
  private final ExecutorService events;
  private final ExecutorService background;
  private final MemberNetwork network;
  private final MemberLinks links;
  private final Member self;
  private final LogStore store;
  private final Loop loop;
  private final Core core;
  private final AtomicInteger received = new AtomicInteger();
  private final ReentrantLock applying = new ReentrantLock();
  private final ReentrantLock confirming = new ReentrantLock();
  private final CountDownLatch ending = new CountDownLatch(1);
  private volatile boolean closing;

  // Whether this replica lacks entries that it had; only the loop uses it.
  private boolean lacks;

  private int behind; // guarded by applying

  // Guarded by this.
  private @Nullable String asked;
  private SupplyPort.@Nullable Client asking;
  private boolean left;

  /// The parts of a node that all of its groups use.
  ///
  /// @param background runs work that waits
  record NodeParts(
      NodeConfig config, ExecutorService background, MemberNetwork network, MemberLinks links) {}

  /// Creates a group.
  ///
  /// @param self the node as its group knows it
  /// @param isNew whether the log is new
  RaftGroup(
      NodeParts node,
      Member self,
      GroupId name,
      Replica replica,
      Roles roles,
      Eligibility eligibility,
      LogStore store,
      boolean isNew) {
    this.config = node.config();
    this.background = node.background();
    this.network = node.network();
    this.links = node.links();
    this.self = self;
    this.name = name;
    this.replica = replica;
    this.roles = roles;
    this.eligibility = eligibility;
    this.store = store;
    events =
        Executors.newSingleThreadExecutor(task ->
            Thread.ofPlatform().name("stoa-group-" + name.number()).daemon().unstarted(task));
    long election = config.election().toNanos();
    var settings =
        new RaftSettings(
            self,
            election,
            Math.round(election * NodeConfig.LEASE_PART),
            Math.round(election * NodeConfig.ENDED_PART),
            NodeConfig.DOUBLINGS_MAX,
            (int) Math.min(config.snapshotCommands(), 1 << 20),
            SNAPSHOT_BYTES,
            PENDING_MAX,
            MESSAGE_BYTES_MAX);
    this.loop = new Loop("stoa-raft-" + name.number());
    this.core =
        new Core(
            settings,
            new Threads(),
            store,
            new Guarded(),
            eligibility,
            new Telling(),
            isNew,
            ThreadLocalRandom.current().nextLong());
    eligibility.begin(
        () -> core.status().last() - 1, () -> eligibility.acknowledged().keepSoon(background));
  }

  /// Lets the replica take part from now on.
  void begin() {
    var begun = new CompletableFuture<Boolean>();
    loop.post(() -> {
      core.start();
      lacks = !eligibility.isWhole();
      if (lacks) alarm(config.id(), eligibility.lack());
      begun.complete(true);
    });
    var _ = begun.join();
  }

  // ---- the core's world

  private final class Threads implements World {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public int random(int bound) {
      return ThreadLocalRandom.current().nextInt(bound);
    }

    @Override
    public void submit(Runnable task) {
      loop.post(task);
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
      loop.schedule(task, delayNanos);
    }

    @Override
    public void send(Member to, byte[] message) {
      links.send(to, name, message);
    }

    @Override
    public void catchUp(Member leader) {
      synchronized (RaftGroup.this) {
        asked = leader.id();
        left = false;
      }
      hand(
          background,
          () -> {
            boolean level = level(leader);
            loop.post(() -> core.caughtUp(level));
          });
    }

    @Override
    public void leave(@Nullable String leader) {
      RaftGroup.this.leave(leader);
    }
  }

  private static void hand(ExecutorService to, Runnable task) {
    try {
      to.execute(task);
    } catch (RejectedExecutionException ending) {
      LOG.trace("a node is closing", ending);
    }
  }

  private final class Guarded implements AppliedState {
    private final AppliedState machine = AppliedState.of(replica);

    @Override
    public byte[] apply(Position at, byte[] command) {
      applying.lock();
      try {
        return machine.apply(at, command);
      } finally {
        applying.unlock();
      }
    }

    @Override
    public void advance(Position at) {
      applying.lock();
      try {
        machine.advance(at);
      } finally {
        applying.unlock();
      }
    }

    @Override
    public Position sync() {
      return machine.sync();
    }

    @Override
    public Position applied() {
      return machine.applied();
    }

    @Override
    public boolean isWhole() {
      return machine.isWhole();
    }

    @Override
    public boolean complete() {
      applying.lock();
      try {
        return machine.complete();
      } finally {
        applying.unlock();
      }
    }

    @Override
    public void completed() {
      applying.lock();
      try {
        machine.completed();
      } finally {
        applying.unlock();
      }
    }
  }

  /// Hands the core's events to their receiver.
  private final class Telling implements Roles {
    @Override
    public void leading(long term) {
      tell(() -> roles.leading(term));
    }

    @Override
    public void following() {
      tell(roles::following);
    }

    @Override
    public void leader(String id) {
      tell(() -> roles.leader(id));
    }

    @Override
    public void leaderEnded() {
      tell(roles::leaderEnded);
    }

    @Override
    public void caughtUp() {
      tell(roles::caughtUp);
    }

    @Override
    public void failed(Throwable cause) {
      tell(() -> roles.failed(cause));
    }

    @Override
    public void alarm(String member, String trouble) {
      RaftGroup.this.alarm(member, trouble);
    }

    private void tell(Runnable event) {
      if (!closing) hand(events, event);
    }
  }

  private void alarm(String member, String trouble) {
    if (!closing) hand(events, () -> roles.alarm(member, trouble));
  }

  // ---- catching up

  /// Gets the missing entries from the leader. Returns whether that came to an end.
  private boolean level(Member leader) {
    applying.lock();
    try {
      try (var source = new SupplyPort.Client(network, leader, name)) {
        synchronized (this) {
          if (left || closing) return false;
          asking = source;
        }
        CatchUp.run(replica, source);
      }
      behind = 0;
      return true;
    } catch (CatchUp.Behind less) {
      if (++behind == BEHIND_MAX) loop.post(() -> core.ahead(leader));
      LOG.info("{} of {} gets nothing from {}: {}", name, config.id(), leader, less.getMessage());
    } catch (IOException brokenOff) {
      behind = 0;
      if (!closing) {
        LOG.info("{} of {} is not level with {}: {}", name, config.id(), leader, brokenOff);
      }
    } catch (RuntimeException | Error failure) {
      loop.post(() -> core.fail(failure));
    } finally {
      applying.unlock();
      synchronized (this) {
        asked = null;
        asking = null;
      }
    }
    return false;
  }

  private synchronized void leave(@Nullable String leader) {
    if (asked == null || asked.equals(leader)) return;
    left = true;
    if (asking != null) asking.close();
  }

  // ---- messages

  /// Receives a message of another member.
  void receive(byte[] message) {
    if (received.incrementAndGet() > RECEIVED_MAX) {
      received.decrementAndGet();
      return; // lost, as a message may be
    }
    boolean posted =
        loop.post(() -> {
          received.decrementAndGet();
          try {
            core.receive(message);
          } catch (Decoder.MalformedException | IllegalArgumentException | ArithmeticException e) {
            LOG.warn("{} of {} received what is no message: {}", name, config.id(), e.toString());
          }
        });
    if (!posted) received.decrementAndGet();
  }

  /// Notes that nothing listens any more where another node was.
  void ended(String node) {
    var _ = loop.post(() -> core.ended(node));
  }

  // ---- commands

  @Override
  public GroupId name() {
    return name;
  }

  @Override
  public Replica replica() {
    return replica;
  }

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
    long begun = System.nanoTime();
    var answer = new CompletableFuture<Result>();
    if (!loop.post(() -> core.propose(command, begun, answer::complete))) {
      return new Result.Refused(unavailable(new Unavailable("it has stopped")));
    }
    return switch (await(answer, config.patience())) {
      case null ->
          new Result.Unknown(
              unavailable(new Unavailable("there is no outcome after " + config.patience())));
      case Result.Applied applied -> applied;
      case Result.Refused(RuntimeException cause) -> new Result.Refused(unavailable(cause));
      case Result.Unknown(RuntimeException cause) -> new Result.Unknown(unavailable(cause));
    };
  }

  private Unavailable unavailable(RuntimeException cause) {
    return new Unavailable(
        "%s at %s: %s (leader: %s)"
            .formatted(name, config.id(), cause.getMessage(), leader().orElse("unknown")),
        cause);
  }

  /// Waits despite interrupts: the outcome is worth more. Returns null when it takes too long.
  private static <T> @Nullable T await(CompletableFuture<T> future, Duration patience) {
    boolean interrupted = false;
    long end = System.nanoTime() + patience.toNanos();
    try {
      while (true) {
        try {
          return future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException late) {
          return null;
        } catch (ExecutionException impossible) {
          throw new IllegalStateException(impossible);
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  @Override
  public void confirm() {
    if (core.isCertain(System.nanoTime())) return;
    confirming.lock();
    try {
      // Another thread here may have brought the lease back.
      if (core.isCertain(System.nanoTime())) return;
      require(core::confirm, config.patience());
    } finally {
      confirming.unlock();
    }
  }

  private interface Asking {
    void ask(Consumer<@Nullable RuntimeException> done);
  }

  private void require(Asking asks, Duration patience) {
    var answer = new CompletableFuture<Optional<RuntimeException>>();
    if (!loop.post(() -> asks.ask(failure -> answer.complete(Optional.ofNullable(failure))))) {
      throw unavailable(new Unavailable("it has stopped"));
    }
    Optional<RuntimeException> failure = await(answer, patience);
    if (failure == null) throw unavailable(new Unavailable("there is no answer after " + patience));
    if (failure.isPresent()) throw unavailable(failure.get());
  }

  // ---- roles and members

  @Override
  public Optional<String> leader() {
    CoreStatus now = core.status();
    Member leading = now.leader();
    boolean silent = !now.leads() && now.leaderSilentNanos() > config.election().toNanos() * 3 / 4;
    return leading == null || silent ? Optional.empty() : Optional.of(leading.id());
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
    try (var source = new SupplyPort.Client(network, from, name)) {
      CatchUp.checkpoints(source, wanted, each);
    }
  }

  @Override
  public boolean leads() {
    return core.status().ready();
  }

  @Override
  public boolean hears(String id) {
    CoreStatus now = core.status();
    Long heard = now.heardNanos().get(id);
    return now.leads() && heard != null && System.nanoTime() - heard < config.election().toNanos();
  }

  @Override
  public boolean hasLostQuorum() {
    CoreStatus now = core.status();
    if (!now.leads()) return false;
    Set<String> heard = new HashSet<>(Set.of(self.id()));
    for (Member member : now.members()) {
      Long at = now.heardNanos().get(member.id());
      if (at != null && System.nanoTime() - at < config.election().toNanos() * 3 / 2) {
        heard.add(member.id());
      }
    }
    return heard.size() <= now.members().size() / 2;
  }

  @Override
  public void fail(Throwable cause) {
    loop.post(() -> core.fail(cause));
  }

  @Override
  public boolean isAlive() {
    return core.status().alive();
  }

  @Override
  public List<Member> members() {
    return core.status().members();
  }

  @Override
  public Map<String, Long> lacking() {
    CoreStatus now = core.status();
    var lacking = new TreeMap<String, Long>();
    for (Member member : now.members()) {
      boolean here = member.id().equals(self.id());
      long last = here ? now.last() : now.matched().getOrDefault(member.id(), 0L);
      long lacks = Math.max(0, now.last() - last);
      boolean gone = last + 1 < now.first();
      lacking.put(member.id(), gone ? Math.max(lacks, LACKING_MAX + 1) : lacks);
    }
    return lacking;
  }

  @Override
  public void add(Member member) {
    long end = System.nanoTime() + MEMBERSHIP_PATIENCE.toNanos();
    long progressNanos = System.nanoTime();
    long most = 0;
    while (true) {
      CoreStatus now = core.status();
      if (!now.ready()) throw unavailable(new Unavailable("it does not lead"));
      boolean learns = now.learners().contains(member.id());
      boolean votes =
          !learns && now.members().stream().anyMatch(known -> known.id().equals(member.id()));
      if (votes) return;
      if (!learns) {
        require(done -> core.change(member, Core.Change.LEARN, done), config.patience());
        continue;
      }
      long has = now.matched().getOrDefault(member.id(), 0L);
      if (has > most) {
        most = has;
        progressNanos = System.nanoTime();
      }
      // A member that has the last change of members has the entry that added it, too.
      if (has >= now.membersIndex() && has >= now.committed() - LACKING_MAX / 16) {
        require(done -> core.change(member, Core.Change.VOTE, done), config.patience());
        return;
      }
      long nanos = System.nanoTime();
      if (nanos - end > 0 || nanos - progressNanos > LEARNING_PATIENCE.toNanos()) {
        throw unavailable(new Unavailable(member + " has not got the log; it has " + has));
      }
      try {
        if (ending.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          throw unavailable(new Unavailable("this server stops"));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw unavailable(new Unavailable("the wait was interrupted"));
      }
    }
  }

  @Override
  public void remove(String id) {
    CoreStatus now = core.status();
    if (now.learners().contains(id)) {
      change(new Member(id, "-", 0, 0), Core.Change.REMOVE);
      return;
    }
    for (Member member : now.members()) {
      if (member.id().equals(id)) change(member, Core.Change.REMOVE);
    }
  }

  private void change(Member member, Core.Change change) {
    require(done -> core.change(member, change, done), config.patience());
  }

  @Override
  public void transfer(String id) {
    Member to =
        members().stream()
            .filter(member -> member.id().equals(id))
            .findAny()
            .orElseThrow(() -> unavailable(new Unavailable(id + " is no member")));
    require(done -> core.transfer(to, done), TRANSFER_PATIENCE);
  }

  @Override
  public void stepDown() {
    if (!loop.post(core::stepDown)) throw unavailable(new Unavailable("it has stopped"));
  }

  /// Notices that the log has again all entries that this member had acknowledged. Called often.
  void look() {
    loop.post(() -> {
      if (!lacks || !eligibility.isWhole()) return;
      lacks = false;
      hand(events, roles::caughtUp);
    });
  }

  // ---- the end

  void closing() {
    closing = true;
    var noted = new CompletableFuture<Boolean>();
    boolean runs =
        loop.post(() -> {
          core.noteTable();
          noted.complete(true);
        });
    if (runs) await(noted, NOTING_PATIENCE);
    eligibility.acknowledged().keep();
    leave(null);
  }

  /// Ends the core, and closes what it used.
  void close() {
    ending.countDown();
    loop.post(core::stop);
    loop.close();
    events.close();
    applying.lock();
    try {
      store.close();
      replica.close();
    } finally {
      applying.unlock();
    }
  }
}

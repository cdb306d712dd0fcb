package stoa.raft.core;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.log.Position;
import stoa.log.ReplicaLog;
import stoa.raft.Acknowledged;
import stoa.raft.Member;
import stoa.raft.NodeConfig;
import stoa.raft.Roles;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;

/// The servers of one group of real cores in one thread, with network and disks of a seed. Servers
/// crash, pause, lose unsynced writes, fail to sync, fill up, are cut off in one direction or both,
/// and are taken for ended, which may be wrong; messages are lost, repeated, delayed and overtake
/// each other; leaders hand over, members come and go.
///
/// One owner, which has the clock and the machines.
final class SimulatedMembers {
  static final long MILLI = 1_000_000;
  static final long ELECTION = 500 * MILLI;

  // The part of the election time that the lease of a leader of the earlier release lasts.
  private static final double EARLIER_LEASE_PART = 0.75;

  /// What the owner has beside the servers.
  interface Surroundings {
    /// Returns the time.
    long nanos();

    /// Runs a task later, those of one moment in the order of these calls.
    void at(long delayNanos, Runnable task);

    /// Returns how long a message takes at most, in microseconds. Some take a twentieth of that.
    default int delayMicrosMax() {
      return 2_000;
    }

    /// Returns what stands before the name of a server in the trace.
    default String prefix() {
      return "";
    }

    /// Creates the machine of a server that has nothing yet.
    Machine machine(Server server);

    /// Notes that a server leads.
    default void leading(Server server) {}

    /// Notes that a server that has led leads no more.
    default void following(Server server) {}

    /// Receives the alarm of a server about a member.
    void alarm(Server server, String member, String trouble);
  }

  /// The state machine at one server, of which the server's disk keeps a part.
  interface Machine {
    /// Returns the state, when its server starts.
    AppliedState open();

    /// Returns where a new log begins.
    Position begin();

    /// Returns the log, when it is on a device; null when it is in files.
    ///
    /// @param disk that of the log
    @Nullable ReplicaLog log(SimulatedDisk disk);

    /// Ends it, with its server.
    ///
    /// @param isPowerLost whether unsynced writes may be lost
    void end(boolean isPowerLost);

    /// Lets it stand still for a while, with its server.
    default void pause(long nanos) {}

    /// Returns the disk on which a failure happens: that of the log, or its own.
    SimulatedDisk failing(SimulatedDisk log);

    /// Brings it level with that of another server; [Core#caughtUp] tells the end.
    void catchUp(Server source);

    /// Breaks off a catch-up from any other member than this one.
    void leave(@Nullable String leader);
  }

  /// The times in a lease and the like, which a test makes wrong.
  ///
  /// @param endedPart the part of the election time after which members look for another leader,
  ///   when nothing listens where the leader was
  /// @param leasePart the part of the election time that the lease of a leader lasts
  /// @param doublingsMax how many times the wait between elections doubles, while they fail
  record Times(double endedPart, double leasePart, int doublingsMax) {
    /// Those of the product.
    static final Times STANDARD =
        new Times(NodeConfig.ENDED_PART, NodeConfig.LEASE_PART, NodeConfig.DOUBLINGS_MAX);
  }

  /// How much a message, a log and a file of it have, and how many messages are lost.
  ///
  /// @param dropPercent how many messages are lost
  /// @param snapshotCommands as in [RaftSettings]
  /// @param messageBytesMax as in [RaftSettings]
  /// @param snapshotBytes as in [RaftSettings]
  /// @param fileBytesMax the size after which a file of the log is followed by another one
  record Sizes(
      int dropPercent,
      int snapshotCommands,
      int messageBytesMax,
      long snapshotBytes,
      long fileBytesMax) {
    static Sizes of(Chance chance) {
      int dropPercent = chance.percent(30) ? 5 : 0;
      int snapshotCommands = chance.between(8, 150);
      int messageBytesMax = chance.percent(50) ? 300 : 100_000;
      // Few bytes come before there are as many entries as MicroRaft keeps behind a snapshot.
      long snapshotBytes = messageBytesMax > 300 ? 600 : 20_000;
      long fileBytesMax = chance.percent(50) ? 4_096 : 65_536;
      return new Sizes(dropPercent, snapshotCommands, messageBytesMax, snapshotBytes, fileBytesMax);
    }
  }

  private final Surroundings surroundings;
  private final Chance chance;
  private final Trace trace;
  private final Times times;
  private final Sizes sizes;

  // Whether some servers are of the release before leases were shorter.
  private final boolean isMixed;
  private final List<Server> servers = new ArrayList<>();
  private boolean[][] cut = new boolean[0][0];
  private boolean calm;
  private @Nullable AssertionError violation;

  /// Creates a group without servers.
  SimulatedMembers(
      Surroundings surroundings,
      Chance chance,
      Trace trace,
      Times times,
      Sizes sizes,
      boolean isMixed) {
    this.surroundings = surroundings;
    this.chance = chance;
    this.trace = trace;
    this.times = times;
    this.sizes = sizes;
    this.isMixed = isMixed;
  }

  /// Starts servers, of which some are members at first.
  void begin(int count, int members) {
    var first = new ArrayList<Member>();
    cut = new boolean[count][count];
    for (int i = 0; i < count; i++) {
      var server = new Server(i);
      servers.add(server);
      if (i < members) first.add(server.self);
    }
    for (int i = 0; i < members; i++) servers.get(i).open(first);
  }

  List<Server> servers() {
    return servers;
  }

  boolean isCalm() {
    return calm;
  }

  private void at(long delay, Runnable task) {
    surroundings.at(delay, task);
  }

  private void note(String event) {
    trace.add(surroundings.nanos() + " " + surroundings.prefix() + event);
  }

  /// Notes a violation: MicroRaft catches what its listeners throw.
  AssertionError broken(String what) {
    var broken =
        new AssertionError(
            surroundings.prefix() + what + ", at " + surroundings.nanos() / MILLI + " ms");
    if (violation == null) violation = broken;
    return broken;
  }

  /// Fails when a violation was noted.
  void judge() {
    if (violation != null) throw violation;
  }

  /// Knowledge of members that is in no file.
  static Acknowledged nothing() {
    return new Acknowledged(Path.of("nowhere", "acknowledged"));
  }

  /// Returns a message as a server of the earlier release sends it: a leader tells no lease.
  private static byte[] earlier(byte[] message) {
    if (message[0] != Core.HAD) return message;
    var in = new Decoder(message);
    in.skip(1);
    for (int left = in.count(); left > 0; left--) {
      var _ = in.text();
      var _ = in.varint();
    }
    return Arrays.copyOf(message, in.position());
  }

  // ---- faults

  /// Makes a fault now and then, until all is calm.
  ///
  /// @param pauseMillisMax the longest time between two
  void fault(int pauseMillisMax) {
    if (calm) return;
    var server = chance.of(servers);
    switch (chance.below(15)) {
      case 14 -> server.notice(0);
      case 0, 1, 2 -> {
        if (server.alive) server.crash();
      }
      case 3 -> {
        trace.reached("all crash");
        for (var each : servers) if (each.alive) each.crash();
      }
      case 4, 5, 6 -> cutOff(server);
      case 7 -> server.pause();
      case 8 -> {
        if (server.alive) server.failing().failSync(chance.below(3));
      }
      case 9 -> {
        if (server.alive) server.failing().losePowerAfter(chance.below(6));
      }
      case 10 -> {
        if (!server.alive) break;
        var disk = server.failing();
        disk.limit(disk.bytes() + chance.below(2_000));
      }
      case 11 -> {
        if (server.alive) server.core().stepDown();
      }
      default -> handOver();
    }
    at(chance.between(20, pauseMillisMax) * MILLI, () -> fault(pauseMillisMax));
  }

  /// Cuts a server off from the others for a while, in one direction or in both.
  void cutOff(Server one) {
    boolean oneWay = chance.percent(40);
    trace.reached(oneWay ? "cut off in one direction" : "cut off");
    // A network may refuse connections instead of losing messages.
    if (chance.percent(50)) one.notice(0);
    boolean away = chance.percent(50);
    for (var other : servers) {
      if (other == one) continue;
      if (!oneWay || away) cut[one.place][other.place] = true;
      if (!oneWay || !away) cut[other.place][one.place] = true;
    }
    at(chance.between(100, 3_000) * MILLI, this::heal);
  }

  /// Cuts two servers off from each other, until the next healing.
  void cutApart(Server one, Server other) {
    cut[one.place][other.place] = true;
    cut[other.place][one.place] = true;
  }

  /// Returns whether messages from one server to another one are lost.
  boolean isCut(Server from, Server to) {
    return cut[from.place][to.place];
  }

  /// Lets all servers reach each other.
  void heal() {
    for (boolean[] row : cut) Arrays.fill(row, false);
  }

  /// Makes the leader hand over to some member.
  void handOver() {
    var leading = leading();
    if (leading == null) return;
    var members = leading.core().status().members();
    if (members.isEmpty()) return;
    Member to = chance.of(members);
    leading
        .core()
        .transfer(
            to,
            failure -> {
              trace.reached(failure == null ? "handed over" : "not handed over");
              boolean returned =
                  servers.stream().anyMatch(server -> server.self.equals(to) && server.diedLeading);
              if (failure == null && returned) trace.reached("handed back");
            });
  }

  /// Returns a server that leads; null when none does.
  @Nullable Server leading() {
    for (var server : servers) {
      if (server.alive && server.isAwake() && server.core().status().ready()) return server;
    }
    return null;
  }

  /// Changes the members now and then, until all is calm.
  ///
  /// @param pauseMillisMax the longest time between two looks
  void change(int pauseMillisMax) {
    if (calm) return;
    at(chance.between(50, pauseMillisMax) * MILLI, () -> change(pauseMillisMax));
    var leading = leading();
    if (leading == null) return;
    CoreStatus status = leading.core().status();
    for (String learner : status.learners()) {
      boolean level = status.matched().getOrDefault(learner, 0L) > status.committed() - 20;
      if (level && chance.percent(60)) {
        change(leading, learner, Core.Change.VOTE);
        return;
      }
    }
    var members = status.members().stream().map(Member::id).toList();
    if ((members.size() > 3 && chance.percent(60)) || (members.size() > 2 && chance.percent(5))) {
      change(leading, chance.of(members), Core.Change.REMOVE);
      return;
    }
    for (var server : servers) {
      if (members.contains(server.self.id()) || status.learners().contains(server.self.id())) {
        continue;
      }
      if (server.alive) continue; // it was not told yet that it is out
      if (server.isOut || server.isNew) {
        server.renew();
        change(leading, server.self.id(), Core.Change.LEARN);
        return;
      }
    }
  }

  private void change(Server leading, String who, Core.Change change) {
    var server = servers.stream().filter(s -> s.self.id().equals(who)).findFirst().orElseThrow();
    if (change == Core.Change.REMOVE) server.leaves = true;
    leading
        .core()
        .change(
            server.self,
            change,
            failure -> {
              note(change + " " + who + ": " + failure);
              trace.reached(change + (failure == null ? "" : " not") + " done");
            });
  }

  /// Stops all failures.
  void calm() {
    calm = true;
    heal();
    for (var server : servers) {
      server.disk.limit(Long.MAX_VALUE);
      if (!server.alive && !server.isOut && !server.isNew) server.reopen();
    }
  }

  // ---- a server

  /// One server, with its core while it runs.
  final class Server implements Roles, World {
    final int place;
    final Member self;
    SimulatedDisk disk;
    Machine machine;
    private @Nullable Core core;
    private @Nullable LogStore store;
    boolean alive;

    // Whether it was removed from the members.
    boolean isOut;

    // Whether it never ran.
    boolean isNew = true;

    // How many times it has ended.
    int life;

    // Whether it has ended while it led.
    private boolean diedLeading;

    // Whether its removal was asked for since it was added.
    private boolean leaves;

    // Whether the others answer it what it had, when it starts.
    boolean asksOthers = true;
    private List<Member> initial = List.of();
    private long pausedUntil;

    // Its clock runs at its own speed, in thousandths.
    private final long speed;
    Acknowledged known = nothing();

    private Server(int place) {
      this.place = place;
      self = new Member(String.valueOf((char) ('a' + place)), "host", place + 1, place + 1);
      disk = new SimulatedDisk(chance.any());
      speed = chance.between(960, 1_040);
      machine = surroundings.machine(this);
    }

    LogStore store() {
      if (store == null) throw new IllegalStateException(self + " does not run");
      return store;
    }

    Core core() {
      if (core == null) throw new IllegalStateException(self + " does not run");
      return core;
    }

    boolean isAwake() {
      return pausedUntil <= surroundings.nanos();
    }

    private SimulatedDisk failing() {
      return machine.failing(disk);
    }

    private void open(List<Member> first) {
      initial = first;
      try {
        AppliedState state = machine.open();
        ReplicaLog log = machine.log(disk);
        boolean isFresh = log == null ? !LogStore.exists(disk) : log.head() == null;
        Position begin = machine.begin();
        store =
            log == null
                ? LogStore.open(disk, self, begin, first, sizes.fileBytesMax())
                : LogStore.open(log, self, begin, first);
        double leasePart = isEarlier() ? EARLIER_LEASE_PART : times.leasePart();
        var eligibility = new Eligibility(Path.of("nowhere"), known, had());
        var settings =
            new RaftSettings(
                self,
                ELECTION,
                Math.round(ELECTION * leasePart),
                Math.round(ELECTION * times.endedPart()),
                times.doublingsMax(),
                sizes.snapshotCommands(),
                sizes.snapshotBytes(),
                64,
                sizes.messageBytesMax());
        alive = true;
        isNew = false;
        isOut = false;
        var begun =
            new Core(settings, this, store, state, eligibility, this, isFresh, chance.any());
        core = begun;
        eligibility.begin(() -> begun.status().last() - 1, () -> {});
        begun.start();
        if (!eligibility.isWhole()) {
          trace.reached("knows that it was put back");
          alarm(self.id(), eligibility.lack());
        }
      } catch (IOException | DeviceFailed | DiskFull | ReadFailed failed) {
        // It fails again, and is opened again.
        trace.reached("not opened");
        down();
      }
    }

    private boolean isEarlier() {
      return isMixed && (place + life) % 2 == 0;
    }

    /// Asks the others what this server had, as each does before it takes part.
    private long had() {
      long had = -1;
      for (var other : servers) {
        boolean answers = asksOthers && other != this && other.alive && other.isAwake();
        if (!answers || isCut(this, other) || isCut(other, this)) continue;
        had = Math.max(had, other.known.of(self.id()));
      }
      return store().isOfThisMembership(had + 1) ? had : -1;
    }

    void reopen() {
      trace.reached("opened again");
      open(initial);
    }

    private void renew() {
      trace.reached("new member");
      disk = new SimulatedDisk(chance.any());
      machine = surroundings.machine(this);
      known = nothing();
      leaves = false;
      open(List.of());
    }

    void crash() {
      trace.reached("crash");
      down();
      notice(chance.between(0, 30));
    }

    void pause() {
      if (alive) pause(chance.between(50, 3_000) * MILLI);
    }

    /// Lets it stand still for a while.
    void pause(long nanos) {
      pausedUntil = surroundings.nanos() + nanos;
      machine.pause(nanos);
    }

    // Others notice that its process has ended, or are told so wrongly.
    private void notice(long millis) {
      for (var other : servers) {
        if (other == this || chance.percent(20)) continue;
        at(
            millis * MILLI + chance.below(5) * MILLI,
            () -> {
              if (!other.alive || other.isEarlier()) return;
              other.run(other.life, () -> other.core().ended(self.id()));
            });
      }
    }

    void down() {
      alive = false;
      if (store != null && store.reused() > 0) trace.reached("file of the log written again");
      life++;
      if (core != null) {
        diedLeading |= core.status().leads();
        core.stop();
      }
      boolean isPowerLost = chance.percent(60);
      disk = isPowerLost ? disk.crash() : disk.kill();
      machine.end(isPowerLost);
      at(
          chance.between(1, 2_500) * MILLI,
          () -> {
            if (!alive && !isOut && !isNew) reopen();
          });
    }

    private void run(int mine, Runnable task) {
      if (mine != life || !alive) return;
      if (!isAwake()) {
        at(pausedUntil - surroundings.nanos(), () -> run(mine, task));
        return;
      }
      task.run();
    }

    // World

    @Override
    public long nanos() {
      return 1_000_000_000L * place + surroundings.nanos() * speed / 1_000;
    }

    @Override
    public int random(int bound) {
      return chance.below(bound);
    }

    @Override
    public void submit(Runnable task) {
      int mine = life;
      at(1_000, () -> run(mine, task));
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
      int mine = life;
      at(delayNanos * 1_000 / speed, () -> run(mine, task));
    }

    @Override
    public void send(Member to, byte[] message) {
      if (!alive) return;
      var target = serverOf(to);
      if (isCut(this, target)) return;
      if (!calm && chance.percent(sizes.dropPercent())) return;
      byte[] sent = isEarlier() ? earlier(message) : message;
      deliver(target, sent);
      if (!calm && chance.percent(1)) {
        trace.reached("repeated message");
        deliver(target, sent);
      }
    }

    private void deliver(Server target, byte[] message) {
      int most = surroundings.delayMicrosMax();
      long delay = chance.between(most / 20, most) * 1_000L;
      if (!calm && chance.percent(2)) delay = chance.between(1, 1_500) * MILLI;
      at(
          delay,
          () -> {
            if (!target.alive || isCut(this, target)) return;
            target.run(target.life, () -> target.core().receive(message));
          });
    }

    @Override
    public void catchUp(Member leader) {
      trace.reached("catch-up");
      machine.catchUp(serverOf(leader));
    }

    @Override
    public void leave(@Nullable String leader) {
      machine.leave(leader);
    }

    @Override
    public void reached(String rare) {
      if (rare.equals(Core.FAILED_INSIDE)) throw broken("MicroRaft fails at " + self.id());
      trace.reached(rare);
    }

    // Roles

    @Override
    public void leading(long term) {
      note(self.id() + " leads in term " + term);
      trace.reached("leader");
      surroundings.leading(this);
    }

    @Override
    public void following() {
      note(self.id() + " leads no more");
      surroundings.following(this);
    }

    @Override
    public void leader(String id) {
      note(self.id() + " follows " + id);
    }

    @Override
    public void leaderEnded() {
      note(self.id() + " finds that the leader has ended");
    }

    @Override
    public void caughtUp() {}

    @Override
    public void alarm(String member, String trouble) {
      surroundings.alarm(this, member, trouble);
    }

    @Override
    public void failed(Throwable cause) {
      boolean out = isRemoval(cause);
      if (cause instanceof AssertionError || (isIllegal(cause) && !out)) {
        broken(self.id() + " has failed: " + cause).initCause(cause);
      }
      if (out && !leaves && store().addedAt() > 0) broken(self.id() + " is taken for removed");
      trace.reached(out ? "removed" : "failed " + cause.getClass().getSimpleName());
      note(self.id() + ": " + cause);
      submitDown(out);
    }

    private static boolean isRemoval(Throwable cause) {
      return String.valueOf(cause.getMessage()).contains("removed");
    }

    /// Returns whether a failure is none of the disk.
    private static boolean isIllegal(Throwable cause) {
      return cause instanceof IllegalStateException
          && !(cause.getCause() instanceof StorageException);
    }

    private void submitDown(boolean out) {
      int mine = life;
      at(
          1_000,
          () -> {
            if (mine != life) return;
            isOut = out;
            disk.limit(Long.MAX_VALUE);
            down();
          });
    }
  }

  private Server serverOf(Member member) {
    return servers.get(member.id().charAt(0) - 'a');
  }
}

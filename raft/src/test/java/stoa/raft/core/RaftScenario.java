package stoa.raft.core;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.raft.Acknowledged;
import stoa.raft.Member;
import stoa.raft.NodeConfig;
import stoa.raft.Roles;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;
import stoa.storage.disk.SimulatedDisk;

/// A group of real cores in one thread, with clock, network and disks of a seed. Servers crash,
/// pause, lose unsynced writes, fail to sync, fill up, are cut off in one direction or both, and
/// are taken for ended, which may be wrong; messages are lost, repeated, delayed and overtake each
/// other; leaders hand over, members come and go.
///
/// Nothing acknowledged may be lost, every machine must apply one sequence, what was refused may be
/// in no log, and whoever is certain to lead must show all that was acknowledged. When all is calm,
/// everybody must come level. A server whose disk is put back is noticed, and no alarm tells of
/// another one. A server that was added again is not taken for removed.
final class RaftScenario implements Scenario {
  private static final long MILLI = 1_000_000;
  private static final long ELECTION = 500 * MILLI;
  private static final long CHAOS = 12_000 * MILLI;
  private static final long CALM = 8_000 * MILLI;
  private static final long QUIET = 2_500 * MILLI;
  private static final int SERVERS = 6;

  // For how long a server that was put back hears nothing of the leader.
  private static final long APART = 2_000 * MILLI;

  // The part of the election time that the lease of a leader of the earlier release lasts.
  private static final double EARLIER_LEASE_PART = 0.75;

  private final double endedPart;
  private final boolean isMixed;

  RaftScenario() {
    this(NodeConfig.ENDED_PART, false);
  }

  private RaftScenario(double endedPart, boolean isMixed) {
    this.endedPart = endedPart;
    this.isMixed = isMixed;
  }

  /// Creates one in which members look for another leader, when nothing listens where the leader
  /// was, after a part of the election time.
  static RaftScenario withEndedPart(double endedPart) {
    return new RaftScenario(endedPart, false);
  }

  /// Creates one in which some servers are of the release before leases were shorter, and are
  /// replaced by this one, or replace it, when they start again.
  static RaftScenario mixed() {
    return new RaftScenario(NodeConfig.ENDED_PART, true);
  }

  @Override
  public String name() {
    return "raft";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(5); // on a machine with much else to do
  }

  @Override
  public void run(Chance chance, Trace trace) throws IOException {
    new Run(chance, trace).run();
  }

  /// Knowledge of members that is in no file.
  private static Acknowledged nothing() {
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

  /// An event at a time.
  private record Event(long at, long number, Runnable task) {}

  private final class Run {
    private final Chance chance;
    private final Trace trace;
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final List<Server> servers = new ArrayList<>();
    private final boolean[][] cut = new boolean[SERVERS][SERVERS];

    // What each index has, and the digest of everything up to it.
    private final Map<Long, Long> commands = new HashMap<>();
    private final TreeMap<Long, Long> digests = new TreeMap<>();
    private final Map<Long, Long> terms = new HashMap<>();
    private final Set<Long> refused = new HashSet<>();
    private final Map<Long, Long> acknowledged = new HashMap<>();
    private final int dropPercent;
    private final int snapshotCommands;
    private final int messageBytesMax;
    private final long snapshotBytes;
    private final long fileBytesMax;
    private long acknowledgedMax;
    private long now;
    private long number;
    private long command;
    private boolean calm;
    private @Nullable String setBack;
    private boolean isNoticed = true;
    private long acknowledgedCalm;
    private @Nullable AssertionError violation;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.trace = trace;
      dropPercent = chance.percent(30) ? 5 : 0;
      snapshotCommands = chance.between(8, 150);
      messageBytesMax = chance.percent(50) ? 300 : 100_000;
      // Few bytes come before there are as many entries as MicroRaft keeps behind a snapshot.
      snapshotBytes = messageBytesMax > 300 ? 600 : 20_000;
      fileBytesMax = chance.percent(50) ? 4_096 : 65_536;
    }

    void run() throws IOException {
      int count = chance.percent(80) ? 3 : 5;
      var first = new ArrayList<Member>();
      for (int i = 0; i < SERVERS; i++) {
        var server = new Server(i);
        servers.add(server);
        if (i < count) first.add(server.self);
      }
      for (int i = 0; i < count; i++) servers.get(i).open(first);
      at(100 * MILLI, this::client);
      at(150 * MILLI, this::reader);
      at(1_000 * MILLI, this::fault);
      at(700 * MILLI, this::members);
      at(CHAOS, this::calm);
      while (!events.isEmpty()) {
        Event next = events.poll();
        if (next.at > CHAOS + CALM) break;
        now = next.at;
        next.task.run();
        if (violation != null) throw violation;
      }
      judge();
    }

    void at(long delay, Runnable task) {
      events.add(new Event(now + delay, number++, task));
    }

    /// Notes a violation: MicroRaft catches what its listeners throw.
    private AssertionError broken(String what) {
      var broken = new AssertionError(what + ", at " + now / MILLI + " ms");
      if (violation == null) violation = broken;
      return broken;
    }

    // ---- judging

    void applied(Server server, Position at, long value, long digest) {
      Long before = commands.putIfAbsent(at.index(), value);
      if (before != null && before != value) {
        throw broken(
            "index %d was %d and is %d at %s"
                .formatted(at.index(), before, value, server.self.id()));
      }
      terms.putIfAbsent(at.index(), at.term());
      Long state = digests.putIfAbsent(at.index(), digest);
      if (state != null && state != digest) {
        throw broken("the state at " + at.index() + " differs at " + server.self.id());
      }
      if (refused.contains(value)) throw broken(value + " was refused and is at " + at.index());
    }

    private void judge() {
      if (!isNoticed) {
        throw broken(setBack + " was put back to an older copy, and nobody noticed");
      }
      for (var server : servers) {
        trace.add(
            "%s %s out %s new %s %s"
                .formatted(
                    server.self.id(),
                    server.alive ? "alive" : "dead",
                    server.isOut,
                    server.isNew,
                    server.core == null ? "" : server.core.status()));
      }
      if (acknowledgedCalm == 0) throw broken("nothing was acknowledged when all was calm");
      acknowledged.forEach((index, value) -> {
        if (!value.equals(commands.get(index))) throw broken(value + " is not at " + index);
      });
      var leading = leading();
      if (leading == null) throw broken("nobody leads when all is calm");
      long most = leading.machine.applied.index();
      var members = leading.core().status().members().stream().map(Member::id).toList();
      for (var server : servers) {
        if (!members.contains(server.self.id())) continue;
        long has = server.machine.applied.index();
        if (has < most - 1) throw broken(server.self.id() + " has " + has + " of " + most);
      }
      trace.measured("acknowledged", acknowledged.size());
    }

    // ---- clients

    private void client() {
      if (now > CHAOS + CALM - QUIET) return; // then all come level
      var server = chance.of(servers);
      if (server.alive
          && server.isAwake()
          && (server.core().status().leads() || chance.percent(3))) {
        long value = ++command;
        byte[] bytes = new byte[chance.percent(5) ? 400 : 16];
        ByteBuffer.wrap(bytes).putLong(value);
        server.core().propose(bytes, server.nanos(), result -> outcome(value, result));
      }
      at(chance.between(0, 2_500) * 1_000L, this::client);
    }

    private void outcome(long value, Consensus.Result result) {
      switch (result) {
        case Consensus.Result.Applied(byte[] answer) -> {
          long index = ByteBuffer.wrap(answer).getLong();
          Long there = commands.get(index);
          if (there == null || there != value) {
            throw broken(value + " was acknowledged at " + index + ", where " + there + " is");
          }
          acknowledged.put(index, value);
          acknowledgedMax = Math.max(acknowledgedMax, index);
          if (calm) acknowledgedCalm++;
        }
        case Consensus.Result.Refused _ -> {
          refused.add(value);
          if (commands.containsValue(value)) throw broken(value + " was refused and applied");
        }
        case Consensus.Result.Unknown _ -> trace.reached("unknown outcome");
      }
    }

    private void reader() {
      int leading = 0;
      for (var server : servers) {
        if (!server.alive || !server.isAwake()) continue;
        if (server.core().isCertain(server.nanos())) {
          leading++;
          trace.reached("certain");
          if (server.machine.applied.index() < acknowledgedMax) {
            throw broken(
                "%s is certain to lead and shows %d; %d was acknowledged"
                    .formatted(server.self.id(), server.machine.applied.index(), acknowledgedMax));
          }
        }
        if (server.core().status().ready() && chance.percent(20)) {
          long floor = acknowledgedMax;
          server
              .core()
              .confirm(failure -> {
                if (failure != null) return;
                trace.reached("confirmed");
                if (server.machine.applied.index() < floor) {
                  throw broken(
                      "%s confirmed at %d, and %d was acknowledged before"
                          .formatted(server.self.id(), server.machine.applied.index(), floor));
                }
              });
        }
      }
      if (leading > 1) throw broken("two are certain to lead");
      at(chance.between(500, 20_000) * 1_000L, this::reader);
    }

    // ---- faults

    private void fault() {
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
        case 4, 5, 6 -> cutOff(server.place, chance.percent(40));
        case 7 -> {
          if (server.alive) server.pausedUntil = now + chance.between(50, 3_000) * MILLI;
        }
        case 8 -> {
          if (server.alive) server.disk.failSync(chance.below(3));
        }
        case 9 -> {
          if (server.alive) server.disk.losePowerAfter(chance.below(6));
        }
        case 10 -> {
          if (server.alive) server.disk.limit(server.disk.bytes() + chance.below(2_000));
        }
        case 11 -> {
          if (server.alive) server.core().stepDown();
        }
        default -> handOver();
      }
      at(chance.between(20, 900) * MILLI, this::fault);
    }

    private void cutOff(int one, boolean oneWay) {
      trace.reached(oneWay ? "cut off in one direction" : "cut off");
      // A network may refuse connections instead of losing messages.
      if (chance.percent(50)) servers.get(one).notice(0);
      boolean away = chance.percent(50);
      for (int other = 0; other < SERVERS; other++) {
        if (other == one) continue;
        if (!oneWay || away) cut[one][other] = true;
        if (!oneWay || !away) cut[other][one] = true;
      }
      at(chance.between(100, 3_000) * MILLI, this::heal);
    }

    private void heal() {
      for (boolean[] row : cut) Arrays.fill(row, false);
    }

    private void handOver() {
      var leading = leading();
      if (leading == null) return;
      var members = leading.core().status().members();
      if (members.isEmpty()) return;
      leading
          .core()
          .transfer(
              chance.of(members),
              failure -> trace.reached(failure == null ? "handed over" : "not handed over"));
    }

    private @Nullable Server leading() {
      for (var server : servers) {
        if (server.alive && server.isAwake() && server.core().status().ready()) return server;
      }
      return null;
    }

    private void members() {
      if (calm) return;
      at(chance.between(50, 1_200) * MILLI, this::members);
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
                trace.add("%d %s %s: %s".formatted(now, change, who, failure));
                trace.reached(change + (failure == null ? "" : " not") + " done");
              });
    }

    private void calm() {
      calm = true;
      heal();
      for (var server : servers) {
        server.disk.limit(Long.MAX_VALUE);
        if (!server.alive && !server.isOut && !server.isNew) server.reopen();
      }
      // Whatever fails late, as a sync that was to fail, happens before.
      at(CALM / 2, () -> acknowledgedCalm = 0);
      if (chance.percent(50)) at(CALM / 2, this::copy);
    }

    /// Copies what a server has, to put it back later.
    private void copy() {
      var leading = leading();
      if (leading == null) return; // it has failed just now, and another one is elected
      var server = chance.of(servers);
      if (server == leading || !leading.core().status().matched().containsKey(server.self.id())) {
        return;
      }
      var disk = server.disk.copy();
      var machine = server.machine.copy();
      long has = server.store().lastIndex();
      at(chance.between(1, 1_000) * MILLI, () -> putBack(server, leading, disk, machine, has));
    }

    private void putBack(
        Server server, Server leading, SimulatedDisk disk, Applied machine, long has) {
      Core leads = leading.core();
      CoreStatus status = leads.status();
      if (!status.ready() || !server.alive) return;
      server.down();
      server.asksOthers = chance.percent(50);
      server.disk = disk;
      server.machine = machine;
      server.known = nothing();
      at(
          chance.between(1, 300) * MILLI,
          () -> {
            if (!server.alive) server.reopen();
          });
      String id = server.self.id();
      long had = status.matched().getOrDefault(id, 0L);
      var others = new ArrayList<>(status.members());
      others.removeIf(other -> other.id().equals(id) || other.equals(leads.status().leader()));
      boolean isHandedOver = !others.isEmpty() && chance.percent(30);
      boolean isApart = !isHandedOver && !others.isEmpty() && chance.percent(50);
      if (isHandedOver || isApart) {
        for (var other : servers) {
          if (other != server && status.members().contains(other.self))
            had = Math.min(had, other.known.of(id) + 1);
        }
      }
      setBack = id;
      isNoticed = had <= has; // then it has lost nothing that the leader must know of
      if (!isNoticed) trace.reached("put back");
      if (isHandedOver) {
        trace.reached("handed over while one is put back");
        leads.transfer(chance.of(others), _ -> {});
      }
      if (isApart) apart(server, leading);
    }

    /// Lets a server that was put back hear nothing of the leader, nor learn from others what it
    /// had. So it stands for election, and they must notice.
    private void apart(Server server, Server leading) {
      server.asksOthers = false;
      cut[server.place][leading.place] = true;
      cut[leading.place][server.place] = true;
      at(
          APART,
          () -> {
            heal();
            if (!isNoticed) throw broken(setBack + " stands without what it had, unnoticed");
            trace.reached("put back and apart");
          });
    }

    // ---- a server

    private final class Server implements Roles, World {
      final int place;
      final Member self;
      SimulatedDisk disk;
      Applied machine = new Applied(this);
      @Nullable Core core;
      @Nullable LogStore store;
      boolean alive;
      boolean isOut;
      boolean isNew = true;
      int life;

      // Whether its removal was asked for since it was added.
      boolean leaves;

      // Whether the others answer it what it had, when it starts.
      boolean asksOthers = true;
      private List<Member> initial = List.of();
      long pausedUntil;

      // Its clock runs at its own speed, in thousandths.
      private final long speed;
      private int catchUps;
      private @Nullable String from;
      Acknowledged known = nothing();

      Server(int place) {
        this.place = place;
        self = new Member(String.valueOf((char) ('a' + place)), "host", place + 1, place + 1);
        disk = new SimulatedDisk(chance.any());
        speed = chance.between(960, 1_040);
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
        return pausedUntil <= now;
      }

      void open(List<Member> first) {
        initial = first;
        try {
          boolean isFresh = !LogStore.exists(disk);
          var begin = new Position(1, 1);
          store = LogStore.open(disk, self, begin, first, fileBytesMax);
          double leasePart = isEarlier() ? EARLIER_LEASE_PART : NodeConfig.LEASE_PART;
          var eligibility = new Eligibility(Path.of("nowhere"), known, had());
          var settings =
              new RaftSettings(
                  self,
                  ELECTION,
                  Math.round(ELECTION * leasePart),
                  Math.round(ELECTION * endedPart),
                  snapshotCommands,
                  snapshotBytes,
                  64,
                  messageBytesMax);
          alive = true;
          isNew = false;
          isOut = false;
          var begun =
              new Core(settings, this, store, machine, eligibility, this, isFresh, chance.any());
          core = begun;
          eligibility.begin(() -> begun.status().last() - 1, () -> {});
          begun.start();
          if (!eligibility.isWhole()) {
            trace.reached("knows that it was put back");
            alarm(self.id(), eligibility.lack());
          }
        } catch (IOException failed) {
          // It fails again, and is opened again.
          trace.reached("not opened");
          down();
        }
      }

      boolean isEarlier() {
        return isMixed && (place + life) % 2 == 0;
      }

      /// Asks the others what this server had, as each does before it takes part.
      private long had() {
        long had = -1;
        for (var other : servers) {
          boolean answers = asksOthers && other != this && other.alive && other.isAwake();
          if (!answers || cut[place][other.place] || cut[other.place][place]) continue;
          had = Math.max(had, other.known.of(self.id()));
        }
        return store().isOfThisMembership(had + 1) ? had : -1;
      }

      void reopen() {
        trace.reached("opened again");
        open(initial);
      }

      void renew() {
        trace.reached("new member");
        disk = new SimulatedDisk(chance.any());
        machine = new Applied(this);
        known = nothing();
        leaves = false;
        open(List.of());
      }

      void crash() {
        trace.reached("crash");
        down();
        notice(chance.between(0, 30));
      }

      // Others notice that its process has ended, or are told so wrongly.
      void notice(long millis) {
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

      private void down() {
        alive = false;
        if (store != null && store.reused() > 0) trace.reached("file of the log written again");
        life++;
        catchUps++;
        if (core != null) core.stop();
        // Power or process.
        disk = chance.percent(60) ? disk.crash() : disk.kill();
        machine.crash();
        at(
            chance.between(1, 2_500) * MILLI,
            () -> {
              if (!alive && !isOut && !isNew) reopen();
            });
      }

      private void run(int mine, Runnable task) {
        if (mine != life || !alive) return;
        if (pausedUntil > now) {
          at(pausedUntil - now, () -> run(mine, task));
          return;
        }
        task.run();
      }

      // World

      @Override
      public long nanos() {
        return 1_000_000_000L * place + now * speed / 1_000;
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
        int target = to.id().charAt(0) - 'a';
        if (cut[place][target]) return;
        if (!calm && chance.percent(dropPercent)) return;
        byte[] sent = isEarlier() ? earlier(message) : message;
        deliver(target, sent);
        if (!calm && chance.percent(1)) {
          trace.reached("repeated message");
          deliver(target, sent);
        }
      }

      private void deliver(int target, byte[] message) {
        long delay = chance.between(100, 2_000) * 1_000L;
        if (!calm && chance.percent(2)) delay = chance.between(1, 1_500) * MILLI;
        at(
            delay,
            () -> {
              var server = servers.get(target);
              if (!server.alive || cut[place][target]) return;
              server.run(server.life, () -> server.core().receive(message));
            });
      }

      @Override
      public void catchUp(Member leader) {
        trace.reached("catch-up");
        var source = servers.get(leader.id().charAt(0) - 'a');
        from = leader.id();
        int mine = ++catchUps;
        int same = life;
        boolean breaks = chance.percent(25);
        if (chance.percent(80)) machine.receives(source.machine);
        at(
            chance.between(1, calm ? 50 : 400) * MILLI,
            () -> {
              if (same != life) return;
              boolean level =
                  mine == catchUps && !breaks && source.alive && machine.takeFrom(source.machine);
              trace.reached(level ? "level" : "catch-up broken off");
              core().caughtUp(level);
            });
      }

      @Override
      public void leave(@Nullable String leader) {
        if (from != null && !from.equals(leader)) catchUps++;
      }

      @Override
      public void reached(String rare) {
        if (rare.equals(Core.FAILED_INSIDE)) throw broken("MicroRaft fails at " + self.id());
        trace.reached(rare);
      }

      // Roles

      @Override
      public void leading(long term) {
        trace.add("%d %s leads in term %d".formatted(now, self.id(), term));
        trace.reached("leader");
      }

      @Override
      public void following() {
        trace.add("%d %s leads no more".formatted(now, self.id()));
      }

      @Override
      public void leader(String id) {
        trace.add("%d %s follows %s".formatted(now, self.id(), id));
      }

      @Override
      public void leaderEnded() {
        trace.add("%d %s finds that the leader has ended".formatted(now, self.id()));
      }

      @Override
      public void caughtUp() {}

      @Override
      public void alarm(String member, String trouble) {
        if (!member.equals(setBack)) throw broken(member + ": " + trouble);
        trace.reached("alarm");
        if (!member.equals(self.id())) isNoticed = true;
      }

      @Override
      public void failed(Throwable cause) {
        if (cause instanceof AssertionError
            || (cause instanceof IllegalStateException && !isRemoval(cause))) {
          broken(self.id() + " has failed: " + cause).initCause(cause);
        }
        boolean out = isRemoval(cause);
        if (out && !leaves && store().addedAt() > 0) broken(self.id() + " is taken for removed");
        trace.reached(out ? "removed" : "failed " + cause.getClass().getSimpleName());
        trace.add("%d %s: %s".formatted(now, self.id(), cause));
        submitDown(out);
      }

      private static boolean isRemoval(Throwable cause) {
        return String.valueOf(cause.getMessage()).contains("removed");
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

    /// What commands have made of a server's state, of which the last may be lost in a crash.
    private final class Applied implements AppliedState {
      private final Server server;
      Position applied = Position.START;
      private long digest = 7;
      private long durable;
      private boolean whole = true;
      private long sent; // the last command of which a catch-up has brought something

      Applied(Server server) {
        this.server = server;
      }

      private byte[] take(Position at, long value) {
        if (at.index() <= applied.index()) {
          Long there = commands.get(at.index());
          if (there != null && there != value) {
            throw broken(at + " was " + there + " and comes again as " + value);
          }
          return new byte[8];
        }
        if (at.index() != applied.index() + 1) throw broken(at + " follows " + applied);
        digest = digest * 1_000_003 + value + at.term();
        applied = at;
        applied(server, at, value, digest);
        return ByteBuffer.allocate(8).putLong(at.index()).array();
      }

      private void applied(Server by, Position at, long value, long now) {
        Run.this.applied(by, at, value, now);
      }

      @Override
      public byte[] apply(Position at, byte[] bytes) {
        return take(at, ByteBuffer.wrap(bytes).getLong());
      }

      @Override
      public void advance(Position at) {
        take(at, 0);
      }

      @Override
      public Position sync() {
        durable = applied.index();
        return applied;
      }

      @Override
      public Position applied() {
        return applied;
      }

      @Override
      public boolean isWhole() {
        return whole;
      }

      @Override
      public boolean complete() {
        if (!whole && sent <= applied.index()) completed();
        return whole;
      }

      @Override
      public void completed() {
        whole = true;
        sent = 0;
        sync();
      }

      private void receives(Applied other) {
        whole = false;
        sent = Math.max(sent, other.applied.index());
      }

      Applied copy() {
        var copy = new Applied(server);
        copy.applied = applied;
        copy.digest = digest;
        copy.durable = durable;
        copy.whole = whole;
        copy.sent = sent;
        return copy;
      }

      boolean takeFrom(Applied other) {
        if (!other.whole || other.applied.index() < applied.index()) return false;
        applied = other.applied;
        digest = other.digest;
        completed();
        return true;
      }

      void crash() {
        if (applied.index() == durable) return;
        long kept = durable + chance.below((int) (applied.index() - durable) + 1);
        if (kept < applied.index()) trace.reached("applied commands are lost");
        applied =
            kept == 0
                ? Position.START
                : new Position(Objects.requireNonNull(terms.get(kept)), kept);
        digest = kept == 0 ? 7 : Objects.requireNonNull(digests.get(kept));
        durable = kept;
      }
    }
  }
}

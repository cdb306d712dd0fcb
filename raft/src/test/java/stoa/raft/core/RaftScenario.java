package stoa.raft.core;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.raft.Member;
import stoa.raft.NodeConfig;
import stoa.raft.core.SimulatedMembers.Server;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;
import stoa.sim.world.PoweredDevice;
import stoa.storage.Device;
import stoa.storage.disk.SimulatedDisk;

/// A group of real cores in one thread, with clock, network and disks of a seed, under the faults
/// of [SimulatedMembers].
///
/// Nothing acknowledged may be lost, every machine must apply one sequence, what was refused may be
/// in no log, and whoever is certain to lead must show all that was acknowledged. When all is calm,
/// everybody must come level. A server whose disk is put back is noticed, and no alarm tells of
/// another one. A server that was added again is not taken for removed.
final class RaftScenario implements Scenario {
  private static final long MILLI = SimulatedMembers.MILLI;
  private static final long CHAOS = 12_000 * MILLI;
  private static final long CALM = 8_000 * MILLI;
  private static final long QUIET = 2_500 * MILLI;
  private static final int SERVERS = 6;

  // For how long a server that was put back hears nothing of the leader.
  private static final long APART = 2_000 * MILLI;

  // The longest times in milliseconds between two faults, and between two changes of members.
  private static final int FAULTS = 900;
  private static final int CHANGES = 1_200;

  private final Replica.LogPlace logs;
  private final SimulatedMembers.Times times;
  private final boolean isMixed;

  RaftScenario(Replica.LogPlace logs) {
    this(logs, SimulatedMembers.Times.STANDARD, false);
  }

  private RaftScenario(Replica.LogPlace logs, SimulatedMembers.Times times, boolean isMixed) {
    this.logs = logs;
    this.times = times;
    this.isMixed = isMixed;
  }

  /// Creates one in which members look for another leader, when nothing listens where the leader
  /// was, after a part of the election time.
  static RaftScenario withEndedPart(double endedPart) {
    var times =
        new SimulatedMembers.Times(endedPart, NodeConfig.LEASE_PART, NodeConfig.DOUBLINGS_MAX);
    return new RaftScenario(Replica.LogPlace.FILES, times, false);
  }

  /// Creates one in which some servers are of the release before leases were shorter, and are
  /// replaced by this one, or replace it, when they start again.
  static RaftScenario mixed() {
    return new RaftScenario(Replica.LogPlace.FILES, SimulatedMembers.Times.STANDARD, true);
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
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace).run();
  }

  /// An event at a time.
  private record Event(long at, long number, Runnable task) {}

  private final class Run implements SimulatedMembers.Surroundings {
    private final Chance chance;
    private final Trace trace;
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final SimulatedMembers group;

    // What each index has, and the digest of everything up to it.
    private final Map<Long, Long> commands = new HashMap<>();
    private final TreeMap<Long, Long> digests = new TreeMap<>();
    private final Map<Long, Long> terms = new HashMap<>();
    private final Set<Long> refused = new HashSet<>();
    private final Map<Long, Long> acknowledged = new HashMap<>();
    private long acknowledgedMax;
    private long now;
    private long number;
    private long command;
    private @Nullable String setBack;
    private boolean isNoticed = true;
    private long acknowledgedCalm;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.trace = trace;
      group =
          new SimulatedMembers(
              this, chance, trace, times, SimulatedMembers.Sizes.of(chance), isMixed);
    }

    void run() {
      int members = chance.percent(80) ? 3 : 5;
      group.begin(SERVERS, members);
      at(100 * MILLI, this::client);
      at(150 * MILLI, this::reader);
      at(1_000 * MILLI, () -> group.fault(FAULTS));
      at(700 * MILLI, () -> group.change(CHANGES));
      at(CHAOS, this::calm);
      while (!events.isEmpty()) {
        Event next = events.poll();
        if (next.at > CHAOS + CALM) break;
        now = next.at;
        next.task.run();
        group.judge();
      }
      judge();
    }

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void at(long delay, Runnable task) {
      events.add(new Event(now + delay, number++, task));
    }

    @Override
    public SimulatedMembers.Machine machine(Server server) {
      return new Applied(server);
    }

    @Override
    public void alarm(Server server, String member, String trouble) {
      if (!member.equals(setBack)) throw broken(member + ": " + trouble);
      trace.reached("alarm");
      if (!member.equals(server.self.id())) isNoticed = true;
    }

    private AssertionError broken(String what) {
      return group.broken(what);
    }

    private static Applied machineOf(Server server) {
      return (Applied) server.machine;
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
      for (var server : group.servers()) {
        trace.add(
            "%s %s out %s new %s %s"
                .formatted(
                    server.self.id(),
                    server.alive ? "alive" : "dead",
                    server.isOut,
                    server.isNew,
                    server.isNew ? "" : shown(server.core().status())));
      }
      if (acknowledgedCalm == 0) throw broken("nothing was acknowledged when all was calm");
      acknowledged.forEach((index, value) -> {
        if (!value.equals(commands.get(index))) throw broken(value + " is not at " + index);
      });
      var leading = group.leading();
      if (leading == null) throw broken("nobody leads when all is calm");
      long most = machineOf(leading).applied.index();
      var members = leading.core().status().members().stream().map(Member::id).toList();
      for (var server : group.servers()) {
        if (!members.contains(server.self.id())) continue;
        long has = machineOf(server).applied.index();
        if (has < most - 1) throw broken(server.self.id() + " has " + has + " of " + most);
      }
      trace.measured("acknowledged", acknowledged.size());
    }

    /// Describes a status, without what is in no order.
    private static String shown(CoreStatus status) {
      return "leads %s term %d members %s learners %s log %d-%d committed %d matched %s"
          .formatted(
              status.leads(),
              status.term(),
              status.members(),
              status.learners(),
              status.first(),
              status.last(),
              status.committed(),
              status.matched());
    }

    // ---- clients

    private void client() {
      if (now > CHAOS + CALM - QUIET) return; // then all come level
      var server = chance.of(group.servers());
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
          if (group.isCalm()) acknowledgedCalm++;
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
      for (var server : group.servers()) {
        if (!server.alive || !server.isAwake()) continue;
        if (server.core().isCertain(server.nanos())) {
          leading++;
          trace.reached("certain");
          if (machineOf(server).applied.index() < acknowledgedMax) {
            throw broken(
                "%s is certain to lead and shows %d; %d was acknowledged"
                    .formatted(
                        server.self.id(), machineOf(server).applied.index(), acknowledgedMax));
          }
        }
        if (server.core().status().ready() && chance.percent(20)) {
          long floor = acknowledgedMax;
          server
              .core()
              .confirm(failure -> {
                if (failure != null) return;
                trace.reached("confirmed");
                if (machineOf(server).applied.index() < floor) {
                  throw broken(
                      "%s confirmed at %d, and %d was acknowledged before"
                          .formatted(server.self.id(), machineOf(server).applied.index(), floor));
                }
              });
        }
      }
      if (leading > 1) throw broken("two are certain to lead");
      at(chance.between(500, 20_000) * 1_000L, this::reader);
    }

    // ---- at the end

    private void calm() {
      group.calm();
      // Whatever fails late, as a sync that was to fail, happens before.
      at(CALM / 2, () -> acknowledgedCalm = 0);
      if (chance.percent(50)) at(CALM / 2, this::copy);
    }

    /// Copies what a server has, to put it back later.
    private void copy() {
      var leading = group.leading();
      if (leading == null) return; // it has failed just now, and another one is elected
      var server = chance.of(group.servers());
      if (server == leading || !leading.core().status().matched().containsKey(server.self.id())) {
        return;
      }
      var disk = server.disk.copy();
      var machine = machineOf(server).copy();
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
      server.known = SimulatedMembers.nothing();
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
        for (var other : group.servers()) {
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
      group.cutApart(server, leading);
      at(
          APART,
          () -> {
            group.heal();
            if (!isNoticed) throw broken(setBack + " stands without what it had, unnoticed");
            trace.reached("put back and apart");
          });
    }

    /// What commands have made of a server's state, of which the last may be lost in a crash.
    private final class Applied implements AppliedState, SimulatedMembers.Machine {
      private final Server server;
      Position applied = Position.START;
      private long digest = 7;
      private long durable;
      private boolean whole = true;
      private long sent; // the last command of which a catch-up has brought something
      private int catchUps;
      private @Nullable String from;

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

      // The server's machine

      @Override
      public AppliedState open() {
        return this;
      }

      @Override
      public Position begin() {
        return new Position(1, 1);
      }

      @Override
      public @Nullable ReplicaLog log(SimulatedDisk disk) {
        if (logs == Replica.LogPlace.FILES) return null;
        return new Replica(Device.open(disk, PoweredDevice.SMALL, Runnable::run), logs).log();
      }

      @Override
      public SimulatedDisk failing(SimulatedDisk log) {
        return log;
      }

      @Override
      public void catchUp(Server source) {
        from = source.self.id();
        int mine = ++catchUps;
        int same = server.life;
        boolean breaks = chance.percent(25);
        if (chance.percent(80)) receives(machineOf(source));
        at(
            chance.between(1, group.isCalm() ? 50 : 400) * MILLI,
            () -> {
              if (same != server.life) return;
              boolean level =
                  mine == catchUps && !breaks && source.alive && takeFrom(machineOf(source));
              trace.reached(level ? "level" : "catch-up broken off");
              server.core().caughtUp(level);
            });
      }

      @Override
      public void leave(@Nullable String leader) {
        if (from != null && !from.equals(leader)) catchUps++;
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

      @Override
      public void end(boolean isPowerLost) {
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

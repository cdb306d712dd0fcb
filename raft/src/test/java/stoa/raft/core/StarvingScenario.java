package stoa.raft.core;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.ReplicaLog;
import stoa.raft.NodeConfig;
import stoa.raft.core.SimulatedMembers.Server;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;
import stoa.storage.disk.SimulatedDisk;

/// A group of real cores on a slow network, or on machines that rarely run them. In spite of that,
/// a leader must commit a command in time. Then all becomes fast, the leader dies, and another one
/// must commit a command as soon as usual.
final class StarvingScenario implements Scenario {
  static final String AFTER_THE_END = "ms after the end of a leader";

  private static final long MILLI = SimulatedMembers.MILLI;
  private static final long SLOW_MAX = 60_000 * MILLI;
  private static final long SETTLING = 5_000 * MILLI;
  private static final long AGAIN_MAX = 2_000 * MILLI;
  private static final long BETWEEN_COMMANDS = 20 * MILLI;
  private static final int FAST_MICROS = 2_000;
  private static final int AWAKE_MILLIS = 40;

  // No server needs more than the log of another one has.
  private static final SimulatedMembers.Sizes ALL_KEPT =
      new SimulatedMembers.Sizes(0, 1 << 13, 1 << 20, Long.MAX_VALUE, 1 << 20);

  private final int delayMillis;
  private final int asleepMillis;
  private final int doublingsMax;

  /// Creates one.
  ///
  /// @param delayMillis how long a message takes at most
  /// @param asleepMillis how long a server stands still at most, again and again; 0 for never
  /// @param doublingsMax how many times the wait between elections doubles
  StarvingScenario(int delayMillis, int asleepMillis, int doublingsMax) {
    this.delayMillis = delayMillis;
    this.asleepMillis = asleepMillis;
    this.doublingsMax = doublingsMax;
  }

  @Override
  public String name() {
    return "starving";
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
    private boolean isSlow = true;
    private long now;
    private long number;
    private long firstLeader;
    private long committed;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.trace = trace;
      var times =
          new SimulatedMembers.Times(NodeConfig.ENDED_PART, NodeConfig.LEASE_PART, doublingsMax);
      group = new SimulatedMembers(this, chance, trace, times, ALL_KEPT, false);
    }

    void run() {
      int members = chance.percent(80) ? 3 : 5;
      group.begin(members, members);
      group.calm();
      if (asleepMillis > 0) group.servers().forEach(this::starve);
      client();
      committed(SLOW_MAX, "on a slow machine");
      trace.measured("ms until a leader", firstLeader / MILLI);
      trace.measured("ms until a command", committed / MILLI);
      isSlow = false;
      until(now + SETTLING);
      var leading = group.leading();
      if (leading == null) throw group.broken("nobody leads when all is fast again");
      leading.crash();
      long died = now;
      committed(AGAIN_MAX, "after the end of a leader");
      trace.measured(AFTER_THE_END, (committed - died) / MILLI);
    }

    /// Runs until a command is committed.
    private void committed(long most, String when) {
      committed = 0;
      long end = now + most;
      while (committed == 0) {
        if (!step(end)) throw group.broken("no command was committed " + when);
        group.judge();
      }
    }

    private void until(long end) {
      while (step(end)) group.judge();
    }

    private boolean step(long end) {
      Event next = events.peek();
      if (next == null || next.at > end) return false;
      events.remove();
      now = next.at;
      next.task.run();
      return true;
    }

    private void client() {
      for (var server : group.servers()) {
        if (!server.alive || !server.isAwake() || !server.core().status().ready()) continue;
        if (firstLeader == 0) firstLeader = now;
        long begun = now;
        server
            .core()
            .propose(
                new byte[16],
                server.nanos(),
                result -> {
                  if (result instanceof Consensus.Result.Applied) committed = now;
                  trace.add(now + " of " + begun + ": " + result.getClass().getSimpleName());
                });
      }
      at(BETWEEN_COMMANDS, this::client);
    }

    /// Lets a server run for a short while, and stand still for a longer one, again and again.
    private void starve(Server server) {
      if (!isSlow) return;
      long asleep = chance.between(asleepMillis / 4, asleepMillis) * MILLI;
      if (server.alive) server.pause(asleep);
      at(asleep + chance.between(1, AWAKE_MILLIS) * MILLI, () -> starve(server));
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
    public int delayMicrosMax() {
      return isSlow ? Math.max(FAST_MICROS, delayMillis * 1_000) : FAST_MICROS;
    }

    @Override
    public SimulatedMembers.Machine machine(Server server) {
      return new Counted();
    }

    @Override
    public void alarm(Server server, String member, String trouble) {
      throw group.broken(member + ": " + trouble);
    }
  }

  /// A machine that only knows where it is, and loses nothing.
  private static final class Counted implements AppliedState, SimulatedMembers.Machine {
    private Position applied = Position.START;

    @Override
    public byte[] apply(Position at, byte[] command) {
      advance(at);
      return command;
    }

    @Override
    public void advance(Position at) {
      if (at.index() > applied.index()) applied = at;
    }

    @Override
    public Position sync() {
      return applied;
    }

    @Override
    public Position applied() {
      return applied;
    }

    @Override
    public boolean isWhole() {
      return true;
    }

    @Override
    public boolean complete() {
      return true;
    }

    @Override
    public void completed() {}

    @Override
    public AppliedState open() {
      return this;
    }

    @Override
    public @Nullable ReplicaLog log(SimulatedDisk disk) {
      return null; // it is in files
    }

    @Override
    public Position begin() {
      return new Position(1, 1);
    }

    @Override
    public void end(boolean isPowerLost) {}

    @Override
    public SimulatedDisk failing(SimulatedDisk log) {
      return log;
    }

    @Override
    public void catchUp(Server source) {
      throw new AssertionError("nothing is dropped that a server lacks");
    }

    @Override
    public void leave(@Nullable String leader) {}
  }
}

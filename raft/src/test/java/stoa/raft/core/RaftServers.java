package stoa.raft.core;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Streams;
import stoa.log.Supply;
import stoa.raft.Member;
import stoa.raft.core.SimulatedMembers.Server;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.world.Fibers;
import stoa.sim.world.GroupServers;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.ReplicaContents;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;

/// The servers of a group that agree by real cores: each has its log on a disk, and a real replica
/// on a device that loses power with its server. They elect the leader by themselves, under the
/// faults of [SimulatedMembers]. A replica that lacks what the logs have dropped gets it from the
/// leader's replica.
///
/// All replicas must get the same command at each position, and answer it alike. A leader that
/// confirms must show everything that was acknowledged before.
final class RaftServers implements GroupServers {
  /*
   * The cores run in tasks of the time, which do not wait. What waits is a fiber: a proposer and a
   * catch-up. The fibers of a store end when its server leads no more, or dies, those of a catch-up
   * when it dies.
   *
   *   clients ─► store ─► ReplicatedBatchLog ─► End ··submit··► Core ─► LogStore ─► SimulatedDisk
   *              a fiber waits ◄··················outcome······ Core ─► Watched ─► Replica ─► PoweredDevice
   */
  private static final int COMMAND_BYTES_MAX = 1 << 20;
  private static final int PATIENCE_MICROS = 30_000_000;

  // How often a server looks whether its device has failed, and its store.
  private static final long LOOK_NANOS = 400 * SimulatedMembers.MILLI;

  // How many times in a row a leader may have less than a replica that it brings level.
  private static final int BEHIND_MAX = 50;

  // The servers, some of which are members at first.
  private static final int COUNT = 4;
  private static final int MEMBERS = 3;
  private static final int CHANGES = 20_000;

  /// A command with its place.
  ///
  /// @param digest of the command; 0 when Raft has put something of its own there
  private record Placed(long term, int digest) {}

  private final int number;
  private final Fibers fibers;
  private final Chance chance;
  private final Trace trace;
  private final Stores stores;
  private final Replica.LogPlace logs;
  private final SimulatedMembers members;

  // All groups of the run. Their servers at one place are parts of one machine.
  private final List<RaftServers> cluster;

  // What replicas have at each position, and what they have answered.
  private final Map<Long, Placed> commands = new HashMap<>();
  private final Map<Long, byte[]> answers = new HashMap<>();

  // How far a leader had applied commands when it acknowledged one.
  private long acknowledged;
  private int lives;

  RaftServers(Place place, Stores stores, Replica.LogPlace logs, SimulatedMembers.Times times) {
    this.logs = logs;
    number = place.number();
    fibers = place.fibers();
    chance = place.chance().of("raft " + number);
    trace = place.trace();
    this.stores = stores;
    cluster =
        place.others().isEmpty()
            ? new ArrayList<>()
            : ((RaftServers) place.others().getFirst()).cluster;
    cluster.add(this);
    members =
        new SimulatedMembers(
            new Around(), chance, trace, times, SimulatedMembers.Sizes.of(chance), false);
  }

  @Override
  public void begin() {
    members.begin(COUNT, MEMBERS);
    int faults = chance.of(List.of(3_000, 10_000, 30_000, 100_000));
    later(SimulatedMembers.MILLI * faults, () -> members.fault(faults));
    if (chance.percent(40)) later(SimulatedMembers.MILLI * CHANGES, () -> members.change(CHANGES));
  }

  @Override
  public void replace() {
    Server leading = members.leading();
    if (leading == null) return;
    switch (chance.below(8)) {
      case 0 -> leading.crash();
      case 1 -> members.cutOff(leading);
      case 2 -> leading.pause();
      case 3 -> {
        trace.reached("a machine crashes");
        ofMachine(leading.place, (_, server) -> server.crash());
      }
      case 4 -> {
        trace.reached("a machine is cut off");
        ofMachine(leading.place, SimulatedMembers::cutOff);
      }
      case 5 -> {
        trace.reached("a machine pauses");
        ofMachine(leading.place, (_, server) -> server.pause());
      }
      default -> members.handOver();
    }
  }

  /// Does something to the servers of all groups at one place.
  private void ofMachine(int place, BiConsumer<SimulatedMembers, Server> event) {
    for (RaftServers group : cluster) {
      Server server = group.members.servers().get(place);
      if (server.alive) event.accept(group.members, server);
    }
  }

  @Override
  public void kill() {
    var others = new ArrayList<>(members.servers());
    others.removeIf(server -> !server.alive || server.core().status().leads());
    if (!others.isEmpty()) chance.of(others).crash();
  }

  @Override
  public void failed(Fibers.Life life) {
    for (Server server : members.servers()) machineOf(server).failed(life);
  }

  @Override
  public void calm() {
    for (Server server : members.servers()) machineOf(server).power.disk.limit(Long.MAX_VALUE);
    members.calm();
  }

  @Override
  public Streams streams() {
    Server leading = members.leading();
    if (leading == null) throw new IllegalStateException("no server leads");
    return machineOf(leading).replica().streams();
  }

  @Override
  public boolean isLevel() {
    Server leading = members.leading();
    if (leading == null) return false;
    CoreStatus status = leading.core().status();
    Position last = machineOf(leading).replica().applied();
    if (last.index() < status.last()) return false;
    var replicas = new ArrayList<Replica>();
    for (Server server : members.servers()) {
      if (status.members().stream().noneMatch(server.self::equals)) continue;
      if (!server.alive) return false;
      Replica replica = machineOf(server).replica();
      if (!replica.isWhole() || !replica.applied().equals(last)) return false;
      replicas.add(replica);
    }
    ReplicaContents.requireSame(replicas);
    return true;
  }

  private static ReplicaMachine machineOf(Server server) {
    return (ReplicaMachine) server.machine;
  }

  private void later(long delayNanos, Runnable task) {
    fibers.after(
        Math.max(1, delayNanos / 1_000),
        () -> {
          task.run();
          members.judge();
        });
  }

  private final class Around implements SimulatedMembers.Surroundings {
    @Override
    public long nanos() {
      return fibers.micros() * 1_000;
    }

    @Override
    public void at(long delayNanos, Runnable task) {
      later(delayNanos, task);
    }

    @Override
    public String prefix() {
      return number + ".";
    }

    @Override
    public SimulatedMembers.Machine machine(Server server) {
      return new ReplicaMachine(server);
    }

    @Override
    public void leading(Server server) {
      machineOf(server).openStore();
    }

    @Override
    public void following(Server server) {
      machineOf(server).follow();
    }

    @Override
    public void alarm(Server server, String member, String trouble) {
      throw members.broken(member + ": " + trouble);
    }
  }

  // ---- judging

  private void placed(Server server, Position at, int digest) {
    var placed = new Placed(at.term(), digest);
    Placed before = commands.putIfAbsent(at.index(), placed);
    if (before != null && !before.equals(placed)) {
      throw members.broken(
          "%s has %s at %s, where %s is".formatted(server.self.id(), placed, at, before));
    }
  }

  private void answered(Server server, Position at, byte[] answer) {
    byte[] before = answers.putIfAbsent(at.index(), answer);
    if (before != null && !Arrays.equals(before, answer)) {
      throw members.broken(server.self.id() + " answers differently at " + at);
    }
  }

  // ---- the replica of a server

  /// The replica of a server, and the store while the server leads.
  private final class ReplicaMachine implements SimulatedMembers.Machine {
    private final Server server;
    private final Power power = new Power();
    private @Nullable PoweredDevice device;
    private @Nullable Replica replica;
    private Fibers.Life process;

    // The threads of the store; null when it is closed.
    private Fibers.@Nullable Life store;
    private @Nullable Attempt attempt;
    private int behind;

    ReplicaMachine(Server server) {
      this.server = server;
      process = fibers.life("nothing yet");
    }

    Replica replica() {
      if (replica == null) throw new IllegalStateException("a replica was never opened");
      return replica;
    }

    @Override
    public AppliedState open() {
      process = fibers.life("server " + number + "." + server.self.id() + "." + server.life);
      Replica opened;
      if (device == null) {
        device = new PoweredDevice(power, PoweredDevice.SMALL);
        opened = new Replica(device.device(), logs);
      } else {
        opened = new Replica(device.restart(), logs);
      }
      replica = opened;
      int mine = server.life;
      later(LOOK_NANOS, () -> look(mine, opened));
      return new Watched(this, opened);
    }

    /// Ends the core when the device has failed. The core itself notices that at its next command
    /// only.
    private void look(int life, Replica opened) {
      if (life != server.life || !server.alive) return;
      DeviceFailed failure = opened.device().failure();
      if (failure != null) {
        server.core().fail(failure);
        return;
      }
      requireLogged(opened);
      later(LOOK_NANOS, () -> look(life, opened));
    }

    /// Fails when a replica shows an entry that is in no applied batch.
    private void requireLogged(Replica opened) {
      if (!opened.isWhole()) return;
      try {
        ReplicaContents.requireLogged(opened);
      } catch (StoaException | StorageException unreadable) {
        trace.reached("unreadable");
      }
    }

    @Override
    public Position begin() {
      return replica().applied().index() == 0 ? new Position(1, 1) : replica().sync();
    }

    @Override
    public @Nullable ReplicaLog log(SimulatedDisk disk) {
      return replica().log();
    }

    @Override
    public SimulatedDisk failing(SimulatedDisk log) {
      return logs == Replica.LogPlace.FILES && chance.percent(50) ? log : power.disk;
    }

    @Override
    public void end(boolean isPowerLost) {
      closeStore();
      process.end();
      leave(null);
      attempt = null;
      power.isLost = isPowerLost;
      power.fail();
    }

    @Override
    public void pause(long nanos) {
      process.pause(nanos / 1_000);
      if (store != null) store.pause(nanos / 1_000);
    }

    // ---- the store

    void openStore() {
      closeStore();
      var life = fibers.life("store " + number + "." + server.self.id() + "." + ++lives);
      store = life;
      Replica led = replica();
      stores.open(life, () -> ReplicatedBatchLog.open(led, new End(this, led)));
    }

    private void closeStore() {
      if (store != null) store.end();
      store = null;
    }

    /// Closes the store soon, since another thread does so.
    void follow() {
      Fibers.Life closing = store;
      later(
          chance.between(1, 20_000) * 1_000L,
          () -> {
            if (store == closing) closeStore();
          });
    }

    /// Opens a store that has failed again, while the server leads.
    void failed(Fibers.Life life) {
      if (store != life) return;
      later(
          LOOK_NANOS,
          () -> {
            if (store != life) return;
            closeStore();
            if (!server.alive || !server.core().status().ready()) return;
            trace.reached("a leader opens its store again");
            openStore();
          });
    }

    // ---- catching up

    @Override
    public void catchUp(Server source) {
      var asks = new Attempt(this, source);
      attempt = asks;
      process.execute(() -> {
        boolean isLevel = level(asks);
        trace.reached(isLevel ? "level" : "catch-up broken off");
        server.submit(() -> server.core().caughtUp(isLevel));
      });
    }

    private boolean level(Attempt asks) {
      try {
        CatchUp.run(replica(), asks::ask);
        behind = 0;
        return true;
      } catch (CatchUp.Behind less) {
        Member leader = asks.source.self;
        if (++behind == BEHIND_MAX) server.submit(() -> server.core().ahead(leader));
      } catch (IOException brokenOff) {
        behind = 0;
      } catch (RuntimeException failure) {
        server.submit(() -> server.core().fail(failure));
      } finally {
        asks.leave();
        if (attempt == asks) attempt = null;
      }
      return false;
    }

    @Override
    public void leave(@Nullable String leader) {
      Attempt asks = attempt;
      if (asks != null && !asks.source.self.id().equals(leader)) asks.leave();
    }
  }

  /// The disk of a device, which loses what its server loses.
  private final class Power implements PoweredDisk {
    private SimulatedDisk disk = new SimulatedDisk(chance.any());
    private boolean isLost;

    @Override
    public SimulatedDisk disk() {
      return disk;
    }

    @Override
    public void fail() {
      disk = isLost ? disk.crash() : disk.kill();
    }
  }

  /// A replica, of which the simulation sees all that is applied.
  private final class Watched implements AppliedState {
    private final ReplicaMachine machine;
    private final Replica replica;
    private final AppliedState state;

    Watched(ReplicaMachine machine, Replica replica) {
      this.machine = machine;
      this.replica = replica;
      this.state = AppliedState.of(replica);
    }

    /// Fails when a catch-up goes on: the core would wait for its end.
    private void requireNoCatchUp() {
      Attempt asks = machine.attempt;
      if (asks != null && !asks.isLeft) {
        throw members.broken(machine.server.self.id() + " applies while it catches up");
      }
    }

    @Override
    public byte[] apply(Position at, byte[] command) {
      requireNoCatchUp();
      placed(machine.server, at, Arrays.hashCode(command));
      // A replica that is not whole may have the outcome already, and answers that another one has
      // overtaken it.
      boolean again = at.index() <= replica.applied().index() || !replica.isWhole();
      byte[] answer = state.apply(at, command);
      if (!again) answered(machine.server, at, answer);
      return answer;
    }

    @Override
    public void advance(Position at) {
      requireNoCatchUp();
      placed(machine.server, at, 0);
      state.advance(at);
    }

    @Override
    public Position sync() {
      return state.sync();
    }

    @Override
    public Position applied() {
      return state.applied();
    }

    @Override
    public boolean isWhole() {
      return state.isWhole();
    }

    @Override
    public boolean complete() {
      requireNoCatchUp();
      return state.complete();
    }

    @Override
    public void completed() {
      requireNoCatchUp();
      state.completed();
    }
  }

  /// The connection of a catch-up to the replica that has more.
  private final class Attempt {
    private final ReplicaMachine machine;
    private final Server source;
    private final int sourceLife;
    private @Nullable Supply supply;
    private boolean isLeft;

    // Completes when a question or an answer has arrived.
    private CompletableFuture<Boolean> onItsWay = new CompletableFuture<>();

    Attempt(ReplicaMachine machine, Server source) {
      this.machine = machine;
      this.source = source;
      this.sourceLife = source.life;
    }

    InputStream ask(byte[] question) throws IOException {
      travel();
      Replica from = machineOf(source).replica();
      var answer = new ByteArrayOutputStream();
      try {
        Supply open = supply;
        if (open == null) {
          if (!from.isWhole()) throw new IOException("the other replica lacks something itself");
          open = from.supply();
        }
        supply = open;
        open.answer(question, answer);
      } catch (StorageException failed) {
        throw new IOException("the other server's device has failed", failed);
      } catch (IllegalStateException failed) {
        if (!(failed.getCause() instanceof StorageException)) throw failed;
        throw new IOException("the other replica has failed", failed);
      }
      travel();
      return new ByteArrayInputStream(answer.toByteArray());
    }

    private void travel() throws IOException {
      var arrival = new CompletableFuture<Boolean>();
      onItsWay = arrival;
      fibers.after(chance.between(100, 20_000), () -> arrival.complete(true));
      if (isLeft || !arrival.join()) throw new IOException("it was left");
      boolean isLost =
          source.life != sourceLife
              || !source.alive
              || !source.isAwake()
              || members.isCut(source, machine.server)
              || members.isCut(machine.server, source)
              || (!members.isCalm() && chance.percent(5));
      if (isLost) throw new IOException("the connection breaks");
    }

    /// Closes the connection.
    void leave() {
      isLeft = true;
      onItsWay.complete(false);
      Supply open = supply;
      supply = null;
      if (open != null && source.life == sourceLife) open.close();
    }
  }

  /// The end at which a leader proposes.
  private final class End implements Consensus {
    private final ReplicaMachine machine;
    private final Replica replica;

    End(ReplicaMachine machine, Replica replica) {
      this.machine = machine;
      this.replica = replica;
    }

    @Override
    public Result propose(byte[] command) {
      if (command.length > COMMAND_BYTES_MAX) {
        return new Result.Refused(new LimitExceeded("a command of " + command.length + " bytes"));
      }
      Server server = machine.server;
      long begun = server.nanos();
      var answer = new CompletableFuture<Result>();
      server.submit(() ->
          server
              .core()
              .propose(
                  command,
                  begun,
                  result -> {
                    if (result instanceof Result.Applied) {
                      acknowledged = Math.max(acknowledged, replica.applied().index());
                    }
                    answer.complete(result);
                  }));
      fibers.after(
          PATIENCE_MICROS,
          () -> answer.complete(new Result.Unknown(new Unavailable("there is no outcome"))));
      Result result = answer.join();
      if (result instanceof Result.Unknown) trace.reached("unknown outcome");
      return result;
    }

    @Override
    public void confirm() {
      Server server = machine.server;
      long floor = acknowledged;
      if (server.core().isCertain(server.nanos())) {
        trace.reached("certain");
      } else {
        var answer = new CompletableFuture<Optional<RuntimeException>>();
        server.submit(
            () -> server.core().confirm(failure -> answer.complete(Optional.ofNullable(failure))));
        fibers.after(
            PATIENCE_MICROS,
            () -> answer.complete(Optional.of(new Unavailable("there is no answer"))));
        Optional<RuntimeException> failure = answer.join();
        if (failure.isPresent()) {
          throw new Unavailable("it cannot be certain that it leads", failure.get());
        }
        trace.reached("confirmed");
      }
      if (replica.applied().index() < floor) {
        throw members.broken(
            "%s confirms at %d, and %d was acknowledged before"
                .formatted(server.self.id(), replica.applied().index(), floor));
      }
    }

    @Override
    public int commandBytesMax() {
      return COMMAND_BYTES_MAX;
    }
  }
}

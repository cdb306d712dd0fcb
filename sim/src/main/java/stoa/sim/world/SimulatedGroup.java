package stoa.sim.world;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.log.BatchLog;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.StorageException;

/// A group whose replicas agree by a simulated consensus: a total order of commands, with leader
/// changes, delays, repeats, refusals and unknown outcomes as a seed determines.
///
/// It starts no thread and reads no clock. Pending work advances only by [#step] and by proposals;
/// [#elect] makes another replica the leader and [#crash] ends a replica and recovers it from its
/// device. A replica whose device fails crashes in the same way. One owner. Each [#leader] is an
/// end of the group that keeps the contract of [BatchLog].
public final class SimulatedGroup implements AutoCloseable {
  /*
   * In place of a consensus protocol there is `order`, a list that survives everything. A replica
   * is a stoa.log.Replica on a device of its own, which receives the commands of the order one by
   * one, those before a crash perhaps again.
   *
   *                               apply(replica)
   *   propose ─► order ──────────────────────────► each replica's device; the leader's at once
   *      │         ▲ repeat()
   *      └─► late ─┘ step(), or never: Unknown
   *
   * Now and then the beginning of the order is dropped, as far as the leader's device is durable. A replica
   * that is not as far is brought level by another one; that may break off, and goes on the next time. Or it is given
   * the order after all, as by a leader that has not dropped as much.
   *
   * Invariants:
   * (1) A new leader has applied the whole order before it is given the leadership.
   * (2) A command that is late enters the order at any time, also under a later leader, once that has
   *     opened its term.
   * (3) A proposer is told Applied only after its own replica has applied the command.
   * (4) At one position every replica that is whole gives the same answer.
   */

  /// The rates of failures, in percent of the occasions.
  ///
  /// @param refused a command is refused before it is ordered
  /// @param repeated an ordered command is ordered again
  /// @param impatient a proposer gets an unknown outcome, though its command may still be ordered
  public record Trouble(int refused, int repeated, int impatient) {
    /// None.
    public static final Trouble NONE = new Trouble(0, 0, 0);

    /// Enough of everything.
    public static final Trouble STANDARD = new Trouble(5, 15, 5);
  }

  private static final int COMMAND_BYTES_MAX = 1 << 20;

  // The percentage of occasions on which a dropped part is there nevertheless.
  private static final int FROM_THE_LOG = 60;

  /// A command with a place in the order, and its leadership.
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Ordered(long leadership, byte[] command) {}

  /// One replica: its device, and how much of the order it has received since it was opened last.
  private static final class Member {
    private final PoweredDevice device;
    private Replica replica;
    private int given;

    private Member(PoweredDevice device) {
      this.device = device;
      this.replica = new Replica(device.device());
    }
  }

  /// The end at which a leader proposes, for as long as it leads.
  private final class End implements Consensus {
    private final Member member;

    private End(Member member) {
      this.member = member;
    }

    @Override
    public Result propose(byte[] command) {
      return SimulatedGroup.this.propose(this, command);
    }

    @Override
    public void confirm() {
      if (end != this) throw deposed();
    }

    @Override
    public int commandBytesMax() {
      return COMMAND_BYTES_MAX;
    }
  }

  private final Chance chance;
  private Trouble trouble;
  private final List<Member> members = new ArrayList<>();
  private final List<Ordered> order = new ArrayList<>();
  private final List<Ordered> late = new ArrayList<>();
  private final Map<Long, byte[]> answers = new TreeMap<>();
  // The length of the dropped beginning of the order.
  private long dropped;
  private long leadership;
  private @Nullable End end;
  private @Nullable ReplicatedBatchLog leader;

  /// Creates a group without a leader.
  ///
  /// @param disks one for each replica
  public SimulatedGroup(
      Chance chance, Trouble trouble, List<PoweredDisk> disks, DeviceConfig config) {
    this.chance = chance;
    this.trouble = trouble;
    for (var disk : disks) members.add(new Member(new PoweredDevice(disk, config)));
  }

  /// Returns the number of replicas.
  public int size() {
    return members.size();
  }

  /// Returns the streams as a replica has materialized them so far.
  public Streams streams(int replica) {
    return members.get(replica).replica.streams();
  }

  /// Returns a replica, until it crashes.
  Replica replica(int index) {
    return members.get(index).replica;
  }

  /// Returns whether a replica leads.
  public boolean hasLeader() {
    return leader != null;
  }

  /// Returns the end of the present leader.
  ///
  /// @throws IllegalStateException when there is none
  public BatchLog leader() {
    if (leader == null) throw new IllegalStateException("the group has no leader; elect one");
    return leader;
  }

  /// Returns the index of the leader.
  public int leaderIndex() {
    if (end == null) throw new IllegalStateException("the group has no leader; elect one");
    return members.indexOf(end.member);
  }

  /// Lets one event happen: a late command is ordered, or a replica applies a command or makes one
  /// durable.
  ///
  /// @return whether anything could happen
  public boolean step() {
    List<Runnable> possible = new ArrayList<>();
    if (leader != null) {
      for (var command : late) possible.add(() -> arrive(command));
    }
    for (var member : members) {
      if (member.given < order.size()) possible.add(() -> advance(member));
    }
    if (possible.isEmpty()) return false;
    chance.of(possible).run();
    return true;
  }

  private void arrive(Ordered command) {
    late.remove(command);
    order.add(command);
  }

  /// Steps until nothing can happen.
  public void settle() {
    boolean more = true;
    while (more) more = step();
  }

  /// Returns the device of a replica, until it crashes.
  public Device device(int replica) {
    return members.get(replica).device.device();
  }

  /// Makes a replica the leader, in place of the present one.
  public BatchLog elect(int index) {
    Member member = members.get(index);
    while (true) {
      retire();
      while (member.given < order.size() || !complete(member)) advance(member);
      leadership++;
      var elected = new End(member);
      end = elected;
      try {
        leader = ReplicatedBatchLog.open(member.replica, elected);
        return leader;
      } catch (Unavailable refused) {
        // The next round elects it again.
      }
    }
  }

  /// Lets a new leader apply all commands that others can have sent it.
  private boolean complete(Member member) {
    try {
      if (!member.replica.isWhole()) member.replica.completed();
      return true;
    } catch (StorageException | StoaException failed) {
      crash(members.indexOf(member));
      return false;
    }
  }

  private void retire() {
    end = null;
    leader = null;
  }

  /// Ends a replica and opens it again from its device. It receives a part of the order again that
  /// it may have applied before. If it led, there is no leader afterwards.
  public void crash(int index) {
    Member member = members.get(index);
    if (end != null && end.member == member) retire();
    member.replica = opened(member.device);
    member.given = chance.below((int) member.replica.applied().index() + 1);
  }

  private static Replica opened(PoweredDevice device) {
    while (true) {
      try {
        return new Replica(device.restart());
      } catch (StorageException | StoaException powerLost) {
        // Once more.
      }
    }
  }

  /// Stops all failures, in the consensus and on disks, except requested ones.
  public void calm() {
    trouble = Trouble.NONE;
    for (var member : members) member.device.calm();
  }

  @Override
  public void close() {
    for (var member : members) member.replica.close();
  }

  private Consensus.Result propose(End proposer, byte[] command) {
    if (proposer != end || chance.percent(trouble.refused())) {
      return new Consensus.Result.Refused(deposed());
    }
    var ordered = new Ordered(leadership, command);
    if (chance.percent(trouble.impatient())) {
      if (chance.percent(70)) late.add(ordered);
      return new Consensus.Result.Unknown(new Unavailable("no answer in time"));
    }
    order.add(ordered);
    int place = order.size();
    if (chance.percent(trouble.repeated())) {
      order.add(order.get(chance.between(Math.max(0, place - 4), place - 1)));
    }
    while (proposer.member.given < place) {
      advance(proposer.member);
      if (proposer != end) {
        return new Consensus.Result.Unknown(new Unavailable("the leader is gone"));
      }
    }
    return new Consensus.Result.Applied(answer(place));
  }

  private byte[] answer(long index) {
    byte[] answer = answers.get(index);
    if (answer == null) throw new IllegalStateException("nobody has applied " + index);
    return answer;
  }

  private static Unavailable deposed() {
    return new Unavailable("this end of the group does not lead it");
  }

  /// Gives a replica the next command, or the entries that it lacks.
  private void advance(Member member) {
    if (member.given < dropped
        && member.replica.applied().index() >= dropped
        && member.replica.isWhole()) {
      member.given = (int) member.replica.applied().index();
    } else if (member.given < dropped && !chance.percent(FROM_THE_LOG)) {
      level(member);
    } else {
      apply(member);
    }
  }

  private void level(Member member) {
    // The leader, or a replica that is behind even the one that lacks entries.
    var sources = members.stream().filter(other -> other.replica.isWhole()).toList();
    Member from = chance.of(sources);
    var asked = new boolean[1];
    try (var supply = from.replica.supply()) {
      CatchUp.run(
          member.replica,
          question -> {
            if (chance.percent(trouble.repeated())) throw new IOException("broken off");
            var answer = new ByteArrayOutputStream();
            asked[0] = true;
            while (from.given < order.size() && chance.percent(50)) apply(from);
            supply.answer(question, answer);
            asked[0] = false;
            return new ByteArrayInputStream(answer.toByteArray());
          });
      member.given = (int) member.replica.applied().index();
    } catch (IOException brokenOff) {
      // A later step repeats it.
    } catch (StorageException | StoaException failed) {
      crash(members.indexOf(asked[0] ? from : member));
    }
  }

  private void apply(Member member) {
    int index = member.given + 1;
    Ordered next = order.get(index - 1);
    // A replica that is not whole may have the outcome already, and answers that another one has
    // overtaken it.
    boolean again = index <= member.replica.applied().index() || !member.replica.isWhole();
    byte[] answer;
    try {
      answer = member.replica.apply(new Position(next.leadership(), index), next.command());
      if (chance.percent(5)) {
        long durable = member.replica.sync().index();
        if (end != null && end.member == member && chance.percent(50)) dropped = durable;
      }
    } catch (StorageException | StoaException failed) {
      crash(members.indexOf(member));
      return;
    }
    member.given = index;
    if (again) return;
    byte[] other = answers.putIfAbsent((long) index, answer);
    Check.that(
        other == null || Arrays.equals(other, answer), "replicas answer %s differently", index);
  }
}

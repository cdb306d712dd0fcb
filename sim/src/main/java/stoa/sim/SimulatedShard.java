package stoa.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.log.Batch;
import stoa.log.LocalShardLog;
import stoa.log.Outcome;
import stoa.log.Streams;
import stoa.storage.DeviceConfig;
import stoa.storage.StorageException;

/// A shard of several replicas under one simulated consensus: a total order of batches, with leader
/// changes, delays, repeats, refusals and unknown outcomes as a seed decides.
///
/// It starts no thread and reads no clock. Whatever is under way advances only by [#step]; [#elect]
/// makes another replica the leader and [#crash] ends a replica and recovers it from its device. A
/// replica whose device fails crashes in the same way. One owner. Each [#leader] is an end of the
/// shard that keeps the contract of [ShardLog].
public final class SimulatedShard implements AutoCloseable {
  /*
   * What stands in for a consensus protocol is `order`, a list that survives everything. A replica
   * is a LocalShardLog on a device of its own, to which the items of the order are given one by one;
   * it is that log which voids what must be void, and so is tested with it.
   *
   *                    arrive()                   apply(replica)
   *   append ─► under way ─────────► order ──────────────────────► each replica's device ─► done
   *                │                  ▲ repeat()
   *                │ elect(), crash() │
   *                └─► ordered, dropped, or late: Unknown
   *
   * Invariants:
   * (1) A new leader has applied the whole order before it is given the leadership.
   * (2) A proposal of an earlier leadership enters the order before the next leader is given it, or
   *     after a batch that has raised the term (where it is void), or never.
   * (3) A proposer is told an outcome at most once, and Committed only after its own replica has
   *     applied the batch.
   * (4) Within an epoch, terms are leadership numbers, which only rise.
   */

  /// How often things go wrong, in percent of the occasions.
  ///
  /// @param refused a batch is refused before it is ordered
  /// @param repeated an ordered batch is ordered again
  /// @param impatient a proposer is told [Outcome.Unknown] though its batch may still be ordered
  public record Trouble(int refused, int repeated, int impatient) {
    /// None.
    public static final Trouble NONE = new Trouble(0, 0, 0);

    /// Enough of everything.
    public static final Trouble STANDARD = new Trouble(5, 15, 5);
  }

  private sealed interface Item {
    record Ordered(Batch batch) implements Item {}

    record Sealed(long epoch) implements Item {}
  }

  private static final class Proposal {
    private final SimulatedShardLog end;
    private final Batch batch;
    private @Nullable Consumer<Outcome> done;
    /* Where it stands in the order; -1 while it does not. */
    private int position = -1;

    private Proposal(SimulatedShardLog end, Batch batch, Consumer<Outcome> done) {
      this.end = end;
      this.batch = batch;
      this.done = done;
    }

    private void tell(Outcome outcome) {
      var told = done;
      if (told == null) return;
      done = null;
      if (outcome instanceof Outcome.Unknown) end.failed = true;
      told.accept(outcome);
    }
  }

  /* One replica: its device and log, and how far it has come in the order. */
  static final class Replica {
    private final PoweredDevice device;
    private LocalShardLog log;
    /* How many items of the order were given to it since it was opened last. */
    private int applied;

    LocalShardLog log() {
      return log;
    }

    private Replica(PoweredDevice device) {
      this.device = device;
      this.log = new LocalShardLog(device.device());
    }
  }

  private final Chance chance;
  private Trouble trouble;
  private final List<Replica> replicas = new ArrayList<>();
  private final List<Item> order = new ArrayList<>();
  /* Proposals that have not reached the order, and those whose proposer waits to be told. */
  private final List<Proposal> underWay = new ArrayList<>();
  private final List<Proposal> untold = new ArrayList<>();
  private long leadership;
  /* What the items of the order, taken together, have raised epoch and term to. */
  private long epoch;
  private long term;
  private @Nullable SimulatedShardLog leader;

  /// A shard without a leader.
  ///
  /// @param disks one for each replica
  public SimulatedShard(
      Chance chance, Trouble trouble, List<PoweredDisk> disks, DeviceConfig config) {
    this.chance = chance;
    this.trouble = trouble;
    for (var disk : disks) replicas.add(new Replica(new PoweredDevice(disk, config)));
  }

  /// How many replicas there are.
  public int replicas() {
    return replicas.size();
  }

  /// The streams as a replica has materialized them so far.
  public Streams streams(int replica) {
    return replicas.get(replica).log.streams();
  }

  /// Whether a replica leads.
  public boolean hasLeader() {
    return leader != null;
  }

  /// The end of the present leader.
  ///
  /// @throws IllegalStateException when there is none
  public SimulatedShardLog leader() {
    if (leader == null) throw new IllegalStateException("the shard has no leader; elect one");
    return leader;
  }

  /// The replica that leads.
  public int leaderIndex() {
    return replicas.indexOf(leader().replica);
  }

  /// Lets one thing happen: a batch is ordered, repeated or applied somewhere, or a proposer is
  /// told.
  ///
  /// @return whether anything could happen
  public boolean step() {
    List<Runnable> possible = new ArrayList<>();
    for (var proposal : underWay) {
      if (mayArrive(proposal)) possible.add(() -> arrive(proposal));
    }
    for (var replica : replicas) {
      if (replica.applied < order.size()) possible.add(() -> apply(replica));
    }
    for (var proposal : untold) {
      if (applied(proposal)) possible.add(() -> conclude(proposal));
    }
    if (possible.isEmpty()) return false;
    chance.of(possible).run();
    return true;
  }

  /// Steps until nothing can happen.
  public void settle() {
    boolean more = true;
    while (more) more = step();
  }

  /// Makes a replica the leader. Whoever led before leads no longer, and learns an unknown outcome
  /// of what it has under way.
  public SimulatedShardLog elect(int index) {
    retire();
    Replica replica = replicas.get(index);
    while (replica.applied < order.size()) apply(replica);
    leader = new SimulatedShardLog(this, replica, ++leadership);
    return leader;
  }

  /// Ends a replica and opens it again from its device, to which it applies a part of the order
  /// that it had applied before. When it led, there is no leader afterwards.
  public void crash(int index) {
    Replica replica = replicas.get(index);
    if (leader != null && leader.replica == replica) {
      retire();
      leader = null;
    }
    replica.log = new LocalShardLog(replica.device.restart());
    replica.applied = replica.applied == 0 ? 0 : chance.below(replica.applied + 1);
  }

  /// Lets nothing go wrong from now on, in the consensus or on a disk, unless it is asked for.
  public void calm() {
    trouble = Trouble.NONE;
    for (var replica : replicas) replica.device.calm();
  }

  @Override
  public void close() {
    for (var replica : replicas) replica.log.close();
  }

  void propose(SimulatedShardLog end, Batch batch, Consumer<Outcome> done) {
    var proposal = new Proposal(end, batch, done);
    if (end.failed) {
      proposal.tell(new Outcome.Unknown(new Unavailable("an earlier outcome is unknown; reopen")));
    } else if (end != leader) {
      proposal.tell(new Outcome.Fenced(end.replica.log.tail().epoch()));
    } else if (chance.percent(trouble.refused())) {
      proposal.tell(new Outcome.Refused(new Unavailable("no room for the batch at the moment")));
    } else {
      underWay.add(proposal);
      untold.add(proposal);
      if (chance.percent(trouble.impatient())) {
        proposal.tell(new Outcome.Unknown(new Unavailable("no answer in time")));
      }
    }
  }

  void seal(SimulatedShardLog end, long newEpoch) {
    if (end != leader || end.failed)
      throw new Unavailable("this end of the shard does not lead it");
    order.add(new Item.Sealed(newEpoch));
    if (newEpoch > epoch) {
      epoch = newEpoch;
      term = 0;
    }
    while (end.replica.applied < order.size()) apply(end.replica);
  }

  /* Decides on everything under way, by (2), and tells the proposers. */
  private void retire() {
    for (var proposal : List.copyOf(underWay)) {
      if (proposal.end.leadership < leadership) continue;
      switch (chance.below(3)) {
        case 0 -> arrive(proposal);
        case 1 -> underWay.remove(proposal);
        default -> {
          // Late.
        }
      }
    }
    for (var proposal : List.copyOf(untold)) {
      if (applied(proposal) && chance.percent(50)) conclude(proposal);
      else proposal.tell(new Outcome.Unknown(new Unavailable("the leader changed")));
    }
    untold.clear();
  }

  private static boolean applied(Proposal proposal) {
    return proposal.position >= 0 && proposal.end.replica.applied > proposal.position;
  }

  private boolean mayArrive(Proposal proposal) {
    return leader == proposal.end || term > proposal.batch.term();
  }

  private void arrive(Proposal proposal) {
    underWay.remove(proposal);
    proposal.position = order.size();
    order.add(new Item.Ordered(proposal.batch));
    if (proposal.batch.token().first().epoch() == epoch) {
      term = Math.max(term, proposal.batch.term());
    }
  }

  private void apply(Replica replica) {
    int at = replica.applied;
    Outcome outcome = give(replica, order.get(at));
    if (outcome instanceof Outcome.Unknown) {
      crash(replicas.indexOf(replica));
      return;
    }
    replica.applied++;
    for (var proposal : untold) {
      if (proposal.position == at && proposal.end.replica == replica) {
        proposal.end.outcome = outcome;
      }
    }
    if (at == order.size() - 1 && chance.percent(trouble.repeated())) {
      order.add(order.get(chance.between(Math.max(0, at - 3), at)));
    }
  }

  private static Outcome give(Replica replica, Item item) {
    try {
      switch (item) {
        case Item.Sealed(long epoch) -> replica.log.seal(epoch);
        case Item.Ordered(Batch batch) -> {
          List<Outcome> outcomes = new ArrayList<>();
          replica.log.append(batch, outcomes::add);
          Check.that(outcomes.size() == 1, "a local log tells one outcome, not %s", outcomes);
          Outcome outcome = outcomes.getFirst();
          Check.that(
              !(outcome instanceof Outcome.Refused),
              "a replica takes every ordered batch, not %s",
              outcome);
          return outcome;
        }
      }
    } catch (StorageException failed) {
      return new Outcome.Unknown(failed);
    }
    return new Outcome.Committed();
  }

  private void conclude(Proposal proposal) {
    untold.remove(proposal);
    proposal.tell(Objects.requireNonNull(proposal.end.outcome));
  }
}

package stoa.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import stoa.log.core.Command;
import stoa.log.core.Shard;

/// The ordered log of a shard of the stream store, with its replicas, as a seed decides: commands
/// are delayed, repeated and, when the leader changes, dropped or late.
///
/// One owner. Its leader proposes one command at a time.
final class SimulatedCommands {
  /* As in SimulatedShard, `order` stands in for a consensus protocol and survives everything; a
   * replica that crashes applies all of it again. A new leader has applied the whole order. */

  /// Makes an empty replica.
  interface Replicas {
    Shard empty();
  }

  private record Proposal(long term, long sequence, Command command) {}

  private static final class Replica {
    private Shard shard;
    private int applied;

    private Replica(Shard shard) {
      this.shard = shard;
    }
  }

  private final Chance chance;
  private final Replicas make;
  private final StreamRules rules;
  private final List<Replica> replicas = new ArrayList<>();
  private final List<Proposal> order = new ArrayList<>();
  private final List<Proposal> underWay = new ArrayList<>();
  private int leader;
  private long term;
  private long sequence;
  private @Nullable BiConsumer<Command, Shard.Applied> waiting;

  SimulatedCommands(Chance chance, int count, StreamRules rules, Replicas make) {
    this.chance = chance;
    this.make = make;
    this.rules = rules;
    for (int i = 0; i < count; i++) replicas.add(new Replica(make.empty()));
  }

  /// The term of the present leader.
  long term() {
    return term;
  }

  /// What the leader's replica has applied.
  Shard leader() {
    return replicas.get(leader).shard;
  }

  /// Every replica.
  List<Shard> replicas() {
    return replicas.stream().map(replica -> replica.shard).toList();
  }

  /// Makes some replica the leader, of a new term. What was under way is ordered, dropped, or late.
  void elect() {
    for (var proposal : List.copyOf(underWay)) {
      switch (chance.below(3)) {
        case 0 -> arrive(proposal);
        case 1 -> underWay.remove(proposal);
        default -> {
          // Late.
        }
      }
    }
    waiting = null;
    leader = chance.below(replicas.size());
    catchUp(replicas.get(leader));
    term++;
    sequence = 0;
  }

  /// Ends a replica and lets it apply everything again.
  void crash() {
    int index = chance.below(replicas.size());
    if (index == leader) return;
    replicas.get(index).shard = make.empty();
    replicas.get(index).applied = 0;
  }

  /// Loses everything, and begins again with a command.
  void lose(Command first) {
    order.clear();
    underWay.clear();
    waiting = null;
    for (var replica : replicas) {
      replica.shard = make.empty();
      replica.applied = 0;
    }
    term++;
    sequence = 0;
    order.add(new Proposal(term, ++sequence, first));
  }

  /// Proposes the leader's next command.
  void propose(Command command, BiConsumer<Command, Shard.Applied> told) {
    waiting = told;
    underWay.add(new Proposal(term, ++sequence, command));
  }

  /// Lets one thing happen, if anything can.
  boolean step() {
    List<Runnable> possible = new ArrayList<>();
    for (var proposal : underWay) {
      /* What an earlier leader proposed may take long, and find everything changed. */
      if (proposal.term == term || chance.percent(4)) possible.add(() -> arrive(proposal));
    }
    for (var replica : replicas) {
      if (replica.applied < order.size()) possible.add(() -> apply(replica));
    }
    if (possible.isEmpty()) return false;
    chance.of(possible).run();
    return true;
  }

  private void arrive(Proposal proposal) {
    underWay.remove(proposal);
    order.add(proposal);
    if (chance.percent(5)) order.add(proposal);
  }

  private void apply(Replica replica) {
    var proposal = order.get(replica.applied++);
    Shard.Applied applied =
        rules.apply(replica.shard, proposal.term, proposal.sequence, proposal.command);
    boolean own =
        replica == replicas.get(leader) && proposal.term == term && proposal.sequence == sequence;
    var told = waiting;
    if (own && told != null) {
      waiting = null;
      told.accept(proposal.command, applied);
    }
  }

  /// Whether nothing is on its way, into the order or from there to a replica.
  boolean isQuiet() {
    return underWay.isEmpty()
        && replicas.stream().allMatch(replica -> replica.applied == order.size());
  }

  private void catchUp(Replica replica) {
    while (replica.applied < order.size()) apply(replica);
  }
}

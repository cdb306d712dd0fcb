package stoa.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import stoa.base.StreamId;
import stoa.log.core.Command;
import stoa.log.core.Layout;
import stoa.log.core.Layout.Copies;
import stoa.log.core.LogUnit;
import stoa.log.core.Shard;
import stoa.log.core.Versions;
import stoa.sim.StreamMessage.Kind;
import stoa.sim.StreamMessage.Node;

/// A simulated stream store: shards with replicas, sequencers, coordinators, clients and a follower
/// of the log, and the network between them. One owner; a seed decides every step.
final class StreamWorld {
  private static final Shard.Limits LIMITS = new Shard.Limits(1 << 10, 4);
  private static final int BACKLOG_MAX = 300;
  private static final int QUIET_STEPS_MAX = 60_000;

  /// What goes wrong, in thousandths of the occasions.
  ///
  /// @param lost a message is lost
  /// @param repeated a message comes again
  /// @param crash a step is the crash of a coordinator, client, replica or leader
  /// @param failOver a step is the end of a sequencer
  /// @param shardLost a step is the loss of a shard
  record Trouble(int lost, int repeated, int crash, int failOver, int shardLost) {}

  /// The size of a world.
  ///
  /// @param shards how many shards
  /// @param copies what log units keep
  /// @param streams how many streams
  /// @param clients how many clients
  /// @param operations how many operations each of them makes
  record Size(int shards, Copies copies, int streams, int clients, int operations) {}

  private record Envelope(Node to, StreamMessage message) {}

  private static final class ShardPlace {
    private final SimulatedCommands commands;
    private StreamLeader leader;

    private ShardPlace(SimulatedCommands commands, StreamLeader leader) {
      this.commands = commands;
      this.leader = leader;
    }
  }

  private final Chance chance;
  private final Trace trace;
  private final StreamRules rules;
  private final Size size;
  private final Layout layout;
  private final StreamHistory history = new StreamHistory();
  private final List<StreamId> streams = new ArrayList<>();
  private final List<Envelope> network = new ArrayList<>();
  private final List<ShardPlace> shards = new ArrayList<>();
  private final Map<Long, StreamSequencer> sequencers = new TreeMap<>();
  private final List<StreamCoordinator> coordinators = new ArrayList<>();
  private final List<StreamClient> clients = new ArrayList<>();
  private Trouble trouble;
  private long epoch;
  private long numbers;
  /* The follower: where it is in the log, and what it waits for. */
  private long following = 1;
  private long followRequest = -1;

  StreamWorld(Chance chance, Trace trace, Size size, Trouble trouble, StreamRules rules) {
    this.chance = chance;
    this.trace = trace;
    this.size = size;
    this.trouble = trouble;
    this.rules = rules;
    layout = new Layout(size.shards, size.copies);
    for (int i = 0; i < size.streams; i++) streams.add(StreamId.of("stream " + i));
    for (int i = 0; i < size.shards; i++) shards.add(shard(i));
    for (int i = 0; i < 2; i++) coordinators.add(new StreamCoordinator(this, i));
    for (int i = 0; i < size.clients; i++) {
      clients.add(new StreamClient(this, chance.of("client " + i), i, size.operations));
    }
    failOver();
  }

  private ShardPlace shard(int index) {
    var commands =
        new SimulatedCommands(
            chance.of("shard " + index),
            2,
            rules,
            () ->
                new Shard(
                    index,
                    rules.layout(layout),
                    LIMITS,
                    rules.slots(),
                    rules.versions(history.watched(Versions.inMemory()))));
    commands.elect();
    return new ShardPlace(commands, new StreamLeader(this, index, commands));
  }

  long number() {
    return ++numbers;
  }

  Layout layout() {
    return layout;
  }

  StreamHistory history() {
    return history;
  }

  StreamRules rules() {
    return rules;
  }

  List<StreamId> streams() {
    return streams;
  }

  void reached(String place) {
    trace.reached(place);
  }

  /// The epoch of the sequencer that has the lease.
  long epoch() {
    return epoch;
  }

  Node sequencer() {
    return new Node(Kind.SEQUENCER, epoch);
  }

  Node coordinator() {
    return new Node(Kind.COORDINATOR, chance.below(coordinators.size()));
  }

  boolean appendsAtLeaders() {
    return size.copies == Copies.REFERENCE;
  }

  boolean trims() {
    return true;
  }

  /// The highest session that can have been opened before an epoch.
  long sessionsBefore(long newEpoch) {
    return (newEpoch << 40) - 1;
  }

  void send(Node to, StreamMessage message) {
    if (network.size() >= BACKLOG_MAX) network.remove(chance.below(network.size()));
    network.add(new Envelope(to, rules.sent(message)));
  }

  /// Runs until every client has made its operations, then lets everything settle, and judges.
  void run() {
    int steps = 0;
    while (!clients.stream().allMatch(StreamClient::isDone)) {
      step();
      if (++steps == 40_000) calm();
      StreamHistory.holds(steps < 40_000 + QUIET_STEPS_MAX, "clients come to an end");
    }
    calm();
    for (steps = 0; !isSettled(); steps++) {
      step();
      StreamHistory.holds(
          steps < QUIET_STEPS_MAX,
          "all is settled in the end: log followed to %s of %s",
          following,
          history.counter());
    }
    for (var shard : shards) {
      for (var replica : shard.commands.replicas()) {
        for (var stream : streams) {
          if (layout.shard(stream) != shards.indexOf(shard)) continue;
          history.requireAtEnd(replica.streamUnit().versions(), stream);
        }
      }
    }
    history.require();
    trace.add("end " + epoch + " " + history.counter() + " " + numbers);
  }

  /* The last shard to be lost has been rebuilt, and the log is delivered and followed. */
  private boolean isSettled() {
    for (var shard : shards) {
      var leader = shard.commands.leader();
      if (!leader.outbox().items().isEmpty() || leader.closed() != epoch) return false;
      if (leader.streamUnit().waiting() > 0 || !shard.commands.isQuiet()) return false;
      for (var replica : shard.commands.replicas()) {
        if (replica.streamUnit().waiting() > 0) return false;
      }
    }
    return following > history.counter();
  }

  private void calm() {
    trouble = new Trouble(0, 0, 0, 0, 0);
  }

  private void step() {
    if (trouble(trouble.crash)) crash();
    if (trouble(trouble.failOver)) failOver();
    if (trouble(trouble.shardLost)) lose();
    int dice = chance.below(100);
    if (dice < 55 && !network.isEmpty()) deliver();
    else if (dice < 85) chance.of(shards).commands.step();
    else tick();
  }

  private boolean trouble(int thousandths) {
    return thousandths > 0 && chance.below(1000) < thousandths;
  }

  private void deliver() {
    int at = chance.below(Math.min(network.size(), 24));
    var envelope = network.get(at);
    boolean repeated = trouble(trouble.repeated);
    if (!repeated) network.remove(at);
    if (trouble(trouble.lost)) return;
    trace.add(envelope.to + " " + envelope.message.getClass().getSimpleName());
    var to = envelope.to;
    switch (to.kind()) {
      case SHARD -> shards.get((int) to.number()).leader.on(envelope.message);
      case SEQUENCER -> {
        var sequencer = sequencers.get(to.number());
        if (sequencer != null) sequencer.on(envelope.message);
      }
      case COORDINATOR -> coordinators.get((int) to.number()).on(envelope.message);
      case CLIENT -> clients.get((int) to.number()).on(envelope.message);
      case FOLLOWER -> followed(envelope.message);
    }
  }

  private void tick() {
    List<Runnable> ticks = new ArrayList<>();
    for (var shard : shards) ticks.add(shard.leader::tick);
    for (var sequencer : sequencers.values()) ticks.add(sequencer::tick);
    for (var coordinator : coordinators) ticks.add(coordinator::tick);
    for (var client : clients) ticks.add(client::tick);
    ticks.add(this::follow);
    chance.of(ticks).run();
  }

  private void crash() {
    switch (chance.below(5)) {
      case 0 -> chance.of(coordinators).crash();
      case 1 -> chance.of(clients).crash();
      case 2 -> chance.of(shards).commands.crash();
      default -> {
        int index = chance.below(shards.size());
        elect(index);
      }
    }
    trace.add("crash");
    trace.reached("a crash");
  }

  private void elect(int index) {
    var shard = shards.get(index);
    shard.commands.elect();
    shard.leader = new StreamLeader(this, index, shard.commands);
  }

  /* The old sequencer goes on for a while, without its lease. */
  private void failOver() {
    sequencers.remove(epoch - 1);
    if (chance.percent(50)) sequencers.remove(epoch);
    epoch++;
    sequencers.put(epoch, new StreamSequencer(this, epoch));
    trace.add("epoch " + epoch);
  }

  /* Only when everything is there twice, and with it a new epoch. */
  private void lose() {
    for (var shard : shards) {
      var leader = shard.commands.leader();
      if (leader.isRebuilding() || leader.closed() == 0) return;
    }
    int index = chance.below(shards.size());
    shards.get(index).commands.lose(new Command.Replace(epoch + 1));
    elect(index);
    failOver();
    trace.add("lost " + index);
    trace.reached("a shard is lost");
  }

  private void follow() {
    if (chance.percent(30)) send(sequencer(), new StreamMessage.SettleUpTo(following));
    followRequest = number();
    send(
        new Node(Kind.SHARD, layout.logUnit(following)),
        new StreamMessage.ReadLog(new Node(Kind.FOLLOWER, 0), followRequest, following));
  }

  private void followed(StreamMessage message) {
    if (!(message instanceof StreamMessage.LogIs(long number, LogUnit.Read read))) return;
    if (number != followRequest || read instanceof LogUnit.Read.NotYet) return;
    history.followed(following, read);
    trace.reached("the log has " + read.getClass().getSimpleName());
    following++;
    follow();
  }
}

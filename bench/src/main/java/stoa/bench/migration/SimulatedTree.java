package stoa.bench.migration;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.Effect;
import stoa.migration.core.Event;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// The protocol of migrating objects in simulated time, under the load of [NodeLoad]: messages and
/// writes take their time, all else takes next to none. The same seed has the same result.
///
/// One thread uses it, for one run.
final class SimulatedTree {
  private static final double MESSAGE = 1;
  private static final double WRITE = 1;
  private static final double CALL = 0.005;
  private static final double TICK = 200;
  private static final double WARM_UP = 500;
  // The time within which nodes join. The order of their joins determines the order in which a
  // single object goes round.
  private static final double COME = 200;
  private static final TreeNode.Settings SETTINGS =
      new TreeNode.Settings(5, TreeNode.Retrieval.ONE_BY_ONE);

  /// The counts of each block, and the number of leaves.
  public record Seen(List<Blocks.Block> blocks, int leaves) {}

  private record Due(double at, long number, Runnable task) {}

  private final PriorityQueue<Due> queue =
      new PriorityQueue<>(Comparator.comparingDouble(Due::at).thenComparingLong(Due::number));
  private final Map<NodeId, Actor> processes = new HashMap<>();
  private final List<StreamId> objects = new ArrayList<>();
  private final SplittableRandom random;
  private final double leave;
  private final NodeId root = new NodeId("root", 0);
  private final int nodes;
  private final Blocks blocks;
  private final Blocks.Counts counts;
  private double now; // milliseconds
  private long numbers;
  private int leaves;

  /// @param leave the probability that a node leaves and comes back after an update
  /// @param blocks the times that count, and at which nodes leave
  SimulatedTree(int nodes, int objects, double leave, Blocks blocks, long seed) {
    this.nodes = nodes;
    this.blocks = blocks;
    this.counts = blocks.new Counts();
    this.leave = leave;
    random = new SplittableRandom(seed);
    for (int i = 0; i < objects; i++) this.objects.add(new StreamId(0, i + 1));
    processes.put(root, new Actor("root", TreeNode.root(root, SETTINGS, 1)));
    for (int i = 0; i < nodes; i++) {
      var process = new Actor("node " + i, null);
      at(random.nextDouble(COME), process::join);
    }
    at(TICK, this::tick);
  }

  Seen run() {
    double end = WARM_UP + blocks.time().toMillis();
    for (var due = queue.remove(); due.at < end; due = queue.remove()) {
      now = due.at;
      due.task.run();
    }
    return new Seen(counts.blocks(nodes), leaves);
  }

  private void at(double time, Runnable task) {
    queue.add(new Due(time, numbers++, task));
  }

  private boolean counts() {
    return now >= WARM_UP;
  }

  /// Returns the time since the counting began.
  private long nanos(double at) {
    return (long) (1e6 * (at - WARM_UP));
  }

  private void tick() {
    List.copyOf(processes.values()).forEach(Actor::tick);
    at(now + TICK, this::tick);
  }

  private void arrive(NodeId to, Event event) {
    at(
        now + MESSAGE,
        () -> {
          var process = processes.get(to);
          if (process != null) process.on(event);
        });
  }

  /// One node after the other, with an update and a read in progress.
  private final class Actor {
    private final String address;
    private final TreeSet<NodeId> neighbors = new TreeSet<>();
    private TreeNode node;
    private boolean isIn;
    private boolean isReading;
    private boolean wantsToLeave;
    private boolean isLeaving;
    private double leftAt = -1;

    private Actor(String address, @Nullable TreeNode node) {
      this.address = address;
      this.node = node == null ? fresh() : node;
    }

    private TreeNode fresh() {
      var id = new NodeId(address, numbers++);
      processes.put(id, this);
      return TreeNode.client(id, SETTINGS);
    }

    private void tick() {
      on(new Event.Tick());
      if (!isIn && !isLeaving) join();
    }

    private void join() {
      if (!node.id().equals(root)) on(new Event.Join(root, Locality.UNKNOWN));
    }

    private void again() {
      processes.remove(node.id());
      for (var each : neighbors) arrive(each, new Event.Gone(node.id()));
      neighbors.clear();
      isIn = false;
      isLeaving = false;
      node = fresh();
      join();
    }

    private void on(Event event) {
      TreeNode own = node;
      for (var effect : own.on(event)) effect(own.id(), effect);
    }

    private void effect(NodeId own, Effect effect) {
      switch (effect) {
        case Effect.Send(NodeId to, var message) -> {
          var other = processes.get(to);
          if (other == null) {
            arrive(own, new Event.Gone(to));
          } else {
            neighbors.add(to);
            other.neighbors.add(own);
            arrive(to, new Event.Received(own, message));
          }
        }
        case Effect.Tell(NodeId to, var message) -> arrive(to, new Event.Received(own, message));
        case Effect.Joined() -> joined();
        case Effect.Execute(long number, var inputs) -> {
          var outputs = new TreeMap<StreamId, byte[]>();
          for (var each : inputs) outputs.put(each.object(), each.state());
          at(now + CALL, () -> executed(new Event.Executed(number, outputs)));
        }
        case Effect.Answer _ -> {
          isReading = false;
          if (counts()) counts.read(nanos(now));
          if (wantsToLeave) leave();
          else at(now + CALL, this::read);
        }
        case Effect.Left(), Effect.Refused() -> again();
        case Effect.Load(StreamId object) ->
            at(now + CALL, () -> on(new Event.Loaded(object, null, new byte[8])));
        case Effect.Persist(long number, _, _) ->
            at(now + WRITE, () -> on(new Event.Persisted(number)));
        case Effect.Flushed _, Effect.Hasten(), Effect.Forgotten _ -> {}
        case Effect.Cut _, Effect.Disconnected(), Effect.Moving() ->
            throw new IllegalStateException("nobody fails, and " + address + " has " + effect);
      }
    }

    private void joined() {
      isIn = true;
      if (leftAt >= 0) counts.away(nanos(leftAt), nanos(now));
      leftAt = -1;
      update();
      read();
    }

    private void update() {
      var objects = new TreeSet<StreamId>();
      objects.add(some());
      on(new Event.Submit(numbers++, objects));
    }

    private StreamId some() {
      return objects.get(random.nextInt(objects.size()));
    }

    private void executed(Event.Executed event) {
      on(event);
      if (counts()) counts.update(nanos(now));
      if (!blocks.isOn(nanos(now)) || random.nextDouble() >= leave) {
        update();
      } else {
        wantsToLeave = true;
        if (!isReading) leave();
      }
    }

    private void read() {
      if (!isIn || isReading || wantsToLeave) return;
      isReading = true;
      on(new Event.Read(numbers++, some(), Reads.STRICT));
    }

    private void leave() {
      wantsToLeave = false;
      isIn = false;
      isLeaving = true;
      leftAt = now;
      leaves++;
      on(new Event.Leave());
    }
  }
}

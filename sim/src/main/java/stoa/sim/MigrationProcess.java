package stoa.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.Effect;
import stoa.migration.core.Event;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.sim.MigrationHistory.Operation;

/// A process of the simulated tree: one node after the other, and the work that it gives them. One
/// owner.
final class MigrationProcess {
  private final MigrationWorld world;
  private final Chance chance;
  private final String address;
  private int todo;
  private long numbers;
  private @Nullable TreeNode node;
  private boolean joined;
  private boolean leaving;
  private @Nullable Operation update;
  private long updateNumber;
  private @Nullable Operation read;
  private boolean answered;
  private long readNumber;
  /* Of the root: how an operation will end whose object changes elsewhere. */
  private Event.@Nullable Executed lent;
  /* What a flush is for, by the flush; and what runs. */
  private final SortedMap<Long, List<String>> flushes = new TreeMap<>();
  private final List<Effect.Execute> running = new ArrayList<>();
  /* Of the root: operations that ended and wait until their copies are durable. */
  private final SortedMap<Long, List<Operation>> gated = new TreeMap<>();
  private long lastPersist;

  MigrationProcess(MigrationWorld world, Chance chance, String address, int todo) {
    this.world = world;
    this.chance = chance;
    this.address = address;
    this.todo = todo;
  }

  @Nullable TreeNode node() {
    return node;
  }

  boolean isDone() {
    return todo == 0 && update == null && read == null && flushes.isEmpty() && joined && !leaving;
  }

  boolean isRunning() {
    return !running.isEmpty() || lent != null;
  }

  boolean isRoot() {
    return address.equals(MigrationWorld.ROOT);
  }

  void startRoot(long term) {
    node = TreeNode.root(new NodeId(address, term), world.settings(), term << 32);
    joined = true;
    world.network().add(id());
  }

  private NodeId id() {
    return world.idOf(this);
  }

  /// Whatever the process was, it is no more.
  void kill() {
    if (node != null) world.network().remove(node.id());
    reset();
  }

  private void reset() {
    node = null;
    joined = false;
    leaving = false;
    update = null;
    read = null;
    answered = false;
    lent = null;
    flushes.clear();
    running.clear();
    gated.clear();
    lastPersist = 0;
  }

  /// Does something on its own account.
  void act() {
    if (node == null) {
      if (isRoot()) return;
      node = TreeNode.client(new NodeId(address, world.number()), world.settings());
      world.network().add(node.id());
    }
    end();
    int dice = chance.below(100);
    if (!joined) {
      if (dice < 20) on(new Event.Join(world.root().id(), host()));
    } else if (dice < 25) {
      if (world.losesTold()) on(new Event.Tick());
    } else if (!leaving && todo > 0) {
      work();
    }
  }

  /* One of three. */
  private Locality host() {
    return Locality.of("host-" + Math.floorMod(address.hashCode(), 3));
  }

  private void work() {
    if (happens(world.lend()) && withdraws()) return;
    int dice = chance.below(100);
    if (chance.below(100) < world.leave() && !isRoot() && update == null && read == null) {
      leaving = true;
      world.reached("a node wants to leave");
      on(new Event.Leave());
    } else if (dice < 12) {
      long number = ++numbers;
      flushes.put(number, world.history().ended(id()));
      todo--;
      on(new Event.Flush(number));
    } else if (dice < 60) {
      if (update != null) return;
      todo--;
      var objects = chosen(chance.percent(40) ? 3 : 1);
      SortedSet<StreamId> writes = new TreeSet<>(objects);
      if (chance.percent(25)) writes.remove(writes.first());
      if (objects.size() > 1 && chance.percent(25)) writes.clear();
      update = world.history().begin(id(), Reads.STRICT, writes);
      updateNumber = ++numbers;
      on(new Event.Submit(updateNumber, objects));
    } else {
      if (read != null) return;
      todo--;
      var how = chance.percent(60) ? Reads.STRICT : Reads.LOCAL;
      read = world.history().begin(id(), how, new TreeSet<>());
      readNumber = ++numbers;
      on(new Event.Read(readNumber, chance.of(world.objects()), how));
    }
  }

  private boolean happens(int hundredths) {
    return hundredths > 0 && chance.below(100) < hundredths;
  }

  /* Gives up what it waits for. */
  private boolean withdraws() {
    if (read != null && chance.percent(50)) {
      world.reached("a read is withdrawn");
      read = null;
      on(new Event.Withdraw(readNumber));
      return true;
    }
    if (update == null || isRunning()) return false;
    world.reached("an update is withdrawn");
    update = null;
    on(new Event.Withdraw(updateNumber));
    return true;
  }

  private SortedSet<StreamId> chosen(int max) {
    SortedSet<StreamId> objects = new TreeSet<>();
    int count = chance.between(1, Math.min(max, world.objects().size()));
    while (objects.size() < count) objects.add(chance.of(world.objects()));
    return objects;
  }

  /// Ends an operation that runs.
  void execute() {
    if (node == null || !world.isSure(node)) return;
    var later = lent;
    if (later != null) {
      if (chance.percent(80)) return;
      lent = null;
      update = null;
      on(later);
      return;
    }
    var execute = running.remove(chance.below(running.size()));
    var operation = update;
    MigrationHistory.holds(operation != null, "%s runs what was asked for", address);
    if (operation == null) return;
    SortedMap<StreamId, byte[]> outputs = new TreeMap<>();
    for (Copy copy : execute.inputs()) {
      world.history().saw(operation, copy);
      if (operation.writes().contains(copy.object())) {
        outputs.put(copy.object(), world.history().update(operation, copy));
      }
    }
    var end = new Event.Executed(execute.number(), outputs);
    if (outputs.size() == 1 && execute.inputs().size() == 1 && lends()) {
      world.reached("an object changes elsewhere");
      on(new Event.Lend(execute.number()));
      world.changed(execute.inputs().getFirst(), outputs);
      world.history().end(operation);
      lent = end;
      return;
    }
    update = null;
    if (!isRoot()) world.history().end(operation);
    on(end);
    if (isRoot()) gate(operation);
  }

  /* Of the root, when all that came to it is durable. */
  private boolean lends() {
    return world.isRoot(this) && world.persisted(this) >= lastPersist && happens(world.lend());
  }

  private void gate(Operation operation) {
    if (world.persisted(this) >= lastPersist) world.history().end(operation);
    else gated.computeIfAbsent(lastPersist, _ -> new ArrayList<>()).add(operation);
  }

  void persisted(long number) {
    on(new Event.Persisted(number));
    var some = gated.headMap(number + 1);
    some.values().forEach(all -> all.forEach(world.history()::end));
    some.clear();
  }

  void on(Event event) {
    var to = node;
    if (to == null) return;
    for (var effect : to.on(event)) {
      if (node == to) effect(to, effect);
    }
  }

  /* A strict read that has its answer ends when nobody else can have what the node has. */
  private void end() {
    var operation = read;
    if (operation == null || !answered || node == null) return;
    if (!operation.isLocal() && !world.isSure(node)) return;
    read = null;
    answered = false;
    if (isRoot()) gate(operation);
    else world.history().end(operation);
  }

  private void effect(TreeNode from, Effect effect) {
    switch (effect) {
      case Effect.Send(NodeId to, var message) -> world.network().send(from.id(), to, message);
      case Effect.Tell(NodeId to, var message) -> world.network().tell(from.id(), to, message);
      case Effect.Cut(NodeId other) -> world.network().cut(from.id(), other);
      case Effect.Joined() -> joined = true;
      case Effect.Execute execute -> running.add(execute);
      case Effect.Answer(_, Copy copy) -> {
        var operation = read;
        if (operation == null) return;
        world.history().saw(operation, copy);
        answered = true;
        end();
      }
      case Effect.Flushed(long number) -> {
        var names = flushes.remove(number);
        if (names != null) world.history().durable(names);
      }
      case Effect.Moving() -> {
        world.reached("a leaf moves");
        leaving = true;
      }
      case Effect.Left() -> {
        world.reached("a node has left");
        world.history().durable(world.history().ended(from.id()));
        world.history().stayed(from.id());
        world.network().remove(from.id());
        reset();
      }
      case Effect.Refused() -> {
        world.reached("a place that was offered is gone");
        world.network().remove(from.id());
        reset();
      }
      case Effect.Disconnected() -> {
        world.disconnected(from);
        world.network().remove(from.id());
        reset();
      }
      case Effect.Load(StreamId object) -> world.load(this, object);
      case Effect.Persist(long number, var copies) -> {
        lastPersist = number;
        world.persist(this, number, copies);
      }
    }
  }

  @Override
  public String toString() {
    return "%s todo %s update %s read %s flushes %s running %s: %s"
        .formatted(address, todo, update, read, flushes, running, node);
  }
}

package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.sim.Chance;
import stoa.sim.check.MigrationHistory;
import stoa.sim.check.MigrationHistory.Operation;
import stoa.sim.check.MigrationHistory.State;

/// A process of the simulated tree: one node after the other, and their work, as `Seat` of the
/// module `migration` assigns it: several operations, reads and flushes at once, from before the
/// node has a place until it must leave; the process gives some of them up. One owner.
final class MigrationProcess {
  /* As `States` of the module `migration` tells them. */
  private static final TreeNode.Lives LIVES =
      new TreeNode.Lives() {
        @Override
        public boolean isOver(byte[] offered, byte[] stored) {
          State one = State.of(offered);
          State other = State.of(stored);
          boolean isBegun = one.life() == other.life() && !one.exists() && other.exists();
          return one.life() < other.life() || isBegun;
        }

        @Override
        public boolean isAbsent(byte[] state) {
          return !State.of(state).exists();
        }
      };

  private final MigrationWorld world;
  private final Chance chance;
  private final String address;
  private int todo;
  private long numbers;
  private @Nullable TreeNode node;
  // The node before this one.
  private @Nullable TreeNode before;
  private boolean joined;
  private boolean leaving;
  // Whether the node leaves and another one comes after it.
  private boolean moving;
  // The work in progress, by number: operations that wait or run, reads without an answer, reads
  // whose answer is not sure, and the purpose of each flush.
  private final SortedMap<Long, Operation> updates = new TreeMap<>();
  private final SortedMap<Long, Operation> reads = new TreeMap<>();
  private final List<Operation> answered = new ArrayList<>();
  private final SortedMap<Long, List<String>> flushes = new TreeMap<>();
  private final List<Effect.Execute> running = new ArrayList<>();
  // At the root: the future ends of operations whose objects change elsewhere.
  private final Deque<Event.Executed> lent = new ArrayDeque<>();
  // The events about abandoned work that the node must still receive.
  private final Deque<Event> late = new ArrayDeque<>();
  // At the root: ended operations that wait until their copies are durable.
  private final SortedMap<Long, List<Operation>> gated = new TreeMap<>();
  private long lastPersist;
  // At a root with early copies: what it says of durability, by the number that must be durable.
  private final SortedMap<Long, List<Effect>> promised = new TreeMap<>();

  MigrationProcess(MigrationWorld world, Chance chance, String address, int todo) {
    this.world = world;
    this.chance = chance;
    this.address = address;
    this.todo = todo;
  }

  @Nullable TreeNode node() {
    return node;
  }

  /// Returns whether it has begun all of its work.
  boolean hasBegunAll() {
    return todo == 0;
  }

  boolean isDone() {
    boolean idle = todo == 0 && underWay() == 0 && late.isEmpty();
    return idle && joined && !isOrphan() && !leaving && !moving;
  }

  private boolean isOrphan() {
    return node != null && node.isOrphan();
  }

  private int underWay() {
    return updates.size() + reads.size() + answered.size() + flushes.size();
  }

  boolean isRunning() {
    return !running.isEmpty() || !lent.isEmpty();
  }

  boolean isRoot() {
    return address.equals(MigrationWorld.ROOT);
  }

  void startRoot(long term, SortedSet<NodeId> expected) {
    var id = new NodeId(address, term);
    boolean succeeds = world.hasSuccessors();
    start(
        succeeds
            ? TreeNode.root(id, world.rootSettings(), term << 32, expected, LIVES)
            : TreeNode.root(id, world.rootSettings(), term << 32, LIVES));
    joined = true;
  }

  private void start(TreeNode fresh) {
    node = fresh;
    world.started(this, fresh);
  }

  private NodeId id() {
    return world.idOf(this);
  }

  /// Kills the process.
  void kill() {
    reset();
    before = null;
  }

  private void reset() {
    if (node != null) world.ended(node.id());
    before = node;
    node = null;
    joined = false;
    leaving = false;
    moving = false;
    updates.clear();
    reads.clear();
    answered.clear();
    flushes.clear();
    running.clear();
    lent.clear();
    late.clear();
    gated.clear();
    promised.clear();
    lastPersist = 0;
  }

  /// Does one of its own actions.
  void act() {
    if (node == null) {
      if (isRoot()) return;
      var id = new NodeId(address, world.number());
      start(
          before == null
              ? TreeNode.client(id, world.clientSettings(), LIVES)
              : TreeNode.client(id, world.clientSettings(), before));
    }
    end();
    int dice = chance.below(100);
    if (dice < 20 && (!joined || isOrphan())) on(new Event.Join(world.root().id(), host()));
    else if (dice < 25 && world.losesTold()) on(new Event.Tick());
    else if (dice < 40 && !late.isEmpty()) on(late.remove());
    else if (joined ? dice >= 25 : dice >= 95) work();
  }

  /// Returns one of three hosts.
  private Locality host() {
    return Locality.of("host-" + Math.floorMod(address.hashCode(), 3));
  }

  private void work() {
    if (happens(world.trouble().giveUp()) && givesUp()) return;
    if (!isRoot() && happens(world.trouble().leave())) leave();
    else if (todo == 0 || underWay() == world.atOnceMax()) return;
    else if (leaving || moving) world.reached("work is refused, or waits");
    else begin();
  }

  private void leave() {
    if (leaving || todo == 0) return;
    if (!joined) {
      world.reached("a node leaves that has no place");
      reset();
      return;
    }
    if (moving) world.reached("a node that moves is to leave");
    if (!updates.isEmpty()) world.reached("a node is to leave while it has operations");
    if (!reads.isEmpty()) world.reached("a node is to leave while it has reads");
    if (!flushes.isEmpty()) world.reached("a node is to leave while it has flushes");
    world.reached("a node wants to leave");
    leaving = true;
    on(new Event.Leave());
  }

  private void begin() {
    if (!joined) world.reached("work begins before there is a place");
    if (updates.size() > 1) world.reached("several operations are under way");
    todo--;
    long number = ++numbers;
    int dice = chance.below(100);
    if (dice < 12) {
      flushes.put(number, world.history().ended(id()));
      on(new Event.Flush(number));
    } else if (dice < 60) {
      var objects = chosen(chance.percent(40) ? 3 : 1);
      SortedSet<StreamId> writes = new TreeSet<>(objects);
      if (chance.percent(25)) writes.remove(writes.first());
      if (objects.size() > 1 && chance.percent(25)) writes.clear();
      updates.put(number, world.history().begin(id(), Reads.STRICT, writes));
      on(new Event.Submit(number, objects));
    } else {
      var how = chance.percent(60) ? Reads.STRICT : Reads.LOCAL;
      reads.put(number, world.history().begin(id(), how, new TreeSet<>()));
      on(new Event.Read(number, chance.of(world.objects()), how));
    }
  }

  private boolean happens(int hundredths) {
    return hundredths > 0 && chance.below(100) < hundredths;
  }

  /// Abandons some work, as after a time limit; the node learns of it some time later.
  private boolean givesUp() {
    List<Long> some = new ArrayList<>(reads.keySet());
    some.addAll(flushes.keySet());
    for (long number : updates.keySet()) {
      if (!runs(number)) some.add(number);
    }
    if (some.isEmpty()) return false;
    long number = chance.of(some);
    if (reads.remove(number) != null) world.reached("a read is withdrawn");
    if (flushes.remove(number) != null) world.reached("a flush is withdrawn");
    if (updates.remove(number) != null) world.reached("an update is withdrawn");
    late.add(new Event.Withdraw(number));
    return true;
  }

  private boolean runs(long number) {
    return running.stream().anyMatch(execute -> execute.number() == number)
        || lent.stream().anyMatch(executed -> executed.number() == number);
  }

  private SortedSet<StreamId> chosen(int max) {
    SortedSet<StreamId> objects = new TreeSet<>();
    int count = chance.between(1, Math.min(max, world.objects().size()));
    while (objects.size() < count) objects.add(chance.of(world.objects()));
    return objects;
  }

  /// Ends a running operation.
  void execute() {
    if (node == null || !world.isSure(node)) return;
    if (!lent.isEmpty() && (running.isEmpty() || chance.percent(20))) {
      if (chance.percent(80)) return;
      var later = lent.remove();
      updates.remove(later.number());
      if (world.isRoot(this) && chance.percent(40)) {
        world.reached("an object stays elsewhere");
        on(new Event.Forget(later.number()));
      } else {
        on(later);
      }
      return;
    }
    var execute = running.remove(chance.below(running.size()));
    var operation = updates.get(execute.number());
    MigrationHistory.holds(operation != null, "%s runs what was asked for", address);
    if (operation != null) execute(execute, operation);
  }

  private void execute(Effect.Execute execute, Operation operation) {
    SortedMap<StreamId, byte[]> outputs = new TreeMap<>();
    for (Copy copy : execute.inputs()) {
      world.history().saw(operation, copy);
      if (operation.writes().contains(copy.object())) {
        outputs.put(copy.object(), world.history().update(operation, copy));
      }
    }
    world.history().executed(operation);
    var end = new Event.Executed(execute.number(), outputs);
    if (outputs.size() == 1 && execute.inputs().size() == 1 && lends()) {
      world.reached("an object changes elsewhere");
      on(new Event.Lend(execute.number()));
      var after = world.changed(execute.inputs().getFirst(), outputs);
      world.history().end(operation);
      lent.add(new Event.Executed(execute.number(), after));
      return;
    }
    updates.remove(execute.number());
    if (!isRoot()) world.history().end(operation);
    on(end);
    if (isRoot()) gate(operation);
  }

  /// Returns whether the root lends an object, when all operations that reached it are durable.
  private boolean lends() {
    return world.isRoot(this)
        && world.persisted(this) >= lastPersist
        && happens(world.trouble().lend());
  }

  private void gate(Operation operation) {
    if (world.persisted(this) >= lastPersist) world.history().end(operation);
    else gated.computeIfAbsent(lastPersist, _ -> new ArrayList<>()).add(operation);
  }

  void persisted(long number) {
    if (!world.isEarly(number)) on(new Event.Persisted(number));
    var due = List.copyOf(promised.headMap(number + 1).values());
    promised.headMap(number + 1).clear();
    var from = node;
    if (from != null) due.forEach(all -> all.forEach(each -> perform(from, each)));
    var some = gated.headMap(number + 1);
    some.values().forEach(all -> all.forEach(world.history()::end));
    some.clear();
  }

  void on(Event event) {
    var to = node;
    if (to == null) return;
    world.took(to);
    for (var effect : to.on(event)) {
      if (node == to) effect(to, effect);
    }
  }

  /// Ends an answered strict read, when no other node can have the node's objects.
  private void end() {
    if (answered.isEmpty() || node == null || !world.isSure(node)) return;
    answered.forEach(this::end);
    answered.clear();
  }

  private void end(Operation read) {
    if (isRoot()) gate(read);
    else world.history().end(read);
  }

  private void answered(long number, Copy copy) {
    var operation = reads.remove(number);
    if (operation == null) return;
    world.history().saw(operation, copy);
    if (operation.isLocal()) {
      end(operation);
    } else {
      answered.add(operation);
      end();
    }
  }

  /// Handles an operation that can run; an abandoned one is over at once.
  private void obtained(Effect.Execute execute) {
    if (updates.containsKey(execute.number())) {
      running.add(execute);
    } else {
      world.reached("what was given up could run");
      late.add(new Event.Executed(execute.number(), new TreeMap<>()));
    }
  }

  private void effect(TreeNode from, Effect effect) {
    if (world.tellsLate(this) && isPromise(effect)) {
      promised.computeIfAbsent(lastPersist, _ -> new ArrayList<>()).add(effect);
    } else {
      perform(from, effect);
    }
  }

  /* Whether it says that something is durable. */
  private static boolean isPromise(Effect effect) {
    return switch (effect) {
      case Effect.Flushed _ -> true;
      case Effect.Tell(_, var message) -> message instanceof Message.Durable;
      case Effect.Send(_, Message.Kept(var versions)) -> !versions.isEmpty();
      default -> false;
    };
  }

  private void perform(TreeNode from, Effect effect) {
    switch (effect) {
      case Effect.Send(NodeId to, var message) -> world.network().send(from.id(), to, message);
      case Effect.Tell(NodeId to, var message) -> world.network().tell(from.id(), to, message);
      case Effect.Cut(NodeId other) -> world.network().cut(from.id(), other);
      case Effect.Joined() -> joined = true;
      case Effect.Execute execute -> obtained(execute);
      case Effect.Answer(long number, Copy copy) -> answered(number, copy);
      case Effect.Flushed(long number) -> {
        var names = flushes.remove(number);
        if (names != null) world.history().durable(names);
      }
      case Effect.Moving() -> {
        world.reached(from.below().isEmpty() ? "a leaf moves" : "an inner node moves");
        moving = true;
      }
      case Effect.Left() -> {
        world.reached("a node has left");
        world.left(from);
        world.history().durable(world.history().ended(from.id()));
        world.history().stayed(from.id());
        reset();
      }
      case Effect.Refused() -> {
        world.reached("a place that was offered is gone");
        reset();
      }
      case Effect.Disconnected() -> {
        world.disconnected(from);
        reset();
      }
      case Effect.Load(StreamId object) -> world.load(this, object);
      case Effect.Persist persist -> {
        lastPersist = persist.number();
        world.persist(this, persist);
      }
      case Effect.Forgotten _ -> world.reached("an object is forgotten");
      case Effect.Hasten() -> {} // the store writes at any time
    }
  }

  @Override
  public String toString() {
    return "%s todo %s updates %s reads %s answered %s flushes %s running %s late %s: %s"
        .formatted(address, todo, updates, reads, answered, flushes, running, late, node);
  }
}

package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Effect;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.MigrationHistory;
import stoa.sim.check.MigrationHistory.State;

/// A simulated tree of processes, the store at its root, and the network between them. One owner; a
/// seed decides every step.
public final class MigrationWorld {
  static final String ROOT = "root";
  private static final int STEPS_MAX = 30_000;
  private static final int QUIET_STEPS_MAX = 30_000;
  // How often the root learns that objects are not used, in ten-thousandths of the steps.
  private static final int UNUSED = 50;

  /// The failures, in ten-thousandths of the steps.
  ///
  /// @param leave a client leaves, in hundredths of its actions
  /// @param crash a client ends
  /// @param cut a connection ends, while both sides go on
  /// @param failOver a new root takes over
  /// @param lend an update of the root changes its object in the store while no other node has it,
  ///   in hundredths of all updates
  /// @param giveUp a process abandons waiting work, in hundredths of its actions
  public record Trouble(int leave, int crash, int cut, int failOver, int lend, int giveUp) {
    static final Trouble NONE = new Trouble(0, 0, 0, 0, 0, 0);
  }

  /// The size of a world.
  ///
  /// @param clients the number of clients
  /// @param objects the number of objects
  /// @param childrenMax the most children of a node
  /// @param operations the number of operations of each client
  /// @param atOnceMax the most of them in progress at once
  /// @param leaves the share of clients that are leaves, in hundredths
  /// @param retrieval how nodes retrieve objects
  /// @param copyBytesMax the most bytes of unneeded copies that a node keeps
  /// @param versionsMax of how many objects that it dropped the root knows the version
  /// @param notedMax of how many objects without a state another node knows the version
  public record Size(
      int clients,
      int objects,
      int childrenMax,
      int operations,
      int atOnceMax,
      int leaves,
      TreeNode.Retrieval retrieval,
      int copyBytesMax,
      int versionsMax,
      int notedMax) {}

  /// A fault of the root or its store that the judges must find.
  public enum Fault {
    /// The world has none.
    NONE,
    /// The store does not keep the list of the root's children.
    NO_LIST,
    /// The root passes copies on before they are durable.
    EARLY_COPIES
  }

  private record Persist(long number, List<Copy> copies, @Nullable SortedSet<NodeId> children) {}

  private final Chance chance;
  private final Chance forgetting;
  private final Chance lives;
  private final Trace trace;
  private final Size size;
  private final MigrationHistory history = new MigrationHistory();
  private final MigrationMandates mandates;
  private final MigrationNetwork network;
  private final MigrationLemmas lemmas;
  private final SortedMap<NodeId, MigrationProcess> live = new TreeMap<>();
  // The nodes with events in this step.
  private final SortedMap<NodeId, TreeNode> taken = new TreeMap<>();
  private final List<StreamId> objects = new ArrayList<>();
  private final List<MigrationProcess> clients = new ArrayList<>();
  private MigrationProcess root;
  private final Trouble worst;
  private final Fault fault;
  private final boolean succeeds;
  private Trouble trouble;
  private long term;
  private long numbers;
  // Former roots that do not know of their end.
  private final List<MigrationProcess> deposed = new ArrayList<>();
  // The store of the present root.
  private final SortedMap<StreamId, Copy> stored = new TreeMap<>();
  // The store's list of the children of the root.
  private SortedSet<NodeId> children = new TreeSet<>();
  // The nodes that have returned to a root.
  private final SortedSet<NodeId> returned = new TreeSet<>();
  // The nodes that have left a root.
  private final SortedSet<NodeId> left = new TreeSet<>();
  private final Deque<Persist> persisting = new ArrayDeque<>();
  private final Deque<StreamId> loading = new ArrayDeque<>();
  private long persisted;
  // With early copies: the last number that the root wrongly takes for durable.
  private long early;
  // Until then the present root gives nothing out.
  private long quietUntil;

  public MigrationWorld(Chance chance, Trace trace, Size size, Trouble trouble, Fault fault) {
    this.chance = chance;
    forgetting = chance.of("forgetting");
    lives = chance.of("lives");
    this.trace = trace;
    this.size = size;
    this.trouble = trouble;
    worst = trouble;
    this.fault = fault;
    boolean isHarmless = trouble.crash + trouble.cut == 0;
    succeeds = trouble.failOver > 0 && (isHarmless || chance.of("successors").percent(75));
    mandates = new MigrationMandates(chance.of("mandates"));
    network = new MigrationNetwork(chance.of("network"), mandates::time, this::isChild);
    for (int i = 0; i < size.objects; i++) objects.add(new StreamId(0, i + 1));
    for (int i = 0; i < size.clients; i++) {
      String name = chance.of("kind " + i).percent(size.leaves) ? NodeId.LEAF + "h/c" + i : "c" + i;
      clients.add(new MigrationProcess(this, chance.of("client " + i), name, size.operations));
    }
    lemmas = new MigrationLemmas(history, network, objects, this::live, this::stored);
    root = startRoot();
  }

  private @Nullable Copy stored(StreamId object) {
    return stored.get(object);
  }

  private MigrationProcess startRoot() {
    term++;
    var process =
        new MigrationProcess(this, chance.of("root " + term), ROOT, worst.lend > 0 ? 12 : 3);
    process.startRoot(term, children);
    quietUntil = term == 1 ? 0 : mandates.time() + MigrationMandates.LENGTH;
    return process;
  }

  MigrationHistory history() {
    return history;
  }

  MigrationNetwork network() {
    return network;
  }

  List<StreamId> objects() {
    return objects;
  }

  TreeNode.Settings rootSettings() {
    return settings(size.versionsMax);
  }

  TreeNode.Settings clientSettings() {
    return settings(size.notedMax);
  }

  private TreeNode.Settings settings(int versionsMax) {
    // With early copies the root must not drop copies that only it takes for durable.
    int most = fault == Fault.EARLY_COPIES ? Integer.MAX_VALUE : size.copyBytesMax;
    return new TreeNode.Settings(size.childrenMax, size.retrieval, most, versionsMax);
  }

  TreeNode root() {
    return Objects.requireNonNull(root.node());
  }

  NodeId idOf(MigrationProcess process) {
    return Objects.requireNonNull(process.node()).id();
  }

  long number() {
    return ++numbers;
  }

  /// Notes that a process has another node.
  void started(MigrationProcess process, TreeNode node) {
    live.put(node.id(), process);
    network.add(node.id());
  }

  /// Notes the end of a node, with all its connections.
  void ended(NodeId node) {
    live.remove(node);
    network.remove(node);
  }

  /// Notes an event at a node.
  void took(TreeNode node) {
    taken.put(node.id(), node);
  }

  private @Nullable TreeNode live(NodeId id) {
    var process = live.get(id);
    return process == null ? null : process.node();
  }

  long persisted(MigrationProcess by) {
    return by == root ? persisted : -1;
  }

  /// Returns whether messages outside of the tree may be lost. Otherwise, nodes repeat none.
  boolean losesTold() {
    return worst.failOver > 0;
  }

  /// Returns whether children survive their root.
  boolean hasSuccessors() {
    return succeeds;
  }

  /// Returns whether a node may act on its objects.
  boolean isSure(TreeNode node) {
    boolean sure = mandates.holds(node.id());
    if (!sure) reached("a node has no mandate");
    return sure;
  }

  /// Returns the present rates of failures.
  Trouble trouble() {
    return trouble;
  }

  int atOnceMax() {
    return size.atOnceMax;
  }

  boolean isRoot(MigrationProcess process) {
    return process == root;
  }

  /// Changes an object in the store, and not by a call at the root. Perhaps its life ends thereby,
  /// and perhaps the store makes the object anew.
  ///
  /// @return what the root learns when it has the object again
  SortedMap<StreamId, byte[]> changed(Copy before, SortedMap<StreamId, byte[]> after) {
    StreamId object = before.object();
    State state = State.of(Objects.requireNonNull(after.get(object)));
    CopyVersion version =
        new CopyVersion(before.version().generation(), before.version().number() + 1);
    boolean isOver = chance.percent(50);
    if (isOver) {
      reached("an object is deleted");
      int dice = lives.below(3);
      state = new State(state.life() + 1, dice > 0, state.list());
      // An object that the store has made has no version, or the first one once it is lent.
      version = dice == 2 ? new CopyVersion(0, 1) : CopyVersion.NONE;
      if (dice > 0) reached("an object is made anew");
    } else if (!State.of(before.state()).exists()) {
      reached("the store makes an object");
      version = CopyVersion.NONE;
    }
    keep(List.of(new Copy(object, version, state.bytes())));
    after.put(object, state.bytes());
    return after;
  }

  /// Notes a disconnected node. Leaving and joining disconnect none.
  void disconnected(TreeNode node) {
    reached("a node is disconnected");
    boolean harmless = worst.crash + worst.cut == 0 && (succeeds || worst.failOver == 0);
    // A node that its root has not told so has got nothing from this root.
    boolean isKept = node.isKept() || worst.failOver == 0;
    MigrationHistory.holds(
        !harmless || !isKept, "%s is disconnected, and no client has failed", node);
    NodeId above = node.above();
    boolean isListed =
        above != null && above.address().equals(ROOT) && children.contains(node.id());
    // A root that lives ends its connection to the successor of a node that failed while it left.
    boolean isOld = above != null && !above.equals(root().id());
    boolean hasReturned = isOld || returned.contains(node.id());
    MigrationHistory.holds(
        worst.cut > 0 || !succeeds || !isKept || !isListed || !hasReturned,
        "%s is disconnected, and only the root above it has failed",
        node);
  }

  /// Notes that a node has left. One that its root has not told so does not know that the next root
  /// may expect it.
  void left(TreeNode node) {
    NodeId above = node.above();
    boolean isChild = above != null && above.address().equals(ROOT);
    if (isChild && node.isKept()) left.add(node.id());
  }

  void reached(String place) {
    trace.reached(place);
  }

  /// Loads an object. The store accepts nothing from a former root.
  void load(MigrationProcess by, StreamId object) {
    if (by == root) loading.add(object);
  }

  void persist(MigrationProcess by, Effect.Persist effect) {
    if (by == root) {
      persisting.add(new Persist(effect.number(), effect.copies(), effect.children()));
    }
  }

  /// Runs until every client has begun its operations, then lets everything end without further
  /// failures, and judges.
  public void run() {
    for (int steps = 0; steps < STEPS_MAX && !hasBegunAll(); steps++) step();
    trouble = Trouble.NONE;
    for (int steps = 0; !isSettled(); steps++) {
      step();
      MigrationHistory.holds(
          steps < QUIET_STEPS_MAX, "all is settled in the end: %s, %s", root, clients);
    }
    judge();
    trace.add("end " + term + " " + numbers);
  }

  private boolean hasBegunAll() {
    return root.hasBegunAll() && clients.stream().allMatch(MigrationProcess::hasBegunAll);
  }

  private boolean isDone() {
    return root.isDone()
        && deposed.isEmpty()
        && clients.stream().allMatch(MigrationProcess::isDone);
  }

  private boolean isSettled() {
    return isDone()
        && network.isQuiet()
        && persisting.isEmpty()
        && loading.isEmpty()
        && clients.stream().noneMatch(MigrationProcess::isRunning);
  }

  private List<MigrationProcess> all() {
    List<MigrationProcess> all = new ArrayList<>(clients);
    all.add(root);
    all.addAll(deposed);
    return all;
  }

  private MigrationProcess at(NodeId id) {
    return Objects.requireNonNull(live.get(id), id::toString);
  }

  private boolean isChild(NodeId child, NodeId parent) {
    var node = live(parent);
    return node != null && node.below().contains(child);
  }

  /// Passes messages about mandates, which take no steps of their own.
  private void mandates() {
    mandates.step();
    if (chance.percent(20)) mandates.confirm(root().id());
    var node = chance.of(all()).node();
    if (node == null) return;
    NodeId parent = node.above();
    if (parent != null && !network.isCut(node.id(), parent)) mandates.up(node.id(), parent);
    for (var child : node.below()) {
      if (!network.isCut(node.id(), child)) mandates.down(node.id(), child);
    }
    for (int i = 0; i < 3; i++) mandates.deliver();
  }

  private void step() {
    mandates();
    if (happens(trouble.crash)) {
      trace.add("crash");
      chance.of(clients).kill();
    }
    if (happens(trouble.cut)) cut();
    if (happens(trouble.failOver)) failOver();
    tellEarly();
    expect();
    if (!trouble.equals(Trouble.NONE) && forgetting.below(10_000) < UNUSED) tellUnused();
    int dice = chance.below(100);
    if (dice < 60) deliver();
    else if (dice < 65) deliverTold();
    else if (dice < 85) chance.of(all()).act();
    else if (dice < 93) execute();
    else store();
    if (!deposed.isEmpty() && chance.below(200) == 0) deposed.removeFirst().kill();
    owners();
    lemmas.check(taken.values(), root());
    taken.clear();
  }

  /* Ends the time for returns: when all have returned that can or, in a world with cuts, any time. */
  private void expect() {
    var expected = root().expected();
    if (expected.isEmpty() || mandates.time() < quietUntil) return;
    boolean isHasty = worst.cut > 0 && chance.percent(30);
    boolean mayReturn = expected.stream().anyMatch(node -> live(node) != null);
    if (chance.below(100) > 0 || (!isHasty && mayReturn)) return;
    trace.reached("the root expects no more");
    boolean isOrderly = worst.crash + worst.cut == 0;
    MigrationHistory.holds(
        !isOrderly || Collections.disjoint(expected, left),
        "%s of %s have left, and %s waited for them",
        left,
        expected,
        root);
    root.on(new Event.NoReturns());
  }

  private boolean happens(int tenThousandths) {
    return tenThousandths > 0 && chance.below(10_000) < tenThousandths;
  }

  private void deliver() {
    var busy = network.busy();
    if (busy.isEmpty()) return;
    hand(network.deliver(chance.of(busy)));
  }

  private void deliverTold() {
    if (!network.hasTold()) return;
    var delivery = network.deliverTold();
    if (chance.percent(losesTold() && trouble.cut > 0 ? 10 : 0)) return;
    if (live.containsKey(delivery.to())) hand(delivery);
  }

  private void hand(MigrationNetwork.Delivery delivery) {
    String what =
        delivery.event() instanceof Event.Received(var from, var message)
            ? message.getClass().getSimpleName() + " from " + from
            : delivery.event().toString();
    trace.add(delivery.to() + " " + what);
    if (delivery.event() instanceof Event.Received(var from, var message)) {
      trace.reached("a " + message.getClass().getSimpleName());
      if (message instanceof Message.Return) returned.add(from);
    }
    at(delivery.to()).on(delivery.event());
  }

  private void execute() {
    var some = all().stream().filter(MigrationProcess::isRunning).toList();
    if (!some.isEmpty()) chance.of(some).execute();
  }

  private void store() {
    if (!loading.isEmpty()
        && mandates.time() >= quietUntil
        && (persisting.isEmpty() || chance.percent(50))) {
      StreamId object = loading.remove();
      Copy copy = stored.get(object);
      byte[] state = copy == null ? State.NOTHING.bytes() : copy.state();
      boolean exists = State.of(state).exists();
      var version = copy != null && exists ? copy.version() : null;
      root.on(new Event.Loaded(object, version, state));
      return;
    }
    if (persisting.isEmpty()) return;
    write();
    root.persisted(persisted);
  }

  /* Tells the root that some objects are not used, whether they are or not. */
  private void tellUnused() {
    trace.add("unused");
    SortedSet<StreamId> some = new TreeSet<>(objects);
    some.removeIf(_ -> forgetting.percent(50));
    root.on(new Event.Unused(some));
  }

  /* Tells the root that all waiting copies are durable, unless a list of children waits too. */
  private void tellEarly() {
    if (fault != Fault.EARLY_COPIES || persisting.isEmpty()) return;
    long last = persisting.getLast().number;
    boolean hasList = persisting.stream().anyMatch(each -> each.children != null);
    if (last <= early || hasList) return;
    early = last;
    root.on(new Event.Persisted(last));
  }

  /// Returns whether a root must wait before it tells others that something is durable.
  boolean tellsLate(MigrationProcess by) {
    return fault == Fault.EARLY_COPIES && by == root && !persisting.isEmpty();
  }

  /// Returns whether the root takes a number for durable that the store has not written.
  boolean isEarly(long number) {
    return number < early;
  }

  private void write() {
    var persist = persisting.remove();
    persisted = persist.number;
    if (persist.children != null && fault != Fault.NO_LIST) children = persist.children;
    // The store has nothing of an object that does not exist.
    keep(persist.copies.stream().filter(copy -> State.of(copy.state()).exists()).toList());
  }

  private void keep(List<Copy> copies) {
    for (var copy : copies) stored.put(copy.object(), copy);
    history.persisted(copies);
  }

  private void cut() {
    var node = chance.of(all()).node();
    if (node == null) return;
    NodeId above = node.above();
    if (above == null) return;
    trace.add("cut " + node.id() + " " + above);
    trace.reached("a connection is cut");
    network.cut(node.id(), above);
  }

  /// Makes a new root. Some of the old root's changes become durable, and it may continue for a
  /// while without knowing.
  private void failOver() {
    trace.add("a new root");
    trace.reached("a new root");
    int kept = chance.below(persisting.size() + 1);
    for (int i = 0; i < kept; i++) write();
    persisting.clear();
    loading.clear();
    persisted = 0;
    early = 0;
    if (chance.percent(50)) root.kill();
    else deposed.add(root);
    root = startRoot();
  }

  /// Checks that each object has one owner at a time, among the nodes connected to the root.
  private void owners() {
    for (var object : objects) {
      NodeId owner = null;
      for (var process : live.values()) {
        var node = Objects.requireNonNull(process.node());
        if (!node.isIn() || !node.owns(object) || !isConnected(node)) continue;
        if (owner != null)
          throw new AssertionError(object + " is at " + owner + " and " + node.id());
        owner = node.id();
      }
    }
  }

  private boolean isConnected(TreeNode node) {
    var at = node;
    while (at != root()) {
      NodeId above = at.above();
      if (above == null || network.isCut(at.id(), above)) return false;
      var next = Objects.requireNonNull(at(above).node());
      if (!next.below().contains(at.id())) return false;
      at = next;
    }
    return true;
  }

  /// Judges: each object's owner must be where all queues point, and the store gets the last
  /// states.
  private void judge() {
    SortedMap<StreamId, List<String>> last = new TreeMap<>();
    for (var client : clients) history.stayed(idOf(client));
    history.stayed(root().id());
    for (var object : objects) {
      TreeNode owner = null;
      for (var process : all()) {
        var node = Objects.requireNonNull(process.node());
        MigrationHistory.holds(isConnected(node), "%s is connected", node);
        MigrationHistory.holds(
            node.line(object).size() == 1, "nobody waits for %s at %s", object, node);
        if (node.owns(object)) owner = node;
      }
      MigrationHistory.holds(owner != null, "%s is somewhere", object);
      Copy copy = owner == null ? null : owner.copy(object);
      if (copy == null) copy = stored.get(object);
      last.put(object, copy == null ? List.of() : MigrationHistory.list(copy.state()));
    }
    history.require(last);
  }
}

package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Reads;
import stoa.base.Check;
import stoa.base.StreamId;
import stoa.migration.core.LocalQueue.Entry;
import stoa.migration.core.Message.Course;
import stoa.migration.core.Message.Kin;
import stoa.migration.core.Message.ReadId;
import stoa.migration.core.Message.Route;

/// A node of a tree of processes among which objects migrate (M. Reiter, A. Samar, *A self-service
/// approach to scalable service deployment*, 2006).
///
/// One owner calls it. It does no I/O, reads no clock and starts no thread: the same events always
/// have the same effects. When a node has left or was disconnected, its process may come back with
/// a new one.
public final class TreeNode {
  /*
   * The queue of an object begins with the neighbor in whose direction the object is. Invariants:
   *
   * (1) The object is here iff this node is the head of its queue here. Among all nodes that are
   *     connected to the root, exactly one has the object, or the object is on its way.
   * (2) Each entry of the node itself is a request of its own, or of a disconnected node whose
   *     place it took.
   * (3) The node stores no queue that has one default entry: the parent, or at the root, the root
   *     itself.
   * (4) Messages for a neighbor that leaves are in `held`, and nowhere else. So are messages for a
   *     root to which this node returns.
   * (5) At most one of two neighbors leaves at a time. A node that has granted a neighbor its leave
   *     does not begin one; of two that begin together, the child steps back.
   *
   *             Join            Welcome            Leave
   *     NEW ───────────► JOINING ───────► IN ───────────────► DRAINING
   *                                                              │ no operations
   *                                                              ▼
   *     OUT ◄──────────── ENDING ◄─── ASKING ◄──────┐ durable FLUSHING
   *           noted by       ▲   all    │  ▲        │            │
   *           all            │   hold   ▼  │ alone  │            │
   *                          └──────── WAITING ◄────┴────────────┘
   *                    a leaf departs
   *
   * Gone(parent) leads to OUT from everywhere but ENDING, except when the parent is a root whose
   * successor expects this node (`isKept`): then the node stays where it is, as an orphan, and
   * returns to the next root. In ENDING it returns with nothing, and departs: so that root waits
   * for it no longer.
   *
   * Of a root that has successors:
   *
   * (6) The store's list of children has every child that was welcomed and is not lost, and every
   *     node that may take the place of one. The root gives nothing to others of what a lost child
   *     had before the list lacks this child.
   * (7) Copies go to children and readers only when they are durable. So all that a child rests on
   *     and that may not be durable is in its own subtree, and its copies.
   * (8) The root gives nothing away while it expects children of its predecessor (`expected`), and
   *     before the list lacks those that have not returned.
   */
  private enum Stage {
    NEW,
    JOINING,
    IN,
    DRAINING,
    FLUSHING,
    WAITING,
    ASKING,
    ENDING,
    OUT
  }

  /// How a node works.
  ///
  /// @param childrenMax how many children a node takes before it passes newcomers on to these
  /// @param retrieval how it retrieves the objects of an operation
  /// @param copyBytesMax how many bytes of states a node keeps that it does not need
  /// @param versionsMax of how many objects without a state here a node knows the version. A root
  ///   forgets versions beyond that. Another node leaves, and its process comes back with a new one
  public record Settings(int childrenMax, Retrieval retrieval, long copyBytesMax, int versionsMax) {
    /// The default number of bytes.
    public static final long COPY_BYTES_MAX = 64L << 20;

    /// The default number of versions.
    public static final int VERSIONS_MAX = 100_000;

    /// Creates settings with the default number of bytes.
    public Settings(int childrenMax, Retrieval retrieval) {
      this(childrenMax, retrieval, COPY_BYTES_MAX, VERSIONS_MAX);
    }

    /// Returns these settings with another number of children.
    public Settings withChildrenMax(int value) {
      return new Settings(value, retrieval, copyBytesMax, versionsMax);
    }

    // A leaving node hands over all that it has in one message.
    private static final long HANDED_OVER_MAX = 128L << 20;

    /// Returns these settings with another number of bytes of copies, at most 128 MiB.
    public Settings withCopyBytesMax(long value) {
      return new Settings(childrenMax, retrieval, Math.min(value, HANDED_OVER_MAX), versionsMax);
    }
  }

  /// How a node retrieves the objects of one operation.
  public enum Retrieval {
    /// The node asks for one object after the other.
    ONE_BY_ONE,
    /// The node asks for all at once. It does not hold an object that comes before its turn: when
    /// another node waits for the object, the object moves on there, and this node asks for it
    /// again. Faster unless many operations want the same objects.
    AHEAD
  }

  private static final class Operation {
    private final long number;
    private final List<StreamId> objects;
    private int lacking;

    private Operation(long number, SortedSet<StreamId> objects) {
      this.number = number;
      this.objects = List.copyOf(objects);
      lacking = this.objects.size();
    }
  }

  /*
   * A node's knowledge of a child: the distance to the next place for a newcomer below it, the
   * number of newcomers passed on to it, and the localities of it and its descendants.
   */
  private record Below(int depth, int passed, SortedSet<Locality> localities) {
    private static final Below NEW = new Below(0, 0, Collections.emptySortedSet());

    private Below passedOneMore() {
      return new Below(depth, passed + 1, localities);
    }
  }

  private record Stashed(NodeId from, Event event) {}

  private record Waiting(NodeId from, Message.Ask ask) {}

  private record Flush(NodeId node, long number, long persist) {}

  /* A newcomer that gets its place when the store has its name. */
  private record Newcomer(Locality at, long persist) {}

  /* A leave that is granted when the store has the name of the successor. */
  private record Pending(long attempt, NodeId by, long persist) {}

  private record Answering(ReadId read, StreamId object, Course course) {}

  /// Tells what states of an object say of its lives: a life begins when the object is constructed,
  /// and ends when it is deleted.
  public interface Lives {
    /// Each object has one life.
    Lives ONE = (_, _) -> false;

    /// Returns whether one state was over when another state of the object was stored: it is of an
    /// earlier life, or of the time before the object was constructed in the same life.
    boolean isOver(byte[] offered, byte[] stored);

    /// Returns whether a state is of an object that does not exist: it was not constructed in its
    /// life.
    default boolean isAbsent(byte[] state) {
      return state.length == 0;
    }
  }

  // The number of the flush that a leaving node waits for.
  private static final long LAST_FLUSH = -1;

  // The number of the flush that a node makes when too many versions may not be durable.
  private static final long OWN_FLUSH = -2;

  // For how many ticks a node that has handed over all that it had waits for the next root: then
  // that root, which began later, waits for it no longer.
  private static final int NEXT_ROOT_TICKS = 25;

  private final NodeId me;
  private Settings settings;
  private final boolean isRoot;
  private final long oldest;
  private Stage stage;
  private Locality locality = Locality.UNKNOWN;
  private @Nullable NodeId parent;
  // While it joins, the node with a place for it; and nodes that had a place but could not be
  // reached, or leave.
  private @Nullable NodeId offered;
  private final SortedSet<NodeId> avoided = new TreeSet<>();
  private final SortedMap<NodeId, Below> children = new TreeMap<>();
  // The node's last message to its parent about its subtree, and whether that may have changed.
  private Message.@Nullable Depth told;
  private boolean isToTell;
  private final SortedMap<StreamId, LocalQueue> queues = new TreeMap<>();
  private final Copies copies;
  private List<Effect> effects = new ArrayList<>();

  // Operations that wait for objects or run, and the objects that those hold.
  private final SortedMap<Long, Operation> operations = new TreeMap<>();
  private final SortedSet<StreamId> busy = new TreeSet<>();
  // Of the root: those objects that change elsewhere.
  private final SortedSet<StreamId> lent = new TreeSet<>();
  // Events before there was a place in the tree.
  private final Deque<Event> early = new ArrayDeque<>();

  // Reads of this node that wait, and reads of others that were passed on to a child.
  private final SortedMap<Long, StreamId> reading = new TreeMap<>();
  private final SortedMap<ReadId, Route> routes = new TreeMap<>();
  private long attempts;
  // The newest copies that reads of this node have seen and that bypassed the tree. They are for
  // reading only: their dependencies may be unknown here. The least recently read comes first.
  private final SequencedMap<StreamId, Copy> seen = new LinkedHashMap<>(16, 0.75f, true);
  private long seenBytes;
  // The versions of those that were dropped: nothing older is read.
  private final SortedMap<StreamId, CopyVersion> floors = new TreeMap<>();

  // The versions that operations and reads of this node have made or seen and that may not be
  // durable, and the part of them that a flush covers.
  private final SortedMap<StreamId, CopyVersion> unflushed = new TreeMap<>();
  private final SortedMap<Long, SortedMap<StreamId, CopyVersion>> flushing = new TreeMap<>();
  // The number of these versions beyond which the node makes a flush of its own.
  private int unflushedMax;

  // Of the root.
  private final SortedSet<StreamId> loading = new TreeSet<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private final Deque<Flush> flushes = new ArrayDeque<>();
  private long persisting;
  private long persisted;

  private final Lives lives;

  // Of a root that has successors.
  private final boolean hasSuccessors;
  // The children of the root before that have not returned, and those of them that wait until the
  // objects that they have are loaded.
  private final SortedSet<NodeId> expected = new TreeSet<>();
  private final SortedMap<NodeId, Message.Return> returning = new TreeMap<>();
  // The number under which the store has the list without those that did not return.
  private long settled;
  private long hastened;
  // The last list of children for the store.
  private SortedSet<NodeId> listed = new TreeSet<>();
  // The objects that must not go to others before the store has written a number.
  private final SortedMap<StreamId, Long> unsaved = new TreeMap<>();
  // The objects here that wait until they may go to others.
  private final SortedSet<StreamId> blocked = new TreeSet<>();
  private final SortedMap<NodeId, Newcomer> newcomers = new TreeMap<>();
  private final SortedMap<NodeId, Pending> pending = new TreeMap<>();
  // The nodes that have left, each with the number under which the store has the list without it.
  private final SortedMap<NodeId, Long> departing = new TreeMap<>();
  private final List<Answering> answering = new ArrayList<>();
  // The objects among those to load that are at the server.
  private final SortedSet<StreamId> atServer = new TreeSet<>();
  // The messages of children that wait until objects are loaded.
  private final SortedMap<NodeId, Deque<Message>> unread = new TreeMap<>();
  // Of each of these children, the first such message when the last time for returns was over.
  private final SortedMap<NodeId, Message> overdue = new TreeMap<>();
  // By the number to persist: the children's copies in it.
  private final SortedMap<Long, SortedMap<NodeId, SortedMap<StreamId, CopyVersion>>> sent =
      new TreeMap<>();

  // Whether the parent is a root whose successor expects this node; and whether that root is no
  // more.
  private boolean isKept;
  private boolean isOrphan;
  // The address that all roots of the tree have.
  private @Nullable String rootAddress;

  // Neighbors that leave, with their successors, and the messages held for them.
  private final SortedMap<NodeId, NodeId> granted = new TreeMap<>();
  private final SortedMap<NodeId, List<Message>> held = new TreeMap<>();
  // Messages of nodes that will be neighbors.
  private final List<Stashed> stash = new ArrayList<>();
  // Of this node's own leaving.
  private final SortedSet<NodeId> awaited = new TreeSet<>();
  private final SortedSet<NodeId> moved = new TreeSet<>();
  private long attempt;
  private @Nullable NodeId successor;
  private SortedMap<StreamId, CopyVersion> successorHas = new TreeMap<>();
  // How many ticks it has waited for the next root when it had handed over all that it had.
  private int endingTicks;

  // While it takes over the place of the parent: that parent, and the messages to it.
  private @Nullable NodeId predecessor;
  private final Deque<Message> carried = new ArrayDeque<>();

  private TreeNode(
      NodeId me,
      Settings settings,
      boolean isRoot,
      long oldest,
      Stage stage,
      Lives lives,
      boolean hasSuccessors) {
    this.me = me;
    this.settings = settings;
    this.isRoot = isRoot;
    this.copies = isRoot ? new Copies(settings.versionsMax) : new Copies();
    this.unflushedMax = settings.versionsMax;
    this.oldest = oldest;
    this.stage = stage;
    this.lives = lives;
    this.hasSuccessors = hasSuccessors;
  }

  /// Creates a root of objects that have one life each.
  ///
  /// @param oldest a generation above those of all earlier roots
  public static TreeNode root(NodeId me, Settings settings, long oldest) {
    return root(me, settings, oldest, Lives.ONE);
  }

  /// Creates a root, which has the objects of the store.
  ///
  /// @param oldest a generation above those of all earlier roots
  /// @param lives tells what states say of the lives of objects
  public static TreeNode root(NodeId me, Settings settings, long oldest, Lives lives) {
    return new TreeNode(me, settings, true, oldest, Stage.IN, lives, false);
  }

  /// Creates a root that has successors: its children survive its end, and return to the next root.
  ///
  /// @param oldest a generation above those of all earlier roots
  /// @param expected the children of the root before, according to the store
  /// @param lives tells what states say of the lives of objects
  public static TreeNode root(
      NodeId me, Settings settings, long oldest, SortedSet<NodeId> expected, Lives lives) {
    var root = new TreeNode(me, settings, true, oldest, Stage.IN, lives, true);
    root.expected.addAll(expected);
    root.listed = new TreeSet<>(expected);
    return root;
  }

  /// Creates a node outside any tree, of objects that have one life each.
  public static TreeNode client(NodeId me, Settings settings) {
    return client(me, settings, Lives.ONE);
  }

  /// Creates a node outside any tree.
  ///
  /// @param lives tells what states say of the lives of objects
  public static TreeNode client(NodeId me, Settings settings, Lives lives) {
    return new TreeNode(me, settings, false, 0, Stage.NEW, lives, false);
  }

  /* A parent that has left, in the hands of the child that takes its place. */
  private TreeNode(
      NodeId gone,
      Settings settings,
      Lives lives,
      Message.Promote state,
      Copies childs,
      NodeId child) {
    this(gone, settings, false, 0, Stage.IN, lives, false);
    parent = state.parent();
    state.children().forEach(each -> children.put(each, Below.NEW));
    children.put(child, Below.NEW);
    state.queues().forEach((object, nodes) -> queues.put(object, LocalQueue.of(nodes)));
    routes.putAll(state.routes());
    copies.merge(childs);
    copies.forgetAbove();
    save(state.copies());
  }

  /// Creates a node for a process that had another node before: it avoids nodes that the earlier
  /// one could not reach, or that told it to move.
  public static TreeNode client(NodeId me, Settings settings, TreeNode before) {
    var node = client(me, settings, before.lives);
    node.avoided.addAll(before.avoided);
    return node;
  }

  /// Takes an event.
  ///
  /// @return the effects, in order
  public List<Effect> on(Event event) {
    var result = step(event);
    boundVersions();
    if (isToTell) tellDepth();
    result.addAll(effects);
    effects = new ArrayList<>();
    return result;
  }

  /*
   * Makes durable what it has seen, and is no longer to be noted then, when that is too much. A node
   * other than the root cannot ask the store whether a copy is old, and so forgets no version while
   * it lives: with too many of them it leaves, and another one follows.
   */
  private void boundVersions() {
    if (stage != Stage.IN) return;
    if (unflushed.size() > unflushedMax && !flushing.containsKey(OWN_FLUSH)) flush(OWN_FLUSH);
    if (isRoot || copies.noted() + floors.size() <= settings.versionsMax) return;
    stage = Stage.DRAINING;
    effects.add(new Effect.Moving());
    progress();
  }

  private List<Effect> step(Event event) {
    take(event);
    progress();
    evict();
    var result = effects;
    effects = new ArrayList<>();
    return result;
  }

  /*
   * Drops copies that this node does not need: their objects are in the parent's direction and on
   * no way through here, and the parent, or the store, has them. Not while a neighbor leaves, which
   * was told what is here; nor at the root while a message waits until several objects are loaded.
   */
  private void evict() {
    if (copies.bytes() <= settings.copyBytesMax || stage != Stage.IN || !granted.isEmpty()) return;
    if (isOrphan || isSettling()) return;
    if (isRoot && (persisting > persisted || !unread.isEmpty())) return;
    for (var copy : copies.evict(settings.copyBytesMax, this::mayGo)) {
      if (isRoot) continue; // the store has nothing older
      floor(copy);
      evictSeen(copy.object());
    }
  }

  /* Keeps what a read has seen, and drops others when that is too much. */
  private void see(Copy copy) {
    Copy before = seen.remove(copy.object());
    if (before != null) seenBytes -= before.state().length;
    Copy newest = before == null || isNewer(copy, before) ? copy : before;
    seen.put(newest.object(), newest);
    seenBytes += newest.state().length;
    while (seenBytes > settings.copyBytesMax) evictSeen(seen.firstEntry().getKey());
  }

  private static boolean isNewer(Copy one, @Nullable Copy other) {
    return other == null || one.version().compareTo(other.version()) > 0;
  }

  /* A read of a dropped copy is strict, even when there is an older copy: nothing older is seen. */
  private void evictSeen(StreamId object) {
    Copy copy = seen.remove(object);
    if (copy == null) return;
    seenBytes -= copy.state().length;
    floor(copy);
  }

  private void floor(Copy copy) {
    floors.merge(copy.object(), copy.version(), (one, two) -> one.compareTo(two) >= 0 ? one : two);
  }

  private boolean mayGo(StreamId object) {
    return !queues.containsKey(object)
        && !busy.contains(object)
        && routes.values().stream().noneMatch(route -> route.object().equals(object));
  }

  private void take(Event event) {
    if (stage == Stage.OUT) return;
    switch (event) {
      case Event.Received(NodeId from, Message message) -> received(from, message);
      case Event.Gone(NodeId node) -> gone(node);
      case Event.Join(NodeId to, Locality at) -> {
        if (isOrphan) {
          comeTo(to);
          return;
        }
        if (stage == Stage.NEW) stage = Stage.JOINING;
        if (stage != Stage.JOINING) return;
        rootAddress = to.address();
        if (offered == null) locality = at; // later ones would not be known above
        var avoid = new TreeSet<>(avoided);
        effects.add(
            new Effect.Tell(to, new Message.Join(me, locality, Message.Join.DETOUR_MAX, avoid)));
      }
      case Event.FanOut(int childrenMax) -> settings = settings.withChildrenMax(childrenMax);
      case Event.Tick() -> tick();
      case Event.Loaded loaded -> loaded(loaded);
      case Event.Persisted(long number) -> persisted(number);
      case Event.AtServer(StreamId object) -> atServer(object);
      case Event.NoReturns() -> noReturns();
      case Event.Unused(var objects) -> unused(objects);
      case Event.Executed executed -> executed(executed);
      case Event.Lend(long number) -> lent.addAll(operation(number).objects);
      case Event.Forget(long number) -> forget(number);
      case Event.Withdraw(long number) -> withdraw(number);
      case Event.Submit _, Event.Read _, Event.Flush _, Event.Leave _ -> {
        if (stage == Stage.NEW || stage == Stage.JOINING) early.add(event);
        else asked(event);
      }
    }
  }

  private void asked(Event event) {
    switch (event) {
      case Event.Submit(long number, SortedSet<StreamId> objects) -> submit(number, objects);
      case Event.Read(long number, StreamId object, Reads reads) -> read(number, object, reads);
      case Event.Flush(long number) -> flush(number);
      case Event.Leave() -> {
        Check.that(!isRoot, "the root stays");
        if (stage == Stage.IN) stage = Stage.DRAINING;
      }
      default -> throw new IllegalStateException("no request for " + event);
    }
  }

  private void tick() {
    if (stage == Stage.ENDING && isOrphan && ++endingTicks >= NEXT_ROOT_TICKS) {
      awaited.remove(parent());
    }
    if (stage == Stage.JOINING || stage == Stage.ENDING) return;
    new TreeMap<>(reading).forEach(this::ask);
    new TreeMap<>(flushing)
        .forEach((number, versions) -> copyUp(me, number, new TreeSet<>(versions.keySet())));
  }

  // ---- neighbors

  private boolean isNeighbor(NodeId node) {
    return node.equals(parent) || children.containsKey(node);
  }

  private List<NodeId> neighbors() {
    var all = new ArrayList<>(children.keySet());
    if (parent != null) all.add(parent);
    return all;
  }

  private void send(NodeId to, Message message) {
    var kept = held.get(to);
    if (to.equals(predecessor)) carried.add(message);
    else if (kept != null) kept.add(message);
    else if (isOrphan && to.equals(parent)) return; // the next root gets all anew
    else effects.add(new Effect.Send(to, message));
  }

  private NodeId parent() {
    return Objects.requireNonNull(parent, "only the root has no parent");
  }

  private void received(NodeId from, Message message) {
    if (message instanceof Message.Direct direct) {
      told(direct);
    } else if (stage == Stage.ENDING) {
      if (message instanceof Message.Farewell) awaited.remove(from);
      // The next root has taken it back.
      if (message instanceof Message.Welcome) {
        effects.add(new Effect.Send(from, new Message.Depart(Upward.NOTHING)));
      }
    } else if (message instanceof Message.Welcome) {
      welcome(from);
    } else if (message instanceof Message.Attach(Locality at)) {
      attach(from, at);
    } else if (message instanceof Message.Return back) {
      returned(from, back);
    } else if (isNeighbor(from)) {
      if (unread.containsKey(from) || !areKnown(message)) {
        unread.computeIfAbsent(from, _ -> new ArrayDeque<>()).add(message);
      } else {
        fromNeighbor(from, message);
      }
    } else if (isExpected(from)) {
      stash.add(new Stashed(from, new Event.Received(from, message)));
    } else {
      effects.add(new Effect.Cut(from));
    }
  }

  private void welcome(NodeId from) {
    if (isOrphan && from.equals(parent)) {
      isOrphan = false;
      isToTell = true;
      release(from, from);
      return;
    }
    Check.that(stage == Stage.JOINING && from.equals(offered), "%s attached to %s", me, from);
    parent = from;
    told = new Message.Depth(0, only(locality));
    stage = Stage.IN;
    effects.add(new Effect.Joined());
    while (!early.isEmpty()) asked(early.remove());
  }

  /* Whether a node may become a neighbor in the place of one that leaves. */
  private boolean isExpected(NodeId node) {
    return granted.containsValue(node) || granted.containsValue(me);
  }

  private void told(Message.Direct message) {
    switch (message) {
      case Message.Join join -> join(join);
      case Message.Offer(NodeId above) -> {
        if (stage != Stage.JOINING || offered != null) return;
        offered = above;
        effects.add(new Effect.Send(above, new Message.Attach(locality)));
      }
      case Message.Answer(long read, Copy copy) -> answered(read, copy);
      case Message.Durable(long number) -> durable(number);
    }
  }

  private void fromNeighbor(NodeId from, Message message) {
    switch (message) {
      case Message.Retrieve(StreamId object) ->
          request(new Entry(from, LocalQueue.NOTHING), object);
      case Message.Migrate(StreamId object, Upward with) -> migrated(from, object, with);
      case Message.Ask ask -> ask(from, ask);
      case Message.Reply(ReadId read, StreamId object, Upward with) -> {
        save(from, with);
        replied(read, object);
      }
      case Message.CopyUp(NodeId node, long number, var objects, Upward with) -> {
        save(from, with);
        copyUp(node, number, objects);
      }
      case Message.Depart(Upward with) -> departed(from, with);
      case Message.Move() -> moveOn();
      case Message.Hold(long number, NodeId by) -> hold(from, number, by);
      case Message.Holding(long number, var has) -> {
        if (stage != Stage.ASKING || number != attempt) return;
        awaited.remove(from);
        if (from.equals(successor)) successorHas = has;
      }
      case Message.Resume() -> {
        pending.remove(from);
        if (granted.remove(from) == null) return;
        var kept = held.remove(from);
        if (kept != null) kept.forEach(each -> send(from, each));
      }
      case Message.Promote promote -> promoted(from, promote);
      case Message.Replaced(NodeId by) -> replaced(from, by);
      case Message.Depth(int depth, var localities) -> {
        isToTell = true;
        children.computeIfPresent(from, (_, below) -> new Below(depth, below.passed, localities));
      }
      case Message.Greet _ -> {}
      case Message.Kept(var versions) -> {
        isKept = true;
        copies.keep(versions);
      }
      case Message.Attach _,
          Message.Return _,
          Message.Welcome _,
          Message.Farewell _,
          Message.Direct _ ->
          throw new IllegalStateException("a neighbor does not say " + message);
    }
  }

  private void gone(NodeId node) {
    if (stage == Stage.ENDING) {
      if (isKept && node.equals(parent) && awaited.contains(node)) isOrphan = true;
      else awaited.remove(node);
    } else if (stage == Stage.JOINING) {
      if (!node.equals(offered)) return;
      avoid(node);
      stage = Stage.OUT;
      effects.add(new Effect.Refused());
    } else if (node.equals(parent)) {
      if (isKept) orphaned();
      else disconnected();
    } else if (newcomers.remove(node) != null) {
      listChildren();
    } else if (returning.remove(node) != null) {
      giveUp(node);
    } else if (children.containsKey(node)) {
      lost(node);
    } else if (isExpected(node)) {
      stash.add(new Stashed(node, new Event.Gone(node)));
    }
  }

  private void disconnected() {
    stage = Stage.OUT;
    SortedSet<NodeId> others = new TreeSet<>(children.keySet());
    stash.forEach(each -> others.add(each.from()));
    others.forEach(each -> effects.add(new Effect.Cut(each)));
    effects.add(new Effect.Disconnected());
  }

  /* A child and all below it are disconnected (Figure 6). */
  private void lost(NodeId child) {
    NodeId next = granted.remove(child);
    held.remove(child);
    pending.remove(child);
    if (next != null) {
      stash.removeIf(each -> each.from().equals(next));
      effects.add(new Effect.Cut(next));
    }
    remove(child, true);
  }

  /* A leaving child has handed over all that it had. */
  private void departed(NodeId child, Upward with) {
    save(child, with);
    remove(child, false);
    listChildren();
    farewell(child);
  }

  /* Notes that a node has left, as soon as no next root expects it. */
  private void farewell(NodeId gone) {
    if (!hasSuccessors || persisting == persisted) {
      effects.add(new Effect.Send(gone, new Message.Farewell()));
    } else {
      departing.put(gone, persisting);
    }
  }

  /*
   * Takes the places of a child in all queues. Reconstitutes the objects in its direction, in a new
   * generation when newer copies may be lost with it.
   */
  private void remove(NodeId child, boolean isLost) {
    children.remove(child);
    unread.remove(child);
    isToTell = true;
    moved.remove(child);
    awaited.remove(child);
    List<StreamId> touched = new ArrayList<>();
    List<Copy> reconstituted = new ArrayList<>();
    queues.forEach((object, queue) -> {
      boolean here = queue.head().equals(child);
      if (!queue.replace(child, me)) return;
      touched.add(object);
      if (!here || !isLost) return;
      Copy copy = copies.get(object);
      Copy newer = copy.at(copy.version().reconstituted());
      copies.save(newer);
      reconstituted.add(newer);
    });
    persist(reconstituted);
    touched.forEach(this::advance);
    List<ReadId> open = new ArrayList<>();
    routes.forEach((read, route) -> {
      if (route.to().equals(child)) open.add(read);
    });
    for (var read : open) {
      Route route = routes.remove(read);
      if (route != null) answer(read, route.object(), route.course());
    }
  }

  // ---- joining

  /*
   * A node with room takes the newcomer, unless it is not the root and a descendant is nearer.
   * Others pass it on to the child with the nearest descendant; of several, to the one with a place
   * at the least depth.
   */
  private void join(Message.Join join) {
    NodeId newcomer = join.newcomer();
    if (!isIn() || newcomer.equals(me)) return;
    giveUpEarlier(newcomer);
    boolean hasRoom = children.size() + newcomers.size() < settings.childrenMax;
    var able = ableToTake(join);
    int least = hasRoom ? 0 : able.stream().mapToInt(each -> below(each).depth + 1).min().orElse(0);
    able.removeIf(each -> below(each).depth + 1 - least > join.detour());
    NodeId best = able.stream().min(byNearness(join.at())).orElse(null);
    if (best == null || (hasRoom && !isNearer(best, join.at()))) {
      effects.add(new Effect.Tell(newcomer, new Message.Offer(me)));
      return;
    }
    int left = join.detour() - (below(best).depth + 1 - least);
    children.put(best, below(best).passedOneMore());
    send(best, new Message.Join(newcomer, join.at(), left, join.avoid()));
  }

  /* The children to which the newcomer may be passed on. */
  private List<NodeId> ableToTake(Message.Join join) {
    List<NodeId> able = new ArrayList<>();
    for (var child : children.keySet()) {
      if (child.isLeaf() || join.avoid().contains(child)) continue;
      if (child.address().equals(join.newcomer().address())) continue; // what it was before
      able.add(child);
    }
    return able;
  }

  private Below below(NodeId child) {
    return children.getOrDefault(child, Below.NEW);
  }

  private boolean isNearer(NodeId child, Locality to) {
    return !isRoot && Localities.nearness(below(child).localities, to) > locality.shared(to);
  }

  private Comparator<NodeId> byNearness(Locality to) {
    return Comparator.<NodeId>comparingInt(each -> -Localities.nearness(below(each).localities, to))
        .thenComparingInt(each -> below(each).depth)
        .thenComparingInt(each -> below(each).passed);
  }

  /* How far below this node the next place for a newcomer is. */
  private int depth() {
    if (children.size() < settings.childrenMax) return 0;
    int least = Integer.MAX_VALUE;
    for (var child : children.entrySet()) {
      if (!child.getKey().isLeaf()) least = Math.min(least, child.getValue().depth + 1);
    }
    return least == Integer.MAX_VALUE ? 0 : Math.min(least, Message.Depth.MOST);
  }

  private static SortedSet<Locality> only(Locality one) {
    return Localities.of(one, List.of());
  }

  /* Tells the parent what has changed of that, and of the localities of this subtree. */
  private void tellDepth() {
    isToTell = false;
    if (parent == null || stage != Stage.IN || isOrphan) return;
    var below = children.values().stream().map(Below::localities).toList();
    var now = new Message.Depth(depth(), Localities.of(locality, below));
    if (now.equals(told)) return;
    told = now;
    send(parent, now);
  }

  /* Takes a newcomer, perhaps one too many: others may have come since the offer. */
  private void attach(NodeId newcomer, Locality at) {
    if (!isIn()) return;
    giveUpEarlier(newcomer);
    if (!hasSuccessors) {
      admit(newcomer, at);
    } else {
      newcomers.put(newcomer, new Newcomer(at, Long.MAX_VALUE));
      listChildren();
      newcomers.put(newcomer, new Newcomer(at, persisting));
      if (persisting == persisted) saved();
    }
  }

  private void admit(NodeId newcomer, Locality at) {
    children.put(newcomer, new Below(0, 0, only(at)));
    isToTell = true;
    send(newcomer, new Message.Welcome());
    if (hasSuccessors) send(newcomer, new Message.Kept(new TreeMap<>()));
    if (stage != Stage.ASKING) return;
    awaited.add(newcomer);
    send(newcomer, new Message.Hold(attempt, Objects.requireNonNull(successor)));
  }

  private void avoid(NodeId node) {
    if (avoided.size() == Message.Join.AVOIDED_MAX) avoided.clear();
    avoided.add(node);
  }

  // ---- the queue of an object (section 4.3)

  private LocalQueue queue(StreamId object) {
    return queues.computeIfAbsent(object, _ -> new LocalQueue(isRoot ? me : parent()));
  }

  /* doRetrieveRequest */
  private void request(Entry entry, StreamId object) {
    var queue = queue(object);
    NodeId before = queue.tail();
    queue.add(entry);
    if (!before.equals(me)) send(before, new Message.Retrieve(object));
    else if (isLoaded(object)) advance(object);
  }

  /* Passes on an object that is here and not in use. */
  private void advance(StreamId object) {
    var queue = queues.get(object);
    if (queue == null) return;
    while (queue.head().equals(me)
        && queue.size() > 1
        && !busy.contains(object)
        && !loading.contains(object)) {
      if (!mayPass(object)) {
        blocked.add(object);
        return;
      }
      migrate(queue, object);
    }
    if (isRoot && queue.isJust(me) && !busy.contains(object)) queues.remove(object);
  }

  /* doMigrate */
  private void migrate(LocalQueue queue, StreamId object) {
    Entry next = queue.advance();
    NodeId to = next.node();
    if (to.equals(me)) {
      if (next.operation() != LocalQueue.NOTHING) obtained(next.operation(), object);
      return;
    }
    boolean isUp = to.equals(parent);
    var with =
        isUp ? copies.up(List.of(object)) : new Upward(List.of(copies.get(object)), List.of());
    send(to, new Message.Migrate(object, with));
    if (isUp && queue.isJust(parent)) queues.remove(object);
  }

  private void migrated(NodeId from, StreamId object, Upward with) {
    save(from, with);
    if (from.equals(parent)) with.copies().forEach(copies::isAbove);
    if (from.equals(parent) && isKept) with.copies().forEach(copies::keep);
    var queue = queue(object);
    Check.that(queue.head().equals(from), "%s comes to %s from %s in %s", object, me, from, queue);
    Check.that(queue.size() > 1, "%s at %s goes somewhere", object, me);
    if (isRoot) queue.replaceHead(me); // from where it goes on when it may
    else migrate(queue, object);
    advance(object);
  }

  private void save(NodeId from, Upward with) {
    save(with);
    if (!hasSuccessors || with.copies().isEmpty()) return;
    var versions =
        sent.computeIfAbsent(persisting, _ -> new TreeMap<>())
            .computeIfAbsent(from, _ -> new TreeMap<>());
    with.copies().forEach(copy -> versions.put(copy.object(), copy.version()));
    if (persisting == persisted) tellKept();
  }

  private void save(Upward with) {
    List<Copy> saved = new ArrayList<>();
    for (var copy : with.copies()) {
      if (atServer.contains(copy.object()) || isOfNothing(copy) || isOutlived(copy)) continue;
      if (copies.save(copy)) saved.add(copy);
    }
    if (isRoot) persist(saved);
    else with.dependencies().forEach(copies::depend);
  }

  // ---- operations (section 5.1)

  private void submit(long number, SortedSet<StreamId> objects) {
    Check.that(stage == Stage.IN, "%s takes operations until it leaves", me);
    Check.that(number > LocalQueue.NOTHING && !objects.isEmpty(), "operation %s", number);
    var operation = new Operation(number, objects);
    operations.put(number, operation);
    if (settings.retrieval == Retrieval.AHEAD) {
      for (var object : operation.objects.subList(0, operation.objects.size() - 1).reversed()) {
        if (!queue(object).tail().equals(me)) request(new Entry(me, LocalQueue.NOTHING), object);
      }
    }
    next(operation);
  }

  /* Objects are retrieved one after the other, the last of their order first. */
  private void next(Operation operation) {
    if (operation.lacking > 0) {
      var entry = new Entry(me, operation.number);
      request(entry, operation.objects.get(operation.lacking - 1));
    } else {
      var inputs = operation.objects.stream().map(copies::get).toList();
      effects.add(new Effect.Execute(operation.number, inputs));
    }
  }

  private void obtained(long number, StreamId object) {
    busy.add(object);
    var operation = operation(number);
    operation.lacking--;
    next(operation);
  }

  private Operation operation(long number) {
    return Objects.requireNonNull(operations.get(number), "an operation that waits or runs");
  }

  /* Objects that an operation holds move on, and those that it waits for will when they come. */
  private void withdraw(long number) {
    early.removeIf(event -> isOf(event, number));
    reading.remove(number);
    var operation = operations.get(number);
    if (operation == null || operation.lacking == 0) return;
    operations.remove(number);
    queue(operation.objects.get(operation.lacking - 1)).forgo(number);
    var had = operation.objects.subList(operation.lacking, operation.objects.size());
    busy.removeAll(had);
    had.forEach(this::advance);
  }

  private static boolean isOf(Event event, long number) {
    return (event instanceof Event.Submit submit && submit.number() == number)
        || (event instanceof Event.Read read && read.number() == number);
  }

  private void executed(Event.Executed executed) {
    var operation =
        Objects.requireNonNull(operations.remove(executed.number()), "what was executing");
    List<Copy> made = new ArrayList<>();
    executed
        .outputs()
        .forEach((object, state) -> {
          Check.that(operation.objects.contains(object), "%s was retrieved", object);
          made.add(new Copy(object, copies.get(object).version().updated(), state));
        });
    operation.objects.forEach(object -> note(copies.get(object)));
    for (var copy : made) {
      copies.save(copy);
      note(copy);
      if (isRoot) continue;
      for (var other : operation.objects) {
        if (!other.equals(copy.object())) copies.depend(new Dependency(copy.object(), other));
      }
    }
    persist(made);
    busy.removeAll(operation.objects);
    lent.removeAll(operation.objects);
    operation.objects.forEach(this::advance);
  }

  // ---- reads (section 5.2)

  private void read(long number, StreamId object, Reads reads) {
    Copy here = copies.find(object);
    Copy read = seen.get(object);
    if (read != null && isNewer(read, here)) here = read;
    CopyVersion floor = floors.getOrDefault(object, CopyVersion.NONE);
    boolean fresh = here != null && here.version().compareTo(floor) >= 0;
    boolean isHere = !lent.contains(object) && !isSettling();
    if (reads == Reads.LOCAL && here != null && fresh && isHere) {
      note(here);
      effects.add(new Effect.Answer(number, here));
      return;
    }
    reading.put(number, object);
    ask(number, object);
  }

  private void ask(long number, StreamId object) {
    ask(me, new Message.Ask(new ReadId(me, number, ++attempts), object));
  }

  private void ask(NodeId from, Message.Ask ask) {
    var queue = queues.get(ask.object());
    NodeId head = queue != null ? queue.head() : isRoot ? me : parent();
    var course = from.equals(parent) ? Course.UP : Course.OUT;
    if (head.equals(me) && lent.contains(ask.object())) return;
    if (head.equals(me) && !(isLoaded(ask.object()) && mayPass(ask.object()))) {
      waiting.add(new Waiting(from, ask));
    } else if (head.equals(me) || head.equals(from)) {
      answer(ask.read(), ask.object(), course);
    } else {
      if (!head.equals(parent)) routes.put(ask.read(), new Route(ask.object(), course, head));
      send(head, ask);
    }
  }

  private void replied(ReadId read, StreamId object) {
    var route = routes.remove(read);
    if (route != null) answer(read, object, route.course());
  }

  private void answer(ReadId read, StreamId object, Course course) {
    if (!isSaved(object)) {
      answering.add(new Answering(read, object, course));
      return;
    }
    if (course == Course.UP) {
      send(parent(), new Message.Reply(read, object, copies.up(List.of(object))));
    } else if (read.node().equals(me)) {
      answered(read.number(), copies.get(object));
    } else {
      effects.add(
          new Effect.Tell(read.node(), new Message.Answer(read.number(), copies.get(object))));
    }
  }

  private void answered(long number, Copy copy) {
    if (reading.remove(number) == null) return;
    Copy here = copies.find(copy.object());
    if (isNewer(copy, here)) see(copy);
    note(copy);
    effects.add(new Effect.Answer(number, copy));
  }

  // ---- durability (section 5.1)

  private void note(Copy copy) {
    unflushed.merge(
        copy.object(), copy.version(), (one, two) -> one.compareTo(two) >= 0 ? one : two);
  }

  private void flush(long number) {
    SortedMap<StreamId, CopyVersion> updates = new TreeMap<>(unflushed);
    flushing.put(number, updates);
    if (updates.isEmpty()) durable(number);
    else copyUp(me, number, new TreeSet<>(updates.keySet()));
  }

  private void copyUp(NodeId node, long number, SortedSet<StreamId> objects) {
    if (isRoot) {
      // A replaced root must not answer, even if there is nothing new.
      if (persisting == persisted) effects.add(new Effect.Persist(++persisting, List.of(), null));
      flushes.add(new Flush(node, number, persisting));
    } else {
      send(parent(), new Message.CopyUp(node, number, objects, copies.up(objects)));
    }
  }

  private void durable(long number) {
    var updates = flushing.remove(number);
    if (updates == null) return;
    updates.forEach((object, version) -> unflushed.remove(object, version));
    if (number == OWN_FLUSH) unflushedMax = Math.max(settings.versionsMax, 2 * unflushed.size());
    else if (number == LAST_FLUSH) stage = Stage.WAITING;
    else effects.add(new Effect.Flushed(number));
  }

  // ---- the root

  private boolean isLoaded(StreamId object) {
    if (!isRoot || copies.find(object) != null) return true;
    if (loading.add(object)) effects.add(new Effect.Load(object));
    return false;
  }

  private void loaded(Event.Loaded loaded) {
    Check.that(loading.remove(loaded.object()), "%s was to be loaded", loaded.object());
    CopyVersion version = loaded.version();
    version = version == null ? CopyVersion.NONE : version;
    // Before all have returned, versions must be comparable to theirs.
    if (expected.isEmpty()) version = version.from(Math.max(oldest, copies.unknown()));
    copies.load(new Copy(loaded.object(), version, loaded.state()));
    atServer.remove(loaded.object());
    found();
    askAgain();
    advance(loaded.object());
  }

  /*
   * Lets the objects of a running operation go, which changed elsewhere and stay there. When they
   * come back, the store has their states, and nothing that is known here counts.
   */
  private void forget(long number) {
    var operation = Objects.requireNonNull(operations.remove(number), "what was executing");
    for (var object : operation.objects) {
      busy.remove(object);
      lent.remove(object);
      copies.forget(object);
      routes.values().removeIf(route -> route.object().equals(object));
      answering.removeIf(each -> each.object.equals(object));
      if (queue(object).isJust(me)) queues.remove(object);
      else loading.add(object);
      if (loading.contains(object)) effects.add(new Effect.Load(object));
    }
  }

  /* Takes back objects, and forgets those that were never constructed and have come back. */
  private void unused(SortedSet<StreamId> objects) {
    if (isSettling()) return;
    SortedSet<StreamId> forgotten = new TreeSet<>();
    for (var object : objects) {
      var queue = queues.get(object);
      if (queue != null && queue.size() == 1 && !queue.isJust(me)) {
        request(new Entry(me, LocalQueue.NOTHING), object);
      } else if (queue == null && mayForget(object)) {
        copies.forgetAbsent(object);
        forgotten.add(object);
      }
    }
    if (!forgotten.isEmpty()) effects.add(new Effect.Forgotten(forgotten));
  }

  /* The object is here, so that no other node has a newer copy. */
  private boolean mayForget(StreamId object) {
    Copy copy = copies.look(object);
    // An absent copy of a later life stays: its version may come again with another life.
    boolean isNothing = copy == null || (copy.state().length == 0 && copy.version().number() == 0);
    return isNothing
        && mayGo(object)
        && !loading.contains(object)
        && unsaved.getOrDefault(object, 0L) <= persisted;
  }

  private boolean isAbsent(Copy copy) {
    return lives.isAbsent(copy.state());
  }

  /*
   * Whether it is a copy of an object that does not exist, and that the root does not know, or has
   * forgotten.
   */
  private boolean isOfNothing(Copy copy) {
    boolean isUnknown = copies.version(copy.object()).equals(CopyVersion.NONE);
    return isRoot && isAbsent(copy) && isUnknown && copies.look(copy.object()) == null;
  }

  /*
   * Whether the object was deleted, or constructed at the server, since this copy of it was made.
   * While the root expects children, a copy that it has loaded has the version that the store knows,
   * and seems to be older: what the server has made has none, or the first one when it is lent.
   */
  private boolean isOutlived(Copy copy) {
    Copy stored = copies.look(copy.object());
    return isRoot && stored != null && lives.isOver(copy.state(), stored.state());
  }

  private void askAgain() {
    var asks = List.copyOf(waiting);
    waiting.clear();
    asks.forEach(each -> ask(each.from(), each.ask()));
  }

  private void persist(List<Copy> made) {
    if (!isRoot) return;
    boolean isNews = hasSuccessors && !listed.equals(list());
    if (made.isEmpty() && !isNews) return;
    if (isNews) listed = list();
    effects.add(
        new Effect.Persist(++persisting, List.copyOf(made), isNews ? new TreeSet<>(listed) : null));
    if (hasSuccessors) made.forEach(copy -> unsaved.put(copy.object(), persisting));
  }

  private void persisted(long number) {
    persisted = number;
    if (hasSuccessors) saved();
    while (!flushes.isEmpty() && flushes.element().persist <= persisted) {
      var flush = flushes.remove();
      if (flush.node.equals(me)) durable(flush.number);
      else effects.add(new Effect.Tell(flush.node, new Message.Durable(flush.number)));
    }
  }

  // ---- a root that has successors

  /* The nodes that the next root must expect. */
  private SortedSet<NodeId> list() {
    SortedSet<NodeId> all = new TreeSet<>(children.keySet());
    all.addAll(newcomers.keySet());
    all.addAll(granted.values());
    pending.values().forEach(each -> all.add(each.by));
    all.addAll(expected);
    return all;
  }

  /* Tells the store who the children are, if that has changed. */
  private void listChildren() {
    persist(List.of());
    if (hasSuccessors) hasten();
  }

  private boolean isSettling() {
    return !expected.isEmpty() || persisted < settled;
  }

  /* Whether the store has an object's state; if not, it hurries: a node waits. */
  private boolean isSaved(StreamId object) {
    boolean saved = unsaved.getOrDefault(object, 0L) <= persisted;
    if (!saved) hasten();
    return saved;
  }

  private void hasten() {
    if (persisted == persisting || hastened == persisting) return;
    hastened = persisting;
    effects.add(new Effect.Hasten());
  }

  /* Whether an object at the root may go to others. */
  private boolean mayPass(StreamId object) {
    return !isSettling() && isSaved(object);
  }

  private void saved() {
    unsaved.values().removeIf(number -> number <= persisted);
    new TreeMap<>(newcomers)
        .forEach((newcomer, its) -> {
          if (its.persist > persisted) return;
          newcomers.remove(newcomer);
          admit(newcomer, its.at);
        });
    new TreeMap<>(pending)
        .forEach((node, its) -> {
          if (its.persist > persisted) return;
          pending.remove(node);
          grant(node, its.attempt, its.by);
        });
    new TreeMap<>(departing)
        .forEach((gone, number) -> {
          if (number > persisted) return;
          departing.remove(gone);
          effects.add(new Effect.Send(gone, new Message.Farewell()));
        });
    tellKept();
    goOn();
  }

  /* Does what has waited until something is durable. */
  private void goOn() {
    if (isSettling()) return;
    var some = List.copyOf(blocked);
    blocked.clear();
    some.forEach(this::advance);
    var answers = List.copyOf(answering);
    answering.clear();
    answers.forEach(each -> answer(each.read, each.object, each.course));
    askAgain();
  }

  private void tellKept() {
    var durable = sent.headMap(persisted + 1);
    SortedMap<NodeId, SortedMap<StreamId, CopyVersion>> all = new TreeMap<>();
    durable
        .values()
        .forEach(each ->
            each.forEach((child, versions) ->
                all.computeIfAbsent(child, _ -> new TreeMap<>()).putAll(versions)));
    durable.clear();
    all.forEach((child, versions) -> {
      if (children.containsKey(child)) send(child, new Message.Kept(versions));
    });
  }

  /* A child of the root before is here, with all that the store may lack. */
  private void returned(NodeId child, Message.Return back) {
    boolean isHere = back.has().keySet().stream().allMatch(this::owns);
    if (expected.contains(child) && isHere) {
      returning.put(child, back);
      accept(child);
    } else {
      effects.add(new Effect.Cut(child));
    }
  }

  /* Accepts it as soon as it is known what the store has. */
  private void accept(NodeId child) {
    Message.Return back = Objects.requireNonNull(returning.get(child), "a child that returns");
    SortedSet<StreamId> all = new TreeSet<>(back.has().keySet());
    back.copies().copies().forEach(copy -> all.add(copy.object()));
    boolean isKnown = true;
    for (var object : all) isKnown &= isFound(object);
    if (!isKnown) return;
    returning.remove(child);
    if (isOfAnotherPast(back)) {
      effects.add(new Effect.Cut(child));
      giveUp(child);
      return;
    }
    expected.remove(child);
    children.put(child, Below.NEW);
    isToTell = true;
    send(child, new Message.Welcome());
    send(child, new Message.Kept(new TreeMap<>()));
    save(child, new Upward(ofThisLife(back.copies().copies()), List.of()));
    back.has()
        .forEach((object, version) -> {
          copies.raise(object, version);
          claim(child, object);
        });
    if (expected.isEmpty()) settle();
  }

  /*
   * Whether the store has another past than a child. It has a newer version of an object than the
   * node at which the object is, when a server of an earlier release, which reads no list, had the
   * root in between. It lacks a version that was durable when it was set back. It has the object at
   * the server, or in a later life, when that was deleted meanwhile.
   */
  private boolean isOfAnotherPast(Message.Return back) {
    SortedSet<StreamId> offered = new TreeSet<>();
    boolean isOther = false;
    for (var copy : back.copies().copies()) {
      offered.add(copy.object());
      isOther |= back.has().containsKey(copy.object()) && isOutlived(copy);
    }
    for (var each : back.has().entrySet()) {
      CopyVersion has = each.getValue();
      isOther |= atServer.contains(each.getKey());
      CopyVersion stored = copies.version(each.getKey());
      boolean isDurable = !offered.contains(each.getKey());
      isOther |= stored.compareTo(has) > 0;
      isOther |= isDurable && isKnown(stored) && stored.number() < has.number();
    }
    return isOther;
  }

  /* The store does not know the version of a deleted object. */
  private static boolean isKnown(CopyVersion stored) {
    return !stored.equals(CopyVersion.NONE);
  }

  private List<Copy> ofThisLife(List<Copy> offered) {
    return offered.stream()
        .filter(copy -> !atServer.contains(copy.object()) && !isOutlived(copy))
        .toList();
  }

  private void claim(NodeId child, StreamId object) {
    var queue = queue(object);
    queue.replaceHead(child);
    if (queue.size() > 1) send(child, new Message.Retrieve(object));
  }

  /*
   * Whether the root knows what the store has of the objects in a message. It forgets the versions
   * of objects; and a node below a child that has returned may have old copies of others.
   */
  private boolean areKnown(Message message) {
    boolean all = true;
    if (!isRoot) return all;
    for (var copy : copies(message).copies()) {
      if (isOfNothing(copy)) continue;
      if (copies.version(copy.object()).equals(CopyVersion.NONE)) all &= isFound(copy.object());
    }
    return all;
  }

  /* Whether it is known what the store has of an object, or that it has all of it. */
  private boolean isFound(StreamId object) {
    return atServer.contains(object) || isLoaded(object);
  }

  private void atServer(StreamId object) {
    if (!loading.contains(object)) return; // it has just come
    atServer.add(object);
    found();
  }

  private void found() {
    List.copyOf(returning.keySet()).forEach(this::accept);
    List.copyOf(unread.keySet()).forEach(this::readOn);
  }

  private void readOn(NodeId child) {
    var all = unread.remove(child);
    while (all != null && !all.isEmpty() && areKnown(all.element())) {
      received(child, all.remove());
    }
    if (all != null && !all.isEmpty()) unread.put(child, all);
  }

  private void giveUp(NodeId child) {
    if (expected.remove(child) && expected.isEmpty()) settle();
  }

  /*
   * A process has one node at a time. So its earlier nodes that have not returned never will, such as
   * one that the root before had listed and not welcomed.
   */
  private void giveUpEarlier(NodeId newcomer) {
    for (var each : List.copyOf(expected)) {
      boolean isItsProcess = each.address().equals(newcomer.address());
      boolean isEarlier = isItsProcess && each.number() < newcomer.number();
      if (isEarlier && !returning.containsKey(each)) giveUp(each);
    }
  }

  private void noReturns() {
    giveUpOverdue();
    if (expected.isEmpty()) return;
    returning.keySet().forEach(child -> effects.add(new Effect.Cut(child)));
    returning.clear();
    expected.clear();
    settle();
  }

  /*
   * Cuts children of whose objects this does not learn what the store has: no process tells the
   * names, and the store does not have them.
   */
  private void giveUpOverdue() {
    unread.forEach((child, all) -> {
      if (all.element().equals(overdue.get(child))) effects.add(new Effect.Cut(child));
    });
    overdue.clear();
    unread.forEach((child, all) -> overdue.put(child, all.element()));
  }

  /* All have returned, or never will; newer copies than these here may be lost. */
  private void settle() {
    for (var object : copies.versions().keySet()) {
      if (owns(object)) copies.raise(object, copies.version(object).from(oldest));
    }
    listChildren();
    settled = persisting;
    goOn();
  }

  // ---- a child of such a root

  /* The root is no more. The messages that have waited here for it stay here. */
  private void orphaned() {
    NodeId old = parent();
    isOrphan = true;
    held.remove(old);
    if (stage == Stage.ASKING) stepBack();
    queues.values().forEach(queue -> queue.replaceBehind(old, me));
    List.copyOf(queues.keySet()).forEach(this::advance);
  }

  /* Offers the next root what it may lack, and tells it what is here or below. */
  private void comeTo(NodeId root) {
    if (stage == Stage.ENDING) {
      departFrom(root);
      return;
    }
    NodeId old = parent();
    if (root.equals(old)) {
      if (!held.containsKey(old)) disconnected(); // it is still there, and has given this node up
      return;
    }
    if (held.remove(old) != null) effects.add(new Effect.Cut(old));
    parent = root;
    told = null;
    queues.values().forEach(queue -> queue.replace(old, root));
    queues.keySet().removeIf(this::isOfNothingHere);
    SortedMap<StreamId, CopyVersion> has = new TreeMap<>();
    queues.forEach((object, queue) -> {
      if (!queue.head().equals(root)) has.put(object, copies.version(object));
    });
    effects.add(new Effect.Send(root, new Message.Return(copies.toNextRoot(this::isAbsent), has)));
    held.put(root, new ArrayList<>());
    queues.forEach((object, queue) -> {
      if (queue.head().equals(root) && queue.size() > 1) send(root, new Message.Retrieve(object));
    });
  }

  /*
   * Whether an object is here that does not exist, and that no operation uses. The next root has as
   * much of it. It may not know its name, as the processes that have called it may be gone;
   * then it would accept no child that claims it.
   */
  private boolean isOfNothingHere(StreamId object) {
    Copy copy = copies.look(object);
    boolean isAbsent = copy == null || isAbsent(copy);
    return isAbsent && queue(object).isJust(me) && !busy.contains(object);
  }

  /*
   * This node has handed over all that it had, and the root of that time may have ended before it
   * took that down: it returns to the next root, which expects it, with nothing.
   */
  private void departFrom(NodeId root) {
    NodeId old = parent();
    isOrphan = false;
    awaited.remove(old);
    if (root.equals(old)) return; // it is still there, and has given this node up
    parent = root;
    awaited.add(root);
    var nothing = new Message.Return(Upward.NOTHING, new TreeMap<>());
    effects.add(new Effect.Send(root, nothing));
  }

  // ---- leaving (section 6.2)

  private void progress() {
    if (stage == Stage.DRAINING && operations.isEmpty() && reading.isEmpty()) {
      stage = Stage.FLUSHING;
      flush(LAST_FLUSH);
    }
    if (stage == Stage.ASKING && !children.containsKey(successor)) stepBack();
    if (stage == Stage.WAITING && granted.isEmpty() && !isOrphan) begin();
    if (stage == Stage.ASKING && awaited.isEmpty()) handOver();
    if (stage == Stage.ENDING && awaited.isEmpty()) {
      stage = Stage.OUT;
      effects.add(new Effect.Left());
    }
  }

  private void begin() {
    if (children.isEmpty()) {
      send(parent(), new Message.Depart(copies.up(copies.versions().keySet())));
      awaited.add(parent());
      stage = Stage.ENDING;
      return;
    }
    // The same as before: a root that has listed it may be followed by one that expects it.
    if (successor == null || !children.containsKey(successor)) successor = firstInner();
    if (successor == null) {
      for (var each : children.keySet()) {
        if (moved.add(each)) send(each, new Message.Move());
      }
      return;
    }
    stage = Stage.ASKING;
    attempt++;
    awaited.addAll(neighbors());
    for (var each : neighbors()) send(each, new Message.Hold(attempt, successor));
  }

  private @Nullable NodeId firstInner() {
    for (var each : children.keySet()) {
      if (!each.isLeaf()) return each;
    }
    return null;
  }

  private void moveOn() {
    if (stage != Stage.IN) return;
    avoid(parent()); // which takes newcomers until it has left
    stage = Stage.DRAINING;
    effects.add(new Effect.Moving());
  }

  private void stepBack() {
    stage = Stage.WAITING;
    awaited.clear();
    for (var each : neighbors()) send(each, new Message.Resume());
  }

  private void hold(NodeId from, long number, NodeId by) {
    if (stage == Stage.ASKING) {
      // By (5); the child steps back when it gets this node's own Hold.
      if (!from.equals(parent)) return;
      stepBack();
    }
    if (!hasSuccessors) {
      grant(from, number, by);
    } else {
      pending.put(from, new Pending(number, by, Long.MAX_VALUE));
      giveUp(by); // it is below the sender, which has returned
      listChildren();
      pending.put(from, new Pending(number, by, persisting));
      if (persisting == persisted) saved();
    }
  }

  private void grant(NodeId from, long number, NodeId by) {
    granted.put(from, by);
    var has = by.equals(me) ? copies.versions() : new TreeMap<StreamId, CopyVersion>();
    send(from, new Message.Holding(number, has));
    held.put(from, new ArrayList<>());
  }

  private void handOver() {
    NodeId next = Objects.requireNonNull(successor, "the asking node has a successor");
    SortedMap<StreamId, List<NodeId>> nodes = new TreeMap<>();
    queues.forEach((object, queue) -> nodes.put(object, queue.nodes()));
    SortedSet<NodeId> others = new TreeSet<>(children.keySet());
    others.remove(next);
    send(
        next,
        new Message.Promote(
            parent, others, nodes, copies.lackedBy(successorHas), new TreeMap<>(routes)));
    for (var each : neighbors()) {
      if (!each.equals(next)) send(each, new Message.Replaced(next));
    }
    awaited.addAll(neighbors());
    stage = Stage.ENDING;
  }

  private void replaced(NodeId node, NodeId by) {
    Check.that(by.equals(granted.remove(node)), "%s leaves, and %s has its place", node, by);
    var kin = node.equals(parent) ? Kin.PARENT : Kin.CHILD;
    if (kin == Kin.PARENT) {
      parent = by; // which has all that the old one had
      told = null;
      isToTell = true;
    } else {
      Below below = children.remove(node);
      children.put(by, below == null ? Below.NEW : new Below(0, below.passed, below.localities));
      routes.replaceAll((_, route) ->
          route.to().equals(node) ? new Route(route.object(), route.course(), by) : route);
    }
    queues.values().forEach(queue -> queue.replace(node, by));
    send(by, new Message.Greet(kin));
    if (hasSuccessors) send(by, new Message.Kept(new TreeMap<>()));
    listChildren();
    farewell(node);
    release(node, by);
    unstash(each -> each.from().equals(by));
  }

  private void release(NodeId node, NodeId by) {
    var kept = held.remove(node);
    if (kept != null) kept.forEach(each -> send(by, each));
  }

  private void unstash(Predicate<Stashed> which) {
    var some = stash.stream().filter(which).toList();
    stash.removeAll(some);
    some.forEach(each -> take(each.event()));
  }

  /*
   * Takes the place of the parent. No queue contains what was held for the parent yet: a node made
   * of the parent's state takes it, and the two merge when nothing is between them.
   */
  private void promoted(NodeId from, Message.Promote state) {
    Check.that(me.equals(granted.remove(from)), "%s leaves, and %s has its place", from, me);
    var upper = new TreeNode(from, settings, lives, state, copies, me);
    List<Effect> later = new ArrayList<>();
    predecessor = from;
    var kept = held.remove(from);
    if (kept != null) carried.addAll(kept);
    carried.forEach(upper::expect);
    while (!carried.isEmpty()) {
      for (var effect : upper.step(new Event.Received(me, carried.remove()))) {
        if (effect instanceof Effect.Send(NodeId to, Message message) && to.equals(me)) {
          fromNeighbor(from, message);
        } else {
          later.add(effect);
        }
      }
    }
    predecessor = null;
    // The root has listed this node before it granted the leave.
    isKept = upper.parent().address().equals(rootAddress);
    effects.add(new Effect.Send(from, new Message.Farewell()));
    parent = upper.parent;
    told = null;
    isToTell = true;
    for (var each : upper.children.keySet()) {
      if (!each.equals(me)) children.put(each, upper.children.getOrDefault(each, Below.NEW));
    }
    copies.merge(upper.copies);
    mergeQueues(upper);
    upper.routes.forEach((read, route) -> {
      if (!route.to().equals(me)) {
        routes.put(read, route);
        return;
      }
      Route mine = routes.get(read);
      if (mine != null) routes.put(read, new Route(mine.object(), route.course(), mine.to()));
    });
    send(parent(), new Message.Greet(Kin.PARENT));
    for (var each : upper.children.keySet()) {
      if (!each.equals(me)) send(each, new Message.Greet(Kin.CHILD));
    }
    effects.addAll(later);
    List.copyOf(queues.keySet()).forEach(this::advance);
    unstash(_ -> true);
  }

  /*
   * This node has the newest copies of a child already, and must get what messages in transit from
   * there say about their dependencies.
   */
  private void expect(Message message) {
    copies(message).dependencies().forEach(copies::depend);
  }

  private static Upward copies(Message message) {
    return switch (message) {
      case Message.Migrate migrate -> migrate.copies();
      case Message.Reply reply -> reply.copies();
      case Message.CopyUp copyUp -> copyUp.copies();
      case Message.Depart depart -> depart.copies();
      default -> Upward.NOTHING;
    };
  }

  private void mergeQueues(TreeNode upper) {
    SortedSet<StreamId> objects = new TreeSet<>(queues.keySet());
    objects.addAll(upper.queues.keySet());
    NodeId gone = upper.me;
    for (var object : objects) {
      var own = queues.getOrDefault(object, new LocalQueue(gone));
      var parents = upper.queues.getOrDefault(object, new LocalQueue(upper.parent()));
      var merged = LocalQueue.merged(own, me, parents, gone);
      merged.replace(gone, me);
      queues.put(object, merged);
    }
  }

  // ---- for observers

  /// Returns its identity.
  public NodeId id() {
    return me;
  }

  /// Returns whether it is in the tree, as far as it knows.
  public boolean isIn() {
    return stage != Stage.NEW
        && stage != Stage.JOINING
        && stage != Stage.OUT
        && stage != Stage.ENDING;
  }

  /// Returns whether its root is no more, and it must return to the next one by [Event.Join].
  public boolean isOrphan() {
    return isOrphan && stage != Stage.OUT;
  }

  /// Returns whether the next root expects it, as far as it knows.
  public boolean isKept() {
    return isKept;
  }

  /// Returns the children of the root before that have not returned.
  public Collection<NodeId> expected() {
    return List.copyOf(expected);
  }

  /// Returns the parent of a node that is in the tree and not its root.
  public @Nullable NodeId above() {
    return parent;
  }

  /// Returns the node that has offered it a place that it does not have yet.
  public @Nullable NodeId offered() {
    return stage == Stage.JOINING ? offered : null;
  }

  /// Returns the children.
  public Collection<NodeId> below() {
    return List.copyOf(children.keySet());
  }

  /// Returns the newest copy that came through the tree; null when there is none, or it was
  /// dropped.
  public @Nullable Copy copy(StreamId object) {
    return copies.look(object);
  }

  /// Returns the newest version that came through the tree, whether it is still here or not.
  public CopyVersion version(StreamId object) {
    return copies.version(object);
  }

  /// Returns the version that the parent has, as far as this node knows.
  public CopyVersion versionAbove(StreamId object) {
    return copies.versionAbove(object);
  }

  /// Returns the objects that go to the parent together with this one.
  public Collection<StreamId> dependencies(StreamId object) {
    return copies.reached(List.of(object));
  }

  /// Returns whether the object is here and nowhere else.
  public boolean owns(StreamId object) {
    var queue = queues.get(object);
    return queue == null ? isRoot : queue.head().equals(me);
  }

  /// Returns how many objects are here, of those that some node asked for.
  public int owned() {
    return (int) queues.values().stream().filter(queue -> queue.head().equals(me)).count();
  }

  /// Returns its part of the queue of an object: neighbors and itself, first the one in whose
  /// direction the object is.
  public List<NodeId> line(StreamId object) {
    var queue = queues.get(object);
    return queue == null ? List.of(isRoot ? me : parent()) : queue.nodes();
  }

  /// Returns whether an operation here holds an object.
  public boolean holds(StreamId object) {
    return busy.contains(object);
  }

  /// Returns the messages of a child that it has received and not read.
  public List<Message> unread(NodeId child) {
    var all = unread.get(child);
    return all == null ? List.of() : List.copyOf(all);
  }

  /// Returns the messages that it holds for a leaving neighbor.
  public List<Message> held(NodeId neighbor) {
    return List.copyOf(held.getOrDefault(neighbor, List.of()));
  }

  @Override
  public String toString() {
    return "%s %s below %s, above %s, queues %s, held %s"
        .formatted(me, stage, parent, children, queues, held);
  }
}

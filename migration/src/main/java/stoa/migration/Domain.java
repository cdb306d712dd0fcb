package stoa.migration;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Locality;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.TransactionAction;
import stoa.Tree;
import stoa.base.CallId;
import stoa.base.Clock;
import stoa.base.Repeats;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedStore;
import stoa.front.Placing;
import stoa.front.types.SharedMethod;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.CostModel;
import stoa.migration.core.Event;
import stoa.migration.core.Mandate;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.spi.CallContext;

/// The tree of a domain of a store in this process: its root, beside the store; members that join
/// it here; and those that come over the network when it is served. Thread-safe.
///
/// Calls on client-placed objects through the store itself execute at the root, and are durable
/// when they return.
@SuppressWarnings("exports") // Justification: of Placing, which programs do not call
public final class Domain implements Placing.Root {
  /// The default number of children of a node.
  public static final int FAN_OUT = 5;

  static final long TICK_MILLIS = 200;
  private static final long CONFIRM_MILLIS = 100;

  // The time in which clients of the root before may return.
  private static final long RETURN_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final String ROOT = "root";
  static final String THREAD = "stoa-migration";
  private static final Logger LOG = LoggerFactory.getLogger(Domain.class);

  private final Repeats repeats = new Repeats();

  // How many roots of one opening have numbers of their own, and generations above those before.
  private static final int ROOTS_BITS = 12;
  private static final int GENERATIONS_BITS = 20;

  private final PlacedStore store;
  private final String name;
  private final Clock clock;
  private volatile TreeNode.Settings settings;
  private final Site here = new Here();
  private final RoutedLinks links = new RoutedLinks();
  private final AtomicLong numbers = new AtomicLong();
  private final NodeId root;
  private final RootStore rootStore;
  private final Member rootMember;
  private final AutoRoot auto;
  private final Lender lender;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final Timing timing;
  private final Timing.Line ticks;
  private final Timing.Line deadlines;
  private final Timing.Line confirming;
  private final Mandate mandate = new Mandate(Mandate.LENGTH_NANOS);
  // The end of the present time for returns.
  private volatile long returnsUntilNanos;
  private volatile boolean served;
  private volatile @Nullable RuntimeException over;

  /// Creates the tree.
  ///
  /// @param before how many roots there were since the store was opened
  Domain(PlacedStore store, String name, int before, Clock clock, TreeNode.Settings settings) {
    this.store = store;
    this.name = name;
    timing = store.timing();
    ticks = timing.line(THREAD);
    deadlines = timing.line(THREAD);
    confirming = timing.line(THREAD);
    this.clock = clock;
    this.settings = settings.withCopyBytesMax(store.limits().residentBytesMax());
    root = new NodeId(ROOT, (store.epoch() << ROOTS_BITS) + before);
    rootStore =
        new RootStore(store, name, RootStore.OBJECTS_MAX, this::settle, this::atRoot, this::end);
    rootMember = new Member(here, rootStore, ROOT, rootNode());
    returnsUntilNanos = timing.nanoTime() + RETURN_NANOS;
    rootMember.begin();
    auto = new AutoRoot(store, rootMember, rootStore::know);
    lender = new Lender(store, rootStore, rootMember);
    members.add(rootMember);
    ticks.every(TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS), this::tick);
    deadlines.every(TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS), this::endLate);
  }

  private TreeNode rootNode() {
    long oldest = root.number() << GENERATIONS_BITS;
    if (!store.hasSuccessors()) return TreeNode.root(root, settings, oldest, States.LIVES);
    SortedSet<NodeId> expected = new TreeSet<>();
    store.children(name).forEach(child -> expected.add(NodeId.named(child)));
    return TreeNode.root(root, settings, oldest, expected, States.LIVES);
  }

  /* Asks the store whether an object that a node wants is lent, as an earlier root may have done. */
  private void settle(PlacedObject object) {
    timing.start(() -> {
      try {
        if (!lender.settle(object)) atRoot(new Event.AtServer(object.stream()));
      } catch (RuntimeException later) {
        LOG.debug("it is not known whether {} is lent: {}", object, later.getMessage());
        rootStore.loadAgain(object.stream());
      }
    });
  }

  private void tick() {
    try {
      long now = timing.nanoTime();
      if (now - returnsUntilNanos > 0) {
        returnsUntilNanos = now + RETURN_NANOS;
        rootMember.on(new Event.NoReturns());
        takeBack(rootStore.unused());
      }
      members.forEach(Member::tick);
      lender.tick();
    } catch (RuntimeException | Error failed) {
      // The next tick does the rest.
      repeats.tell(
          "a tick of the domain " + name + " failed: " + failed, line -> LOG.warn(line, failed));
    }
  }

  private void endLate() {
    try {
      members.forEach(Member::endLate);
    } catch (RuntimeException | Error failed) {
      repeats.tell(
          "calls in the domain " + name + " may take longer than they may: " + failed,
          line -> LOG.warn(line, failed));
    }
  }

  static Thread thread(Runnable task) {
    var thread = new Thread(task, THREAD);
    thread.setDaemon(true);
    return thread;
  }

  /// Returns the default domain of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when the store is elsewhere
  public static Domain of(Stoa stoa) {
    return of(stoa, PlacedObject.DOMAIN);
  }

  /// Returns a domain of a store that is open in this process.
  ///
  /// @param name as in [stoa.Shared#domain()]
  /// @throws IllegalArgumentException when the store is elsewhere
  /// @throws stoa.LimitExceeded when the store has too many domains
  public static Domain of(Stoa stoa, String name) {
    return (Domain) PlacedStore.placing(stoa, name);
  }

  /// Returns its name.
  public String name() {
    return name;
  }

  /// Adds a member. Its calls execute in this process, apart from those of other members.
  ///
  /// @param name the name of the member; a number follows it when there is one of that name
  /// @throws IllegalArgumentException when the name looks like an address
  /// @throws Closed when the store is closed
  /// @throws stoa.Unavailable when the tree has ended; [#of] begins another one
  public Member join(String name) {
    if (RoutedLinks.isOutside(name)) {
      throw new IllegalArgumentException("\"" + name + "\" is an address; give a name without ://");
    }
    // Nodes of one address are one process to the tree: it would not put one below another.
    String address = names.add(name) ? name : name + " " + numbers.incrementAndGet();
    var member = new Member(here, null, address, here.newNode(address, null));
    members.add(member);
    var cause = over;
    if (cause != null) {
      here.forget(member);
      throw cause;
    }
    member.begin();
    return member;
  }

  /// Delays each message between members of this process, as a network does. For measurements; call
  /// it before members join.
  public void delay(Duration message) {
    links.delay(message);
  }

  /// Lets members join over a network from now on. The domain asks the store all the time whether
  /// it still leads, and ends when the answer is no.
  ///
  /// @param outside the connections to members in other processes
  public void serve(Links outside) {
    links.outside(outside);
    served = true;
    confirming.every(TimeUnit.MILLISECONDS.toNanos(CONFIRM_MILLIS), () -> confirm(outside));
    confirming.execute(() -> confirm(outside)); // which may end it
  }

  private void confirm(Links outside) {
    long asked = timing.nanoTime();
    try {
      rootStore.confirm();
    } catch (RuntimeException replaced) {
      rootStore.fail(replaced);
      return;
    }
    mandate.confirmed(asked);
    try {
      outside.confirmed(root, asked);
      members.forEach(Member::renewed);
    } catch (RuntimeException failed) {
      repeats.tell(
          "not all of the domain " + name + " know that it has its root: " + failed,
          line -> LOG.warn(line, failed));
    }
  }

  /// Sets how many children the root, and the nodes that join from now on, take.
  public void fanOut(int childrenMax) {
    settings = settings.withChildrenMax(childrenMax);
    rootMember.on(new Event.FanOut(childrenMax));
  }

  /// Returns the settings of all nodes.
  public TreeNode.Settings settings() {
    return settings;
  }

  /// Returns where the root stands.
  public TreePosition position() {
    return rootMember.position();
  }

  @Override
  public void refuseInside(String what) {
    Member.refuseInside(what);
  }

  @Override
  public boolean isOver() {
    return over != null;
  }

  PlacedStore store() {
    return store;
  }

  Links links() {
    return links;
  }

  /// Returns the root of the tree, as its nodes know it.
  public NodeId root() {
    return root;
  }

  /// Tells the root which object a stream belongs to; before that, no member gets the object.
  ///
  /// @param caller may call the object until [#unwatch]
  /// @throws stoa.LimitExceeded when it knows too many
  /// @throws IllegalArgumentException when the object is of another domain
  public void know(PlacedObject object, Watcher caller) {
    Site.check(object, name);
    rootStore.know(object, caller);
  }

  AutoRoot auto() {
    return auto;
  }

  Lender lender() {
    return lender;
  }

  // ---- objects that may be at the server, for members elsewhere

  /// Learns at which side objects are.
  public interface Watcher {
    /// Receives the side of an object. Quick, and waits for nothing.
    void side(StreamId object, boolean atServer);
  }

  /// Tells a watcher the side of an object: now, if it is not the initial one, and at every change.
  /// No effect for an object that is always at the clients.
  public void watch(PlacedObject object, Watcher watcher) {
    switch (store.placement(object)) {
      case AUTO -> auto.watch(object, watcher);
      case SERVER -> lender.watch(object, watcher);
      case CLIENT -> {}
    }
  }

  /// Keeps an object at the clients while an asker borrows it, and tells the asker. May take long.
  ///
  /// @param asker also watches the object
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large to travel
  public void borrow(PlacedObject object, Watcher asker) {
    Site.check(object, name);
    switch (store.placement(object)) {
      case AUTO -> auto.borrow(object, asker);
      case SERVER -> lender.borrow(object, asker);
      case CLIENT -> asker.side(object.stream(), false);
    }
  }

  /// Ends an asker's borrowing of an object. Quick.
  public void letGo(StreamId object, Watcher asker) {
    auto.letGo(object, asker);
    lender.letGo(object, asker);
  }

  /// Ends all watching of a watcher that borrows nothing, and calls nothing any more.
  public void unwatch(Watcher watcher) {
    auto.unwatch(watcher);
    lender.unwatch(watcher);
    takeBack(rootStore.ended(watcher));
  }

  /*
   * Brings objects to the root, which makes them durable. The next root may not learn the names of
   * those whose callers have ended, and would refuse a node that has one.
   */
  private void takeBack(SortedSet<StreamId> unused) {
    if (!unused.isEmpty()) rootMember.on(new Event.Unused(unused));
  }

  @Override
  public @Nullable Runnable enter(PlacedObject object) {
    return auto.enter(object.stream());
  }

  /// Records the cost of calls by a member elsewhere.
  public void ran(StreamId object, CostModel.Updates updates) {
    auto.ran(object, updates);
  }

  /// Brings an object to the clients. May take long.
  public void moveToClients(StreamId object) {
    auto.moveToClients(object);
    lender.moveToClients(object);
  }

  /* This process, for its members. */
  private final class Here implements Site {
    @Override
    public TreeNode newNode(String name, @Nullable TreeNode before) {
      var id = new NodeId(name, numbers.incrementAndGet());
      return before == null
          ? TreeNode.client(id, settings, States.LIVES)
          : TreeNode.client(id, settings, before);
    }

    @Override
    public void forget(Member member) {
      members.remove(member);
      unwatch(member.watcher());
      names.remove(member.id().address());
    }

    @Override
    public Timing timing() {
      return timing;
    }

    @Override
    public Links links() {
      return links;
    }

    /* All members of this process are equally near to each other. */
    @Override
    public Locality locality() {
      return Locality.UNKNOWN;
    }

    @Override
    public NodeId root() {
      return root;
    }

    @Override
    public String domain() {
      return name;
    }

    @Override
    public boolean isSure(NodeId node) {
      return !served || mandate.holds(timing.nanoTime());
    }

    @Override
    public PlacedStore objects() {
      return store;
    }

    @Override
    public CallContext context(CopyVersion version) {
      return new ClientCall(
          store.stoa(), clock, numbers.incrementAndGet() ^ clock.nowMicros(), version);
    }

    @Override
    public void know(PlacedObject object) {
      rootStore.know(object);
    }

    @Override
    public @Nullable Auto auto(PlacedObject object) {
      return switch (store.placement(object)) {
        case AUTO -> auto;
        case SERVER -> lender;
        case CLIENT -> null;
      };
    }

    @Override
    public void moveToClients(StreamId object) {
      timing.start(() -> {
        try {
          Domain.this.moveToClients(object);
        } catch (RuntimeException over) {
          LOG.debug("{} stays at the server: {}", object, over.getMessage());
        }
      });
    }

    @Override
    public void borrow(PlacedObject object, Member by) {
      // For an object that is not lent, the member asks before each call which side has it.
      if (lender.lends(object)) lender.watch(object, by.watcher());
      Domain.this.borrow(object, by.watcher());
      by.hear();
    }

    @Override
    public void letGo(PlacedObject object, Member by) {
      Domain.this.letGo(object.stream(), by.watcher());
    }
  }

  private void atRoot(Event event) {
    rootMember.on(event);
  }

  private void end(RuntimeException cause) {
    over = cause;
    members.forEach(member -> member.fail(cause));
    links.close(root);
    links.end();
    ticks.close();
    deadlines.close();
    confirming.close(); // by itself, perhaps
  }

  // ---- calls on the store itself

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads reads)
      throws Throwable {
    return rootMember.call(object, method, arguments, reads);
  }

  @Override
  public void create(PlacedObject object) throws Throwable {
    rootMember.create(object);
  }

  @Override
  public long delete(PlacedObject object, @Nullable CallId id) {
    Member.refuseInside("delete " + object);
    Site.check(object, name);
    long ended =
        store.placement(object) == Placement.AUTO
            ? auto.delete(object, id, () -> deleteHere(object, id))
            : deleteHere(object, id);
    rootStore.deleted(object);
    return ended;
  }

  /*
   * Makes the object come here, with all that was done to it, and keeps it from all others until
   * the store has deleted it.
   */
  private long deleteHere(PlacedObject object, @Nullable CallId id) {
    var held = rootMember.hold(object);
    long ended;
    try {
      ended = store.delete(object, id);
    } catch (Gone | LimitExceeded nothingLogged) {
      rootMember.release(held);
      throw nothingLogged;
    } catch (RuntimeException unknown) {
      rootStore.fail(unknown); // it may be deleted or not: the next root finds out
      throw unknown;
    }
    try {
      rootMember.release(held, store.deleted(object));
      return ended;
    } catch (RuntimeException unknown) {
      rootStore.fail(unknown); // nobody knows which life is next: the next root finds out
      throw unknown;
    }
  }

  @Override
  public <T> T view(T shared, Reads reads) {
    return rootMember.view(shared, reads);
  }

  @Override
  public void met(PlacedObject object) {
    boolean _ = lender.settle(object);
  }

  @Override
  public void deleted(PlacedObject object) {
    lender.deleted(object);
    rootStore.deleted(object);
  }

  @Override
  public boolean isKnown(PlacedObject object) {
    return lender.isKnown(object.stream()) || rootStore.isKnown(object.stream());
  }

  @Override
  public Tree.Whereabouts where(PlacedObject object) {
    return rootMember.where(object);
  }

  @Override
  public Tree.Place place() {
    return rootMember.place();
  }

  @Override
  public <X extends Exception> void together(
      Collection<PlacedObject> some, TransactionAction<X> body) throws X {
    rootMember.together(some, body);
  }

  /// Makes durable what has come to the root, and ends all members. The store calls this when it
  /// closes; members that need durability flush before.
  @Override
  public void close() {
    try {
      if (!isOver()) rootMember.flush();
    } catch (RuntimeException failed) {
      // No caller was told that it is durable.
    }
    rootStore.fail(new Closed("the store is closed"));
    rootStore.close();
  }

  @Override
  public void awaitCalls() {
    auto.awaitCalls(store.limits().closeTimeMax());
  }
}

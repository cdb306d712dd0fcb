package stoa.migration;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import stoa.Placement;
import stoa.TransactionAction;
import stoa.Unavailable;
import stoa.base.CallId;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.PlacedStore;
import stoa.front.types.SharedMethod;
import stoa.migration.core.CostModel;

/// Decides, beside the root, where calls execute: at the server or at clients. Members in this
/// process ask it for each call. It tells members elsewhere when an object changes sides, and they
/// report the cost of their calls. Thread-safe.
///
/// While an object is at the server, the root holds it by an operation that does not end, and calls
/// go to the store as on any other object. When it goes back to the clients, the operation ends
/// with the state that the store then has.
final class AutoRoot implements Auto {
  /*
   * (1) A call of a member in this process has the `side` lock of its object for reading, and so
   *     has a call that the store makes for a member elsewhere. That lock has no owner, since the
   *     call may end on another thread. A change of sides has the lock for writing: no such call is
   *     in progress then, and none of these waits in the tree for the object. A waiting change goes
   *     first.
   * (2) `held` is what the root holds the object by iff it is at the server. When the tree has
   *     ended, no call goes to the store any more, and the next tree begins when the calls there
   *     have ended: it loads states and writes them as the only writer.
   * (3) A watcher learns of every change, and of the object's side when it begins to watch. It may
   *     learn late. A call that goes to the server while the object is elsewhere is made in the
   *     tree, by the root. A call that waits in the tree is withdrawn by its member when the member
   *     learns of the change, and reads of the tree get no answer while the root has lent the
   *     object.
   */
  private static final class Sided {
    private final PlacedObject object;
    private final ReadWriteLock side = new StampedLock().asReadWriteLock();
    private final AtomicInteger changing = new AtomicInteger();
    private final CostModel model;
    // The lock of this covers adding a watcher and telling all of them, so that each learns of all
    // changes.
    private final Set<Domain.Watcher> watchers = ConcurrentHashMap.newKeySet();
    private final Set<Domain.Watcher> askers = ConcurrentHashMap.newKeySet();
    private boolean told; // guarded by watchers
    private volatile Member.@Nullable RootHold held; // written with `side` for writing
    // Whether the object stays at the server, because it could not be brought from there.
    private volatile boolean isStuck;
    // The next calls report the rest of the costs when calls end: a model decides only on reports,
    // and a trial ends after a while.
    private final UnreportedCosts costs = new UnreportedCosts();

    private Sided(PlacedObject object, CostModel model) {
      this.object = object;
      this.model = model;
    }

    private void tell(boolean atServer) {
      synchronized (watchers) {
        told = atServer;
        watchers.forEach(each -> each.side(object.stream(), atServer));
      }
    }
  }

  // The most objects that change sides at a time; more wait. Not virtual threads: computing ones
  // may keep the processors to themselves.
  private static final int CHANGES_MAX = 16;
  private static final long IDLE_SECONDS = 10;

  private final PlacedStore store;
  private final Member root;
  private final CostModel.Server server =
      new CostModel.Server(Runtime.getRuntime().availableProcessors());
  private final ThreadPoolExecutor changes =
      new ThreadPoolExecutor(
          CHANGES_MAX,
          CHANGES_MAX,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          Domain::thread);
  private final ReentrantLock modelLock = new ReentrantLock();
  private final Map<StreamId, Sided> sites = new ConcurrentHashMap<>();
  private final Consumer<PlacedObject> knowing;

  /// Creates it.
  ///
  /// @param root the root of the tree
  /// @param knowing receives each object before anything else does; throws for one too many
  AutoRoot(PlacedStore store, Member root, Consumer<PlacedObject> knowing) {
    this.store = store;
    this.root = root;
    this.knowing = knowing;
    changes.allowCoreThreadTimeOut(true);
  }

  private Sided site(PlacedObject object) {
    Sided known = sites.get(object.stream());
    if (known != null) return known;
    knowing.accept(object);
    return sites.computeIfAbsent(object.stream(), _ -> new Sided(object, new CostModel(server)));
  }

  /// Waits, after the end of the tree, until no call is in progress at the server.
  ///
  /// @throws Unavailable when calls go on for too long
  void awaitCalls(Duration timeMax) {
    long until = System.nanoTime() + timeMax.toNanos();
    for (var site : sites.values()) {
      if (site.held == null) continue;
      var writing = site.side.writeLock();
      boolean ended = false;
      try {
        ended = writing.tryLock(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (!ended) {
        throw new Unavailable(
            "calls on "
                + site.object
                + " go on that began before the tree of its clients ended; call again");
      }
      writing.unlock();
    }
  }

  /* The caller has its `side` lock. */
  private boolean isAtServer(Sided site) {
    return site.held != null && !root.isOver();
  }

  @Override
  public @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Member caller,
      InTree inTree)
      throws Throwable {
    Sided site = site(object);
    site.side.readLock().lock();
    boolean atServer = isAtServer(site);
    // Members elsewhere report the calls that the server makes for them.
    boolean noted = caller != root || site.watchers.isEmpty();
    noted &= method.kind() != SharedMethod.Kind.ACCESSOR;
    int weight = noted ? site.costs.weight() : UnreportedCosts.NOT_NOTED;
    var meter = new Meter(weight != UnreportedCosts.NOT_NOTED);
    long start = weight == UnreportedCosts.NOT_NOTED ? 0 : System.nanoTime();
    try {
      if (atServer) return store.call(object, method, arguments);
      return inTree.call(meter);
    } finally {
      try {
        if (weight != UnreportedCosts.NOT_NOTED) {
          note(site, meter, weight, start, atServer, caller.id().number());
        }
      } finally {
        site.side.readLock().unlock();
      }
    }
  }

  /// See [Domain#enter].
  @Nullable Runnable enter(StreamId object) {
    Sided site = sites.get(object);
    // Members elsewhere report the calls that the store makes for them.
    if (site == null || site.watchers.isEmpty() || site.changing.get() > 0) return null;
    var reading = site.side.readLock();
    if (!reading.tryLock()) return null;
    if (isAtServer(site)) return reading::unlock;
    reading.unlock();
    return null;
  }

  private void note(
      Sided site, Meter meter, int weight, long began, boolean atServer, long caller) {
    long ended = System.nanoTime();
    var due = site.costs.note(atServer, weight, began, ended, meter, caller, caller);
    if (due != null) ran(site, due, true);
  }

  private void ran(Sided site, CostModel.Updates updates, boolean here) {
    boolean changed;
    modelLock.lock();
    try {
      changed = site.model.ran(updates, here, System.nanoTime());
    } finally {
      modelLock.unlock();
    }
    if (changed || (site.isStuck && updates.atServer())) {
      site.isStuck = false;
      changes.execute(() -> change(site));
    }
  }

  /// Deletes an object where it is.
  ///
  /// @param inTree deletes it when it is at clients
  long delete(PlacedObject object, @Nullable CallId id, LongSupplier inTree) {
    Sided site = site(object);
    site.side.readLock().lock();
    try {
      return isAtServer(site) ? store.delete(object, id) : inTree.getAsLong();
    } finally {
      site.side.readLock().unlock();
    }
  }

  // ---- borrowing

  /// Brings an object to the clients, where it stays while this asker borrows it.
  void borrow(PlacedObject object, Domain.Watcher asker) {
    Sided site = site(object);
    site.askers.add(asker);
    moveToClients(site);
    synchronized (site.watchers) {
      asker.side(object.stream(), site.told);
    }
  }

  /// Ends an asker's borrowing.
  void letGo(StreamId object, Domain.Watcher asker) {
    Sided site = sites.get(object);
    if (site != null) site.askers.remove(asker);
  }

  // ---- members elsewhere

  /// Tells a watcher the side of an object, now and at every change.
  void watch(PlacedObject object, Domain.Watcher watcher) {
    Sided site = site(object);
    synchronized (site.watchers) {
      if (site.watchers.add(watcher) && site.told) watcher.side(object.stream(), true);
    }
  }

  /// Ends all watching of a watcher.
  void unwatch(Domain.Watcher watcher) {
    for (var site : sites.values()) {
      site.askers.remove(watcher);
      site.watchers.remove(watcher);
    }
  }

  /// Records the cost of calls by a member elsewhere, on an object that it watches.
  void ran(StreamId object, CostModel.Updates updates) {
    Sided site = sites.get(object);
    if (site != null) ran(site, updates, false);
  }

  /// Brings an object to the clients, where a member waits for it that needs it with others. May
  /// take long.
  void moveToClients(StreamId object) {
    Sided site = sites.get(object);
    if (site != null) moveToClients(site);
  }

  /* Brings an object to the side that its model prefers. */
  private void change(Sided site) {
    lockForChange(site);
    // Asked now: another thread may have brought it to the clients meanwhile.
    boolean toServer = isToBeAtServer(site);
    try {
      bring(site, toServer);
    } catch (RuntimeException failed) {
      // It stays where it is, and calls report that.
      if (toServer) forget(site);
      else site.isStuck = true;
    } finally {
      site.side.writeLock().unlock();
    }
  }

  private boolean isToBeAtServer(Sided site) {
    modelLock.lock();
    try {
      return site.model.isAtServer();
    } finally {
      modelLock.unlock();
    }
  }

  private void forget(Sided site) {
    modelLock.lock();
    try {
      site.model.broughtHome(System.nanoTime());
    } finally {
      modelLock.unlock();
    }
  }

  /// Brings an object to a side, whatever it costs there, when the calls in progress have ended.
  void move(Object shared, boolean toServer) {
    Sided site = site(store.object(shared));
    lockForChange(site);
    try {
      bring(site, toServer);
    } finally {
      site.side.writeLock().unlock();
    }
  }

  private void bring(Sided site, boolean toServer) {
    if (!toServer) toClients(site);
    else if (site.askers.isEmpty()) toServer(site);
    else forget(site);
  }

  private void toServer(Sided site) {
    if (site.held != null) return;
    site.held = root.hold(site.object);
    site.tell(true);
  }

  private void toClients(Sided site) {
    var held = site.held;
    if (held == null) return;
    root.release(held, store.load(site.object));
    site.held = null;
    site.tell(false);
  }

  @Override
  public <X extends Exception> void inTree(
      Collection<PlacedObject> objects, TransactionAction<X> body) throws X {
    List<Sided> some =
        objects.stream()
            .filter(object -> store.placement(object) == Placement.AUTO)
            .sorted((a, b) -> a.stream().compareTo(b.stream()))
            .map(this::site)
            .distinct()
            .toList();
    atClients(some, body);
  }

  private <X extends Exception> void atClients(List<Sided> sites, TransactionAction<X> body)
      throws X {
    if (sites.isEmpty()) {
      body.run();
      return;
    }
    Sided site = sites.getFirst();
    var tries = new Tries(site.object);
    while (true) {
      site.side.readLock().lock();
      try {
        if (site.held == null) {
          atClients(sites.subList(1, sites.size()), body);
          return;
        }
      } finally {
        site.side.readLock().unlock();
      }
      tries.failed("it went to the server meanwhile");
      moveToClients(site);
    }
  }

  private static void lockForChange(Sided site) {
    site.changing.incrementAndGet();
    try {
      site.side.writeLock().lock();
    } finally {
      site.changing.decrementAndGet();
    }
  }

  private void moveToClients(Sided site) {
    lockForChange(site);
    try {
      toClients(site);
      forget(site);
    } finally {
      site.side.writeLock().unlock();
    }
  }
}

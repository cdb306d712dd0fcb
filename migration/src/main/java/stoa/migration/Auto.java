package stoa.migration;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.StoaException;
import stoa.base.StreamId;
import stoa.migration.core.CostModel;
import stoa.objects.PlacedObject;
import stoa.objects.PlacedStore;
import stoa.objects.types.SharedMethod;

/// The objects of a domain whose calls are made at the server or at clients, wherever they cost
/// less ([stoa.Placement#AUTO]). Thread-safe.
///
/// While an object is at the server, the root holds it by an operation that does not end, and calls
/// go to the store as on any other object. When it goes back to the clients, the operation ends
/// with the state that the store has then.
final class Auto {
  /*
   * (1) A call has the `side` lock of its object for reading. Who changes the side has it for writing:
   *     no call is under way then, and nobody waits in the tree for the object.
   * (2) `held` is what the root holds it by iff it is at the server.
   */
  private static final class Sided {
    private final PlacedObject object;
    private final ReentrantReadWriteLock side = new ReentrantReadWriteLock();
    private final CostModel model;
    private Member.@Nullable Held held;

    private Sided(PlacedObject object, CostModel model) {
      this.object = object;
      this.model = model;
    }
  }

  /// Makes a call in the tree.
  interface InTree {
    /// Makes it.
    ///
    /// @param meter is to be told what it took
    @Nullable Object call(Meter meter) throws Throwable;
  }

  /// What a call in the tree took. Used by one thread.
  static final class Meter {
    private long computeNanos = -1;
    private @Nullable Running running;

    /// Notes that the call begins to run.
    void begin() {
      computeNanos = System.nanoTime();
    }

    /// Notes that it has run.
    void end(Running running) {
      this.running = running;
      computeNanos = System.nanoTime() - computeNanos;
    }

    private long stateBytes() {
      var ran = running;
      return ran == null ? -1 : ran.stateBytes();
    }
  }

  private final PlacedStore store;
  private final Member root;
  private final CostModel.Server server =
      new CostModel.Server(Runtime.getRuntime().availableProcessors());
  private final ReentrantLock modelLock = new ReentrantLock();
  private final Map<StreamId, Sided> sites = new ConcurrentHashMap<>();

  /// @param root the root of the tree
  Auto(PlacedStore store, Member root) {
    this.store = store;
    this.root = root;
  }

  private Sided site(PlacedObject object) {
    return sites.computeIfAbsent(object.stream(), _ -> new Sided(object, new CostModel(server)));
  }

  /// Makes a call.
  ///
  /// @param caller a number for who makes it
  /// @throws Throwable what the method throws
  @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      long caller,
      InTree inTree)
      throws Throwable {
    Sided site = site(object);
    var meter = new Meter();
    site.side.readLock().lock();
    boolean atServer = site.held != null;
    long start = System.nanoTime();
    try {
      if (atServer) return store.call(object, method, arguments);
      return inTree.call(meter);
    } finally {
      long end = System.nanoTime();
      site.side.readLock().unlock();
      if (method.kind() != SharedMethod.Kind.ACCESSOR) {
        note(
            site,
            new CostModel.Update(
                end, atServer, end - start, meter.computeNanos, meter.stateBytes(), caller));
      }
    }
  }

  private void note(Sided site, CostModel.Update update) {
    boolean changed;
    modelLock.lock();
    try {
      changed = site.model.ran(update);
    } finally {
      modelLock.unlock();
    }
    if (changed) Thread.startVirtualThread(() -> change(site));
  }

  /* Brings an object to where its model has it. */
  private void change(Sided site) {
    boolean toServer;
    modelLock.lock();
    try {
      toServer = site.model.isAtServer();
    } finally {
      modelLock.unlock();
    }
    try {
      move(site, toServer);
    } catch (StoaException over) {
      // It stays where it is, and calls say so.
    }
  }

  /// Brings an object to a side, whatever it costs there, when the calls under way have ended.
  void move(Object shared, boolean toServer) {
    move(site(store.object(shared)), toServer);
  }

  private void move(Sided site, boolean toServer) {
    site.side.writeLock().lock();
    try {
      if (toServer) toServer(site);
      else toClients(site);
    } finally {
      site.side.writeLock().unlock();
    }
  }

  private void toServer(Sided site) {
    if (site.held == null) site.held = root.hold(site.object);
  }

  private void toClients(Sided site) {
    var held = site.held;
    if (held == null) return;
    var state = store.load(site.object);
    root.release(held, state == null ? new byte[0] : state.bytes());
    site.held = null;
  }

  /// Runs something that works on objects in the tree. They are there until it ends.
  ///
  /// @param objects of which some may be of [stoa.Placement#AUTO]
  /// @throws X what it throws
  <X extends Exception> void inTree(Collection<PlacedObject> objects, Action<X> body) throws X {
    List<Sided> some =
        objects.stream()
            .filter(store::isAuto)
            .sorted((a, b) -> a.stream().compareTo(b.stream()))
            .map(this::site)
            .distinct()
            .toList();
    atClients(some, body);
  }

  private <X extends Exception> void atClients(List<Sided> sites, Action<X> body) throws X {
    if (sites.isEmpty()) {
      body.run();
      return;
    }
    Sided site = sites.getFirst();
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
      bringHome(site);
    }
  }

  private void bringHome(Sided site) {
    site.side.writeLock().lock();
    try {
      toClients(site);
      modelLock.lock();
      try {
        site.model.broughtHome();
      } finally {
        modelLock.unlock();
      }
    } finally {
      site.side.writeLock().unlock();
    }
  }
}

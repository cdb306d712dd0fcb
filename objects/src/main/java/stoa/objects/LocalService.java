package stoa.objects;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.MethodRun;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObjects;
import stoa.front.Placing;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.SharedKeys;
import stoa.front.SharedPlaced;
import stoa.front.SharedStoa;
import stoa.front.Sharing;
import stoa.front.marshal.Loss;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.log.ByteObject;
import stoa.spi.CallContext;
import stoa.storage.Device;
import stoa.storage.DeviceMeasures;
import stoa.storage.DeviceStats;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.blobs.Snapshots;
import stoa.store.calls.Pace;
import stoa.store.past.Pins;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// The port to a store of shared objects in this process, which executes their calls. Thread-safe.
final class LocalService implements Service, Placing.Roots {
  private final Part part;
  private final SharedStoa stoa;
  private final Catalog catalog;
  private final ObjectHandler.Parts parts;
  private final String url;
  private final Limits limits;
  private final Clock clock;
  private final Timing timing;
  private final Store store;
  private final List<Device> devices;
  private final stoa.store.blobs.Blobs storedBlobs;
  private final LocalBlobs blobs;
  private final LocalStreams streams;
  private final LocalChanges changes;
  private final KeyValues keyValues;
  private final RetentionService retention;
  private final Snapshots snapshots;
  private final Alarms alarms;
  private final Subscriptions subscriptions;
  private final Deliveries deliveries;
  private final Executor answers;
  private static final int DOMAINS_MAX = 64;
  private final Roots tree = new Roots();
  private final ReentrantLock placingLock = new ReentrantLock();
  private final Map<String, Placing.Root> placing = new ConcurrentHashMap<>(); // by domain
  // The number of roots created; -1 when no more may follow. Guarded by placingLock.
  private int placings;
  // The clock at the time from which on no other process has the store.
  private final long openedNanos;
  private volatile boolean served;
  private @Nullable Neighborhood neighborhood;

  LocalService(StoaConfig config, OpenLog open, Clock clock, Threads threads, Part part) {
    this(config, open, clock, threads, part, Neighborhood.of(part));
  }

  private LocalService(
      StoaConfig config,
      OpenLog open,
      Clock clock,
      Threads threads,
      Part part,
      @Nullable Neighborhood neighborhood) {
    this(
        config,
        new Store(
            bounds(config.limits()), open.log(), part.addresses(), neighborhood, clock, threads),
        open.shards(),
        open.bytes(),
        open.refusal(),
        clock,
        threads,
        part);
    this.neighborhood = neighborhood;
    if (neighborhood == null) checkAccepted(config.accepted());
    else neighborhood.begin(this);
    catalog.lead(); // what goes on now logs calls, which name their code
    storedBlobs.resume(name -> blobs.key(Keys.decode(name, catalog.loader())));
    store.resume(catalog::key);
    keyValues.begin();
    threads.every(subscriptions::tick);
    deliveries.begin();
    store.keep(config.keep());
    alarms.begin();
  }

  /// Creates the execution of objects on a store. It begins nothing by itself.
  LocalService(
      StoaConfig config,
      Store store,
      List<Device> shards,
      Function<StreamId, ByteObject> bytes,
      @Nullable String refusal,
      Clock clock,
      Threads threads,
      Part part) {
    this.part = part;
    url = config.url();
    limits = config.limits();
    this.clock = clock;
    timing = threads.timing();
    openedNanos = timing.nanoTime();
    this.store = store;
    store.noteRuns(shards.getFirst().running());
    this.devices = shards;
    bound(limits.diskBytesMax());
    streams = new LocalStreams(store.userStreams());
    answers = threads.answers();
    stoa = new SharedStoa(this);
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    ClassLoader loader = context != null ? context : LocalService.class.getClassLoader();
    catalog = new Catalog(config, store, stoa, part.others(), clock, loader, new ByName());
    storedBlobs = new stoa.store.blobs.Blobs(store, bytes, threads::answer, SharedStoa.BLOBS);
    blobs = new LocalBlobs(catalog.marshaller(), storedBlobs, refusal, limits.blobBytesMax());
    var rules = new RetentionService.Rules(config.keep(), limits.diskBytesMax());
    retention = new RetentionService(store, catalog, part, this::bound, rules);
    var environment = new Environment(catalog, stoa, part);
    subscriptions = new Subscriptions(store, part.addresses() != null);
    changes = new LocalChanges(store, catalog, part, subscriptions, timing);
    keyValues = new KeyValues(store, environment, limits, threads);
    snapshots = new Snapshots(store);
    Dictionary dictionary = catalog.dictionary();
    var endings = new Endings(store, keyValues, catalog, clock);
    alarms = new Alarms(stoa, dictionary, part, endings, clock, threads);
    deliveries = new Deliveries(stoa, store, dictionary, changes, part, clock, threads);
    var indexChanges = new IndexChanges(stoa);
    parts =
        new ObjectHandler.Parts(
            environment, indexChanges, alarms, deliveries, limits.callBytesMax());
  }

  /// The objects, blobs and handlers that the catalog finds by names.
  private final class ByName implements Catalog.Targets {
    @Override
    public ObjectTarget object(ObjectType type, Key key) {
      return LocalService.this.object(type, key);
    }

    @Override
    public BlobTarget blob(Object key, long generation) {
      return blobs.reference(key, generation);
    }

    @Override
    public Key blobKey(Object key) {
      return blobs.key(key);
    }

    @Override
    public ObjectHandler.Factory factory(String name, ActiveCode by) {
      return new ObjectHandler.Factory(parts, name, by);
    }
  }

  /// Refuses an accepted loss that no class of this store could have.
  private void checkAccepted(Set<String> accepted) {
    if (accepted.isEmpty()) return;
    var known = Loss.possible(catalog.dictionary().names());
    known.addAll(Loss.accepted(catalog.dictionary().names()));
    for (String loss : accepted) {
      if (known.contains(loss)) continue;
      store.close();
      throw new IllegalArgumentException(
          "the loss \""
              + loss
              + "\" is accepted, and the store has nothing of that name; copy a loss from the"
              + " message that refuses a class, or accept none");
    }
  }

  /// Returns the other groups that methods call; null when there are none.
  @Nullable Neighborhood neighborhood() {
    return neighborhood;
  }

  static StoreConfig bounds(Limits limits) {
    return new StoreConfig(
        limits.callTimeMax(),
        limits.queuedCallsMax(),
        limits.residentBytesMax(),
        limits.nestingMax(),
        limits.closeTimeMax());
  }

  // ---- the port

  @Override
  public Executor answers() {
    return answers;
  }

  @Override
  public long nanoTime() {
    return timing.nanoTime();
  }

  @Override
  public LocalObject target(Class<?> face, Object key) {
    ObjectType type = catalog.typeOf(face);
    return object(type, type.key(key));
  }

  private LocalObject object(ObjectType type, Key key) {
    return new LocalObject(this, type, store.target(key));
  }

  @Override
  public Iterator<byte[]> names(Class<?> face) {
    return store.list(catalog.typeOf(face).shared().name());
  }

  /// Returns the service of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when the store is elsewhere
  static LocalService of(Stoa stoa) {
    if (stoa instanceof SharedStoa shared && shared.service() instanceof LocalService local) {
      return local;
    }
    throw Refusals.elsewhere(stoa);
  }

  /// Returns the store as programs use it.
  SharedStoa stoa() {
    return stoa;
  }

  /// Returns the types, and the code that executes their puts.
  Catalog catalog() {
    return catalog;
  }

  @Override
  public LocalChanges changes() {
    return changes;
  }

  /// Returns the durable subscriptions to changes.
  Subscriptions subscriptions() {
    return subscriptions;
  }

  // ---- the operator's commands

  /// Returns why the store takes no more calls until a process opens it again; null while it takes
  /// calls.
  @Nullable Throwable failure() {
    Throwable found = store.failure();
    for (Device device : devices) {
      if (found == null) found = device.failure();
    }
    return found;
  }

  /// Returns the devices, by shard.
  List<Device> shards() {
    return devices;
  }

  /// Sets the most bytes that the devices together may have.
  void bound(long bytesMax) {
    long each = bytesMax == Long.MAX_VALUE ? bytesMax : Math.max(1, bytesMax / devices.size());
    for (Device device : devices) device.bound(each);
  }

  /// Returns how much of the past the store keeps.
  RetentionService retention() {
    return retention;
  }

  /// Returns the statistics of the devices, by shard.
  List<DeviceStats> devices() {
    return devices.stream().map(Device::stats).toList();
  }

  @Override
  public void measure(Measures out) {
    Measures here = out.with("group", Integer.toString(part.group()));
    store.measure(here);
    alarms.measure(here);
    deliveries.measure(here);
    DeviceMeasures.measure(devices, here);
  }

  /// Returns running and waiting calls, at most the given number, running calls first.
  List<ObjectCall> calls(int callsMax) {
    return store.calls(callsMax).stream()
        .map(call -> ObjectCall.of(call, catalog.methodOf(call)))
        .toList();
  }

  /// Cancels a call; returns whether the call was in progress and cancelable, see [Store#cancel].
  boolean cancel(long id) {
    return store.cancel(id);
  }

  // ---- transactions

  @Override
  public LocalWork begin(TxOptions options, @Nullable Intent intent) {
    var bounds =
        new StoreTransaction.Bounds(
            options.readOnly() ? StoreTransaction.Access.READS : StoreTransaction.Access.WRITES,
            TimeUnit.MICROSECONDS.convert(options.timeMax()),
            limits.transactionObjectsMax(),
            limits.transactionBytesMax());
    LogAddress at = options.at();
    return at == null
        ? new LocalWork(this, store.begin(bounds).under(LocalWork.declared(intent)), false)
        : new LocalWork(this, store.begin(bounds, at), true);
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    Key key = catalog.typeNamed(id.object().type()).key(id.object().key());
    var lookedUp =
        new stoa.store.running.StoreTransaction.Id(key, id.version(), LocalWork.mark(id.mark()));
    LogAddress found = store.outcome(lookedUp);
    return found == null
        ? new Transaction.Outcome.NotCommitted()
        : new Transaction.Outcome.Committed(found);
  }

  // ---- the past

  @Override
  public Pinned pin(@Nullable Target of, @Nullable LogAddress address) {
    Pins.Pin pin = address == null ? store.pinNow() : store.pinAt(address);
    return new Pinned(
        address == null ? new LogAddress(store.epoch(), pin.counter()) : address, pin::close);
  }

  @Override
  public Named takeSnapshot(String name) {
    return named(snapshots.take(name));
  }

  @Override
  public @Nullable Named findSnapshot(String name) {
    Snapshots.Named found = snapshots.find(name);
    return found == null ? null : named(found);
  }

  @Override
  public List<Named> snapshots() {
    return snapshots.all().stream().map(LocalService::named).toList();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    return snapshots.delete(name);
  }

  private static Named named(Snapshots.Named snapshot) {
    return new Named(snapshot.name(), snapshot.address());
  }

  // ---- ports beside objects

  @Override
  public LocalStreams streams() {
    return streams;
  }

  @Override
  public LocalCell cell(byte[] encoded, Object key) {
    return new LocalCell(
        catalog, keyValues, new Key(SharedKeys.SPACE, encoded, new Ref<>(SharedKeys.SPACE, key)));
  }

  @Override
  public void close() {
    placingLock.lock();
    try {
      placings = -1;
      placing.values().forEach(LocalService::end);
    } finally {
      placingLock.unlock();
    }
    store.close();
  }

  private static void end(Placing.Root placing) {
    try {
      placing.close();
    } catch (Unavailable stillWriting) {
      // The store closes it.
    }
  }

  // ---- objects that are placed at clients

  /// Returns an object named by a client elsewhere. The object migrates or may be lent.
  ///
  /// @param existence the expected existence
  SharedPlaced placed(ObjectType type, Key key, Existence existence) {
    SharedCall live = SharedCall.of(stoa, object(type, key), existence);
    live.target().requireTree();
    return live.placed();
  }

  /// Returns a call target for an object that a client elsewhere names.
  SharedCall live(ObjectType type, Key key) {
    return SharedCall.reference(stoa, object(type, key));
  }

  @Override
  public Tree tree() {
    return tree;
  }

  /// The trees of the domains whose roots are here.
  private final class Roots implements Tree {
    @Override
    public boolean isHere() {
      return true;
    }

    @Override
    public Placing at(String domain) {
      return placing(domain);
    }

    @Override
    public void refuseInside(String what) {
      for (var root : placing.values()) root.refuseInside(what);
    }

    @Override
    public void flush() {}

    @Override
    public CompletableFuture<@Nullable Void> flushing() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public Placing atOnce(String domain) {
      return placing(domain);
    }

    @Override
    public List<stoa.Tree.Place> places() {
      return placing.values().stream().map(Placing::place).toList();
    }

    /* It has the roots, which are never disconnected. */
    @Override
    public void listen(Consumer<stoa.Tree.Disconnected> listener) {}

    @Override
    public void throwAfterLoss() {}
  }

  /// Notes that remote clients may call the objects.
  void serve() {
    served = true;
  }

  Clock clock() {
    return clock;
  }

  /// Returns what fires the timers.
  Alarms alarms() {
    return alarms;
  }

  /// Returns what tells the listeners of objects.
  Deliveries deliveries() {
    return deliveries;
  }

  Timing timing() {
    return timing;
  }

  boolean isServed() {
    return served;
  }

  @Override
  public PlacedObjects placed() {
    return new LocalPlacedStore(this, 0);
  }

  @Override
  public Placing.Root placing(String domain) {
    Placing.Root known = placing.get(domain);
    if (known != null && !known.isOver()) return known;
    placingLock.lock();
    try {
      known = placing.get(domain);
      if (known != null && !known.isOver()) return known;
      if (placings < 0) throw new Closed("the store is closed");
      if (known == null && placing.size() >= DOMAINS_MAX) {
        throw new LimitExceeded(
            "the domain \"" + domain + "\" is one too many: a store has at most " + DOMAINS_MAX);
      }
      if (known != null) {
        // The next reader must not miss a later write.
        known.close();
        known.awaitCalls();
      }
      var provider =
          ServiceLoader.load(Placing.Provider.class, catalog.loader())
              .findFirst()
              .orElseThrow(() ->
                  new UnsupportedOperationException(
                      "objects that are placed at clients need stoa-migration on the class path"));
      var own = new LocalPlacedStore(this, known == null ? openedNanos : timing.nanoTime());
      known = provider.begin(own, domain, placings++);
      placing.put(domain, known);
      return known;
    } finally {
      placingLock.unlock();
    }
  }

  /// Notes that a caller met a lent object and could not call it.
  void met(SharedCall live) {
    if (!catalog.leads()) return; // the leader has met it, too
    timing.start(() -> {
      try {
        placing(live.shared().domain()).met(new SharedPlaced(live));
      } catch (RuntimeException over) {
        // The next caller meets it again.
      }
    });
  }

  /// Returns whether a transaction sees that an object is lent to clients.
  boolean isLent(
      stoa.store.running.StoreTransaction transaction,
      stoa.store.running.Target target,
      Existence existence) {
    if (transaction.generation(target.key()) == 0) return false;
    var answer = transaction.get(target, new ObjectHandler.LentQuestion(), existence, Pace.SHORT);
    return answer instanceof ObjectAnswer.Shared(Object lent, _) && Boolean.TRUE.equals(lent);
  }

  /// Returns the refusal of a call that needs the object at the server.
  UnsupportedOperationException metLent(SharedCall live) {
    if (!part.isInOtherGroup(live.key())) met(live); // its own group has met it, too
    return new UnsupportedOperationException(
        live.key()
            + " is lent to clients, which have a View.Client of it, and takes no part in"
            + " transactions and in calls of other objects; call again when these views are gone");
  }

  /// Returns whether [#deleted] may have work. Quick.
  boolean mayBeLent(SharedCall live) {
    var known = placing.get(live.shared().domain());
    return known != null && known.isKnown(new SharedPlaced(live));
  }

  /// Enters a call, see [Placing.Root#enter].
  @Nullable Runnable enter(SharedCall live) {
    var known = placing.get(live.shared().domain());
    return known == null ? null : known.enter(new SharedPlaced(live));
  }

  /// Tells clients that an object is deleted.
  void deleted(SharedCall live) {
    if (mayBeLent(live)) placing(live.shared().domain()).deleted(new SharedPlaced(live));
  }

  // ---- blobs

  @Override
  public LocalBlobs blobs() {
    return blobs;
  }

  // ---- the classes of values

  @Override
  public void admit(Class<?> type) {
    catalog.admitted().admit(type);
  }

  @Override
  public boolean isAdmitted(Class<?> type) {
    return catalog.admitted().has(type);
  }

  @Override
  public int callBytesMax() {
    return limits.callBytesMax();
  }

  // ---- for the other classes of this package

  Store core() {
    return store;
  }

  Part part() {
    return part;
  }

  KeyValues keyValues() {
    return keyValues;
  }

  @Override
  public Marshaller marshaller() {
    return catalog.marshaller();
  }

  @Override
  public ClassLoader loader() {
    return catalog.loader();
  }

  String url() {
    return url;
  }

  @Override
  public Limits limits() {
    return limits;
  }

  Duration callTimeMax() {
    return limits.callTimeMax();
  }

  /// Constructs an object and drops it, to get the constructor's exception.
  void construct(ObjectType type, Key key, @Nullable Object[] arguments) throws Throwable {
    byte[] opening = arguments.length == 0 ? null : type.marshaller().value(arguments);
    ObjectType active = catalog.typeNamed(type.shared().name());
    @Nullable Object[] copies = SharedCall.arguments(active.marshaller(), opening);
    try {
      var _ =
          store.limited(
              key,
              () -> {
                try {
                  return ScopedValue.where(CallContext.CURRENT, new Trial(stoa))
                      .call(() -> instantiated(active, key, copies));
                } catch (RuntimeException | Error passedOn) {
                  throw passedOn;
                } catch (Exception checked) {
                  throw Sharing.sneaky(checked);
                }
              });
    } catch (Trial.Undecided undecided) {
      // The constructor calls other objects; only the real construction can tell.
    } catch (Exception refusal) {
      if (Platform.has(refusal.getClass()) || active.code().equals(type.code())) throw refusal;
      throw type.marshaller().thrown(active.marshaller().thrown(refusal));
    }
  }

  /// Constructs an object for a call with an expected existence.
  void construct(ObjectType type, Key key, Existence existence) throws Throwable {
    @Nullable Object[] arguments = SharedCall.arguments(type.marshaller(), existence.opening());
    if (existence instanceof Existence.Undeleted) constructReferred(type, key, arguments);
    else construct(type, key, arguments);
  }

  /// Constructs and drops an object that is only known by reference.
  void constructReferred(ObjectType type, Key key, @Nullable Object[] arguments) throws Throwable {
    try {
      construct(type, key, arguments);
    } catch (NotShareable noConstructor) {
      throw new NotShareable(
          key
              + " does not exist and is only known by reference; create it with Stoa.create or a"
              + " first call before passing it on",
          noConstructor);
    }
  }

  private Object instantiated(ObjectType type, Key key, @Nullable Object[] arguments)
      throws Exception {
    try {
      return type.shared().instantiate(catalog.nameIn(type, key), arguments);
    } catch (Error | Exception passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /// The context of a constructor that runs before the store logs anything.
  private static final class Trial implements MethodRun {
    /// The constructor asks for something that only the log can tell.
    private static final class Undecided extends Error {
      private static final long serialVersionUID = 1L;

      private Undecided() {
        super("not known before the call is logged", null, false, false);
      }
    }

    private final SharedStoa stoa;

    private Trial(SharedStoa stoa) {
      this.stoa = stoa;
    }

    @Override
    public boolean takes(SharedStoa of) {
      return true;
    }

    @Override
    public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
      throw new Undecided();
    }

    @Override
    public @Nullable Reference referenceOf(Object object) {
      return null;
    }

    @Override
    public java.time.Instant now() {
      throw new Undecided();
    }

    @Override
    public RandomGenerator random() {
      throw new Undecided();
    }

    @Override
    public long version() {
      throw new Undecided();
    }

    @Override
    public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
      return stoa.get(type, key, args);
    }

    @Override
    public <T> T collection(Function<Stoa, T> opening) {
      throw new Undecided();
    }
  }
}

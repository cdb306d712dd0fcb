package stoa.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.CallNumbers;
import stoa.front.ClassNames;
import stoa.front.MethodRun;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObjects;
import stoa.front.Placing;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedBlob;
import stoa.front.SharedCall;
import stoa.front.SharedKeys;
import stoa.front.SharedPlaced;
import stoa.front.SharedReferences;
import stoa.front.SharedStoa;
import stoa.front.Sharing;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Loss;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.marshal.TypeIds;
import stoa.front.types.HandlerType;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.log.ByteObject;
import stoa.spi.CallContext;
import stoa.spi.ClassWeaver;
import stoa.storage.Device;
import stoa.storage.DeviceMeasures;
import stoa.storage.DeviceStats;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.blobs.Snapshots;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.past.Pins;
import stoa.store.running.Execution;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// The port to a store of shared objects in this process, which executes their calls. Thread-safe.
final class LocalService implements Service, Placing.Roots {
  private static final Logger LOG = LoggerFactory.getLogger(LocalService.class);

  private static final int STATE_BYTES_MAX = 512 << 20;

  private final Part part;
  private final SharedStoa stoa;
  private final String url;
  private final Limits limits;
  private final Clock clock;
  private final Timing timing;
  private final Store store;
  private final List<Device> devices;
  private final stoa.store.blobs.Blobs storedBlobs;
  private final LocalBlobs blobs;
  private final LocalStreams streams;
  private final Dictionary dictionary;
  private final Codes codes;
  private final HandlerCodes handlers;
  private final Marshaller marshaller;
  private final ClassLoader loader;
  private final LoadedCode own;
  private final StoredCodes storedCodes;
  private final ConcurrentHashMap<String, ActiveCode> active = new ConcurrentHashMap<>();
  // By the numbers of code in puts: types of the program, and of versions that are kept.
  private final ConcurrentHashMap<Integer, ObjectType> numbered = new ConcurrentHashMap<>();

  // The indexes that code lacks, by its number.
  private final ConcurrentHashMap<Integer, List<String>> dropped = new ConcurrentHashMap<>();
  // The numbers of the first activations, by type.
  private final ConcurrentHashMap<String, Integer> firsts = new ConcurrentHashMap<>();
  private final ReentrantLock settling = new ReentrantLock();
  private final ReentrantLock fetching = new ReentrantLock();
  private final LocalChanges changes;
  private final KeyValues keyValues;
  private final RetentionService retention;
  private final Snapshots snapshots;
  private final Alarms alarms;
  private final Subscriptions subscriptions;
  private final Deliveries deliveries;
  private final IndexChanges indexChanges = new IndexChanges(this);
  private final Set<Class<?>> admitted = ConcurrentHashMap.newKeySet();
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
  // True when this process takes calls, and does not only follow.
  private volatile boolean leads;
  private final List<Class<?>> extraTypes;
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
    leads = true; // what goes on now logs calls, which name their code
    storedBlobs.resume(name -> blobs.key(Keys.decode(name, loader)));
    store.resume(this::key);
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
    retention =
        new RetentionService(
            this, new RetentionService.Rules(config.keep(), config.limits().diskBytesMax()));
    this.clock = clock;
    timing = threads.timing();
    openedNanos = timing.nanoTime();
    this.store = store;
    store.noteRuns(shards.getFirst().running());
    storedBlobs = new stoa.store.blobs.Blobs(store, bytes, threads::answer, SharedStoa.BLOBS);
    blobs = new LocalBlobs(this, storedBlobs, refusal, limits.blobBytesMax());
    this.devices = shards;
    bound(config.limits().diskBytesMax());
    streams = new LocalStreams(store.userStreams());
    answers = threads.answers();
    stoa = new SharedStoa(this);
    dictionary = new Dictionary(store, config.accepted());
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    loader = context != null ? context : LocalService.class.getClassLoader();
    extraTypes = config.types();
    codes = new Codes(store, dictionary, Codes.CODE);
    storedCodes = new StoredCodes(this::load, this::isActive, this::forget);
    handlers = new HandlerCodes(this, new Codes(store, dictionary, Codes.HANDLER));
    own = LoadedCode.ofProgram(this, dictionary, loader);
    marshaller = own.marshaller();
    for (String name : dictionary.after(ClassNames.ADMITTED)) readmit(name);
    changes = new LocalChanges(this);
    keyValues = new KeyValues(this, threads);
    snapshots = new Snapshots(store);
    alarms = new Alarms(this, clock, threads);
    subscriptions = new Subscriptions(store, part.addresses() != null);
    deliveries = new Deliveries(this, clock, threads);
  }

  /// Refuses an accepted loss that no class of this store could have.
  private void checkAccepted(Set<String> accepted) {
    if (accepted.isEmpty()) return;
    var known = Loss.possible(dictionary.names());
    known.addAll(Loss.accepted(dictionary.names()));
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

  /// A marshaller of this store's values that speaks in the numbers of some dictionary.
  ///
  /// @param references turns proxies into references and back
  /// @param classes finds the classes of keys and of values
  Marshaller marshaller(TypeIds ids, SharedReferences references, ClassLoader classes) {
    List<Class<?>> extra = classes.equals(loader) ? extraTypes : inCode(extraTypes, classes);
    return new Marshaller(ids, references, SharedBlob.class, extra, classes, STATE_BYTES_MAX);
  }

  private static List<Class<?>> inCode(Iterable<Class<?>> types, ClassLoader classes) {
    var found = new ArrayList<Class<?>>();
    for (Class<?> type : types) {
      try {
        found.add(Class.forName(type.getName(), false, classes));
      } catch (ClassNotFoundException | LinkageError elsewhere) {
        // The code of that version does not know the class, so it has no value of it.
      }
    }
    return found;
  }

  /// Registers the classes that facades have admitted with the code of a version in the log;
  /// returns whether any were new.
  boolean learnAdmitted(LoadedCode code) {
    return learnAdmitted(code, code.marshaller());
  }

  /// Registers these classes with another marshaller of the code; returns whether any were new.
  boolean learnAdmitted(LoadedCode code, Marshaller to) {
    boolean any = false;
    var classes = new ArrayList<>(inCode(admitted, code.loader()));
    for (String name : dictionary.after(ClassNames.ADMITTED)) classes.addAll(partOf(code, name));
    for (Class<?> type : classes) {
      if (to.isRegistered(type)) continue;
      to.register(type);
      any = true;
    }
    return any;
  }

  private static List<Class<?>> partOf(LoadedCode code, String className) {
    try {
      if (!code.has(className)) return List.of();
      return List.of(Class.forName(className, false, code.loader()));
    } catch (ClassNotFoundException | LinkageError unusable) {
      return List.of(); // reading a value of it reports that
    }
  }

  /// Returns the code of the program.
  LoadedCode program() {
    return own;
  }

  /// Registers all classes of a code with another marshaller; returns whether any were new.
  boolean registerAll(LoadedCode code, Marshaller other) {
    boolean any = false;
    for (Faces faces : code.all()) {
      for (SharedType type : faces.all()) any |= other.learn(type);
    }
    for (Class<?> type : code.isStored() ? inCode(admitted, code.loader()) : admitted) {
      if (other.isRegistered(type)) continue;
      other.register(type);
      any = true;
    }
    return any;
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

  /// Returns a key of the log.
  Key key(String space, byte[] name) {
    if (space.equals(SharedStoa.BLOBS)) return blobs.key(Keys.decode(name, loader));
    if (space.equals(SharedKeys.SPACE)) return keyValues.key(name);
    if (space.startsWith("stoa/")) return new Key(space, name, space);
    ObjectType type = typeNamed(space);
    return type.key(Keys.decode(name, type.code().loader()));
  }

  /// Reads the names that another process has logged since the last call.
  void learnNames() {
    for (String name : dictionary.learn()) {
      if (name.startsWith(ClassNames.ADMITTED)) {
        readmit(name.substring(ClassNames.ADMITTED.length()));
      } else if (name.startsWith(Codes.CODE)) {
        active.values().forEach(ActiveCode::unsettle);
      }
    }
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
    return object(typeOf(face), key);
  }

  LocalObject object(ObjectType type, Object key) {
    return object(type, type.key(key));
  }

  LocalObject object(ObjectType type, Key key) {
    return new LocalObject(this, type, store.target(key));
  }

  @Override
  public Iterator<byte[]> names(Class<?> face) {
    return store.list(typeOf(face).shared().name());
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
    return store.calls(callsMax).stream().map(call -> ObjectCall.of(call, methodOf(call))).toList();
  }

  /// Cancels a call; returns whether the call was in progress and cancelable, see [Store#cancel].
  boolean cancel(long id) {
    return store.cancel(id);
  }

  private String methodOf(OngoingCall call) {
    if (call.query() instanceof ObjectHandler.Question question) return question.method().id();
    byte[] put = call.value();
    return put == null ? "" : methodOf(call.key(), put);
  }

  /// Returns the id of the method that a put calls; empty when it calls none, or when the id is
  /// unknown.
  String methodOf(Key key, byte[] put) {
    if (key.space().equals(SharedKeys.SPACE)) return KeyCommand.decoded(put).word();
    int number = (int) new Decoder(put).varint();
    String name = CallNumbers.isMethod(number) ? dictionary.nameOf(number - 1) : null;
    String prefix = ClassNames.methods(key.space());
    return name == null || !name.startsWith(prefix) ? "" : name.substring(prefix.length());
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
    Key key = typeNamed(id.object().type()).key(id.object().key());
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
        this, new Key(SharedKeys.SPACE, encoded, new Ref<>(SharedKeys.SPACE, key)));
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
          ServiceLoader.load(Placing.Provider.class, loader)
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
    if (!leads) return; // the leader has met it, too
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

  BlobTarget blob(Object key, long generation) {
    return blobs.reference(key, generation);
  }

  // ---- facades

  @Override
  public void admit(Class<?> type) {
    marshaller.register(type);
    if (Platform.has(type) || type.isAnnotationPresent(Shared.class)) return;
    if (admitted.add(type)) {
      var _ = dictionary.idOf(ClassNames.ADMITTED + type.getName());
    }
  }

  @Override
  public boolean isAdmitted(Class<?> type) {
    return Platform.has(type)
        || type.isAnnotationPresent(Shared.class)
        || Naming.isOfStoa(type)
        || admitted.contains(type)
        || marshaller.isRegistered(type)
        || (type.getClassLoader() instanceof StoredClasses
            && dictionary.find(ClassNames.ADMITTED + type.getName()) != null);
  }

  @Override
  public int callBytesMax() {
    return limits.callBytesMax();
  }

  /// Admits the class of an argument of a method of a version in the log: the program's class of
  /// that name, if there is one, and in any case those of other versions.
  void admitted(Class<?> type) {
    String name = ClassNames.ADMITTED + type.getName();
    boolean known = Platform.has(type) || type.isAnnotationPresent(Shared.class);
    if (known || dictionary.find(name) != null) return;
    var _ = dictionary.idOf(name);
    readmit(type.getName());
  }

  /// Admits again a class that an earlier process had admitted.
  private void readmit(String name) {
    try {
      Class<?> type = Class.forName(name, false, loader);
      admitted.add(type);
      marshaller.register(type);
    } catch (ClassNotFoundException | NotShareable gone) {
      // Reading an object with a value of such a class reports it.
    }
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
    return marshaller;
  }

  @Override
  public ClassLoader loader() {
    return loader;
  }

  String url() {
    return url;
  }

  @Override
  public Limits limits() {
    return limits;
  }

  Dictionary dictionary() {
    return dictionary;
  }

  /// Returns whether a caller has used a type since this process opened the store.
  boolean isKnown(String type) {
    return active.containsKey(type);
  }

  /// Returns whether a type has a method, in a class that is or was used with this store.
  boolean hasMethod(String type, String method) {
    if (isMethodInUse(type, method)) return true;
    for (String className : dictionary.after(ClassNames.CLASS + type + " ")) {
      try {
        var _ = served(Class.forName(className, false, loader));
      } catch (ClassNotFoundException | LinkageError | NotShareable gone) {
        // The class was renamed, or is no longer shared: another class may have the method.
      }
    }
    try {
      var _ = active(type); // the log has the class, perhaps, which the program lacks
    } catch (NotShareable unknown) {
      return false;
    }
    return isMethodInUse(type, method);
  }

  private boolean isMethodInUse(String type, String method) {
    Faces known = own.find(type);
    if (known != null && known.hasMethod(method)) return true;
    ActiveCode code = active.get(type);
    Faces stored = code == null ? null : code.now().type().code().find(type);
    return stored != null && stored.hasMethod(method);
  }

  Duration callTimeMax() {
    return limits.callTimeMax();
  }

  /// Returns what makes the changes of indexes that need no answer.
  IndexChanges indexChanges() {
    return indexChanges;
  }

  /// Enters an object in its indexes for a method that runs in a transaction, or removes it there.
  void index(Execution execution, String type, byte[] key, MethodRun.Indexed indexed) {
    ObjectType known = typeNamed(type);
    LocalObject object = object(known, Keys.decode(key, known.code().loader()));
    var transaction = execution.transaction();
    if (transaction == null) {
      throw new IllegalStateException("a transaction changes what indexes have of " + object.key());
    }
    long generation;
    try {
      generation = transaction.generation(object.key());
    } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
      throw execution.suspend(ofTheStore);
    }
    if (generation == 0) return;
    byte[] put = indexed == MethodRun.Indexed.LEFT ? CallNumbers.leaving() : CallNumbers.creation();
    byte[] answer =
        execution.put(object.key(), Put.of(put), new Existence.Generation(generation), () -> null);
    try {
      var _ = ObjectAnswer.get(answer, known.marshaller());
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }

  /// Names the indexes of a class in front of its activation, for [#droppedIndexes].
  private void nameIndexes(SharedType type) {
    for (IndexedMember member : type.indexes()) {
      var _ = dictionary.idOf(ClassNames.INDEX + type.name() + " " + member.id());
    }
  }

  /// Returns the ids of the indexes that earlier code of a type had, and that the code of a number
  /// does not have.
  List<String> droppedIndexes(ObjectType type, int number) {
    if (number <= 0) return List.of();
    return dropped.computeIfAbsent(
        number,
        _ -> {
          String prefix = ClassNames.INDEX + type.shared().name() + " ";
          var found = new java.util.TreeSet<String>();
          dictionary.each((name, at) -> {
            if (at < number && name.startsWith(prefix)) found.add(name.substring(prefix.length()));
          });
          for (IndexedMember member : type.shared().indexes()) found.remove(member.id());
          return List.copyOf(found);
        });
  }

  /// Has a judge look at objects, for a method that reads at a moment.
  List<@Nullable String> judged(
      Execution execution, Members members, List<byte[]> keys, MethodRun.Judge judge) {
    var question = new ObjectHandler.JudgeQuestion(members, judge);
    String type = members.type().shared().name();
    ClassLoader keyClasses = members.type().code().loader();
    var judged = new ArrayList<@Nullable String>(keys.size());
    for (byte[] name : keys) {
      var key = new Key(type, name, new Ref<>(type, Keys.decode(name, keyClasses)));
      judged.add(Indexing.judgment(judged(execution, key, question), () -> refOf(key)));
    }
    return judged;
  }

  private @Nullable String judged(
      Execution execution, Key key, ObjectHandler.JudgeQuestion question) {
    byte[] answer = execution.get(key, question, new Existence.Undeleted(null));
    try {
      return (String) ObjectAnswer.get(answer, marshaller());
    } catch (VirtualMachineError | Execution.Unwinding passedOn) {
      throw passedOn;
    } catch (Throwable absent) {
      return null; // it is gone
    }
  }

  // ---- types, and the code that executes their puts

  /// Returns the type of a class that the program or the code of a version uses. A class of the
  /// program becomes active.
  ///
  /// @throws NotShareable when it is not shareable, or does not fit the stored objects
  ObjectType typeOf(Class<?> face) {
    if (face.getClassLoader() instanceof StoredClasses loaded) {
      LoadedCode handler = handlers.of(loaded);
      ObjectType stored = (handler == null ? codeOf(loaded) : handler).typeOf(face);
      var _ = active(stored.shared());
      return stored;
    }
    SharedType shared = SharedType.of(face);
    if (shared.name().equals(SharedStoa.BLOBS) || shared.name().startsWith("stoa/")) {
      throw new NotShareable(
          face.getName() + " is stored as " + shared.name() + "; give it another name in @Shared");
    }
    ObjectType type = own.typeOf(face);
    ActiveCode known = active.get(shared.name());
    // A running method is not the program: it may be a past call, or belong to a class of the
    // program that others have replaced.
    boolean asked = !CallContext.CURRENT.isBound();
    if (known == null
        || !known.now().settled()
        || (asked && known.now().type().code().isStored())) {
      settle(shared.name(), type, asked);
    }
    return type;
  }

  /// Returns the type of a program's class that a client or another group names, in the code that
  /// executes its puts.
  ///
  /// @throws NotShareable when it is not shareable, or neither the class nor the log fits the
  ///   stored objects
  ObjectType served(Class<?> face) {
    String name = SharedType.of(face).name();
    ActiveCode known = active.get(name);
    ObjectType type = null;
    try {
      type = own.typeOf(face);
    } catch (NotShareable unfit) {
      // The log may have other code for it, which stays active.
      boolean isStored = known == null || known.now().type().code().isStored();
      if (!isStored || codes.of(name).isEmpty()) throw unfit;
    }
    if (known == null || !known.now().settled()) known = settle(name, type, false);
    return known.now().type();
  }

  private LoadedCode codeOf(StoredClasses loader) {
    ObjectContext running = ObjectContext.current();
    if (running != null && running.code().loader().equals(loader)) return running.code();
    LoadedCode code = storedCodes.find(loader);
    if (code != null) return code;
    throw new IllegalStateException(loader + " belongs to no code of this store");
  }

  /// Returns the type of a stored name, in the code that executes its puts.
  ///
  /// @throws NotShareable when neither the program nor the log has a class for it
  ObjectType typeNamed(String name) {
    return active(name).now().type();
  }

  /// Returns the code that executes the puts of a type now.
  ActiveCode active(String name) {
    ActiveCode known = active.get(name);
    if (known != null && known.now().settled()) return known;
    return settle(name, null, false);
  }

  /// Returns the type of a stored name in the code of a number in puts.
  ///
  /// @throws Corrupt when the log has no such code
  ObjectType typeAt(String name, int number) {
    ActiveCode.Now now = active(name).now();
    if (now.number() == number) return now.type();
    if (number == 0) return typeBefore(name, now);
    ObjectType known = numbered.get(number);
    if (known != null) return known;
    Codes.Activation activation = codes.find(number);
    if (activation == null) {
      learnNames();
      activation = codes.find(number);
    }
    if (activation == null || !activation.type().equals(name)) {
      throw new Corrupt("a put on " + name + " names the code " + number + ", which is unknown");
    }
    ObjectType type = typeOf(activation);
    numbered.put(number, type);
    LoadedCode code = type.code();
    if (code.isStored() && !storedCodes.keeps(code)) numbered.remove(number, type);
    return type;
  }

  /// Returns the type in the code of puts without a version. Earlier releases of Stoa kept no
  /// versions; the first version in the log is the code that executed those puts when Stoa began to
  /// keep versions.
  private ObjectType typeBefore(String name, ActiveCode.Now now) {
    Integer first = firsts.get(name);
    if (first == null) {
      List<Codes.Activation> activations = codes.of(name);
      if (activations.isEmpty()) return now.type();
      first = activations.getFirst().number();
      firsts.put(name, first);
    }
    return typeAt(name, first);
  }

  /// Returns the type in the version of an activation: the program's type when it has the same
  /// classes.
  private ObjectType typeOf(Codes.Activation activation) {
    ObjectType program = null;
    try {
      boolean isSame = activation.version().equals(own.versionNamed(activation.type()));
      if (isSame) program = own.findNamed(activation.type());
    } catch (NotShareable refused) {
      // The program's class does not fit the stored objects, so it is another version.
    }
    if (program != null) return program;
    return stored(activation).typeNamed(activation.type());
  }

  private LoadedCode stored(Codes.Activation activation) {
    return storedCodes.get(activation);
  }

  private LoadedCode load(Codes.Activation activation) {
    String name = "code " + activation.type() + " " + activation.version();
    StoredClasses classes = classes(name, codes.files(activation));
    return LoadedCode.stored(this, dictionary, activation.number(), classes);
  }

  private boolean isActive(LoadedCode code) {
    return active.values().stream().anyMatch(one -> one.now().type().code().equals(code));
  }

  private void forget(LoadedCode code) {
    numbered.values().removeIf(type -> type.code().equals(code));
  }

  /// Returns the versions of code in the log that this process keeps.
  StoredCodes storedCodes() {
    return storedCodes;
  }

  /// Returns whether the log has a class that the program lacks, as a face of a type or as a class
  /// that a type needs. It then uses that type.
  boolean usesStored(String className) {
    try {
      var _ = Class.forName(className, false, loader);
      return false;
    } catch (ClassNotFoundException | LinkageError lacking) {
      for (String type : codes.types()) {
        try {
          var _ = active(type);
        } catch (StoaException unusable) {
          LOG.debug("{} has no classes here", type, unusable); // the caller asks for another type
        }
      }
      return storedCodes.all().stream().anyMatch(code -> code.has(className));
    }
  }

  /// Creates classes from class files, beside those of the program.
  ///
  /// @param name the loader's name in stack traces
  StoredClasses classes(String name, Map<String, byte[]> files) {
    UnaryOperator<byte[]> weaver =
        loader instanceof ClassWeaver weaving ? weaving::woven : UnaryOperator.identity();
    return new StoredClasses(name, files, loader, weaver);
  }

  Codes codes() {
    return codes;
  }

  /// Returns the code of the handlers of keys.
  HandlerCodes handlers() {
    return handlers;
  }

  /// Returns whether the log has a class that the program lacks, like [#usesStored], or another
  /// server has it: then its code is in the log from now on. May wait for the other servers.
  boolean finds(String className) {
    if (isOfProgram(className)) return false;
    if (hasStored(className)) return true;
    CodeOfOthers.Source others = part.others();
    if (others == null || !leads) return false;
    fetching.lock();
    try {
      if (hasStored(className)) return true; // a thread before this one has fetched it
      CodeOfOthers.Found found = others.find(className);
      if (found == null) return false;
      new CodeService(this).bring(found.files(), Set.of(found.type()));
      return hasStored(className);
    } finally {
      fetching.unlock();
    }
  }

  private boolean hasStored(String className) {
    boolean has = usesStored(className) || handlers.has(className);
    if (has && leads) beginType(className);
    return has;
  }

  /// Has the code of a shared class execute the calls of its type, or that of a class of handlers
  /// these handlers, if the log has the class only because other code uses it.
  private void beginType(String className) {
    for (LoadedCode code : loaded().toList()) {
      for (Class<?> type : partOf(code, className)) {
        if (type.isAnnotationPresent(Shared.class)) beginType(SharedType.of(type));
        else if (HandlerType.mayBe(type)) beginHandler(type);
      }
    }
  }

  private void beginHandler(Class<?> type) {
    if (!handlers.codes().of(type.getName()).isEmpty()) return;
    new CodeService(this)
        .bring(CodeVersion.of(type).files(), Set.of(ClassNames.HANDLER + type.getName()));
  }

  private void beginType(SharedType type) {
    if (!codes.of(type.name()).isEmpty()) return;
    new CodeService(this).bring(CodeOfOthers.files(type), Set.of(type.name()));
  }

  /// Returns the code that executes the puts of a type of which some code has a class. That is the
  /// class's own version when neither the program nor the log has another one.
  ActiveCode active(SharedType type) {
    try {
      return active(type.name());
    } catch (NotShareable unknown) {
      if (!leads || !(type.face().getClassLoader() instanceof StoredClasses)) throw unknown;
      beginType(type);
      return active(type.name());
    }
  }

  private boolean isOfProgram(String className) {
    try {
      var _ = Class.forName(className, false, loader);
      return true;
    } catch (ClassNotFoundException | LinkageError lacking) {
      return false;
    }
  }

  /// Admits a class of the versions in the log that have it, see [#finds].
  void admitStored(String className) {
    var _ = dictionary.idOf(ClassNames.ADMITTED + className);
    loaded()
        .forEach(code -> partOf(code, className).forEach(type -> code.marshaller().register(type)));
  }

  /// Returns the versions in the log that this process uses.
  Stream<LoadedCode> loaded() {
    return Stream.concat(handlers.newest(), storedCodes.all().stream())
        .filter(LoadedCode::isStored);
  }

  /// Returns whether the version that executes the puts of a type has a class.
  boolean has(String type, String className) {
    ObjectType now = active(type).now().type();
    return now.code().isStored()
        ? now.code().has(className)
        : CodeVersion.of(now.shared().implementation()).has(className);
  }

  /// Returns the type of some of its faces, in code that a check tries.
  ///
  /// @param ids gives names their numbers meanwhile
  /// @throws NotShareable when what is stored does not fit it
  ObjectType tried(List<Class<?>> faces, TentativeIds ids) {
    var loaded = (StoredClasses) faces.getFirst().getClassLoader();
    LoadedCode code = LoadedCode.tried(this, dictionary, ids, loaded);
    for (Class<?> face : faces) code.typeOf(face);
    return Objects.requireNonNull(code.findNamed(SharedType.of(faces.getFirst()).name()));
  }

  /// Has the code of a type's faces, which [#tried] has taken, execute its puts from now on.
  ///
  /// @param losses the names in the dictionary of the losses that are accepted for it
  void activate(String type, List<Class<?>> faces, List<String> losses) {
    var version = CodeVersion.of(SharedType.of(faces.getFirst()).implementation());
    settling.lock();
    try {
      List<Codes.Activation> earlier = codes.of(type);
      boolean isActive = !earlier.isEmpty() && earlier.getLast().version().equals(version.name());
      if (!isActive) {
        // These first: a process that finds the activation must find its classes and losses.
        for (String loss : losses) {
          var _ = dictionary.idOf(loss);
        }
        for (Class<?> face : faces) {
          var _ = dictionary.idOf(ClassNames.CLASS + type + " " + face.getName());
        }
        nameIndexes(SharedType.of(faces.getFirst()));
        Codes.Activation activation = codes.activate(type, version, earlier);
        ActiveCode known = active.get(type);
        if (known != null) known.unsettle(); // it is active, even if a later step fails
        LoadedCode code = stored(activation);
        for (Class<?> face : faces) code.typeOf(inCode(face, code));
      }
      var _ = active(type);
    } finally {
      settling.unlock();
    }
  }

  /// Has code execute the puts of a type, like [#activate], unless the store has had the type.
  void begin(String type, List<Class<?>> faces) {
    settling.lock();
    try {
      if (codes.of(type).isEmpty()) activate(type, faces, List.of());
    } finally {
      settling.unlock();
    }
  }

  private static Class<?> inCode(Class<?> type, LoadedCode code) {
    try {
      return Class.forName(type.getName(), false, code.loader());
    } catch (ClassNotFoundException lost) {
      throw new NotShareable(type.getName() + " is not in its own version", lost);
    }
  }

  private static @Nullable StreamId versionOf(ObjectType type) {
    return CodeVersion.of(type.shared().implementation()).name();
  }

  /// Determines the code that executes the puts of a type, and activates the program's classes if
  /// necessary.
  ///
  /// @param program the type in the program's code; null to look it up
  /// @param asked whether the program itself uses the type, and not the log or a client
  private ActiveCode settle(String name, @Nullable ObjectType program, boolean asked) {
    settling.lock();
    try {
      ActiveCode.Now now = settled(name, program, asked);
      ActiveCode known = active.get(name);
      if (known == null) {
        known = new ActiveCode(now);
        store.register(name, new ObjectHandler.Factory(this, name, known));
        active.put(name, known); // readers that find it here go on without the lock
      } else {
        known.become(now);
      }
      return known;
    } finally {
      settling.unlock();
    }
  }

  private ActiveCode.Now settled(String name, @Nullable ObjectType program, boolean asked) {
    List<Codes.Activation> activations = codes.of(name);
    Codes.Activation last = activations.isEmpty() ? null : activations.getLast();
    ObjectType type = program;
    try {
      // A replica that follows cannot log the names of other classes than the leader's.
      boolean isOther = last != null && !leads && !last.version().equals(own.versionNamed(name));
      if (type == null && last == null) type = own.typeNamed(name);
      else if (type == null && !isOther) type = own.findNamed(name);
      if (type != null && last != null && leads && !last.version().equals(versionOf(type))) {
        requireSame(typeOf(last).shared(), type.shared());
      }
    } catch (NotShareable refused) {
      if (last == null || asked) throw refused;
      type = null;
      LOG.warn(
          "{} continues with the code in the log, since the class path has other code, which does"
              + " not fit the stored objects: {}",
          name,
          refused.getMessage());
    }
    StreamId version = type == null ? null : versionOf(type);
    if (type != null && version == null) return new ActiveCode.Now(0, type, true);
    if (last != null && last.version().equals(version)) {
      return new ActiveCode.Now(last.number(), Objects.requireNonNull(type), true);
    }
    boolean isNew = activations.stream().noneMatch(one -> one.version().equals(version));
    if (type != null && leads && (asked || isNew)) {
      var classes = CodeVersion.of(type.shared().implementation());
      nameIndexes(type.shared());
      return new ActiveCode.Now(codes.activate(name, classes, activations).number(), type, true);
    }
    if (last == null) return new ActiveCode.Now(0, Objects.requireNonNull(type), true);
    return new ActiveCode.Now(last.number(), stored(last).typeNamed(name), true);
  }

  /// Refuses code that would store objects in another order than the existing objects.
  static void requireSame(SharedType now, SharedType next) {
    if (now.order() == next.order()) return;
    throw new NotShareable(
        next.name()
            + " has the order "
            + next.order()
            + " in @Shared, and its objects are stored in the order "
            + now.order()
            + "; keep the order, or give the class another name");
  }

  Ref<?> refOf(Key key) {
    return (Ref<?>) key.label();
  }

  Object nameOf(Key key) {
    return refOf(key).key();
  }

  /// Returns the key's name in the code of a type: there a record or an enum constant has a class
  /// of its own.
  Object nameIn(ObjectType type, Key key) {
    return nameIn(type.code(), key);
  }

  /// Returns the key's name in some code.
  Object nameIn(LoadedCode code, Key key) {
    Object known = nameOf(key);
    return Platform.has(known.getClass()) ? known : Keys.decode(key.name(), code.loader());
  }

  /// Constructs an object and drops it, to get the constructor's exception.
  void construct(ObjectType type, Key key, @Nullable Object[] arguments) throws Throwable {
    byte[] opening = arguments.length == 0 ? null : type.marshaller().value(arguments);
    ObjectType active = typeNamed(type.shared().name());
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
      return type.shared().instantiate(nameIn(type, key), arguments);
    } catch (Error | Exception passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /// Returns an encoded answer, or a refusal when it is too large.
  ObjectAnswer travelling(byte[] value, SharedMethod method) {
    if (value.length <= callBytesMax()) {
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, value);
    }
    var refusal =
        new LimitExceeded(
            "the answer of "
                + method
                + " takes "
                + value.length
                + " bytes; callBytesMax is "
                + callBytesMax());
    return new ObjectAnswer.Travelling(ObjectAnswer.THREW, marshaller.thrown(refusal));
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

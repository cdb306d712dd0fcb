package stoa.objects;

import stoa.front.ClassNames;
import stoa.front.PlacedObjects;
import stoa.front.Refusals;
import stoa.front.SharedKeys;
import stoa.store.Target;
import stoa.store.Pace;
import stoa.store.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Body;
import stoa.Call1;
import stoa.Closed;
import stoa.Gone;
import stoa.History;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Listing;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Reads;
import stoa.Ref;
import stoa.Shared;
import stoa.Snapshot;
import stoa.StoaConfig;
import stoa.StreamStore;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.View;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.Attempts;
import stoa.front.Listed;
import stoa.front.ObjectAnswer;
import stoa.front.Place;
import stoa.front.PlacedObject;
import stoa.front.Placing;
import stoa.front.Recorder;
import stoa.front.SharedSnapshot;
import stoa.front.Sharing;
import stoa.front.Turns;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.marshal.TypeIds;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.log.ByteObject;
import stoa.spi.CallContext;
import stoa.spi.Collections;
import stoa.spi.Facade;
import stoa.storage.Device;
import stoa.storage.DeviceStats;
import stoa.store.blobs.Blobs;
import stoa.store.OngoingCall;
import stoa.store.Pins;
import stoa.store.Request;
import stoa.store.blobs.Snapshots;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.blobs.StoredBlob;
import stoa.store.threads.Threads;

/// A store of shared objects in this process. Thread-safe.
final class EmbeddedStoa implements SharedSnapshot.Source, Placing.Roots {
  private static final int STATE_BYTES_MAX = 512 << 20;
  private static final Object[] NOTHING = {};

  private final Part part;
  private final String url;
  private final Limits limits;
  private final Clock clock;
  private final Timing timing;
  private final Store store;
  private final List<Device> devices;
  private final Blobs blobs;
  private final @Nullable String blobsRefused;
  private final StreamStore streams;
  private final Dictionary dictionary;
  private final Marshaller marshaller;
  private final ClassLoader loader;
  private final ConcurrentHashMap<String, Faces> types = new ConcurrentHashMap<>();
  private final ReentrantLock registering = new ReentrantLock();
  private final KeyValues keyValues;
  private final KeyValueStore keyValueStore;
  private final Snapshots snapshots;
  private final Set<Class<?>> admitted = ConcurrentHashMap.newKeySet();
  private final Executor answers;
  private final Turns turns;
  private static final int DOMAINS_MAX = 64;
  private final ReentrantLock placingLock = new ReentrantLock();
  private final Map<String, Placing.Root> placing = new ConcurrentHashMap<>(); // by domain
  /* How many there were; -1 when there is to be no more. Guarded by placingLock. */
  private int placings;
  private final Attempts attempts = new Attempts(this::open, () -> timing().nanoTime());
  /* The clock when nobody else had the store any more. */
  private final long openedNanos;
  private volatile boolean served;
  /* Whether calls are made here, and not only followed. */
  private volatile boolean leads;
  private final List<Class<?>> extraTypes;
  private @Nullable Neighborhood neighborhood;

  EmbeddedStoa(StoaConfig config, OpenLog open, Clock clock, Threads threads, Part part) {
    this(config, open, clock, threads, part, Neighborhood.of(part));
  }

  private EmbeddedStoa(
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
    if (neighborhood != null) neighborhood.begin(this);
    blobs.resume(name -> blobKey(Keys.decode(name, loader)));
    store.resume(this::key);
    keyValues.begin();
    store.keep(config.keep());
    leads = true;
  }

  /// What executes objects on a store, and begins nothing by itself.
  EmbeddedStoa(
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
    blobs = new Blobs(store, bytes, threads, Blob.class.getName(), limits.blobBytesMax());
    blobsRefused = refusal;
    this.devices = shards;
    streams = store.streamStore(this::streamOf, limits.callBytesMax());
    answers = threads.answers();
    turns = new Turns(answers, limits.queuedCallsMax());
    dictionary = new Dictionary(store);
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    loader = context != null ? context : EmbeddedStoa.class.getClassLoader();
    extraTypes = config.types();
    marshaller = marshaller(dictionary);
    for (String name : dictionary.after(ClassNames.ADMITTED)) readmit(name);
    keyValues = new KeyValues(this, threads);
    keyValueStore = new EmbeddedKeyValues(this, keyValues, answers);
    snapshots = new Snapshots(store);
  }

  /// A marshaller of this store's values that speaks in the numbers of some dictionary.
  Marshaller marshaller(TypeIds ids) {
    return new Marshaller(
        ids, new ByReference(), StoredBlob.class, extraTypes, loader, STATE_BYTES_MAX);
  }

  /// Makes all classes that are known here known to another marshaller; answers whether any were
  /// not.
  boolean registerAll(Marshaller other) {
    boolean any = false;
    for (Faces faces : types.values()) {
      for (SharedType type : faces.all()) any |= other.learn(type);
    }
    for (Class<?> type : admitted) {
      if (other.isRegistered(type)) continue;
      other.register(type);
      any = true;
    }
    return any;
  }

  /// What methods here call in other groups; null when there are none.
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

  /// A key as the log names it.
  Key key(String space, byte[] name) {
    if (space.equals(blobs.space())) return blobKey(Keys.decode(name, loader));
    if (space.equals(SharedKeys.SPACE)) return keyValues.key(name);
    if (space.startsWith("stoa/")) return new Key(space, name, space);
    return typeNamed(space).key(Keys.decode(name, loader));
  }

  /// Takes in the names that another process has logged since.
  void learn() {
    for (String name : dictionary.learn()) {
      if (name.startsWith(ClassNames.ADMITTED)) {
        readmit(name.substring(ClassNames.ADMITTED.length()));
      }
    }
  }

  // ---- the programming interface

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    named(type, key);
    if (type == Blob.class) return type.cast(blob(key, args));
    return type.cast(proxy(typeOf(type), key, args, LiveInvoker.Source.ASKED, 0));
  }

  @Override
  public <T> T create(Class<T> type, Object key, @Nullable Object... args) {
    named(type, key);
    refuseInside("create an object; use Call.get");
    if (type == Blob.class) {
      StoredBlob blob = blob(key, args);
      blobs.create(blob);
      return type.cast(blob);
    }
    ObjectType known = typeOf(type);
    T proxy = type.cast(proxy(known, key, args, LiveInvoker.Source.ASKED, 0));
    try {
      live(proxy).create();
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw Sharing.sneaky(checked);
    }
    return proxy;
  }

  @Override
  public <T> Optional<T> find(Class<T> type, Object key) {
    named(type, key);
    refuseInside("look for an object");
    if (type == Blob.class) {
      Key name = blobKey(key);
      long found = blobs.generation(name);
      return found == 0 ? Optional.empty() : Optional.of(type.cast(reference(name, found)));
    }
    ObjectType known = typeOf(type);
    ObjectTransaction transaction = ObjectTransaction.current(this);
    long generation =
        transaction == null
            ? store.generation(known.key(key))
            : transaction.transaction().generation(known.key(key));
    if (generation == 0) return Optional.empty();
    return Optional.of(
        type.cast(proxy(known, key, NOTHING, LiveInvoker.Source.REFERENCE, generation)));
  }

  @Override
  public <T> T view(Class<T> type, Ref<?> ref, View view) {
    Objects.requireNonNull(type, "the type is null");
    Objects.requireNonNull(ref, "the reference is null");
    Objects.requireNonNull(view, "the view is null");
    if (type == Blob.class) return type.cast(blob(ref, view));
    if (Collections.isCollection(type)) return Collections.installed().view(this, type, ref, view);
    ObjectType known = typeOf(type);
    Sharing.checkType(ref, known.shared());
    T proxy = type.cast(proxy(known, ref.key(), NOTHING, LiveInvoker.Source.REFERENCE, 0));
    return switch (view) {
      case View.Remote() -> proxy;
      case View.Local() -> following(proxy, FollowingInvoker.Freshness.NOW);
      case View.Cached() -> following(proxy, FollowingInvoker.Freshness.SEEN);
      case View.Client(Reads reads) -> inClient(proxy, reads);
      case View.AtVersion(long version) -> history(proxy).at(version);
      case View.AtAddress(LogAddress address) -> at(address).on(proxy);
      case View.AtSnapshot(Snapshot snapshot) -> own(snapshot).on(proxy);
    };
  }

  private <T> T inClient(T proxy, Reads reads) {
    refuseInside("ask for a view");
    return live(proxy).placing().view(proxy, reads);
  }

  private <T> T following(T proxy, FollowingInvoker.Freshness freshness) {
    LiveInvoker live = live(proxy);
    // What its callers have seen may be newer than what is in the store.
    if (live.type().shared().placement() == Placement.AUTO) return proxy;
    var invoker = new FollowingInvoker(live, store.follow(live.target()), freshness);
    return Proxies.redirect(proxy, invoker);
  }

  @Override
  public <T> Ref<T> ref(T shared) {
    @SuppressWarnings("unchecked") // Justification: the proxy is a T
    Ref<T> ref =
        (Ref<T>)
            (Sharing.behind(shared) instanceof StoredBlob blob
                ? refOf(blob.key())
                : Sharing.proxied(shared).ref());
    return ref;
  }

  @Override
  public boolean delete(Object shared) {
    refuseInside("delete an object");
    if (shared instanceof Facade facade) return delete(facade.shared());
    if (shared instanceof StoredBlob blob) return own(blob).blobs().delete(blob);
    LiveInvoker invoker = own(shared);
    ObjectTransaction transaction = ObjectTransaction.current(this);
    try {
      if (invoker.isPlaced()) {
        var _ = invoker.placing().delete(invoker.placed(), null);
      } else if (transaction == null) {
        store.delete(invoker.target(), Terms.expecting(invoker.ending()));
        deleted(invoker);
      } else {
        transaction.delete(invoker, invoker.ending());
      }
      return true;
    } catch (Gone gone) {
      return false;
    }
  }

  @Override
  public <T> Listing<T> list(Class<T> type) {
    Objects.requireNonNull(type, "the type is null");
    refuseInside("list objects");
    if (ObjectTransaction.current(this) != null) {
      throw new IllegalStateException("a transaction cannot list objects; list them before");
    }
    if (type == Blob.class) {
      return new Listed<>(
          blobs.list(), name -> type.cast(reference(blobKey(Keys.decode(name, loader)), 0)));
    }
    ObjectType known = typeOf(type);
    Iterator<byte[]> names = store.list(known.shared().name());
    return new Listed<>(
        names,
        name -> {
          Object key = Keys.decode(name, loader);
          return type.cast(proxy(known, key, NOTHING, LiveInvoker.Source.REFERENCE, 0));
        });
  }

  @Override
  public <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call) {
    Objects.requireNonNull(call, "the call is null");
    refuseBlob(shared, "has asynchronous calls of its own: writeAsync and readAsync");
    if (ObjectTransaction.current(this) != null) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + ref(shared) + " directly");
    }
    LiveInvoker live = own(shared);
    for (var root : placing.values()) {
      root.refuseInside("call " + live.target().key() + " asynchronously");
    }
    Proxied proxied = Sharing.proxied(shared);
    boolean inTree = live.isPlaced() || proxied.invoker() instanceof PlacedInvoker;
    return Recorder.record(
        shared,
        call,
        (method, arguments, settled) -> {
          // The caller may change what it passed, and so may a run that is given up.
          var kept = live.question(method, arguments).arguments();
          if (inTree) {
            refuseInMethod("call asynchronously; call " + method + " directly");
            var stream = live.target().key().stream();
            turns.add(stream, () -> proxied.invoker().invoke(proxied, method, kept), settled);
            return;
          }
          Request request = live.begin(method, arguments);
          request.whenDone(done -> settled.answer(() -> live.end(done, method, kept)));
        },
        answers);
  }

  @Override
  public <T> T within(Duration timeMax, T shared) {
    Sharing.checkTime(timeMax);
    refuseInside("limit the time of a call");
    refuseBlob(shared, "takes the time of its device; its calls have no limit");
    return Sharing.through(shared, proxy -> hasten(proxy, timeMax));
  }

  private Object hasten(Object proxy, Duration timeMax) {
    Proxied proxied = Sharing.proxied(proxy);
    Invoker hastened =
        switch (proxied.invoker()) {
          case LiveInvoker live -> live.within(timeMax);
          case FollowingInvoker following -> following.within(timeMax);
          case PastInvoker past -> past.within(timeMax);
          default -> // of a transaction, which has a time of its own
              proxied.invoker();
        };
    return Proxies.redirect(proxy, hastened);
  }

  // ---- what an operator does

  /// Why the store takes no more calls until it is opened again; null while it takes them.
  @Nullable Throwable failure() {
    Throwable found = store.failure();
    for (Device device : devices) {
      if (found == null) found = device.failure();
    }
    return found;
  }

  /// What the devices have done and hold, by shard.
  List<DeviceStats> devices() {
    return devices.stream().map(Device::stats).toList();
  }

  /// The calls that run and wait, as many as are asked for, those that run first.
  List<ObjectCall> calls(int callsMax) {
    return store.calls(callsMax).stream().map(call -> ObjectCall.of(call, methodOf(call))).toList();
  }

  /// Cancels a call; answers whether it was under way and could be, see [Store#cancel].
  boolean cancel(long id) {
    return store.cancel(id);
  }

  private String methodOf(OngoingCall call) {
    if (call.query() instanceof ObjectHandler.Question question) return question.method().id();
    byte[] put = call.value();
    return put == null ? "" : methodOf(call.key(), put);
  }

  /// The id of the method that a put calls; empty when it calls none, or that is not known.
  String methodOf(Key key, byte[] put) {
    if (key.space().equals(SharedKeys.SPACE)) return KeyCommand.decoded(put).word();
    Faces faces = types.get(key.space());
    if (faces == null) return "";
    ObjectType.Called called = faces.called(new Decoder(put));
    return called == null ? "" : called.method().id();
  }

  // ---- transactions

  @Override
  public <R extends @Nullable Object, X extends Exception> R transact(
      TxOptions options, Body<R, X> body) throws X {
    Objects.requireNonNull(options, "the options of the transaction are null");
    Objects.requireNonNull(body, "the body of the transaction is null");
    refuseInside("begin a transaction");
    ObjectTransaction around = ObjectTransaction.current(this);
    return around == null ? attempts.run(options, body) : nested(around, options, body);
  }

  private <R extends @Nullable Object, X extends Exception> R nested(
      ObjectTransaction around, TxOptions options, Body<R, X> body) throws X {
    Sharing.checkNested(options);
    var transaction = around.transaction();
    if (options.readOnly()) transaction.enterToRead();
    else transaction.enter();
    boolean kept = false;
    try {
      R result = body.run();
      kept = true;
      return result;
    } finally {
      transaction.leave(kept);
    }
  }

  @Override
  public ObjectTransaction begin(TxOptions options) {
    Objects.requireNonNull(options, "the options of the transaction are null");
    refuseInside("begin a transaction");
    ObjectTransaction transaction = open(options);
    transaction.closeWhenForgotten();
    return transaction;
  }

  /// As [#begin], for who is sure to close it.
  ObjectTransaction open(TxOptions options) {
    var bounds =
        new stoa.store.Transaction.Bounds(
            options.readOnly(),
            TimeUnit.MICROSECONDS.convert(options.timeMax()),
            limits.transactionObjectsMax(),
            limits.transactionBytesMax());
    LogAddress at = options.at();
    return at == null
        ? new ObjectTransaction(this, store.begin(bounds), false)
        : new ObjectTransaction(this, store.begin(bounds, at), true);
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    Objects.requireNonNull(id, "the transaction's id is null");
    Key key = typeNamed(id.object().type()).key(id.object().key());
    var lookedUp =
        new stoa.store.Transaction.Id(key, id.version(), ObjectTransaction.mark(id.mark()));
    LogAddress found = store.outcome(lookedUp);
    return found == null
        ? new Transaction.Outcome.NotCommitted()
        : new Transaction.Outcome.Committed(found);
  }

  // ---- the past

  @Override
  public Snapshot snapshot() {
    refuseInside("take a snapshot");
    Pins.Pin pin = store.pinNow();
    return held(new LogAddress(store.epoch(), pin.counter()), pin);
  }

  @Override
  public Snapshot snapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    refuseInside("take a snapshot");
    return named(snapshots.take(name));
  }

  @Override
  public Optional<Snapshot> findSnapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    return Optional.ofNullable(snapshots.find(name)).map(this::named);
  }

  @Override
  public List<Snapshot> snapshots() {
    return snapshots.all().stream().<Snapshot>map(this::named).toList();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    refuseInside("delete a snapshot");
    return snapshots.delete(name);
  }

  private SharedSnapshot named(Snapshots.Named snapshot) {
    var place = new Place(this, marshaller, snapshot.address());
    return SharedSnapshot.named(this, place, snapshot.name());
  }

  private SharedSnapshot at(LogAddress address) {
    Pins.Pin pin = store.pinAt(address);
    return held(address, pin);
  }

  private SharedSnapshot held(LogAddress address, Pins.Pin pin) {
    return SharedSnapshot.held(this, new Place(this, marshaller, address), pin::close);
  }

  private SharedSnapshot own(Snapshot snapshot) {
    if (snapshot instanceof SharedSnapshot own && own.stoa() == this) return own;
    throw new IllegalArgumentException(snapshot + " is a snapshot of another store");
  }

  @Override
  public <T> T seen(T shared, Place place) {
    refuseInside("read a snapshot");
    refuseBlob(shared, "is no part of snapshots; it has its own, see Blob.snapshot");
    if (shared instanceof Facade) return Sharing.through(shared, proxy -> seen(proxy, place));
    Proxied proxied = Sharing.proxied(shared);
    LiveInvoker live = proxied.invoker() instanceof PastInvoker past ? past.live() : live(shared);
    if (live.stoa() != this) {
      throw new NotShareable(proxied.ref() + " is an object of another store than the snapshot");
    }
    Refusals.stream(live.type().shared());
    @SuppressWarnings("unchecked") // Justification: a proxy of the same type
    T seen = (T) past(live.type(), proxied, LiveInvoker.Source.ASKED, 0, place);
    return seen;
  }

  /// A view of an object at a place in the log.
  ///
  /// @param generation the one that is meant, 0 when it is whichever was there
  Object past(
      ObjectType type, Proxied proxied, LiveInvoker.Source source, long generation, Place place) {
    return past(
        type, proxied.ref().key(), proxied.constructorArguments(), source, generation, place);
  }

  private Object past(
      ObjectType type,
      Object key,
      @Nullable Object[] args,
      LiveInvoker.Source source,
      long generation,
      Place place) {
    Key target = type.key(key);
    var live = new LiveInvoker(this, type, store.target(target), args, source, generation);
    var past = store.at(target, place.address().counter());
    return Proxies.create(type.shared(), refOf(target), args, new PastInvoker(live, past, place));
  }

  @Override
  public <T> History<T> history(T shared) {
    refuseInside("read history");
    refuseBlob(shared, "keeps the versions for which it has a snapshot; use snapshot and at");
    Sharing.checkHistory(shared);
    return new ObjectHistory<>(this, shared, own(shared));
  }

  @Override
  public StreamStore streams() {
    refuseInside("use streams");
    return streams;
  }

  @Override
  public KeyValueStore store() {
    return keyValueStore;
  }

  private StreamId streamOf(Ref<?> ref) {
    return new Key(ref.type(), Keys.encode(ref.key()), ref).stream();
  }

  @Override
  public void close() {
    placingLock.lock();
    try {
      placings = -1;
      placing.values().forEach(EmbeddedStoa::end);
    } finally {
      placingLock.unlock();
    }
    store.close();
  }

  private static void end(Placing.Root placing) {
    try {
      placing.close();
    } catch (Unavailable stillWriting) {
      // That ends with the store.
    }
  }

  // ---- objects that are placed at clients

  /// An object that a client elsewhere names, which migrates or may be lent.
  ///
  /// @param existence what is expected of it
  LivePlaced placed(ObjectType type, Key key, Existence existence) {
    LiveInvoker live = LiveInvoker.of(this, type, store.target(key), existence);
    live.requireTree();
    return live.placed();
  }

  /// The way to an object that a client elsewhere names.
  LiveInvoker live(ObjectType type, Key key) {
    return new LiveInvoker(this, type, store.target(key), NOTHING, LiveInvoker.Source.REFERENCE, 0);
  }

  /// Others may call the objects from elsewhere.
  void serve() {
    served = true;
  }

  Clock clock() {
    return clock;
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
        // So that nothing is written behind what the next one reads.
        known.close();
        known.awaitCalls();
      }
      var provider =
          ServiceLoader.load(Placing.Provider.class)
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

  /// A lent object was met by who could not call it.
  void met(LiveInvoker live) {
    if (!leads) return; // who leads has met it, too
    timing.start(() -> {
      try {
        live.placing().met(new LivePlaced(live));
      } catch (RuntimeException over) {
        // The next one meets it again.
      }
    });
  }

  /// Whether a transaction sees that an object is lent to clients.
  boolean isLent(stoa.store.Transaction transaction, Target target, Existence existence) {
    if (transaction.generation(target.key()) == 0) return false;
    var answer = transaction.get(target, new ObjectHandler.LentQuestion(), existence, Pace.SHORT);
    return answer instanceof ObjectAnswer.Shared(Object lent, _) && Boolean.TRUE.equals(lent);
  }

  /// Whether [#deleted] may have something to do. Quick.
  boolean mayBeLent(LiveInvoker live) {
    var known = placing.get(live.type().shared().domain());
    return known != null && known.isKnown(new LivePlaced(live));
  }

  /// See [Placing.Root#enter].
  @Nullable Runnable enter(LiveInvoker live) {
    var known = placing.get(live.type().shared().domain());
    return known == null ? null : known.enter(new LivePlaced(live));
  }

  /// An object was deleted, which clients may have.
  void deleted(LiveInvoker live) {
    if (mayBeLent(live)) live.placing().deleted(new LivePlaced(live));
  }

  @Override
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    var objects = new ArrayList<PlacedObject>();
    for (Object each : shared) objects.add(LocalPlacedStore.object(this, each));
    var results = new ArrayList<R>(1);
    placing(PlacedObject.domain(objects))
        .together(
            objects,
            () -> {
              R result = body.run();
              results.clear();
              results.add(result);
            });
    return results.getFirst();
  }

  // ---- blobs

  private StoredBlob blob(Object key, @Nullable Object[] args) {
    if (blobsRefused != null) throw new UnsupportedOperationException(blobsRefused);
    if (args.length > 0) {
      throw new IllegalArgumentException("a blob takes no constructor arguments; write to it");
    }
    marshaller.register(StoredBlob.class);
    return blobs.blob(blobKey(key), new Existence.Any(null), 0);
  }

  private StoredBlob blob(Ref<?> ref, View view) {
    if (!ref.type().equals(blobs.space())) {
      throw new IllegalArgumentException(ref + " is not a blob");
    }
    return switch (view) {
      case View.Remote(), View.Local(), View.Cached() -> reference(blobKey(ref.key()), 0);
      case View.Client _ ->
          throw new UnsupportedOperationException(
              ref + " is written where the store is; a blob does not migrate");
      case View.AtAddress _, View.AtSnapshot _ ->
          throw new UnsupportedOperationException(
              ref + " is no part of snapshots; it has its own, see Blob.snapshot");
      case View.AtVersion(long version) ->
          throw new UnsupportedOperationException(
              "the past of " + ref + " is read with Blob.at(" + version + ")");
    };
  }

  /// A blob for a client, who says which generation it means.
  StoredBlob blobAt(Object key, long generation) {
    return blobs().blob(blobKey(key), new Existence.Any(null), generation);
  }

  private StoredBlob reference(Key key, long generation) {
    marshaller.register(StoredBlob.class);
    return blobs.blob(key, new Existence.Undeleted(null), generation);
  }

  private Key blobKey(Object key) {
    return new Key(blobs.space(), Keys.encode(key), new Ref<Blob>(blobs.space(), key));
  }

  private StoredBlob own(StoredBlob blob) {
    if (blob.blobs() == blobs) return blob;
    throw new NotShareable(
        blob + " is an object of another store, and cannot be passed to this one");
  }

  private static void refuseBlob(Object shared, String reason) {
    if (shared instanceof StoredBlob)
      throw new UnsupportedOperationException(shared + " " + reason);
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
  public Class<?> classNamed(String name) {
    Class<?> type;
    try {
      type = Class.forName(name, false, loader);
    } catch (ClassNotFoundException e) {
      throw new NotShareable(
          "the class " + name + " of a collection's elements is not on the class path", e);
    }
    boolean known =
        Platform.has(type)
            || type.isAnnotationPresent(Shared.class)
            || Naming.isOfStoa(type)
            || admitted.contains(type)
            || marshaller.isRegistered(type);
    if (!known) throw new NotShareable("no collection of this store was made with " + name);
    return type;
  }

  @Override
  public boolean isTransacting() {
    return ObjectTransaction.current(this) != null;
  }

  @Override
  public int callBytesMax() {
    return limits.callBytesMax();
  }

  @Override
  public int bytes(Object value) {
    return marshaller.value(value).length;
  }

  @Override
  public <T> T copy(T value) {
    @SuppressWarnings("unchecked") // Justification: a copy is of the class of what is copied
    T copy = (T) Objects.requireNonNull(marshaller.copy(value));
    return copy;
  }

  @Override
  public boolean isLive(Object shared) {
    return switch (Sharing.proxied(shared).invoker()) {
      case LiveInvoker live -> !live.isPlaced();
      case FollowingInvoker _ -> true;
      default -> false;
    };
  }

  /// Admits again what was when the store was open before.
  private void readmit(String name) {
    try {
      Class<?> type = Class.forName(name, false, loader);
      admitted.add(type);
      marshaller.register(type);
    } catch (ClassNotFoundException | NotShareable gone) {
      // What holds one of these says so when it is read.
    }
  }

  private static void named(Class<?> type, Object key) {
    Objects.requireNonNull(type, "the type is null");
    Objects.requireNonNull(key, "the key is null");
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

  /// Refuses what no method of a shared object and no transaction may do.
  void refuseInCall(String what) {
    refuseInside(what);
    if (isTransacting()) throw new IllegalStateException("a transaction cannot " + what);
  }

  Marshaller marshaller() {
    return marshaller;
  }

  ClassLoader loader() {
    return loader;
  }

  String url() {
    return url;
  }

  Limits limits() {
    return limits;
  }

  Dictionary dictionary() {
    return dictionary;
  }

  Blobs blobs() {
    if (blobsRefused != null) throw new UnsupportedOperationException(blobsRefused);
    return blobs;
  }

  /// The type of a stored name, if it was used since the store was opened.
  @Nullable ObjectType knownType(String name) {
    Faces known = types.get(name);
    return known == null ? null : known.first();
  }

  /// Whether a type has a method, of a class that is in use, or was used with this store before.
  boolean hasMethod(String type, String method) {
    if (isMethodInUse(type, method)) return true;
    for (String className : dictionary.after(ClassNames.CLASS + type + " ")) {
      try {
        var _ = typeOf(Class.forName(className, false, loader));
      } catch (ClassNotFoundException | LinkageError | NotShareable gone) {
        // It was renamed, or is shared no more: another one may have the method.
      }
    }
    return isMethodInUse(type, method);
  }

  private boolean isMethodInUse(String type, String method) {
    Faces known = types.get(type);
    return known != null && known.hasMethod(method);
  }

  Duration callTimeMax() {
    return limits.callTimeMax();
  }

  ObjectType typeOf(Class<?> face) {
    SharedType shared = SharedType.of(face);
    if (shared.name().equals(blobs.space()) || shared.name().startsWith("stoa/")) {
      throw new NotShareable(
          face.getName() + " is stored as " + shared.name() + "; give it another name in @Shared");
    }
    Faces faces = types.get(shared.name());
    ObjectType known = faces == null ? null : faces.find(shared);
    return known == null ? register(shared) : known;
  }

  private ObjectType register(SharedType shared) {
    registering.lock();
    try {
      Faces faces = types.get(shared.name());
      boolean first = faces == null;
      if (faces == null) {
        faces = new Faces(shared.name(), dictionary);
        // What other faces have logged must be called as well.
        for (SharedType other : otherFaces(shared)) add(faces, other);
      }
      ObjectType known = faces.find(shared);
      if (known == null) known = add(faces, shared);
      if (!first) return known;
      faces.checkMethods();
      store.register(shared.name(), new ObjectHandler.Factory(this, faces.first()));
      types.put(shared.name(), faces);
      return known;
    } finally {
      registering.unlock();
    }
  }

  private ObjectType add(Faces faces, SharedType shared) {
    var type = new ObjectType(faces, shared, dictionary, marshaller, clock);
    faces.add(type);
    marshaller.register(shared);
    var _ = dictionary.idOf(ClassNames.CLASS + shared.name() + " " + shared.face().getName());
    return type;
  }

  /// The faces of a type's objects that this store was used with before, as far as they still are.
  private List<SharedType> otherFaces(SharedType shared) {
    var others = new ArrayList<SharedType>();
    for (String className : dictionary.after(ClassNames.CLASS + shared.name() + " ")) {
      SharedType other = ClassNames.face(className, shared, loader);
      if (other != null) others.add(other);
    }
    return others;
  }

  /// The type of a reference, by the class that was last stored under its name.
  ObjectType typeNamed(String name) {
    Faces known = types.get(name);
    if (known != null) return known.first();
    var candidates = dictionary.after(ClassNames.CLASS + name + " ").reversed();
    for (String className : candidates) {
      try {
        var _ = typeOf(Class.forName(className, false, loader));
        return Objects.requireNonNull(types.get(name)).first();
      } catch (ClassNotFoundException gone) {
        // It was renamed: an older or newer name may be there.
      }
    }
    throw new NotShareable(
        "no class for objects stored as "
            + name
            + (candidates.isEmpty() ? "" : ", once " + candidates.getFirst())
            + "; use the class once before, or put it on the class path");
  }

  private Object proxy(
      ObjectType type,
      Object key,
      @Nullable Object[] args,
      LiveInvoker.Source source,
      long generation) {
    Key target = type.key(key);
    var invoker = new LiveInvoker(this, type, store.target(target), args, source, generation);
    return Proxies.create(type.shared(), refOf(target), args, invoker);
  }

  Ref<?> refOf(Key key) {
    return (Ref<?>) key.label();
  }

  Object nameOf(Key key) {
    return refOf(key).key();
  }

  /// Constructor arguments as they are logged, null when there are none.
  byte @Nullable [] opening(@Nullable Object[] arguments) {
    return arguments.length == 0 ? null : marshaller.value(arguments);
  }

  /// Constructor arguments as they were logged.
  @Nullable Object[] opening(byte @Nullable [] opening) {
    return opening == null
        ? NOTHING
        : (@Nullable Object[]) Objects.requireNonNull(marshaller.value(opening));
  }

  /// Constructs an object that nobody keeps, to see what its constructor throws.
  void construct(ObjectType type, Key key, @Nullable Object[] arguments) throws Throwable {
    @Nullable Object[] copies = opening(opening(arguments));
    try {
      var _ =
          store.limited(
              key,
              () -> {
                try {
                  return ScopedValue.where(CallContext.CURRENT, new Trial(this))
                      .call(() -> instantiated(type, key, copies));
                } catch (RuntimeException | Error passedOn) {
                  throw passedOn;
                } catch (Exception checked) {
                  throw Sharing.sneaky(checked);
                }
              });
    } catch (Trial.Undecided undecided) {
      // It calls other objects: the real construction will tell.
    }
  }

  /// As the other one, of what a call expects.
  void construct(ObjectType type, Key key, Existence existence) throws Throwable {
    @Nullable Object[] arguments = opening(existence.opening());
    if (existence instanceof Existence.Undeleted) constructReferred(type, key, arguments);
    else construct(type, key, arguments);
  }

  /// Constructs an object that is only known by reference, and that nobody keeps.
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
      return type.shared().instantiate(nameOf(key), arguments);
    } catch (Error | Exception passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /// Ends the trial of a constructor, when that is what runs here: it may call nobody.
  static void leaveTrial() {
    if (CallContext.CURRENT.isBound() && CallContext.CURRENT.get() instanceof Trial) {
      throw new Trial.Undecided();
    }
  }

  /// An answer that travels, unless it is too large to.
  ObjectAnswer travelling(byte[] value, SharedMethod method) {
    if (value.length <= callBytesMax()) {
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, value);
    }
    var refusal =
        new stoa.LimitExceeded(
            "the answer of "
                + method
                + " takes "
                + value.length
                + " bytes; callBytesMax is "
                + callBytesMax());
    return new ObjectAnswer.Travelling(ObjectAnswer.THREW, marshaller.thrown(refusal));
  }

  /// As [#live], of an object of this store.
  LiveInvoker own(Object shared) {
    LiveInvoker live = live(shared);
    if (live.stoa() == this) return live;
    throw new NotShareable(live.target().key() + " is an object of another store than this");
  }

  LiveInvoker live(Object shared) {
    if (Sharing.proxied(shared).invoker() instanceof LiveRoute route) return route.live();
    throw new UnsupportedOperationException(
        "this is a view of the past of " + Sharing.proxied(shared).ref() + "; use a live proxy");
  }

  /* As the next, also where the method runs in the tree. */
  private static void refuseInMethod(String what) {
    leaveTrial();
    if (CallContext.CURRENT.isBound()) {
      throw new IllegalStateException("a method of a shared object cannot " + what);
    }
  }

  private static void refuseInside(String what) {
    if (ObjectContext.current() != null) {
      throw new IllegalStateException("a method of a shared object cannot " + what);
    }
  }

  /// Turns proxies into references and back while values are marshalled.
  private final class ByReference implements References {
    @Override
    public @Nullable Reference referenceOf(Object object) {
      if (object instanceof StoredBlob blob) {
        return new Reference(refOf(own(blob).key()), blob.generation());
      }
      Proxied proxied = Proxies.of(object);
      if (proxied != null) {
        if (proxied.invoker() instanceof LiveRoute route) {
          LiveInvoker live = route.live();
          if (live.stoa() != EmbeddedStoa.this) {
            throw new NotShareable(
                proxied.ref() + " is an object of another store, and cannot be passed to this one");
          }
          return new Reference(proxied.ref(), live.generation());
        }
        throw new NotShareable(
            "a view of the past of " + proxied.ref() + " cannot be passed on; pass a live proxy");
      }
      ObjectContext context = ObjectContext.current();
      return context == null ? null : context.referenceOf(object);
    }

    @Override
    public Object resolve(Reference reference) {
      Ref<?> ref = reference.ref();
      if (ref.type().equals(blobs.space())) {
        return reference(blobKey(ref.key()), reference.generation());
      }
      return resolve(reference, typeNamed(ref.type()));
    }

    @Override
    public Object resolve(Reference reference, Class<?> face) {
      return resolve(reference, typeOf(face));
    }

    private Object resolve(Reference reference, ObjectType type) {
      return resolve(reference, type, NOTHING);
    }

    private Object resolve(
        Reference reference, ObjectType type, @Nullable Object[] constructorArguments) {
      var source = LiveInvoker.Source.REFERENCE;
      Object key = reference.ref().key();
      Place place = Place.current(EmbeddedStoa.this);
      return place == null
          ? proxy(type, key, constructorArguments, source, reference.generation())
          : past(type, key, constructorArguments, source, reference.generation(), place);
    }

    @Override
    public Object facade(Reference reference, String form) {
      @Nullable Object[] opening = Collections.installed().opening(EmbeddedStoa.this, form);
      Object proxy = resolve(reference, typeNamed(reference.ref().type()), opening);
      Place place = Place.current(EmbeddedStoa.this);
      if (place == null) return Collections.installed().reopen(EmbeddedStoa.this, proxy, form);
      // Made of the live object, and seen at the place, with all that it is composed of.
      boolean then = Sharing.proxied(proxy).invoker() instanceof PastInvoker;
      Object live =
          then
              ? Proxies.redirect(proxy, ((PastInvoker) Sharing.proxied(proxy).invoker()).live())
              : proxy;
      Facade facade = Collections.installed().reopen(EmbeddedStoa.this, live, form);
      return facade.through(shared -> seen(shared, place));
    }
  }

  /// The context of a constructor that is tried before anything is logged.
  private static final class Trial implements CallContext {
    /// The constructor asks what only the log can tell.
    private static final class Undecided extends Error {
      private static final long serialVersionUID = 1L;

      private Undecided() {
        super("not known before the call is logged", null, false, false);
      }
    }

    private final EmbeddedStoa stoa;

    private Trial(EmbeddedStoa stoa) {
      this.stoa = stoa;
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
  }
}

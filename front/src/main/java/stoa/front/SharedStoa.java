package stoa.front;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Call1;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.Gone;
import stoa.History;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.Listeners;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.ObjectListing;
import stoa.Reads;
import stoa.Ref;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StreamStore;
import stoa.Subscription;
import stoa.Timers;
import stoa.Transaction;
import stoa.TransactionBody;
import stoa.Tree;
import stoa.TxOptions;
import stoa.View;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.spi.Binding;
import stoa.spi.Collections;
import stoa.spi.Facade;
import stoa.spi.Host;

/// A store of shared objects as programs use it, wherever it is. Thread-safe.
public final class SharedStoa implements Host {
  /// The stored name of the type of blobs.
  public static final String BLOBS = Blob.class.getName();

  /// Finds the classes of elements while a thread creates facades for code that is not the
  /// program's.
  static final ScopedValue<ClassLoader> ELEMENTS = ScopedValue.newInstance();

  // Set while a method opens a collection whose code is not the program's. Other methods, which may
  // run on the same thread meanwhile, ignore it.
  private static final ScopedValue<Opening> OPENING = ScopedValue.newInstance();

  /// A method that opens a collection.
  ///
  /// @param run the run of the method
  /// @param code the code of the method
  private record Opening(MethodRun run, Service.Vocabulary code) {}

  private static final int ACCESSORS_MAX = 1_024;

  // The accessors that method references name.
  private final ConcurrentHashMap<Call1<?, ?>, IndexedMember> accessors = new ConcurrentHashMap<>();

  // The classes with indexes that the program uses.
  private final Set<Class<?>> indexed = ConcurrentHashMap.newKeySet();

  private final Service service;
  private final Attempts attempts;
  private final CallMeters calls = new CallMeters();
  private final Latency transactions = new Latency();
  private final SerialCalls serialCalls;
  private final SharedKeyValues keys = new SharedKeyValues(this);
  private final SharedStreams streams = new SharedStreams(this);
  private final AtomicInteger changeStreams = new AtomicInteger();

  // Null while no tracer records what the program does.
  private volatile @Nullable Tracer tracer;

  /// Creates a store over a port, which may still be under construction.
  ///
  /// @param service has its limits, its clock, and the threads of its answers
  public SharedStoa(Service service) {
    this.service = service;
    attempts = new Attempts(this::open, service::nanoTime);
    serialCalls = new SerialCalls(service.answers(), service.limits().queuedCallsMax());
  }

  /// Returns the port to the store.
  public Service service() {
    return service;
  }

  /// The meters of the calls that this program makes.
  CallMeters calls() {
    return calls;
  }

  /// Records what the program does from now on.
  ///
  /// @param recording null ends the recording
  public void trace(@Nullable Tracer recording) {
    tracer = recording;
  }

  /// Begins to record a call; returns null when nothing around it is recorded.
  @Nullable Trace tracing(SharedCall to, String method) {
    Tracer recording = tracer;
    if (recording == null || !recording.isRecording()) return null;
    String type = to.shared().name();
    Trace trace = recording.program(type + "/" + method);
    trace.tag("stoa.type", type);
    trace.tag("stoa.method", method);
    if (recording.showsKeys()) trace.tag("stoa.key", to.key().toString());
    return trace;
  }

  /// Begins to record something that is no call of a method.
  private @Nullable Trace tracing(String name) {
    Tracer recording = tracer;
    return recording == null || !recording.isRecording() ? null : recording.program(name);
  }

  /// Begins to record how a listener handles an event; returns null when no tracer records it.
  @Nullable Trace delivered(TraceParent put) {
    Tracer recording = tracer;
    return recording == null ? null : recording.delivered(put, "listener");
  }

  /// Does something, and records it if anything around it is recorded.
  <R extends @Nullable Object, X extends Throwable> R recorded(String name, Trace.Work<R, X> work)
      throws X {
    return recorded(tracing(name), work);
  }

  /// Does something within a trace, and ends the trace.
  ///
  /// @param trace null to do it without one
  static <R extends @Nullable Object, X extends Throwable> R recorded(
      @Nullable Trace trace, Trace.Work<R, X> work) throws X {
    if (trace == null) return work.run();
    Throwable failure = null;
    try {
      return trace.run(work);
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      trace.end(failure);
    }
  }

  /// Does something that may answer nothing, within a trace, and ends the trace.
  ///
  /// @param trace null to do it without one
  static @Nullable Object answered(@Nullable Trace trace, CallRecorder.Reading work)
      throws Throwable {
    if (trace == null) return work.get();
    var answer = new @Nullable Object[1];
    recorded(
        trace,
        () -> {
          answer[0] = work.get();
          return answer;
        });
    return answer[0];
  }

  /// Tells what the program and the store have measured since the store was opened.
  public void measure(Measures out) {
    calls.measure(out, "program");
    out.latency(
        "stoa.transactions", "Transactions of this program, all attempts together.", transactions);
    out.count(
        "stoa.transactions.lost",
        Measures.NO_UNIT,
        "Attempts of transactions that wrote nothing, because another call changed an object.",
        attempts.lost());
    service.measure(out);
  }

  // ---- objects

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    named(type, key);
    if (type == Blob.class) return type.cast(askedBlob(key, args));
    return type.cast(proxy(asked(type, key, args)));
  }

  @Override
  public <T> T create(Class<T> type, Object key, @Nullable Object... args) {
    named(type, key);
    MethodRun.refuse("create an object; use Call.get");
    if (type == Blob.class) {
      SharedBlob blob = askedBlob(key, args);
      blob.create();
      return type.cast(blob);
    }
    SharedCall call = asked(type, key, args);
    T proxy = type.cast(proxy(call));
    // An index may refuse the object, and then a transaction creates nothing.
    boolean isRefusable = call.shared().indexes().stream().anyMatch(IndexedMember::isUnique);
    if (isRefusable && !isTransacting()) return transact(() -> create(type, key, args));
    try {
      recorded(
          tracing(call, "new"),
          () -> {
            call.create();
            return proxy;
          });
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
    MethodRun.refuse("look for an object");
    if (type == Blob.class) {
      long found = blob(key, 0).found();
      return found == 0 ? Optional.empty() : Optional.of(type.cast(blob(key, found)));
    }
    SharedCall call = SharedCall.reference(this, service.target(type, key));
    SharedTransaction transaction = SharedTransaction.current(this);
    call.bind(
        transaction == null ? call.target().generation() : transaction.work().generation(call));
    return call.generation() == 0 ? Optional.empty() : Optional.of(type.cast(proxy(call)));
  }

  @Override
  public <T> T view(Class<T> type, Ref<?> ref, View view) {
    Objects.requireNonNull(type, "the type is null");
    Objects.requireNonNull(ref, "the reference is null");
    Objects.requireNonNull(view, "the view is null");
    if (type == Blob.class) return type.cast(viewedBlob(ref, view));
    if (Collections.isCollection(type)) return Collections.installed().view(this, type, ref, view);
    Service.Target target = service.target(type, ref.key());
    Sharing.checkType(ref, target.shared());
    SharedCall call = SharedCall.reference(this, target);
    T proxy = type.cast(proxy(call));
    return switch (view) {
      case View.Remote() -> proxy;
      case View.Local() -> copied(proxy, call, Service.Copy.Freshness.NOW);
      case View.Cached() -> copied(proxy, call, Service.Copy.Freshness.SEEN);
      case View.Client(Reads reads) -> atClient(proxy, reads);
      case View.AtVersion(long version) -> history(proxy).at(version);
      case View.AtAddress(LogAddress address) -> held(service.pin(target, address)).on(proxy);
      case View.AtSnapshot(Snapshot snapshot) -> own(snapshot).on(proxy);
    };
  }

  private <T> T atClient(T proxy, Reads reads) {
    MethodRun.refuse("ask for a view");
    PlacedObject object = placed(proxy);
    return inTree("execute calls", object.domain()).view(proxy, reads);
  }

  private static <T> T copied(T proxy, SharedCall live, Service.Copy.Freshness freshness) {
    // Its callers may have seen newer states than those in the store.
    if (live.isAuto()) return proxy;
    return Proxies.redirect(proxy, new CopyCall(live, live.target().follow(), freshness));
  }

  @Override
  public <T> Ref<T> ref(T shared) {
    @SuppressWarnings("unchecked") // Justification: the proxy is a T
    Ref<T> ref =
        (Ref<T>)
            (Sharing.behind(shared) instanceof Blob blob
                ? own(blob).ref()
                : Sharing.proxied(shared).ref());
    return ref;
  }

  @Override
  public boolean delete(Object shared) {
    MethodRun.refuse("delete an object");
    if (shared instanceof Facade facade) {
      return facade.hasIndexes() ? deleteIndexed(facade) : delete(facade.shared());
    }
    if (shared instanceof Blob blob) return own(blob).delete();
    SharedCall call = own(shared);
    SharedTransaction transaction = SharedTransaction.current(this);
    boolean hasIndexes = !call.shared().indexes().isEmpty();
    if (hasIndexes && transaction == null) return transact(() -> delete(shared));
    try {
      if (hasIndexes) Collections.installed().indexes().delete(this, shared);
      return recorded(
          tracing(call, "delete"),
          () -> {
            if (transaction == null) call.target().delete(call);
            else transaction.delete(call);
            return true;
          });
    } catch (Gone gone) {
      return false;
    }
  }

  private boolean deleteIndexed(Facade facade) {
    try {
      return transact(() -> {
        facade.leaveIndexes();
        return delete(facade.shared());
      });
    } catch (Gone gone) {
      return false;
    }
  }

  @Override
  public <T> ObjectListing<T> list(Class<T> type) {
    Objects.requireNonNull(type, "the type is null");
    MethodRun.refuse("list objects");
    if (isTransacting()) {
      throw new IllegalStateException("a transaction cannot list objects; list them before");
    }
    Iterator<byte[]> names = type == Blob.class ? service.blobs().names() : service.names(type);
    return new Listed<>(names, name -> listed(type, Keys.decode(name, service.loader())));
  }

  private <T> T listed(Class<T> type, Object key) {
    if (type == Blob.class) return type.cast(blob(key, 0));
    return type.cast(proxy(SharedCall.reference(this, service.target(type, key))));
  }

  @Override
  public <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call) {
    Objects.requireNonNull(call, "the call is null");
    refuseBlob(shared, "has asynchronous calls of its own: writeAsync and readAsync");
    if (isTransacting()) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + ref(shared) + " directly");
    }
    SharedCall live = own(shared);
    service.tree().refuseInside("call " + live.key() + " asynchronously");
    Invoker invoker = Sharing.proxied(shared).invoker();
    // Calls on objects at clients run one after the other, to keep their order.
    boolean inTurn = invoker instanceof TreeCall || live.isPlaced();
    return CallRecorder.record(
        shared,
        call,
        (method, arguments, settled) -> {
          if (!inTurn) return live.begin(method, arguments, settled);
          MethodRun.refuseAnywhere("call asynchronously; call " + method + " directly");
          // The caller may change the arguments after the call.
          var kept = live.own(arguments);
          Proxied proxied = Sharing.proxied(shared);
          serialCalls.add(
              live.key().stream(), () -> invoker.invoke(proxied, method, kept), settled);
          return () -> {}; // such a call does not wait for conditions
        },
        service.answers());
  }

  @Override
  public <T> T within(Duration timeMax, T shared) {
    Sharing.checkTime(timeMax);
    MethodRun.refuse("limit the time of a call");
    refuseBlob(shared, "takes the time of its device; its calls have no limit");
    return Sharing.through(shared, proxy -> hasten(proxy, timeMax));
  }

  private static Object hasten(Object proxy, Duration timeMax) {
    Proxied proxied = Sharing.proxied(proxy);
    Invoker hastened =
        switch (proxied.invoker()) {
          case SharedCall live -> live.within(timeMax);
          case CopyCall copy -> copy.within(timeMax);
          case PastCall past -> past.within(timeMax);
          default -> // in a transaction, which has its own time limit
              proxied.invoker();
        };
    return Proxies.redirect(proxy, hastened);
  }

  // ---- transactions

  @Override
  public <R extends @Nullable Object, X extends Exception> R transact(
      TxOptions options, TransactionBody<R, X> body) throws X {
    Objects.requireNonNull(options, "the options of the transaction are null");
    Objects.requireNonNull(body, "the body of the transaction is null");
    MethodRun.refuseTransaction();
    SharedTransaction around = SharedTransaction.current(this);
    if (around == null) {
      int weight = transactions.begin();
      long began = service.nanoTime();
      try {
        return recorded("transaction", () -> attempts.run(options, body));
      } finally {
        if (weight > 0) transactions.end(weight, service.nanoTime() - began);
      }
    }
    Sharing.checkNested(options);
    return around.nested(options.readOnly(), body);
  }

  @Override
  public SharedTransaction begin(TxOptions options) {
    Objects.requireNonNull(options, "the options of the transaction are null");
    MethodRun.refuseTransaction();
    SharedTransaction transaction = open(options, null);
    try {
      var _ = transaction.at();
    } catch (RuntimeException | Error failed) {
      transaction.close();
      throw failed;
    }
    transaction.closeWhenForgotten();
    return transaction;
  }

  /// Begins a transaction like [#begin], for a caller that always closes it.
  ///
  /// @param intent under which it runs; null for none
  SharedTransaction open(TxOptions options, Service.@Nullable Intent intent) {
    return new SharedTransaction(this, service.begin(options, intent));
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    Objects.requireNonNull(id, "the transaction's id is null");
    return service.outcome(id);
  }

  @Override
  public boolean isTransacting() {
    return SharedTransaction.current(this) != null;
  }

  /// Refuses an operation that no method of a shared object and no transaction may use.
  public void refuseInCall(String what) {
    MethodRun.refuse(what);
    if (isTransacting()) throw new IllegalStateException("a transaction cannot " + what);
  }

  // ---- objects that are placed at clients

  @Override
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, TransactionBody<R, X> body) throws X {
    var objects = new ArrayList<PlacedObject>();
    for (Object each : shared) objects.add(placed(each));
    var results = new ArrayList<R>(1);
    Service.Tree tree = service.tree();
    boolean isHere = tree.isHere();
    tree.atOnce(PlacedObject.domain(objects))
        .together(
            objects,
            () -> {
              R result = body.run();
              results.clear();
              results.add(result);
            });
    if (!isHere) tree.flush(); // its calls are durable when they return
    return results.getFirst();
  }

  private Placing inTree(String what, String domain) {
    Service.Tree tree = service.tree();
    if (tree.isHere()) return tree.at(domain);
    throw new UnsupportedOperationException(
        "a client outside of the tree cannot " + what + "; let it be a TreeMembership.leaf()");
  }

  /// Returns the object of a proxy, for the process that executes its calls.
  ///
  /// @throws UnsupportedOperationException when it cannot be at clients
  PlacedObject placed(Object shared) {
    SharedCall live = own(shared);
    live.target().requireTree();
    return live.placed();
  }

  @Override
  public void flush() {
    service.tree().flush();
  }

  @Override
  public Tree tree() {
    return new OwnTree();
  }

  /* The part of this process in the trees. */
  private final class OwnTree implements Tree {
    @Override
    public CompletableFuture<@Nullable Void> flush() {
      return service.tree().flushing();
    }

    @Override
    public Whereabouts where(Object shared) {
      PlacedObject object = placed(shared);
      Service.Tree tree = service.tree();
      return tree.isHere() ? tree.at(object.domain()).where(object) : new Whereabouts.Unknown();
    }

    @Override
    public List<Tree.Place> places() {
      return service.tree().places();
    }

    @Override
    public void listen(Consumer<Disconnected> listener) {
      service.tree().listen(Objects.requireNonNull(listener, "the listener is null"));
    }

    @Override
    public void throwAfterLoss() {
      service.tree().throwAfterLoss();
    }
  }

  // ---- the past

  @Override
  public Snapshot snapshot() {
    MethodRun.refuse("take a snapshot");
    return held(service.pin(null, null));
  }

  @Override
  public Snapshot snapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    MethodRun.refuse("take a snapshot");
    return named(service.takeSnapshot(name));
  }

  @Override
  public Optional<Snapshot> findSnapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    return Optional.ofNullable(service.findSnapshot(name)).map(this::named);
  }

  @Override
  public List<Snapshot> snapshots() {
    return service.snapshots().stream().<Snapshot>map(this::named).toList();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    Objects.requireNonNull(name, "the snapshot's name is null");
    MethodRun.refuse("delete a snapshot");
    return service.deleteSnapshot(name);
  }

  private Place place(LogAddress address) {
    return new Place(this, service.marshaller(), address);
  }

  private SharedSnapshot named(Service.Named snapshot) {
    return SharedSnapshot.named(this, place(snapshot.address()), snapshot.name());
  }

  /// Returns a snapshot of the store at a log address, which lasts as one that [#snapshot()]
  /// returns.
  ///
  /// @throws stoa.TooOld when the store has trimmed what was there
  public Snapshot at(LogAddress address) {
    MethodRun.refuse("take a snapshot");
    return held(service.pin(null, address));
  }

  @Override
  public Snapshot snapshotOfTransaction() {
    SharedTransaction transaction = SharedTransaction.current(this);
    if (transaction == null) throw new IllegalStateException("this thread runs no transaction");
    return at(transaction.at());
  }

  private SharedSnapshot held(Service.Pinned pinned) {
    return SharedSnapshot.held(this, place(pinned.address()), pinned.release());
  }

  private SharedSnapshot own(Snapshot snapshot) {
    if (snapshot instanceof SharedSnapshot own && own.stoa() == this) return own;
    throw new IllegalArgumentException(snapshot + " is a snapshot of another store");
  }

  /// Returns a view of an object at a place in the log.
  <T> T seen(T shared, Place place) {
    MethodRun.refuse("read a snapshot");
    refuseBlob(shared, "is no part of snapshots; it has its own, see Blob.snapshot");
    if (shared instanceof Facade) return Sharing.through(shared, proxy -> seen(proxy, place));
    Proxied proxied = Sharing.proxied(shared);
    SharedCall live = proxied.invoker() instanceof PastCall past ? past.live() : live(shared);
    if (live.stoa() != this) {
      throw new NotShareable(proxied.ref() + " is an object of another store than the snapshot");
    }
    Refusals.stream(live.shared());
    @SuppressWarnings("unchecked") // Justification: a proxy of the same type
    T seen = (T) past(live.anyGeneration(proxied.constructorArguments()), place);
    return seen;
  }

  @Override
  public <T> History<T> history(T shared) {
    MethodRun.refuse("read history");
    refuseBlob(shared, "keeps the versions for which it has a snapshot; use snapshot and at");
    Sharing.checkHistory(shared);
    return new SharedHistory<>(shared, own(shared));
  }

  // ---- indexes

  /// Returns what a query reads by the accessor that a call names.
  public <T> IndexedMember accessor(Class<T> type, Call1<T, ?> call) {
    IndexedMember known = accessors.get(call);
    if (known != null) return known;
    SharedCall any = SharedCall.reference(this, service.target(type, ""));
    CallRecorder.Named named = CallRecorder.named(type.cast(proxy(any)), call);
    SharedMethod method = named.method();
    if (named.arguments().length > 0) {
      byte[] arguments = TimerArguments.encode("a query", method.toString(), named.arguments());
      return IndexedMember.of(method, named.arguments(), IndexedMember.named(method, arguments));
    }
    IndexedMember member = any.shared().readable(method.name());
    // A method reference is one object for each place in the program.
    if (accessors.size() < ACCESSORS_MAX) accessors.put(call, member);
    return member;
  }

  /// Returns the name by which a query reads whether an object meets a predicate.
  ///
  /// @throws NotShareable when the predicate cannot travel
  public String predicate(Predicate<?> predicate) {
    if (predicate instanceof Record || predicate instanceof Enum<?>) {
      String of = predicate.getClass().getName();
      byte[] encoded = TimerArguments.encode("a query", of, new Object[] {predicate});
      return IndexedMember.predicate(of, encoded);
    }
    throw new NotShareable(
        predicate
            + " is no record and no enum constant, and a server cannot run it; make a record that"
            + " implements Predicate, in the class that is asked");
  }

  /// Lets the indexes of a class begin when the program uses it for the first time outside of a
  /// method and a transaction.
  public void beginIndexes(Class<?> type) {
    if (indexed.contains(type) || isTransacting() || MethodRun.current() != null) return;
    Collections.installed().indexes().begin(this, type);
    indexed.add(type);
  }

  // ---- ports beside objects

  @Override
  public StreamStore streams() {
    MethodRun.refuse("use streams");
    return streams;
  }

  @Override
  public <T> ChangeStream<T> changes(Changes<T> what) {
    Objects.requireNonNull(what, "what to tell the changes of is null");
    MethodRun.refuse("read changes");
    return following(() -> SharedChanges.open(this, what, changeStreams::decrementAndGet));
  }

  private <T> T following(Supplier<T> open) {
    if (changeStreams.incrementAndGet() > StreamStore.FOLLOWERS_MAX) {
      changeStreams.decrementAndGet();
      throw new LimitExceeded(
          "there are %,d streams of changes already; close some"
              .formatted(StreamStore.FOLLOWERS_MAX));
    }
    try {
      return open.get();
    } catch (RuntimeException | Error refused) {
      changeStreams.decrementAndGet();
      throw refused;
    }
  }

  /// Follows the changes of the objects of a type from now on. The one who follows does not read
  /// what they are, and closes once.
  ///
  /// @param type the stored name of the type
  /// @param key the encoded key of the one object; null for all
  public Service.Tail<ChangeSet> follow(String type, byte @Nullable [] key) {
    return following(() -> {
      LogAddress now = service.streams().tail();
      var query = new ChangeQuery(type, key, Changes.Detail.CALLS, 0);
      LogAddress next = new LogAddress(now.epoch(), now.counter() + 1);
      Service.Tail<ChangeSet> tail = service.changes().follow(query, next);
      return new CountedTail<>(tail, changeStreams::decrementAndGet);
    });
  }

  /// A tail that tells its end.
  private record CountedTail<E>(Service.Tail<E> tail, Runnable ended) implements Service.Tail<E> {
    @Override
    public @Nullable E poll() {
      return tail.poll();
    }

    @Override
    public @Nullable E next(long nanosMax) throws InterruptedException {
      return tail.next(nanosMax);
    }

    @Override
    public void close() {
      ended.run();
      tail.close();
    }
  }

  @Override
  public Subscription subscribe(String name, Duration ageMax) {
    Objects.requireNonNull(name, "the subscription's name is null");
    refuseInCall("subscribe");
    if (ageMax.toSeconds() < 1) {
      throw new IllegalArgumentException(
          "a subscription keeps the log for at least one second, not for " + ageMax);
    }
    return new SharedSubscription(this, service.changes().subscribe(name, ageMax.toSeconds()));
  }

  @Override
  public List<Subscription> subscriptions() {
    return service.changes().subscriptions().stream()
        .<Subscription>map(one -> new SharedSubscription(this, one))
        .toList();
  }

  @Override
  public boolean unsubscribe(String name) {
    Objects.requireNonNull(name, "the subscription's name is null");
    refuseInCall("delete a subscription");
    return service.changes().unsubscribe(name);
  }

  /// Returns the route of the one object whose changes a program reads.
  SharedCall changing(Object shared) {
    refuseBlob(shared, "has no changes in the log; its bytes have versions, see Blob.snapshot");
    Sharing.checkHistory(shared);
    return own(shared);
  }

  @Override
  public KeyValueStore store() {
    return keys;
  }

  @Override
  public Timers timers() {
    return new SharedTimers(this);
  }

  @Override
  public Listeners listeners() {
    return new SharedListeners(this);
  }

  @Override
  public void close() {
    Binding.closes(this);
    service.close();
  }

  private SharedBlob askedBlob(Object key, @Nullable Object[] args) {
    if (args.length > 0) {
      throw new IllegalArgumentException("a blob takes no constructor arguments; write to it");
    }
    return new SharedBlob(this, service.blobs().asked(key));
  }

  /// Returns a blob that is known by reference.
  ///
  /// @param generation the required generation, 0 for any
  private SharedBlob blob(Object key, long generation) {
    return new SharedBlob(this, service.blobs().reference(key, generation));
  }

  private Blob viewedBlob(Ref<?> ref, View view) {
    if (!ref.type().equals(BLOBS)) throw new IllegalArgumentException(ref + " is not a blob");
    return switch (view) {
      case View.Remote(), View.Local(), View.Cached() -> blob(ref.key(), 0);
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

  /// Returns a blob, after checking that it belongs to this store.
  SharedBlob own(Blob blob) {
    if (blob instanceof SharedBlob shared && shared.stoa() == this) return shared;
    throw new NotShareable(
        blob + " is an object of another store, and cannot be passed to this one");
  }

  private static void refuseBlob(Object shared, String reason) {
    if (shared instanceof Blob) throw new UnsupportedOperationException(shared + " " + reason);
  }

  // ---- facades

  @Override
  public void admit(Class<?> type) {
    Service.Vocabulary code = openingCode();
    if (code == null) service.admit(type);
    else code.admit(type);
  }

  @Override
  public Class<?> classNamed(String name) {
    Class<?> type;
    try {
      type = Class.forName(name, false, ELEMENTS.orElse(service.loader()));
    } catch (ClassNotFoundException e) {
      throw new NotShareable(
          "the class " + name + " of a collection's elements is not on the class path", e);
    }
    if (service.isAdmitted(type)) return type;
    throw new NotShareable("no collection of this store was made with " + name);
  }

  @Override
  public int callBytesMax() {
    return service.callBytesMax();
  }

  @Override
  public int bytes(Object value) {
    return service.marshaller().value(value).length;
  }

  @Override
  public <T> T copy(T value) {
    @SuppressWarnings("unchecked") // Justification: a copy has the class of its original
    T copy = (T) Objects.requireNonNull(service.marshaller().copy(value));
    return copy;
  }

  @Override
  public <R extends @Nullable Object> R atOneMoment(Supplier<R> calls) {
    boolean isJoined = CopyMoment.current(this) != null;
    if (isJoined || isTransacting() || MethodRun.current() != null) return calls.get();
    CopyMoment.Found<R> found = CopyMoment.find(this, calls::get);
    return found != null
        ? found.value()
        : this.<R, RuntimeException>transact(TxOptions.reading(), calls::get);
  }

  @Override
  public List<@Nullable Object> callAll(List<? extends OneCall<?>> calls) {
    SharedTransaction transaction = null;
    for (OneCall<?> call : calls) {
      SharedTransaction around = around(call.shared());
      if (around == null || (transaction != null && !transaction.equals(around))) {
        return oneByOne(calls);
      }
      transaction = around;
    }
    if (transaction == null) return List.of();
    var named = new ArrayList<Service.WorkCall>();
    for (OneCall<?> call : calls) named.add(named(call));
    try {
      return transaction.callAll(named);
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw Sharing.sneaky(checked);
    }
  }

  /// Returns the transaction in which a call on a proxy takes part here; null when it takes part in
  /// none.
  private static @Nullable SharedTransaction around(Object shared) {
    return switch (Sharing.proxied(shared).invoker()) {
      case SharedCall live -> live.transactionHere();
      case SharedTransaction.Taking taking -> taking.transaction();
      default -> null;
    };
  }

  private static <T> Service.WorkCall named(OneCall<T> call) {
    CallRecorder.Named named = CallRecorder.named(call.shared(), call.call());
    return new Service.WorkCall(live(call.shared()), named.method(), named.arguments());
  }

  private static List<@Nullable Object> oneByOne(List<? extends OneCall<?>> calls) {
    var answers = new ArrayList<@Nullable Object>();
    for (OneCall<?> call : calls) answers.add(made(call));
    return answers;
  }

  private static <T> @Nullable Object made(OneCall<T> call) {
    try {
      return call.call().on(call.shared());
    } catch (RuntimeException passedOn) {
      throw passedOn;
    } catch (Exception checked) {
      throw Sharing.sneaky(checked);
    }
  }

  @Override
  public void deleteAll(List<?> shared) {
    SharedTransaction transaction = SharedTransaction.current(this);
    if (transaction == null) throw new IllegalStateException("only a transaction deletes at once");
    transaction.deleteAll(shared.stream().map(this::own).toList());
  }

  @Override
  public boolean isLive(Object shared) {
    return switch (Sharing.proxied(shared).invoker()) {
      case SharedCall live -> !live.isPlaced();
      case CopyCall _ -> true;
      default -> false;
    };
  }

  // ---- proxies

  private static void named(Class<?> type, Object key) {
    Objects.requireNonNull(type, "the type is null");
    Objects.requireNonNull(key, "the key is null");
  }

  private SharedCall asked(Class<?> type, Object key, @Nullable Object[] args) {
    Service.Vocabulary code = openingCode();
    Service.Target target = code == null ? service.target(type, key) : code.target(type, key);
    if (!target.shared().indexes().isEmpty()) beginIndexes(type);
    return new SharedCall(this, target, args, SharedCall.Source.ASKED, 0);
  }

  private static Service.@Nullable Vocabulary openingCode() {
    if (!OPENING.isBound()) return null;
    Opening opening = OPENING.get();
    return opening.run.equals(MethodRun.current()) ? opening.code : null;
  }

  /// Opens a collection for a running method.
  ///
  /// @param run the run of the method
  /// @param code the code of the method
  public <T> T collection(MethodRun run, Service.Vocabulary code, Function<Stoa, T> opening) {
    ClassLoader elements = code.elements();
    if (elements == null) return opening.apply(this);
    return ScopedValue.where(ELEMENTS, elements)
        .where(OPENING, new Opening(run, code))
        .call(() -> opening.apply(this));
  }

  /// Returns a proxy with an ordinary route.
  public Object proxyOf(SharedCall call) {
    return proxy(call);
  }

  /// Returns a proxy with the ordinary route.
  static Object proxy(SharedCall call) {
    return proxy(call, call);
  }

  /// Returns a proxy that reads an object at a place in the log.
  static Object past(SharedCall live, Place place) {
    return proxy(live, new PastCall(live, live.target().at(place.address()), place));
  }

  private static Object proxy(SharedCall live, Invoker invoker) {
    return Proxies.create(
        live.shared(), (Ref<?>) live.key().label(), live.constructorArguments(), invoker);
  }

  /// Returns the route of the live proxy of an object of this store.
  ///
  /// @throws NotShareable when it is an object of another store
  public SharedCall own(Object shared) {
    SharedCall live = live(shared);
    if (live.stoa() == this) return live;
    throw new NotShareable(live.key() + " is an object of another store than this");
  }

  /// Returns the route like [#own], of any store.
  public static SharedCall live(Object shared) {
    Proxied proxied = Sharing.proxied(shared);
    if (proxied.invoker() instanceof LiveRoute route) return route.live();
    throw new UnsupportedOperationException(
        "this is a view of the past of " + proxied.ref() + "; use a live proxy");
  }
}

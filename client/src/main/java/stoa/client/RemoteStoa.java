package stoa.client;

import stoa.front.Refusals;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Body;
import stoa.Call1;
import stoa.Closed;
import stoa.Gone;
import stoa.History;
import stoa.KeyValueStore;
import stoa.Limits;
import stoa.Listing;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Reads;
import stoa.Ref;
import stoa.Snapshot;
import stoa.StoaConfig;
import stoa.StreamStore;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;
import stoa.base.Key;
import stoa.front.Attempts;
import stoa.front.Listed;
import stoa.front.Place;
import stoa.front.Recorder;
import stoa.front.SharedSnapshot;
import stoa.front.Sharing;
import stoa.front.Turns;
import stoa.front.marshal.Marshaller;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.migration.Member;
import stoa.spi.CallContext;
import stoa.spi.Collections;
import stoa.spi.Facade;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Changed;
import stoa.wire.proto.Event;
import stoa.wire.proto.Find;
import stoa.wire.proto.ListObjects;
import stoa.wire.proto.OutcomeOf;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// A store of shared objects in a server, or the part of it that one group of servers keeps.
/// Thread-safe.
final class RemoteStoa implements SharedSnapshot.Source {
  private static final int STATE_BYTES_MAX = 512 << 20;
  private static final int CONTAINERS_MAX = 10_000;
  private static final int REPLICAS_MAX = CONTAINERS_MAX / 2;
  private static final Object[] NOTHING = {};

  private final Parts parts;
  private final int group;
  private final Limits limits;
  private final ClassLoader loader;
  private final Conversation conversation;
  private final Marshaller marshaller;
  private final Requests requests;
  private final RemoteTypes types;
  private final RemoteSnapshots snapshots;
  private final Replicas replicas;
  private final RemoteBlobs blobs;
  private final RemoteStreams streams;
  private final RemoteKeyValues keyValues;
  private final Attempts attempts = new Attempts(this::open, System::nanoTime);
  private final AtomicLong transactions = new AtomicLong();
  private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();
  private final Turns turns;

  /// Connects.
  ///
  /// @param parts of which it is one
  /// @param group whose part it is
  /// @param servers that may have it, beside those of the URL
  /// @throws stoa.Unavailable when no server answers
  RemoteStoa(Parts parts, StoaConfig config, ClassLoader loader, int group, List<String> servers) {
    this.parts = parts;
    this.group = group;
    this.loader = loader;
    limits = config.limits();
    turns = new Turns(answers, limits.queuedCallsMax());
    conversation =
        new Conversation(
            Addresses.of(config.url()),
            servers,
            group,
            parts.observed(),
            new Channels(config.security()),
            limits,
            CONTAINERS_MAX,
            new Heard());
    var names = new RemoteNames(this::ask);
    marshaller =
        new Marshaller(
            names,
            new RemoteReferences(this),
            RemoteBlob.class,
            List.of(),
            loader,
            STATE_BYTES_MAX);
    var failures = new Failures(marshaller, loader);
    conversation.start();
    var server = conversation.server();
    long time = limits.callTimeMax().toMillis();
    boolean shorter = time < server.getCallTimeMaxMillis();
    requests = new Requests(marshaller, failures, shorter ? (int) time : 0);
    int callBytesMax = Math.min(limits.callBytesMax(), server.getCallBytesMax());
    types = new RemoteTypes(this, names, marshaller, loader, callBytesMax);
    snapshots = new RemoteSnapshots(this, conversation);
    replicas = new Replicas(this, limits.residentBytesMax(), REPLICAS_MAX);
    blobs = new RemoteBlobs(this, Math.min(limits.blobBytesMax(), server.getBlobBytesMax()));
    streams = new RemoteStreams(this, callBytesMax);
    keyValues = new RemoteKeyValues(this, conversation, marshaller, answers, callBytesMax);
    try {
      names.refresh();
      types.readmit();
      types.extra(config.types());
    } catch (RuntimeException | Error failed) {
      end();
      throw failed;
    }
  }

  /// All parts of the store.
  Parts parts() {
    return parts;
  }

  /// The group whose part this is.
  int group() {
    return group;
  }

  // ---- the programming interface

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    if (type == Blob.class) return type.cast(blobs.asked(key, args));
    return type.cast(proxy(types.of(type), key, args, RemoteInvoker.Source.ASKED, 0));
  }

  @Override
  public <T> T create(Class<T> type, Object key, @Nullable Object... args) {
    refuseInside("create an object; use Call.get");
    if (type == Blob.class) {
      RemoteBlob blob = blobs.asked(key, args);
      blob.create();
      return type.cast(blob);
    }
    T proxy = type.cast(proxy(types.of(type), key, args, RemoteInvoker.Source.ASKED, 0));
    try {
      Parts.live(proxy).create();
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw Sharing.sneaky(checked);
    }
    return proxy;
  }

  @Override
  public <T> Optional<T> find(Class<T> type, Object key) {
    refuseInside("look for an object");
    if (type == Blob.class) {
      RemoteBlob blob = blobs.reference(key, 0);
      long found = blob.found();
      return found == 0 ? Optional.empty() : Optional.of(type.cast(blobs.reference(key, found)));
    }
    RemoteType known = types.of(type);
    var asked =
        new RemoteInvoker(known, known.key(key), NOTHING, RemoteInvoker.Source.REFERENCE, 0);
    RemoteTransaction transaction = RemoteTransaction.current(parts);
    long generation = transaction == null ? generation(asked) : transaction.generation(asked);
    if (generation == 0) return Optional.empty();
    return Optional.of(
        type.cast(proxy(known, key, NOTHING, RemoteInvoker.Source.REFERENCE, generation)));
  }

  private long generation(RemoteInvoker live) {
    Container container = live.container();
    var request = Request.newBuilder().setFind(Find.newBuilder().setContainer(container.number()));
    return ask(Outgoing.on(container, request, Outgoing.Recovery.READ, 16)).getDone().getNumber();
  }

  @Override
  public <T> T view(Class<T> type, Ref<?> ref, View view) {
    Objects.requireNonNull(type, "the type is null");
    Objects.requireNonNull(ref, "the reference is null");
    Objects.requireNonNull(view, "the view is null");
    if (type == Blob.class) return type.cast(blobs.viewed(ref, view));
    if (Collections.isCollection(type)) {
      return Collections.installed().view(parts.whole(), type, ref, view);
    }
    RemoteType known = types.of(type);
    Sharing.checkType(ref, known.shared());
    T proxy = type.cast(proxy(known, ref.key(), NOTHING, RemoteInvoker.Source.REFERENCE, 0));
    return switch (view) {
      case View.Remote() -> proxy;
      case View.Local() -> following(proxy, RemoteView.Freshness.NOW);
      case View.Cached() -> following(proxy, RemoteView.Freshness.SEEN);
      case View.Client(Reads reads) -> parts.migrating().view(proxy, reads);
      case View.AtVersion(long version) -> history(proxy).at(version);
      case View.AtAddress(LogAddress address) -> snapshots.take(address).on(proxy);
      case View.AtSnapshot(Snapshot snapshot) -> own(snapshot).on(proxy);
    };
  }

  private <T> T following(T proxy, RemoteView.Freshness freshness) {
    RemoteInvoker live = Parts.live(proxy);
    // What its callers have seen may be newer than what is in the store.
    if (live.shared().placement() == Placement.AUTO) return proxy;
    Replica replica = replicas.of(live.key());
    return Proxies.redirect(proxy, new RemoteView(live, replica, freshness));
  }

  @Override
  public <T> Ref<T> ref(T shared) {
    @SuppressWarnings("unchecked") // Justification: the proxy is a T
    Ref<T> ref =
        (Ref<T>)
            (Sharing.behind(shared) instanceof RemoteBlob blob
                ? blob.ref()
                : Sharing.proxied(shared).ref());
    return ref;
  }

  @Override
  public boolean delete(Object shared) {
    refuseInside("delete an object");
    if (shared instanceof Facade facade) return delete(facade.shared());
    if (shared instanceof RemoteBlob blob) return blobs.own(blob).delete();
    RemoteInvoker invoker = parts.own(shared);
    RemoteTransaction transaction = RemoteTransaction.current(parts);
    try {
      if (transaction == null) invoker.delete();
      else transaction.delete(invoker, invoker.ending());
      return true;
    } catch (Gone gone) {
      return false;
    }
  }

  @Override
  public <T> Listing<T> list(Class<T> type) {
    return new Listed<>(names(type), name -> listed(type, name));
  }

  /// The encoded keys of a type's objects that exist in this part.
  Iterator<byte[]> names(Class<?> type) {
    refuseInside("list objects");
    if (RemoteTransaction.current(parts) != null) {
      throw new IllegalStateException("a transaction cannot list objects; list them before");
    }
    return new Names(type == Blob.class ? RemoteTypes.BLOBS : types.of(type).shared().name());
  }

  /// An object by its encoded key.
  <T> T listed(Class<T> type, byte[] name) {
    Object key = Keys.decode(name, loader);
    if (type == Blob.class) return type.cast(blobs.reference(key, 0));
    return type.cast(proxy(types.of(type), key, NOTHING, RemoteInvoker.Source.REFERENCE, 0));
  }

  /// The keys of a listing, fetched page by page.
  private final class Names implements Iterator<byte[]> {
    private final String type;
    private Iterator<com.google.protobuf.ByteString> page;
    private com.google.protobuf.ByteString next = com.google.protobuf.ByteString.EMPTY;

    private Names(String type) {
      this.type = type;
      page = fetch();
    }

    private Iterator<com.google.protobuf.ByteString> fetch() {
      var asked = ListObjects.newBuilder().setType(type).setPage(next);
      var keys =
          ask(Outgoing.of(Request.newBuilder().setListObjects(asked), Outgoing.Recovery.READ, 64))
              .getKeys();
      next = keys.getNext();
      return keys.getKeysList().iterator();
    }

    @Override
    public boolean hasNext() {
      while (!page.hasNext() && !next.isEmpty()) page = fetch();
      return page.hasNext();
    }

    @Override
    public byte[] next() {
      if (!hasNext()) throw new NoSuchElementException();
      return page.next().toByteArray();
    }
  }

  @Override
  public <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call) {
    RemoteBlobs.refuse(shared, "has asynchronous calls of its own: writeAsync and readAsync");
    if (RemoteTransaction.current(parts) != null) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + ref(shared) + " directly");
    }
    RemoteInvoker live = parts.own(shared);
    Member.refuseInside("call " + live.key() + " asynchronously");
    Proxied proxied = Sharing.proxied(shared);
    boolean inTree = RemotePlaced.is(live) || proxied.invoker() instanceof Migrating.Through;
    return Recorder.record(
        shared,
        call,
        (method, arguments, settled) -> {
          if (inTree) {
            refuseInside("call asynchronously; call " + method + " directly");
            // The caller may change what it passed.
            var kept = live.placed().arguments(method, arguments);
            turns.add(
                live.key().stream(),
                () -> proxied.invoker().invoke(proxied, method, kept),
                settled);
          } else {
            live.begin(method, arguments, done -> settled.answer(() -> live.answer(done.answer())));
          }
        },
        answers);
  }

  @Override
  public <T> T within(Duration timeMax, T shared) {
    Sharing.checkTime(timeMax);
    refuseInside("limit the time of a call");
    RemoteBlobs.refuse(shared, "takes the time of its device; its calls have no limit");
    return Sharing.through(shared, proxy -> hasten(proxy, timeMax));
  }

  private static Object hasten(Object proxy, Duration timeMax) {
    Proxied proxied = Sharing.proxied(proxy);
    Invoker hastened =
        switch (proxied.invoker()) {
          case RemoteInvoker live -> live.within(timeMax);
          case RemoteView view ->
              new RemoteView(view.live().within(timeMax), view.replica(), view.freshness());
          case RemotePast past ->
              new RemotePast(past.live().within(timeMax), past.version(), past.place());
          default -> // of a transaction, which has a time of its own
              proxied.invoker();
        };
    return Proxies.redirect(proxy, hastened);
  }

  // ---- transactions

  @Override
  public <R extends @Nullable Object, X extends Exception> R transact(
      TxOptions options, Body<R, X> body) throws X {
    refuseInside("begin a transaction");
    RemoteTransaction around = RemoteTransaction.current(parts);
    return around == null ? attempts.run(options, body) : nested(around, options, body);
  }

  private static <R extends @Nullable Object, X extends Exception> R nested(
      RemoteTransaction around, TxOptions options, Body<R, X> body) throws X {
    Sharing.checkNested(options);
    around.enter(options);
    boolean kept = false;
    try {
      R result = body.run();
      kept = true;
      return result;
    } finally {
      around.leave(kept);
    }
  }

  @Override
  public RemoteTransaction begin(TxOptions options) {
    refuseInside("begin a transaction");
    RemoteTransaction transaction = open(options);
    try {
      var _ = transaction.at();
    } catch (RuntimeException | Error failed) {
      transaction.close();
      throw failed;
    }
    transaction.closeWhenForgotten();
    return transaction;
  }

  /// Its snapshots.
  RemoteSnapshots moments() {
    return snapshots;
  }

  /// The number of the next transaction.
  long nextTransaction() {
    return transactions.incrementAndGet();
  }

  /// As [#begin], for who is sure to close it.
  RemoteTransaction open(TxOptions options) {
    return new RemoteTransaction(this, options);
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    return outcome(
        TransactionId.newBuilder()
            .setType(id.object().type())
            .setKey(com.google.protobuf.ByteString.copyFrom(Keys.encode(id.object().key())))
            .setVersion(id.version())
            .setMarkHigh(id.mark().getMostSignificantBits())
            .setMarkLow(id.mark().getLeastSignificantBits())
            .build());
  }

  Transaction.Outcome outcome(TransactionId id) {
    var request = Request.newBuilder().setOutcomeOf(OutcomeOf.newBuilder().setId(id));
    var outcome = ask(Outgoing.of(request, Outgoing.Recovery.READ, 64)).getOutcome();
    return outcome.getKind() == stoa.wire.proto.Outcome.Kind.COMMITTED
        ? new Transaction.Outcome.Committed(Requests.at(outcome.getAt()))
        : new Transaction.Outcome.NotCommitted();
  }

  // ---- objects that are placed at clients

  @Override
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    return parts.migrating().together(shared, body);
  }

  @Override
  public void flush() {
    parts.migrating().flush();
  }

  // ---- the past

  @Override
  public Snapshot snapshot() {
    refuseInside("take a snapshot");
    return snapshots.take((LogAddress) null);
  }

  @Override
  public Snapshot snapshot(String name) {
    refuseInside("take a snapshot");
    return snapshots.take(name);
  }

  @Override
  public Optional<Snapshot> findSnapshot(String name) {
    return Optional.ofNullable(snapshots.find(name));
  }

  @Override
  public List<Snapshot> snapshots() {
    return snapshots.all();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    refuseInside("delete a snapshot");
    return snapshots.delete(name);
  }

  SharedSnapshot own(Snapshot snapshot) {
    if (snapshot instanceof SharedSnapshot own && own.stoa() == this) return own;
    throw new IllegalArgumentException(snapshot + " is a snapshot of another store");
  }

  @Override
  public <T> T seen(T shared, Place place) {
    refuseInside("read a snapshot");
    RemoteBlobs.refuse(shared, "is no part of snapshots; it has its own, see Blob.snapshot");
    if (shared instanceof Facade) return Sharing.through(shared, proxy -> seen(proxy, place));
    Proxied proxied = Sharing.proxied(shared);
    RemoteInvoker live =
        proxied.invoker() instanceof RemotePast past ? past.live() : Parts.live(shared);
    if (live.parts() != parts) {
      throw new NotShareable(proxied.ref() + " is an object of another store than the snapshot");
    }
    Refusals.stream(live.shared());
    @SuppressWarnings("unchecked") // Justification: a proxy of the same type
    T seen =
        (T)
            past(
                live.type(),
                proxied.ref().key(),
                proxied.constructorArguments(),
                RemoteInvoker.Source.ASKED,
                0,
                place);
    return seen;
  }

  /// A view of an object at a place in the log.
  ///
  /// @param generation the one that is meant, 0 when it is whichever was there
  Object past(
      RemoteType type,
      Object key,
      @Nullable Object[] args,
      RemoteInvoker.Source source,
      long generation,
      Place place) {
    Key target = type.key(key);
    var live = new RemoteInvoker(type, target, args, source, generation);
    return Proxies.create(
        type.shared(), (Ref<?>) target.label(), args, new RemotePast(live, 0, place));
  }

  @Override
  public <T> History<T> history(T shared) {
    refuseInside("read history");
    RemoteBlobs.refuse(
        shared, "keeps the versions for which it has a snapshot; use snapshot and at");
    Sharing.checkHistory(shared);
    RemoteInvoker live = parts.own(shared);
    return new RemoteHistory<>(live.stoa(), shared, live);
  }

  @Override
  public StreamStore streams() {
    refuseInside("use streams");
    return streams;
  }

  @Override
  public void close() {
    parts.close();
  }

  /// Closes this part.
  void end() {
    conversation.close();
    answers.shutdown();
  }

  @Override
  public KeyValueStore store() {
    return keyValues;
  }

  // ---- facades

  @Override
  public void admit(Class<?> type) {
    types.admit(type);
  }

  @Override
  public Class<?> classNamed(String name) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException e) {
      throw new NotShareable(
          "the class " + name + " of a collection's elements is not on the class path", e);
    }
  }

  @Override
  public boolean isTransacting() {
    return RemoteTransaction.current(parts) != null;
  }

  @Override
  public int callBytesMax() {
    return types.callBytesMax();
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
      case RemoteInvoker live -> !RemotePlaced.is(live);
      case RemoteView _ -> true;
      default -> false;
    };
  }

  // ---- what the server says by itself

  private final class Heard implements Conversation.Hearing {
    @Override
    public void changed(Changed changed, long before) {
      Container container = conversation.containers().of(changed.getContainer());
      Followed follower = container == null ? null : container.follower;
      if (follower != null) follower.changed(changed.getCounter(), before);
    }

    @Override
    public void event(Event event) {
      keyValues.event(event);
    }

    @Override
    public void forgotten() {
      snapshots.forgotten();
      keyValues.forgotten();
    }
  }

  // ---- for the other classes of this package

  Replicas replicas() {
    return replicas;
  }

  Conversation conversation() {
    return conversation;
  }

  Requests requests() {
    return requests;
  }

  RemoteTypes types() {
    return types;
  }

  RemoteBlobs blobs() {
    return blobs;
  }

  Marshaller marshaller() {
    return marshaller;
  }

  ClassLoader loader() {
    return loader;
  }

  Limits limits() {
    return limits;
  }

  /// Completes a future on a thread of its own: who waits for it may do anything there.
  <T> void hand(CompletableFuture<T> answer, Supplier<T> work) {
    try {
      answers.execute(() -> {
        try {
          answer.complete(work.get());
        } catch (RuntimeException | Error failed) {
          answer.completeExceptionally(failed);
        }
      });
    } catch (RejectedExecutionException closed) {
      answer.completeExceptionally(new Closed("the store was closed before the answer was read"));
    }
  }

  /// Asks, and throws what the server says when it fails.
  Answer sound(Answer answer) {
    return requests.sound(answer);
  }

  /// Refuses what no method of a shared object and no transaction may do.
  void refuseInCall(String what) {
    refuseInside(what);
    if (isTransacting()) throw new IllegalStateException("a transaction cannot " + what);
  }

  Answer ask(Outgoing outgoing) {
    return requests.sound(conversation.ask(outgoing));
  }

  Object proxy(
      RemoteType type,
      Object key,
      @Nullable Object[] args,
      RemoteInvoker.Source source,
      long generation) {
    Key target = type.key(key);
    var invoker = new RemoteInvoker(type, target, args, source, generation);
    return Proxies.create(type.shared(), (Ref<?>) target.label(), args, invoker);
  }

  void refuseInside(String what) {
    if (CallContext.CURRENT.isBound()) {
      throw new IllegalStateException("a method of a shared object cannot " + what);
    }
  }
}

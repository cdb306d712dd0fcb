package stoa.client;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.ConnectionSecurity;
import stoa.Limits;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.base.StreamId;
import stoa.front.Service;
import stoa.front.SharedKeys;
import stoa.front.SharedStoa;
import stoa.front.marshal.Marshaller;
import stoa.front.types.SharedType;
import stoa.wire.SlotMap;

/// The port to a store in servers, with a part for each group that keeps the store: it finds the
/// part of each object, and holds the connections. Thread-safe.
///
/// It opens the first part, of group 0, at once, and any other part on its first use. So an
/// unreachable group affects only the callers that need its objects.
final class RemoteService implements Service, AutoCloseable {
  private final StoaConfig config;
  private final ClassLoader loader;
  private final RemotePart first;
  private final SlotMap map;
  private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();
  private final SharedStoa stoa;
  private final Service.Streams streams;
  private final RemoteChanges changes = new RemoteChanges(this);
  private final Migrating migrating;

  // The parts of the other groups; opening, or open.
  private final AtomicReferenceArray<@Nullable CompletableFuture<RemotePart>> others;

  // The log counter that this client has seen: all groups have one order.
  private final AtomicLong observed = new AtomicLong();

  private final RemoteSnapshots.HeldPlaces held = new RemoteSnapshots.HeldPlaces();
  private final HoldEnds holdEnds = new HoldEnds();

  // The round trips for which transactions of this client have waited.
  private final LongAdder roundTrips = new LongAdder();

  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicReference<Runnable> afterwards = new AtomicReference<>(() -> {});

  private RemoteService(StoaConfig config) {
    this.config = config;
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    loader = context != null ? context : RemoteService.class.getClassLoader();
    stoa = new SharedStoa(this);
    first = new RemotePart(this, config, loader, SlotMap.GLOBAL_GROUP, List.of());
    // A server that announces no groups has the whole store.
    var server = first.conversation().server();
    map = SlotMap.of(Math.max(1, server.getGroups()));
    others = new AtomicReferenceArray<>(map.groups());
    streams = map.groups() == 1 ? first.streams() : new SpreadStreams(this);
    migrating = new Migrating(this, config.membership());
  }

  /// Connects to a store.
  ///
  /// @throws stoa.Unavailable when no server answers for the first part
  static RemoteService open(StoaConfig config) {
    return new RemoteService(config);
  }

  /// Returns the service of a store that is open through servers.
  ///
  /// @throws IllegalArgumentException when it is another store
  static RemoteService of(Stoa stoa) {
    if (stoa instanceof SharedStoa shared && shared.service() instanceof RemoteService remote) {
      return remote;
    }
    throw new IllegalArgumentException(stoa + " is not a store in servers; open stoa://HOST:PORT");
  }

  /// Returns the store as programs use it.
  SharedStoa stoa() {
    return stoa;
  }

  // ---- the port

  @Override
  public Limits limits() {
    return config.limits();
  }

  @Override
  public void measure(Measures out) {
    for (RemotePart part : open()) {
      part.measure(out.with("group", Integer.toString(part.group())));
    }
    out.count(
        "stoa.client.round.trips",
        Measures.NO_UNIT,
        "Round trips to servers for which transactions of this program have waited.",
        roundTrips.sum());
  }

  @Override
  public int callBytesMax() {
    return first.types().callBytesMax();
  }

  @Override
  public ClassLoader loader() {
    return loader;
  }

  @Override
  public Marshaller marshaller() {
    return first.marshaller();
  }

  @Override
  public Executor answers() {
    return answers;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void admit(Class<?> type) {
    first.types().admit(type);
  }

  @Override
  public boolean isAdmitted(Class<?> type) {
    return true; // the server decides
  }

  @Override
  public RemoteObject target(Class<?> face, Object key) {
    SharedType shared = SharedType.of(face);
    Key target = RemoteType.key(shared, key);
    int group = group(shared, target);
    return new RemoteObject(this, group, shared, part(group).types().of(face), target);
  }

  /// Returns the keys of all parts, one part after the other: each part's objects, oldest first.
  @Override
  public Iterator<byte[]> names(Class<?> face) {
    return new Names(face);
  }

  /// The keys of a type's objects in all parts.
  private final class Names implements Iterator<byte[]> {
    private final Class<?> type;
    private Iterator<byte[]> names;
    private int group;

    private Names(Class<?> type) {
      this.type = type;
      names = first.names(type);
    }

    @Override
    public boolean hasNext() {
      while (!names.hasNext()) {
        if (group == count() - 1) return false;
        names = part(group + 1).names(type);
        group++;
      }
      return true;
    }

    @Override
    public byte[] next() {
      if (!hasNext()) throw new NoSuchElementException();
      return names.next();
    }
  }

  @Override
  public RemoteWork begin(TxOptions options, @Nullable Intent intent) {
    return new RemoteWork(first, options, intent);
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    return first.outcome(id);
  }

  @Override
  public Pinned pin(@Nullable Target of, @Nullable LogAddress address) {
    RemotePart part = of == null ? first : ((RemoteObject) of).part();
    return part.moments().take(address);
  }

  @Override
  public Named takeSnapshot(String name) {
    return first.moments().take(name);
  }

  @Override
  public @Nullable Named findSnapshot(String name) {
    return first.moments().find(name);
  }

  @Override
  public List<Named> snapshots() {
    return first.moments().all();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    return first.moments().delete(name);
  }

  @Override
  public RemoteBlobs blobs() {
    return first.blobs();
  }

  @Override
  public RemoteChanges changes() {
    return changes;
  }

  @Override
  public Service.Streams streams() {
    return streams;
  }

  @Override
  public Cell cell(byte[] encoded, Object key) {
    return part(group(SharedKeys.key(encoded).stream())).keys().cell(encoded);
  }

  @Override
  public Tree tree() {
    return migrating;
  }

  // ---- for all parts

  /// Returns the round trips of a new transaction.
  RoundTrips roundTrips() {
    return new RoundTrips(roundTrips);
  }

  /// Returns the log counter that this client has seen.
  AtomicLong observed() {
    return observed;
  }

  /// Returns the places in the log that servers hold for this client.
  RemoteSnapshots.HeldPlaces held() {
    return held;
  }

  /// Returns the requests in progress that end what servers hold of the past for this client.
  HoldEnds holdEnds() {
    return holdEnds;
  }

  /// Returns the security of connections.
  ConnectionSecurity security() {
    return config.security();
  }

  /// Returns this client's part in the migration of objects.
  Migrating migrating() {
    return migrating;
  }

  /// Returns the number of parts.
  int count() {
    return map.groups();
  }

  /// Returns the first part, which has the data of the store as a whole.
  RemotePart first() {
    return first;
  }

  // ---- the part of each object

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public int groups() {
    return map.groups();
  }

  @Override
  public int group(Key key) {
    return group(key.stream());
  }

  /// Returns the group of a stream. This alone decides it.
  int group(StreamId stream) {
    return map.group(stream);
  }

  /// Returns the part of an object, and opens it if necessary. Objects placed at clients are in one
  /// tree, and therefore in one group.
  RemotePart of(SharedType type, Key key) {
    return part(group(type, key));
  }

  /// Returns the group of an object.
  int group(SharedType type, Key key) {
    return type.isPlaced() ? SlotMap.GLOBAL_GROUP : group(key.stream());
  }

  /// Registers with a part the classes that the others use; returns whether there were new ones.
  boolean teach(RemoteTypes learning) {
    boolean more = false;
    for (RemotePart part : open()) {
      if (part.types() != learning) more |= learning.learn(part.types());
    }
    return more;
  }

  // ---- opening and closing

  /// Returns the open parts.
  List<RemotePart> open() {
    var open = new ArrayList<RemotePart>();
    open.add(first);
    for (int group = 0; group < others.length(); group++) {
      CompletableFuture<RemotePart> part = others.get(group);
      if (part != null && part.isDone() && !part.isCompletedExceptionally()) open.add(part.join());
    }
    return open;
  }

  /// Returns the part of a group, and opens it if necessary.
  ///
  /// @throws stoa.Unavailable when no server answers for it; the next call tries again
  RemotePart part(int group) {
    if (group == first.group()) return first;
    while (true) {
      CompletableFuture<RemotePart> known = others.get(group);
      if (known != null) return opened(known);
      var opening = new CompletableFuture<RemotePart>();
      if (others.compareAndSet(group, null, opening)) return open(group, opening);
    }
  }

  private static RemotePart opened(CompletableFuture<RemotePart> part) {
    try {
      return part.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException told) throw told;
      throw failed;
    }
  }

  private RemotePart open(int group, CompletableFuture<RemotePart> opening) {
    try {
      if (closed.get()) throw new Closed("the store is closed");
      List<String> servers = first.conversation().server().getServersList();
      var part = new RemotePart(this, config, loader, group, servers);
      opening.complete(part);
      part.moments().forgotten(); // it does not hold them yet
      if (closed.get()) part.end(); // close() may have missed this part
      return part;
    } catch (RuntimeException | Error failed) {
      others.set(group, null);
      opening.completeExceptionally(failed);
      throw failed;
    }
  }

  /// Runs an action when the store is closed.
  void whenClosed(Runnable action) {
    afterwards.set(action);
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    RuntimeException left = leave();
    var ends = new ArrayList<CompletableFuture<RemotePart>>();
    // In parallel: each waits for its own calls.
    for (RemotePart part : open()) {
      if (part == first) continue;
      var end = new CompletableFuture<RemotePart>();
      first.hand(
          end,
          () -> {
            part.end();
            return part;
          });
      ends.add(end);
    }
    first.end();
    for (var end : ends) end.join();
    answers.shutdown();
    afterwards.getAndSet(() -> {}).run();
    if (left != null) throw left;
  }

  /// Leaves the trees; returns the failure, or null.
  private @Nullable RuntimeException leave() {
    try {
      migrating.close();
      return null;
    } catch (RuntimeException failed) {
      return failed;
    }
  }
}

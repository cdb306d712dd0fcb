package stoa.migration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Placement;
import stoa.Reads;
import stoa.TransactionAction;
import stoa.TransactionBody;
import stoa.Tree;
import stoa.UnknownOutcome;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.PlacedStore;
import stoa.front.Placing;
import stoa.front.types.SharedMethod;
import stoa.migration.core.Copy;
import stoa.migration.core.Event;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.spi.CallContext;

/// A member of a tree: client-placed objects migrate to it, and its calls on them execute here, on
/// the calling thread. Thread-safe.
///
/// A call returns before it is durable. It is durable after a [#flush()] that began later, and
/// after the member has left. When its process or connection fails, or those of a member above it,
/// the member is disconnected and joins again by itself; its non-durable calls may then be lost.
@SuppressWarnings("exports") // Justification: of Placing, which programs do not call
public final class Member implements Placing, AutoCloseable {
  // It knows so many deleted objects individually; beyond that number it reads all strictly.
  private static final int DELETED_MAX = 100_000;

  private static final String DISCONNECTED = "this process was disconnected";

  private final Site site;
  private final Seat seat;
  private final Borrowed borrowed;
  private final Domain.Watcher watcher;

  // Objects whose copies here may be older than a deletion made here, each with a token of that
  // deletion.
  private final Map<StreamId, Object> deleted = new ConcurrentHashMap<>();
  private volatile boolean tooManyDeleted;

  /// Creates a member.
  ///
  /// @param store the root's store; null for others
  Member(Site site, @Nullable RootStore store, String name, TreeNode node) {
    this.site = site;
    seat = new Seat(site, store, name, node, () -> site.forget(this));
    borrowed = new Borrowed(site, this);
    watcher = this::side;
  }

  /// Takes its place.
  void begin() {
    seat.begin();
  }

  void tick() {
    seat.tick();
  }

  /// See [Seat#endLate].
  void endLate() {
    seat.endLate();
  }

  void on(Event event) {
    seat.on(event);
  }

  /// Called when its mandate is valid again: no other node has the objects that this member has.
  void renewed() {
    seat.renewed();
  }

  /// Returns whether an object is at the server, as far as this member knows.
  boolean isAtServer(StreamId object) {
    return seat.isAtServer(object);
  }

  /// Records that an object is at the server unless the root says otherwise.
  void noteAtServer(StreamId object) {
    seat.noteAtServer(object);
  }

  /// Waits until the root's earlier messages are known.
  void hear() {
    seat.hear();
  }

  /// Returns the watcher that learns the sides of objects.
  Domain.Watcher watcher() {
    return watcher;
  }

  /// Receives the side of an object from the root.
  void side(StreamId object, boolean atServer) {
    seat.side(object, atServer);
  }

  /// Records that there is another root.
  void forgetSides() {
    seat.forgetSides();
  }

  /// Ends it for good.
  void fail(RuntimeException cause) {
    seat.fail(cause);
  }

  /// Returns where it stands.
  TreePosition position() {
    return seat.position();
  }

  boolean isOver() {
    return seat.isOver();
  }

  /// Returns its place in the tree.
  ///
  /// @param shared objects whose presence to report
  /// @throws IllegalArgumentException when one of them is not placed at clients
  public MemberPlace place(Collection<?> shared) {
    List<Object> asked = List.copyOf(shared);
    return seat.place(asked, asked.stream().map(each -> site.object(each).stream()).toList());
  }

  /// Returns how many bytes the newest state of an object that is here has, as it travels: it is
  /// compressed. 0 when no state is here.
  ///
  /// @throws IllegalArgumentException when the object is not placed at clients
  public long stateBytes(Object shared) {
    return seat.stateBytes(site.object(shared).stream());
  }

  @Override
  public Tree.Place place() {
    TreePosition now = seat.positionNow();
    NodeId above = now.parent();
    return new Tree.Place(
        site.domain(),
        now.node().toString(),
        Optional.ofNullable(above).map(NodeId::toString),
        now.children(),
        now.owned());
  }

  @Override
  public Tree.Whereabouts where(PlacedObject object) {
    Site.check(object, site.domain());
    boolean lendable = site.objects().placement(object) == Placement.SERVER;
    if (lendable) noteAtServer(object.stream());
    return seat.where(object.stream());
  }

  /// Returns its present node.
  NodeId id() {
    return seat.id();
  }

  @Override
  public String toString() {
    return seat.toString();
  }

  // ---- calls of programs

  /// Returns the same object through a proxy whose calls execute here. Its accessors see all
  /// updates that ended before.
  ///
  /// @throws IllegalArgumentException when the object is of another domain, or is not placed at
  ///   clients and does not exist
  public <T> T on(T shared) {
    return on(shared, Reads.STRICT);
  }

  /// Returns the same object through a proxy whose calls execute here. An object that is placed at
  /// the server is lent, as by [#view]; calls on one of [Placement#AUTO] execute where that costs
  /// less.
  ///
  /// @param how what its accessors see
  public <T> T on(T shared, Reads how) {
    return site.objects()
        .through(
            shared,
            this,
            how,
            object -> site.objects().placement(object) == Placement.SERVER ? borrow(object) : this);
  }

  /// Returns the same object through a view, see [stoa.View.Client].
  ///
  /// @param how what its accessors see
  @Override
  public <T> T view(T shared, Reads how) {
    return site.objects().through(shared, this, how, this::borrow);
  }

  private Object borrow(PlacedObject object) {
    Site.check(object, site.domain());
    Placement placement = site.objects().placement(object);
    if (placement == Placement.SERVER) noteAtServer(object.stream());
    return placement == Placement.CLIENT ? this : borrowed.borrow(object);
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads how)
      throws Throwable {
    if (RunningOperation.CURRENT.isBound())
      return RunningOperation.CURRENT.get().call(object, method, arguments);
    refuseNested(object);
    Site.check(object, site.domain());
    Auto auto = site.auto(object);
    if (auto == null) return inTree(object, method, arguments, how, new Auto.Meter(false));
    boolean lendable = site.objects().placement(object) == Placement.SERVER;
    if (lendable) noteAtServer(object.stream());
    return auto.call(
        object,
        method,
        arguments,
        this,
        meter -> {
          // The caller may have seen newer values at the server than its copy has.
          boolean old = !lendable || !seat.isCurrent(object.stream());
          long sides = seat.sides();
          Object answer = inTree(object, method, arguments, old ? Reads.STRICT : how, meter);
          if (lendable) seat.seen(object.stream(), sides);
          return answer;
        });
  }

  private @Nullable Object inTree(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Reads how,
      Auto.Meter meter)
      throws Throwable {
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      return asked(object, method, arguments, how);
    }
    var answer = new @Nullable Object[1];
    var thrown = new @Nullable Throwable[1];
    run(
        List.of(object),
        true,
        running -> {
          thrown[0] = null;
          meter.begin();
          try {
            running.prepare(object);
            meter.begin(); // at the server the object is there
            answer[0] = running.call(object, method, arguments);
          } catch (Throwable any) {
            thrown[0] = any;
          }
          meter.end(running);
        });
    Throwable any = thrown[0];
    if (any != null) throw any;
    return answer[0];
  }

  /* A copy that may be old does not say which life is meant, and that one is over. */
  private @Nullable Object asked(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads how)
      throws Throwable {
    var running = running(List.of(object), List.of(read(object, how)));
    if (how == Reads.LOCAL) {
      if (running.isMeant(object)) return running.execute(object, method, arguments);
      running = running(List.of(object), List.of(read(object, Reads.STRICT)));
    }
    return running.call(object, method, arguments);
  }

  private Copy read(PlacedObject object, Reads asked) {
    Object deletion = deleted.get(object.stream());
    Reads how = deletion == null && !tooManyDeleted ? asked : Reads.STRICT;
    var tries = new Tries(object);
    while (true) {
      site.know(object); // another root may not know it yet
      try {
        Copy copy = seat.read(object.stream(), how, object);
        seat.gateRead();
        if (deletion != null) deleted.remove(object.stream(), deletion);
        return copy;
      } catch (Seat.Again again) {
        tries.failed(DISCONNECTED); // else of the node that it is now
      }
    }
  }

  @Override
  public void create(PlacedObject object) throws Throwable {
    if (RunningOperation.CURRENT.isBound()) {
      RunningOperation.CURRENT.get().create(object);
      return;
    }
    refuseNested(object);
    var thrown = new @Nullable Throwable[1];
    together(
        List.of(object),
        () -> {
          thrown[0] = null;
          try {
            RunningOperation.CURRENT.get().create(object);
          } catch (Throwable any) {
            thrown[0] = any;
          }
        });
    Throwable any = thrown[0];
    if (any != null) throw any;
  }

  /* A method that waits for another object while it holds its own may wait forever. */
  private static void refuseNested(PlacedObject object) {
    boolean nested =
        CallContext.CURRENT.isBound() && CallContext.CURRENT.get() instanceof ClientCall;
    if (!nested) return;
    throw new UnsupportedOperationException(
        object
            + " is at clients, and takes no part in calls of other objects' methods; name both in"
            + " together, where methods may call each other");
  }

  /// Returns whether an operation on several objects runs on this thread.
  public static boolean isInside() {
    return RunningOperation.CURRENT.isBound();
  }

  /// Refuses an action that is not possible in the middle of an operation on several objects.
  public static void refuseInside(String what) {
    if (!RunningOperation.CURRENT.isBound()) return;
    throw new IllegalStateException(
        "an operation on objects at clients runs on this thread, and cannot "
            + what
            + "; do it when together has returned");
  }

  /// Records that this process has deleted an object: from now on it reads nothing older. Waits for
  /// nothing.
  public void deleted(PlacedObject object) {
    if (site.auto(object) != null) return; // those are never read from a copy that may be old
    if (deleted.size() < DELETED_MAX) deleted.put(object.stream(), new Object());
    else tooManyDeleted = true;
  }

  /// See [stoa.Stoa#together].
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, TransactionBody<R, X> body) throws X {
    var objects = new ArrayList<PlacedObject>();
    for (Object each : shared) objects.add(site.objects().object(each));
    var results = new ArrayList<R>(1);
    together(
        objects,
        () -> {
          R result = body.run();
          results.clear();
          results.add(result);
        });
    return results.getFirst();
  }

  @Override
  public <X extends Exception> void together(
      Collection<PlacedObject> objects, TransactionAction<X> body) throws X {
    if (RunningOperation.CURRENT.isBound()) {
      throw new IllegalStateException(
          "an operation on objects at clients runs on this thread already; name all objects there");
    }
    objects.forEach(Member::refuseNested);
    var _ = PlacedObject.domain(objects);
    objects.forEach(object -> Site.check(object, site.domain()));
    objects.forEach(this::checkHere);
    objects.forEach(site::know);
    Set<Auto> autos = new LinkedHashSet<>();
    for (var object : objects) {
      Auto auto = site.auto(object);
      if (auto != null) autos.add(auto);
    }
    inAll(List.copyOf(autos), objects, body);
  }

  private void checkHere(PlacedObject object) {
    boolean stays = site.objects().placement(object) == Placement.SERVER;
    if (!stays || borrowed.has(object.stream())) return;
    throw new IllegalArgumentException(
        object + " is not placed at clients; say so in its @Shared, or use a View.Client of it");
  }

  private <X extends Exception> void inAll(
      List<Auto> autos, Collection<PlacedObject> objects, TransactionAction<X> body) throws X {
    if (autos.isEmpty()) {
      runTogether(objects, body);
    } else {
      var rest = autos.subList(1, autos.size());
      autos.getFirst().inTree(objects, () -> inAll(rest, objects, body));
    }
  }

  private <X extends Exception> void runTogether(
      Collection<PlacedObject> objects, TransactionAction<X> body) throws X {
    Block<X> block =
        running -> ScopedValue.where(RunningOperation.CURRENT, running).call(() -> ran(body));
    run(objects, false, block);
  }

  private static <X extends Exception> boolean ran(TransactionAction<X> body) throws X {
    body.run();
    return true;
  }

  private interface Block<X extends Exception> {
    void run(RunningOperation running) throws X;
  }

  /* Runs an operation; alone is one that can be made at the server. */
  private <X extends Exception> void run(
      Collection<PlacedObject> objects, boolean alone, Block<X> body) throws X {
    SortedSet<StreamId> streams = new TreeSet<>();
    objects.forEach(object -> streams.add(object.stream()));
    var tries = new Tries(objects);
    while (true) {
      objects.forEach(site::know); // another root may not know them yet
      Seat.Obtained obtained;
      try {
        obtained = seat.obtain(streams, alone, objects);
      } catch (Seat.Again again) {
        tries.failed(DISCONNECTED);
        continue;
      }
      var running = running(objects, obtained.copies());
      SortedMap<StreamId, byte[]> outputs;
      try {
        body.run(running);
        outputs = running.outputs();
      } catch (Throwable any) {
        boolean _ = seat.executed(obtained, new TreeMap<>());
        throw any;
      }
      if (!seat.executed(obtained, outputs)) {
        tries.failed(DISCONNECTED);
        continue;
      }
      seat.gate();
      return;
    }
  }

  /// The root's hold on an object.
  record RootHold(StreamId object, Seat.Obtained obtained) {}

  /// Of the root: makes an object come here, and keeps it for the store to change. Its newest state
  /// is durable on return.
  RootHold hold(PlacedObject object) {
    site.know(object);
    SortedSet<StreamId> streams = new TreeSet<>(List.of(object.stream()));
    var obtained = seat.obtain(streams, false, object);
    seat.lend(obtained);
    seat.gate();
    return new RootHold(object.stream(), obtained);
  }

  /// Of the root: releases an object.
  ///
  /// @param stored its new state in the store
  void release(RootHold held, PlacedStore.Stored stored) {
    SortedMap<StreamId, byte[]> outputs = new TreeMap<>();
    outputs.put(held.object, RootStore.packed(stored));
    boolean _ = seat.executed(held.obtained, outputs);
  }

  /// Of the root: releases an object as it was.
  void release(RootHold held) {
    boolean _ = seat.executed(held.obtained, new TreeMap<>());
  }

  /// Of the root: ends the hold on an object that stays at the server. The root forgets the object.
  void forget(RootHold held) {
    seat.forget(held.obtained);
  }

  private RunningOperation running(Collection<PlacedObject> objects, List<Copy> copies) {
    return new RunningOperation(objects, copies, site::context);
  }

  /// Waits until everything that this member has done and seen is durable: it is in the store, and
  /// stays, whichever members crash.
  ///
  /// @throws UnknownOutcome when this member was disconnected since its last flush, so that its
  ///   later calls and reads may be lost; thrown once
  public void flush() {
    seat.flush();
  }

  /// Begins a flush, see [#flush].
  ///
  /// @return fails with what [#flush] throws
  public CompletableFuture<@Nullable Void> flushing() {
    return seat.flushing();
  }

  /// Leaves the tree, when the calls in progress are over and durable. Further calls throw
  /// [Closed].
  ///
  /// @throws UnknownOutcome when this member was disconnected since its last flush, so that its
  ///   later calls may be lost
  /// @throws Closed when the store was closed before
  @Override
  public void close() {
    seat.leave();
  }
}

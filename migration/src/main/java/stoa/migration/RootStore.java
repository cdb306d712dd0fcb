package stoa.migration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Placement;
import stoa.Unavailable;
import stoa.base.Repeats;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedState;
import stoa.front.PlacedStore;
import stoa.front.PlacedStore.Change;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Event;
import stoa.migration.core.Mandate;
import stoa.migration.core.NodeId;

/// The store as the root uses it: the root reads states from it, and writes them in the order of
/// their arrival. Thread-safe.
final class RootStore implements AutoCloseable {
  /// The most objects that the root knows by name. It gives up names that the store has, too, and
  /// those of objects without a state whose callers have ended.
  static final int OBJECTS_MAX = 1_000_000;

  private static final long END_SECONDS = 10;

  // How long states wait for newer ones of the same objects, while no caller waits for them; and
  // for how many times as long as the last write, so that others can write, too.
  private static final long JOINING_MILLIS = 100;
  private static final int JOINING_TIMES = 4;

  // The time after which a failed load or write is repeated.
  private static final long AGAIN_NANOS = 1_000_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(RootStore.class);

  /*
   * A client-placed object that the store does not have, as far as the root knows. The lock of
   * `objects` guards it.
   */
  private static final class Unstored {
    // The processes that have named it, and may call it without naming it again.
    private final Set<Object> callers = new HashSet<>(2);
    // Whether a process has named it since the last look at the unused ones.
    private boolean wasNamed;

    private void name(@Nullable Object caller) {
      wasNamed = true;
      if (caller != null) callers.add(caller);
    }

    private boolean isUsed() {
      return wasNamed || !callers.isEmpty();
    }
  }

  private final Repeats repeats = new Repeats();

  private final PlacedStore store;
  private final String domain;
  private final Consumer<PlacedObject> unlent;
  private final long quietUntilNanos;
  private final Consumer<Event> root;
  private final Consumer<RuntimeException> failed;
  private final int objectsMax;
  private final Names<PlacedObject> objects; // changed with its lock
  // Those that the store lacks; changed with the lock of `objects`.
  private final Map<StreamId, Unstored> unstored = new ConcurrentHashMap<>();
  // Of objects that may be lent, those that are or were: the root has them since.
  private final Set<StreamId> lent = ConcurrentHashMap.newKeySet();
  private final Timing timing;
  private final Timing.Line writer;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition wrote = lock.newCondition();
  // Guarded by `lock`: the copies to persist, their last number, and the last persisted number; the
  // streams to load when their objects are known and here; and the children to persist.
  private NavigableMap<StreamId, Copy> pending = new TreeMap<>();
  private final SortedMap<StreamId, StreamId> unnamed = new TreeMap<>();
  private @Nullable SortedSet<NodeId> children;
  private boolean asked;
  private boolean urgent;
  // How often all waiting copies were written. A write that was scheduled before then comes too
  // late: otherwise each hastened write would leave a time behind, at which the next copies are
  // written early.
  private long writes;
  private long wroteMillis;
  private long pendingTo;
  private long persisted;
  private @Nullable RuntimeException over;

  /// Creates it.
  ///
  /// @param domain the domain of the tree
  /// @param objectsMax the most objects that it knows by name
  /// @param unlent is asked for an object that the store may have lent under an earlier root
  /// @param root receives what was loaded and what has persisted
  /// @param failed receives the reason for the end
  RootStore(
      PlacedStore store,
      String domain,
      int objectsMax,
      Consumer<PlacedObject> unlent,
      Consumer<Event> root,
      Consumer<RuntimeException> failed) {
    this.store = store;
    this.domain = domain;
    this.objectsMax = objectsMax;
    objects = new Names<>(objectsMax);
    this.unlent = unlent;
    timing = store.timing();
    writer = timing.line(Domain.THREAD);
    quietUntilNanos = store.freeNanos() + Mandate.LENGTH_NANOS;
    this.root = root;
    this.failed = failed;
  }

  /// Tells the root which object a stream belongs to, for a caller that names it at each call.
  ///
  /// @throws LimitExceeded when there are too many
  void know(PlacedObject object) {
    know(object, null);
  }

  /// Tells the root which object a stream belongs to.
  ///
  /// @param caller may call the object from now on until it has [#ended]; null for none
  /// @throws LimitExceeded when there are too many
  void know(PlacedObject object, @Nullable Object caller) {
    StreamId stream = object.stream();
    if (objects.find(stream) != null && !unstored.containsKey(stream)) return;
    boolean isAtClients = store.placement(object) == Placement.CLIENT;
    synchronized (objects) {
      boolean isNew = objects.find(stream) == null;
      if (isNew && !objects.add(stream, object)) {
        throw new LimitExceeded(
            object
                + " is one too many: clients of a tree can name at most "
                + objectsMax
                + " objects that the store does not have; their names are given up some seconds"
                + " after the clients that have named them end");
      }
      if (isNew && isAtClients) unstored.put(stream, new Unstored());
      var its = unstored.get(stream);
      if (its != null) its.name(caller);
    }
    loadIfWanted(stream);
  }

  /// Records that a caller has ended.
  ///
  /// @return the objects that the store does not have, and of which it was the last caller
  SortedSet<StreamId> ended(Object caller) {
    SortedSet<StreamId> all = new TreeSet<>();
    synchronized (objects) {
      unstored.forEach((stream, its) -> {
        if (its.callers.remove(caller) && its.callers.isEmpty()) all.add(stream);
      });
    }
    return all;
  }

  /// Returns the objects that the store does not have, and that no caller uses: all that have named
  /// them have ended, and none has named them since the last call of this.
  SortedSet<StreamId> unused() {
    SortedSet<StreamId> all = new TreeSet<>();
    synchronized (objects) {
      unstored.forEach((stream, its) -> {
        if (!its.isUsed()) all.add(stream);
        its.wasNamed = false;
      });
    }
    return all;
  }

  /// Gives up the names of objects that the root has forgotten, unless a caller has named them
  /// meanwhile.
  void forgotten(Collection<StreamId> some) {
    synchronized (objects) {
      for (var stream : some) {
        var its = unstored.get(stream);
        if (its == null || its.isUsed()) continue;
        unstored.remove(stream);
        objects.remove(stream);
      }
    }
  }

  /* The store has an object, and finds its name. */
  private void stored(StreamId stream) {
    synchronized (objects) {
      unstored.remove(stream);
      objects.mayGo(stream, true);
    }
  }

  /// Records that an object is lent, or was found to be: it may be loaded from now on.
  void lend(PlacedObject object) {
    know(object);
    lent.add(object.stream());
    loadIfWanted(object.stream());
  }

  /// Records that an object is at the server, and that the root forgets it: it may not be loaded.
  void takenBack(PlacedObject object) {
    lent.remove(object.stream());
  }

  /// Returns whether the root knows an object by name.
  boolean isKnown(StreamId stream) {
    return objects.find(stream) != null;
  }

  /// Records that the store has deleted an object, and may not have its name for ever.
  void deleted(PlacedObject object) {
    objects.mayGo(object.stream(), false);
  }

  private void loadIfWanted(StreamId stream) {
    boolean waiting;
    lock.lock();
    try {
      waiting = unnamed.remove(stream) != null;
    } finally {
      lock.unlock();
    }
    if (waiting) load(stream);
  }

  /* Whether the tree may have an object, as far as this process knows. */
  private boolean isHere(StreamId stream) {
    var object = objects.find(stream);
    return object != null && (store.placement(object) != Placement.SERVER || lent.contains(stream));
  }

  private PlacedObject known(StreamId stream) {
    var object = objects.find(stream);
    if (object == null) object = store.find(stream);
    return Objects.requireNonNull(object, "an object that was loaded");
  }

  /// Reads a state, as soon as its object is known and is not at the server.
  void load(StreamId stream) {
    boolean isHere;
    lock.lock();
    try {
      isHere = isHere(stream);
      if (!isHere) unnamed.put(stream, stream);
    } finally {
      lock.unlock();
    }
    if (!isHere) {
      submit(timing::start, () -> find(stream));
      return;
    }
    submit(
        loading(),
        () -> {
          PlacedStore.Stored stored;
          try {
            stored = store.load(known(stream));
          } catch (RuntimeException failure) {
            confirm(); // else it is not this object alone
            repeats.tell(
                known(stream) + " cannot be loaded yet: " + failure.getMessage(), LOG::warn);
            loadAgain(stream);
            return;
          }
          var state = stored.state();
          if (state != null) stored(stream);
          var version = state == null ? null : new CopyVersion(state.generation(), state.number());
          root.accept(new Event.Loaded(stream, version, packed(stored)));
        });
  }

  /*
   * Finds out what an object is whose name is not here. Its name may be given up; or no client has
   * named it to this root yet: those that named it to an earlier one may have ended, and the object
   * may be at others that have never called it.
   */
  private void find(StreamId stream) {
    var object = objects.find(stream);
    if (object != null) {
      unlent.accept(object);
      return;
    }
    try {
      object = store.find(stream);
      if (object != null && object.domain().equals(domain)) know(object);
    } catch (RuntimeException | LinkageError unknown) {
      LOG.debug("the store does not name the object of {}: {}", stream, unknown.getMessage());
    }
  }

  /// Returns the store's state of an object, in its travelling form.
  static byte[] packed(PlacedStore.Stored stored) {
    return States.packed(new States.State(stored.life(), stored.bytes()));
  }

  /// Reads a state after a while.
  void loadAgain(StreamId stream) {
    try {
      writer.after(AGAIN_NANOS, () -> load(stream));
    } catch (RejectedExecutionException closed) {
      // No caller waits for it any more.
    }
  }

  /*
   * Members of an earlier root may still act on its mandate: until that is over, nothing is read.
   */
  private Executor loading() {
    long left = store.mayHaveOthers() ? quietUntilNanos - timing.nanoTime() : 0;
    return left <= 0 ? timing::start : task -> writer.after(left, () -> timing.start(task));
  }

  private void submit(Executor threads, Runnable task) {
    try {
      threads.execute(() -> {
        try {
          task.run();
        } catch (RuntimeException failure) {
          fail(failure);
        }
      });
    } catch (RejectedExecutionException closed) {
      // No caller waits for it any more.
    }
  }

  /// Writes states, after all earlier ones, in a while or when a caller waits for it.
  ///
  /// @param nodes the children of the root; null when they have not changed
  void persist(long number, List<Copy> copies, @Nullable SortedSet<NodeId> nodes) {
    lock.lock();
    try {
      if (nodes != null) children = nodes;
      for (var copy : copies) pending.put(copy.object(), copy);
      pendingTo = number;
      if (asked) return;
      asked = true;
      long delayMillis = Math.max(JOINING_MILLIS, JOINING_TIMES * wroteMillis);
      writeAfter(TimeUnit.MILLISECONDS.toNanos(delayMillis));
    } catch (RejectedExecutionException closed) {
      // No caller waits for it any more.
    } finally {
      lock.unlock();
    }
  }

  /// Writes soon, because a caller waits for everything that has come.
  void hasten() {
    lock.lock();
    try {
      if (!asked || urgent) return;
      urgent = true;
      long before = writes;
      submit(writer, () -> write(before));
    } finally {
      lock.unlock();
    }
  }

  /* The caller holds `lock`. */
  private void writeAfter(long nanos) {
    long before = writes;
    writer.after(nanos, () -> submit(writer, () -> write(before)));
  }

  /*
   * Writes all waiting copies at once: only the newest of several copies of one object, since what
   * they depend on is there too. No effect if the copies that waited at that number of writes are
   * written.
   */
  private void write(long before) {
    NavigableMap<StreamId, Copy> copies;
    SortedSet<NodeId> nodes;
    long to;
    lock.lock();
    try {
      if (over != null || !asked) return; // another root may write by now, or it is written
      if (before != writes) return;
      writes++;
      copies = pending;
      pending = new TreeMap<>();
      to = pendingTo;
      nodes = children;
      children = null;
      asked = false;
      urgent = false;
    } finally {
      lock.unlock();
    }
    long began = timing.nanoTime();
    List<Change> changes = new ArrayList<>();
    for (var copy : copies.values()) {
      var version = copy.version();
      var state = States.unpacked(copy.state());
      if (!state.exists()) continue; // reconstituted, or deleted: the store has nothing of it
      changes.add(
          new Change(
              known(copy.object()),
              state.life(),
              new PlacedState(version.generation(), version.number(), state.bytes())));
    }
    try {
      if (nodes != null) store.keepChildren(domain, outside(nodes));
      store.persist(changes);
    } catch (LimitExceeded full) {
      writeAgain(copies, nodes, full);
      return;
    }
    for (var change : changes) stored(change.object().stream());
    lock.lock();
    try {
      persisted = to;
      wroteMillis = TimeUnit.NANOSECONDS.toMillis(timing.nanoTime() - began);
      wrote.signalAll();
    } finally {
      lock.unlock();
    }
    root.accept(new Event.Persisted(to));
  }

  /* The nodes of other processes: those of this one end with the root. */
  private static List<String> outside(SortedSet<NodeId> nodes) {
    return nodes.stream()
        .filter(node -> RoutedLinks.isOutside(node.address()))
        .map(NodeId::toString)
        .toList();
  }

  /* The store is too busy: nothing was written, and nothing is lost. */
  private void writeAgain(
      Map<StreamId, Copy> copies, @Nullable SortedSet<NodeId> nodes, LimitExceeded full) {
    repeats.tell("states of objects are not written yet: " + full.getMessage(), LOG::warn);
    lock.lock();
    try {
      copies.forEach(pending::putIfAbsent);
      if (children == null) children = nodes;
      if (asked) return;
      asked = true;
      writeAfter(AGAIN_NANOS);
    } catch (RejectedExecutionException closed) {
      // No caller waits for it any more.
    } finally {
      lock.unlock();
    }
  }

  /// Waits until all copies up to a number are durable.
  void awaitPersisted(long number) {
    hasten();
    lock.lock();
    try {
      while (persisted < number) {
        if (over != null) throw over;
        wrote.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Waits until it is certain that no other root had taken over before this call.
  void confirm() {
    store.persist(List.of());
  }

  /// Records that the store takes nothing more.
  void fail(RuntimeException cause) {
    var end =
        cause instanceof Closed
            ? cause
            : new Unavailable("the store takes nothing of its clients any more", cause);
    lock.lock();
    try {
      if (over == null) over = end;
      wrote.signalAll();
    } finally {
      lock.unlock();
    }
    failed.accept(end);
  }

  /// Ends it; a write in progress is finished on return, or never will be.
  ///
  /// @throws Unavailable when that is not known in time
  @Override
  public void close() {
    writer.close();
    try {
      if (writer.await(TimeUnit.SECONDS.toNanos(END_SECONDS))) return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new Unavailable("the root before still writes to the store");
  }
}

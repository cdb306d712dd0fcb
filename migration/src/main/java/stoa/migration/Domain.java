package stoa.migration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.Closed;
import stoa.Stoa;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.Event;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.migration.core.Version;
import stoa.objects.PlacedObject;
import stoa.objects.PlacedState;
import stoa.objects.PlacedStore;
import stoa.objects.PlacedStore.Change;
import stoa.objects.Placing;
import stoa.objects.types.SharedMethod;
import stoa.spi.CallContext;

/// The tree of a store in this process: its root, which is where the store is, and members that
/// join it here. Thread-safe.
///
/// Calls on client-placed objects that are made on the store itself execute at the root, and are
/// durable when they return.
@SuppressWarnings("exports") // Justification: of Placing, which programs do not call
public final class Domain implements Placing {
  private static final long TICK_MILLIS = 200;
  private static final String ROOT = "root";

  private final PlacedStore store;
  private final Stoa stoa;
  private final Clock clock;
  private final TreeNode.Settings settings;
  private final Links links = new LocalLinks();
  private final AtomicLong numbers = new AtomicLong();
  private final NodeId root;
  private final Member rootMember;
  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final Map<StreamId, PlacedObject> objects = new ConcurrentHashMap<>();
  private final ExecutorService loads = Executors.newVirtualThreadPerTaskExecutor();
  private final ExecutorService writer = Executors.newSingleThreadExecutor(Domain::thread);
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(Domain::thread);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition wrote = lock.newCondition();
  /* Guarded by `lock`: what is to persist, up to which number that is, and what has persisted. */
  private SortedMap<StreamId, Copy> pending = new TreeMap<>();
  private boolean asked;
  private long pendingTo;
  private long persisted;
  private @Nullable RuntimeException over;

  Domain(PlacedStore store, Clock clock, TreeNode.Settings settings) {
    this.store = store;
    this.stoa = store.stoa();
    this.clock = clock;
    this.settings = settings;
    root = new NodeId(ROOT, store.epoch());
    rootMember =
        new Member(
            this, Member.Role.ROOT, ROOT, TreeNode.root(root, settings, store.epoch() << 32));
    rootMember.begin();
    members.add(rootMember);
    var _ =
        ticks.scheduleWithFixedDelay(
            () -> members.forEach(Member::tick), TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static Thread thread(Runnable task) {
    var thread = new Thread(task, "stoa-migration");
    thread.setDaemon(true);
    return thread;
  }

  /// That of a store which is open in this process.
  ///
  /// @throws IllegalArgumentException when it is a store elsewhere
  public static Domain of(Stoa stoa) {
    return (Domain) PlacedStore.placing(stoa);
  }

  /// A further member. Its calls execute in this process, apart from those of other members.
  ///
  /// @param name what it is called; need not be unique
  public Member join(String name) {
    var member = new Member(this, Member.Role.CLIENT, name, newNode(name));
    members.add(member);
    member.begin();
    return member;
  }

  TreeNode newNode(String address) {
    return TreeNode.client(new NodeId(address, numbers.incrementAndGet()), settings);
  }

  void forget(Member member) {
    members.remove(member);
  }

  Links links() {
    return links;
  }

  NodeId root() {
    return root;
  }

  PlacedStore store() {
    return store;
  }

  CallContext context(Version version) {
    return new ClientCall(stoa, clock, numbers.incrementAndGet() ^ clock.nowMicros(), version);
  }

  /// Lets the root know which object a stream is of.
  void know(PlacedObject object) {
    var _ = objects.putIfAbsent(object.stream(), object);
  }

  private PlacedObject known(StreamId stream) {
    return Objects.requireNonNull(objects.get(stream), "an object that somebody called");
  }

  // ---- the root's store

  void load(StreamId stream) {
    loads.execute(() -> {
      try {
        PlacedState state = store.load(known(stream));
        rootMember.on(
            state == null
                ? new Event.Loaded(stream, null, new byte[0])
                : new Event.Loaded(
                    stream,
                    new Version(state.generation(), state.number()),
                    States.packed(state.bytes())));
      } catch (RuntimeException failed) {
        fail(failed);
      }
    });
  }

  void persist(long number, List<Copy> copies) {
    lock.lock();
    try {
      for (var copy : copies) pending.put(copy.object(), copy);
      pendingTo = number;
      if (asked) return;
      asked = true;
    } finally {
      lock.unlock();
    }
    writer.execute(this::write);
  }

  /* Writes all that waits in one go: only the newest of several copies, since what they depend on is
   * there too. */
  private void write() {
    SortedMap<StreamId, Copy> copies;
    long to;
    lock.lock();
    try {
      copies = pending;
      pending = new TreeMap<>();
      to = pendingTo;
      asked = false;
    } finally {
      lock.unlock();
    }
    try {
      List<Change> changes = new ArrayList<>();
      for (var copy : copies.values()) {
        var version = copy.version();
        byte[] state = States.unpacked(copy.state());
        if (state.length == 0) continue; // reconstituted, and never constructed
        changes.add(
            new Change(
                known(copy.object()),
                new PlacedState(version.generation(), version.number(), state)));
      }
      store.persist(changes);
    } catch (RuntimeException failed) {
      fail(failed);
      return;
    }
    lock.lock();
    try {
      persisted = to;
      wrote.signalAll();
    } finally {
      lock.unlock();
    }
    rootMember.on(new Event.Persisted(to));
  }

  void awaitPersisted(long number) {
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

  private void fail(RuntimeException cause) {
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
    members.forEach(member -> member.fail(end));
  }

  // ---- calls on the store itself

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return rootMember.call(object, method, arguments);
  }

  @Override
  public <X extends Exception> void together(Collection<PlacedObject> some, Action<X> body)
      throws X {
    rootMember.together(some, body);
  }

  /// Makes durable what has come to the root, and ends all members. Called when the store is
  /// closed; what is to be kept of other members they flush before.
  @Override
  public void close() {
    try {
      rootMember.flush();
    } catch (RuntimeException failed) {
      // Nobody was told that it is durable.
    }
    fail(new Closed("the store is closed"));
    ticks.shutdownNow();
    loads.shutdownNow();
    writer.shutdown();
  }
}

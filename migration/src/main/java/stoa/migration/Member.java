package stoa.migration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.Body;
import stoa.Closed;
import stoa.UnknownOutcome;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.Effect;
import stoa.migration.core.Event;
import stoa.migration.core.NodeId;
import stoa.migration.core.Reads;
import stoa.migration.core.TreeNode;
import stoa.objects.PlacedObject;
import stoa.objects.Placing;
import stoa.objects.types.SharedMethod;

/// A member of a tree: client-placed objects migrate to it, and its calls on them execute here, on
/// the calling thread. Thread-safe.
///
/// A call is answered before it is durable. It is durable after a [#flush()] that began later, and
/// when the member has left. When it is disconnected, because its process or connection fails or
/// those of a member above it do, it joins again by itself; what it did and was not durable may be
/// lost then.
@SuppressWarnings("exports") // Justification: of Placing, which programs do not call
public final class Member implements Placing {
  /* Its place in the tree. */
  enum Role {
    ROOT,
    CLIENT
  }

  /* The node was disconnected before the operation was done. */
  private static final class Again extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Again() {
      super("disconnected", null, false, false);
    }
  }

  private record Obtained(NodeId by, long number, List<Copy> copies) {}

  private final Domain domain;
  private final Role role;
  private final String address;
  private final Mailbox mailbox;
  private final AtomicLong numbers = new AtomicLong();
  private final Map<Long, CompletableFuture<Obtained>> operations = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<Copy>> reads = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<Void>> flushes = new ConcurrentHashMap<>();
  private final CompletableFuture<Void> joined = new CompletableFuture<>();
  private final CompletableFuture<Void> left = new CompletableFuture<>();
  private volatile @Nullable RuntimeException over;
  /* Used by tasks of the mailbox; its identity by anybody. */
  private volatile TreeNode node;
  /* Whether it has done something since the last flush began, and whether that may be lost. */
  private boolean unflushed;
  private boolean leaving;
  private final AtomicBoolean lost = new AtomicBoolean();
  /* Of the root: the last number that was to persist. */
  private volatile long persisting;

  Member(Domain domain, Role role, String address, TreeNode node) {
    this.domain = domain;
    this.role = role;
    this.address = address;
    this.node = node;
    this.mailbox = new Mailbox(this::fail);
  }

  /// Takes its place.
  void begin() {
    open();
    if (role == Role.ROOT) {
      joined.complete(null);
      return;
    }
    mailbox.put(this::join);
    var _ = await(joined);
  }

  private void open() {
    TreeNode own = node;
    domain.links().open(own.id(), event -> on(own, event));
  }

  private void join() {
    take(new Event.Join(domain.root()));
  }

  void tick() {
    mailbox.put(() -> {
      take(new Event.Tick());
      if (role == Role.CLIENT) join();
    });
  }

  void on(Event event) {
    mailbox.put(() -> take(event));
  }

  private void on(TreeNode to, Event event) {
    mailbox.put(() -> {
      if (to.id().equals(node.id())) take(event);
    });
  }

  private void take(Event event) {
    if (over != null) return;
    TreeNode own = node;
    for (var effect : own.on(event)) effect(own, effect);
  }

  private void effect(TreeNode own, Effect effect) {
    switch (effect) {
      case Effect.Send(NodeId to, var message) -> domain.links().send(own.id(), to, message);
      case Effect.Tell(NodeId to, var message) -> domain.links().tell(own.id(), to, message);
      case Effect.Cut(NodeId other) -> domain.links().cut(own.id(), other);
      case Effect.Joined() -> joined.complete(null);
      case Effect.Execute(long number, var inputs) ->
          complete(operations.remove(number), new Obtained(own.id(), number, inputs));
      case Effect.Answer(long number, Copy copy) -> complete(reads.remove(number), copy);
      case Effect.Flushed(long number) -> {
        var flush = flushes.remove(number);
        if (flush != null) flush.complete(null);
      }
      case Effect.Left() -> {
        domain.links().close(own.id());
        left.complete(null);
        end();
      }
      case Effect.Disconnected() -> rejoin(own);
      case Effect.Load(StreamId object) -> domain.load(object);
      case Effect.Persist(long number, var copies) -> {
        persisting = number;
        domain.persist(number, copies);
      }
    }
  }

  private static <T> void complete(@Nullable CompletableFuture<T> future, T value) {
    if (future != null) future.complete(value);
  }

  private void end() {
    domain.forget(this);
    fail(new Closed(address + " has left"));
  }

  private void rejoin(TreeNode own) {
    if (unflushed || !flushes.isEmpty()) lost.set(true);
    unflushed = false;
    domain.links().close(own.id());
    if (leaving) {
      if (lost.get()) left.completeExceptionally(mayBeLost());
      else left.complete(null);
      end();
      return;
    }
    node = domain.newNode(address);
    open();
    failAll(new Again());
    join();
  }

  /// The node that it is now.
  NodeId id() {
    return node.id();
  }

  @Override
  public String toString() {
    return "member " + id();
  }

  /// Ends it for good.
  void fail(RuntimeException cause) {
    if (over == null) over = cause;
    joined.completeExceptionally(cause);
    left.completeExceptionally(cause);
    failAll(cause);
  }

  private void failAll(RuntimeException cause) {
    List<CompletableFuture<?>> all = new ArrayList<>(operations.values());
    all.addAll(reads.values());
    all.addAll(flushes.values());
    operations.clear();
    reads.clear();
    flushes.clear();
    all.forEach(each -> each.completeExceptionally(cause));
  }

  private static <T extends @Nullable Object> T await(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException wrapped) {
      if (wrapped.getCause() instanceof RuntimeException cause) throw cause;
      throw wrapped;
    }
  }

  /* Asks the node for something that it will answer under a number. */
  private <T extends @Nullable Object> T ask(
      Map<Long, CompletableFuture<T>> waiting, LongFunction<Event> event) {
    long number = numbers.incrementAndGet();
    var future = new CompletableFuture<T>();
    waiting.put(number, future);
    mailbox.put(() -> {
      RuntimeException end = over;
      if (end == null && leaving) end = new Closed(address + " is leaving");
      if (end == null) take(event.apply(number));
      else future.completeExceptionally(end);
    });
    return await(future);
  }

  // ---- what programs call

  /// The same object through a proxy whose calls execute here. Its accessors see all updates that
  /// ended before.
  ///
  /// @throws IllegalArgumentException when the object is not placed at clients
  public <T> T on(T shared) {
    return on(shared, Reads.STRICT);
  }

  /// The same object through a proxy whose calls execute here.
  ///
  /// @param how what its accessors see
  public <T> T on(T shared, Reads how) {
    return domain.store().through(shared, how == Reads.STRICT ? this : new Reading(this, how));
  }

  /* The way of a proxy with other reads. */
  private record Reading(Member member, Reads how) implements Placing {
    @Override
    public @Nullable Object call(
        PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return member.call(object, method, arguments, how);
    }

    @Override
    public <X extends Exception> void together(Collection<PlacedObject> objects, Action<X> body)
        throws X {
      member.together(objects, body);
    }

    @Override
    public void close() {}
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return call(object, method, arguments, Reads.STRICT);
  }

  private @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads how)
      throws Throwable {
    if (Running.CURRENT.isBound()) return Running.CURRENT.get().call(object, method, arguments);
    domain.know(object);
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      return running(List.of(object), List.of(read(object, how))).call(object, method, arguments);
    }
    var answer = new @Nullable Object[1];
    var thrown = new @Nullable Throwable[1];
    run(
        List.of(object),
        running -> {
          thrown[0] = null;
          try {
            answer[0] = running.call(object, method, arguments);
          } catch (Throwable any) {
            thrown[0] = any;
          }
        });
    Throwable any = thrown[0];
    if (any != null) throw any;
    return answer[0];
  }

  private Copy read(PlacedObject object, Reads how) {
    while (true) {
      try {
        Copy copy = ask(reads, number -> new Event.Read(number, object.stream(), how));
        gate();
        return copy;
      } catch (Again again) {
        // Of the node that it is now.
      }
    }
  }

  /// See [stoa.Stoa#together].
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    var objects = new ArrayList<PlacedObject>();
    for (Object each : shared) objects.add(domain.store().object(each));
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
  public <X extends Exception> void together(Collection<PlacedObject> objects, Action<X> body)
      throws X {
    if (Running.CURRENT.isBound()) {
      throw new IllegalStateException(
          "an operation on objects at clients runs on this thread already; name all objects there");
    }
    objects.forEach(domain::know);
    Block<X> block = running -> ScopedValue.where(Running.CURRENT, running).call(() -> ran(body));
    run(objects, block);
  }

  private static <X extends Exception> boolean ran(Action<X> body) throws X {
    body.run();
    return true;
  }

  private interface Block<X extends Exception> {
    void run(Running running) throws X;
  }

  private <X extends Exception> void run(Collection<PlacedObject> objects, Block<X> body) throws X {
    SortedSet<StreamId> streams = new TreeSet<>();
    objects.forEach(object -> streams.add(object.stream()));
    while (true) {
      Obtained obtained;
      try {
        obtained = ask(operations, number -> new Event.Submit(number, streams));
      } catch (Again again) {
        continue;
      }
      var running = running(objects, obtained.copies());
      SortedMap<StreamId, byte[]> outputs;
      try {
        body.run(running);
        outputs = running.outputs();
      } catch (Throwable any) {
        boolean _ = executed(obtained, new TreeMap<>());
        throw any;
      }
      if (!executed(obtained, outputs)) continue;
      gate();
      return;
    }
  }

  private Running running(Collection<PlacedObject> objects, List<Copy> copies) {
    return new Running(objects, copies, domain::context);
  }

  /* Answers whether the operation has happened: it has not when the node was disconnected. */
  private boolean executed(Obtained obtained, SortedMap<StreamId, byte[]> outputs) {
    var happened = new CompletableFuture<Boolean>();
    mailbox.put(() -> {
      boolean same = over == null && node.id().equals(obtained.by());
      if (same) {
        take(new Event.Executed(obtained.number(), outputs));
        unflushed = true;
      }
      happened.complete(same);
    });
    return await(happened);
  }

  /* What is answered at the root is durable. */
  private void gate() {
    if (role == Role.ROOT) domain.awaitPersisted(persisting);
  }

  /// Waits until all that this member has done and seen is durable: it is in the store, and stays,
  /// whoever vanishes.
  ///
  /// @throws UnknownOutcome when this member was disconnected since its last flush, so that what it
  ///   has done since may be lost; said once
  public void flush() {
    try {
      var _ =
          ask(
              flushes,
              number -> {
                unflushed = false;
                return new Event.Flush(number);
              });
    } catch (Again again) {
      // As when it was disconnected before.
    }
    if (lost.getAndSet(false)) throw mayBeLost();
  }

  private UnknownOutcome mayBeLost() {
    return new UnknownOutcome(
        address + " was disconnected; what it did since its last flush may be lost");
  }

  /// Leaves the tree, when the calls under way are over and durable. Further calls throw [Closed].
  ///
  /// @throws UnknownOutcome as [#flush()]
  /// @throws Closed when the store was closed before
  @Override
  public void close() {
    mailbox.put(() -> {
      leaving = true;
      take(new Event.Leave());
    });
    var _ = await(left);
  }
}

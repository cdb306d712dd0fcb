package stoa.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Reads;
import stoa.Tree;
import stoa.UnknownOutcome;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.migration.core.Copy;
import stoa.migration.core.Effect;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// A member's place in the tree: one node after the other, and the requests to them. Thread-safe.
final class Seat {
  /* The node was disconnected before the operation was done. */
  static final class Again extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Again() {
      super("disconnected", null, false, false);
    }
  }

  /* The object is at the server, and calls on it are made there. */
  static final class AtServer extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private AtServer() {
      super("at the server", null, false, false);
    }
  }

  /* No answer came in time. */
  private static final class Late extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Late() {
      super("late", null, false, false);
    }
  }

  /*
   * The result that a caller waits for, without a timer of its own: `endLate` ends those that have
   * waited for too long.
   */
  private static final class Answer<T extends @Nullable Object> extends CompletableFuture<T> {
    private final long until;

    private Answer(long until) {
      this.until = until;
    }
  }

  /// Objects that an operation has.
  ///
  /// @param by the node that has them
  record Obtained(NodeId by, long number, List<Copy> copies) {}

  /* The objects of an operation or a read; alone is one that can be made at the server instead. */
  private record Wanted(Collection<StreamId> objects, boolean alone) {}

  /* How much a flush covers. */
  private record Covered(long changes, long sights) {}

  // How often a tick finds the root of an orphan unchanged before this believes that it lives.
  private static final int DOUBT_TICKS = 5;

  private static final Logger LOG = LoggerFactory.getLogger(Seat.class);

  private final Site site;
  private final Timing timing;
  private final @Nullable RootStore store;
  private final String name;
  private final Mailbox mailbox;
  private final AtomicLong numbers = new AtomicLong();
  private final Map<Long, Answer<Obtained>> operations = new ConcurrentHashMap<>();
  private final Map<Long, Answer<Copy>> reads = new ConcurrentHashMap<>();
  private final Map<Long, Answer<Copy>> locals = new ConcurrentHashMap<>();
  private final Map<Long, Answer<@Nullable Void>> flushes = new ConcurrentHashMap<>();
  // Requests that came too late; the next tick tells the node, which would otherwise still want
  // them, and could not leave.
  private final Queue<Long> withdrawn = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Void> joined = new CompletableFuture<>();
  private final CompletableFuture<Void> left = new CompletableFuture<>();
  private final Runnable forgotten;
  private volatile @Nullable RuntimeException over;
  // Tasks of the mailbox use it; any thread its identity.
  private volatile TreeNode node;
  private volatile TreePosition position;
  // The needs of waiting operations and reads of objects that may be at the server; the number of
  // each is also among `operations`, `reads` or `locals`.
  private final Map<Long, Wanted> wanted = new ConcurrentHashMap<>();
  // The objects at the clients, of those that are usually at the server, as far as this process
  // knows. Tasks of the mailbox change it.
  private final Set<StreamId> lent = ConcurrentHashMap.newKeySet();
  // The objects that are at the server unless the root has said otherwise; and those of which it
  // has said so.
  private final Set<StreamId> startsAtServer = ConcurrentHashMap.newKeySet();
  private final Set<StreamId> away = ConcurrentHashMap.newKeySet();
  // The objects whose newest state since their return from the server this process has seen.
  private final Set<StreamId> current = ConcurrentHashMap.newKeySet();
  private final AtomicLong sides = new AtomicLong();
  // Whether it has done something that no answered flush covers.
  private boolean unflushed;
  // How many operations it has executed, and how many when each flush began.
  private long changes;
  // The same for its reads.
  private boolean unflushedReads;
  private long sights;
  private final Map<Long, Covered> covered = new HashMap<>();
  private boolean leaving;
  // Whether the node leaves and another one follows it, and the tasks that wait for that.
  private boolean moving;
  private final List<Runnable> waiting = new ArrayList<>();
  private final AtomicBoolean lost = new AtomicBoolean();
  private final AtomicBoolean lostReads = new AtomicBoolean();
  // The tasks that wait until it is certain that no other node has what the node has.
  private final List<Runnable> unsure = new ArrayList<>();
  // Ends when the program knows of all disconnections. Tasks of the mailbox use it.
  private CompletableFuture<@Nullable Void> telling = CompletableFuture.completedFuture(null);
  // How many ticks have found the root of the orphaned node unchanged.
  private int oldRootTicks;
  // Of the root: the last number to persist.
  private volatile long persisting;

  /// Creates a seat.
  ///
  /// @param store the root's store; null for others
  /// @param forgotten runs when it has left
  Seat(Site site, @Nullable RootStore store, String name, TreeNode node, Runnable forgotten) {
    this.site = site;
    timing = site.timing();
    this.store = store;
    this.name = name;
    this.node = node;
    this.position = new TreePosition(node.id(), null, 0, 0);
    this.forgotten = forgotten;
    this.mailbox = new Mailbox(this::broken);
  }

  /// Takes its place.
  ///
  /// @throws DeadlineExceeded when there is none in time
  void begin() {
    mailbox.put(() -> {
      open();
      if (store == null) join();
      else joined.complete(null);
    });
    try {
      await(joined, limit());
    } catch (TimeoutException late) {
      fail(new Closed(name + " found no place in the tree"));
      throw new DeadlineExceeded(
          name + " found no place in the tree within " + limit() + "; is the server there?", late);
    }
  }

  private Duration limit() {
    return site.objects().limits().callTimeMax();
  }

  private void open() {
    TreeNode own = node;
    site.links()
        .open(
            own.id(),
            new Links.Inbox() {
              @Override
              public void on(Event event) {
                Seat.this.on(own, event);
              }

              @Override
              public void renewed() {
                Seat.this.renewed();
              }
            });
  }

  /// Called when its mandate is valid again: no other node has the objects that this member has.
  void renewed() {
    mailbox.put(this::retry);
  }

  private void retry() {
    if (unsure.isEmpty()) return;
    var all = List.copyOf(unsure);
    unsure.clear();
    all.forEach(mailbox::put);
  }

  /*
   * Runs a task as soon as no other node can have what the node has; or as soon as the node has
   * ended, which the task must check.
   */
  private void whenSure(TreeNode own, Runnable task) {
    boolean isOver = over != null || !own.id().equals(node.id());
    if (isOver || (isFresh() && site.isSure(own.id()))) task.run();
    else unsure.add(() -> whenSure(own, task));
  }

  private void join() {
    NodeId root = site.root();
    if (root != null) take(new Event.Join(root, site.locality()));
  }

  void tick() {
    mailbox.put(() -> {
      for (Long late; (late = withdrawn.poll()) != null; ) take(new Event.Withdraw(late));
      position = look();
      take(new Event.Tick());
      if (store == null && (node.isOrphan() ? mayReturn() : !node.isIn())) join();
      leaveOldRoot();
      retry();
    });
  }

  /// Ends requests that have waited for too long. A thread of its own calls this every tick: a
  /// thread that adds a task to a mailbox may have to run the tasks of others, for as long as they
  /// take.
  void endLate() {
    endLate(operations);
    endLate(reads);
    endLate(locals);
    endLate(flushes);
  }

  private <T> void endLate(Map<Long, Answer<T>> asked) {
    long now = timing.nanoTime();
    asked.forEach((number, answer) -> {
      if (now - answer.until < 0 || !asked.remove(number, answer)) return;
      answer.completeExceptionally(new Late());
      withdrawn.add(number);
    });
  }

  /*
   * Whether an orphan knows of another root, or certainly has the old one: then the connection alone
   * was lost, and the node with it.
   */
  private boolean mayReturn() {
    NodeId root = site.root();
    boolean isOld = root != null && root.equals(node.above());
    oldRootTicks = isOld ? oldRootTicks + 1 : 0;
    return root != null && (!isOld || oldRootTicks > DOUBT_TICKS);
  }

  /* There is another root, so the one above is void. */
  private void leaveOldRoot() {
    NodeId root = site.root();
    NodeId offered = node.offered();
    NodeId parent = offered == null ? node.above() : offered;
    if (root == null || parent == null || parent.equals(root) || node.isOrphan()) return;
    if (parent.address().equals(root.address())) site.links().cut(node.id(), parent);
  }

  /// Passes an event to the present node.
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
    if (store != null && waits(event)) store.hasten();
  }

  /* Whether a caller waits until everything that has come to the root is durable. */
  private static boolean waits(Event event) {
    return event instanceof Event.Flush
        || (event instanceof Event.Received received
            && received.message() instanceof Message.CopyUp);
  }

  private void effect(TreeNode own, Effect effect) {
    switch (effect) {
      case Effect.Send(NodeId to, var message) -> site.links().send(own.id(), to, message);
      case Effect.Tell(NodeId to, var message) -> site.links().tell(own.id(), to, message);
      case Effect.Cut(NodeId other) -> site.links().cut(own.id(), other);
      case Effect.Joined() -> joined.complete(null);
      case Effect.Execute(long number, var inputs) -> obtained(own, number, inputs);
      case Effect.Answer(long number, Copy copy) -> answered(own, number, copy);
      case Effect.Flushed(long number) -> {
        Covered before = covered.remove(number);
        if (before != null && before.changes == changes) unflushed = false;
        if (before != null && before.sights == sights) unflushedReads = false;
        var flush = flushes.remove(number);
        if (flush != null) flush.complete(null);
      }
      case Effect.Moving() -> moving = true;
      case Effect.Left() -> left(own);
      case Effect.Disconnected() -> disconnected(own);
      case Effect.Refused() -> {
        site.links().close(own.id());
        comeBack();
      }
      case Effect.Load(StreamId object) -> store().load(object);
      case Effect.Forgotten(var objects) -> store().forgotten(objects);
      case Effect.Persist(long number, var copies, var children) -> {
        persisting = number;
        store().persist(number, copies, children);
      }
      case Effect.Hasten() -> store().hasten();
    }
  }

  private RootStore store() {
    RootStore own = store;
    if (own == null) throw new IllegalStateException(name + " is not the root");
    return own;
  }

  /* A local read may be of any age. */
  private void answered(TreeNode own, long number, Copy copy) {
    if (locals.containsKey(number)) {
      if (node.isOrphan() || isFresh()) told(locals.remove(number), copy);
      return;
    }
    whenSure(
        own,
        () -> {
          if (own.id().equals(node.id())) told(reads.remove(number), copy);
        });
  }

  private void told(@Nullable CompletableFuture<Copy> reader, Copy copy) {
    if (reader == null) return;
    unflushedReads = true;
    sights++;
    reader.complete(copy);
  }

  private void obtained(TreeNode own, long number, List<Copy> inputs) {
    var operation = operations.remove(number);
    if (operation != null) operation.complete(new Obtained(own.id(), number, inputs));
    // No caller waits for it any more.
    else on(own, new Event.Executed(number, new TreeMap<>()));
  }

  /* Everything that it has done and seen is durable. */
  private void left(TreeNode own) {
    site.links().close(own.id());
    taken(flushes).forEach(flush -> flush.complete(null));
    unflushed = false;
    unflushedReads = false;
    if (leaving || !moving) end();
    else comeBack();
  }

  private void disconnected(TreeNode own) {
    if (!leaving) tell(new Tree.Disconnected(site.domain(), unflushed, unflushedReads));
    // Each waiting flush gets the failure; otherwise the next flush, or the leaving member.
    var waitingFlushes = taken(flushes);
    if (leaving || waitingFlushes.isEmpty()) {
      if (unflushed || !waitingFlushes.isEmpty()) lost.set(true);
      if (unflushedReads) lostReads.set(true);
    } else {
      lost.set(false);
      lostReads.set(false);
    }
    covered.clear();
    waitingFlushes.forEach(flush -> flush.completeExceptionally(mayBeLost("")));
    unflushed = false;
    unflushedReads = false;
    site.links().close(own.id());
    if (leaving) end();
    else comeBack();
  }

  private void tell(Tree.Disconnected event) {
    telling =
        telling.handleAsync(
            (_, _) -> {
              try {
                site.disconnections().happened(event);
              } catch (RuntimeException | Error failed) {
                LOG.warn("what listens to the disconnections of {} failed", this, failed);
              }
              return null;
            },
            timing::start);
  }

  private void end() {
    forgotten.run(); // before it has left: its name is free then
    if (lost.get()) left.completeExceptionally(mayBeLost(""));
    else left.complete(null);
    fail(new Closed(name + " has left"));
  }

  private void comeBack() {
    node = site.newNode(name, node);
    moving = false;
    open();
    failAll(new Again());
    releaseWaiting();
    retry();
  }

  private void releaseWaiting() {
    var all = List.copyOf(waiting);
    waiting.clear();
    all.forEach(mailbox::put);
  }

  /// Returns where it stood at the last tick.
  TreePosition position() {
    return position;
  }

  private TreePosition look() {
    return new TreePosition(node.id(), node.above(), node.below().size(), node.owned());
  }

  /// Returns where it stands now.
  TreePosition positionNow() {
    var asked = new CompletableFuture<TreePosition>();
    mailbox.put(() -> complete(asked, this::look));
    return result(asked);
  }

  boolean isOver() {
    return over != null;
  }

  /// Returns its present node.
  NodeId id() {
    return node.id();
  }

  /*
   * Its node is given up, as a disconnected one is, but waiting callers get the reason. A root has
   * no other node: all of its domain ends, and another one begins.
   */
  private void broken(RuntimeException cause) {
    LOG.error("{} is given up, since an event of it could not be taken", this, cause);
    failCalls(cause);
    RootStore root = store;
    if (root != null) root.fail(cause);
    else if (!joined.isDone()) fail(cause);
    else if (over == null) replace(cause);
  }

  private void replace(RuntimeException cause) {
    try {
      disconnected(node);
    } catch (RuntimeException | Error again) {
      fail(cause);
      throw again;
    }
  }

  /// Ends it for good.
  void fail(RuntimeException cause) {
    if (over == null) over = cause;
    joined.completeExceptionally(cause);
    left.completeExceptionally(cause);
    failAll(cause);
    mailbox.put(() -> {
      site.links().close(node.id());
      releaseWaiting();
      retry();
    });
  }

  private void failAll(RuntimeException cause) {
    failCalls(cause);
    taken(flushes).forEach(each -> each.completeExceptionally(cause));
  }

  private void failCalls(RuntimeException cause) {
    taken(operations).forEach(each -> each.completeExceptionally(cause));
    taken(reads).forEach(each -> each.completeExceptionally(cause));
    taken(locals).forEach(each -> each.completeExceptionally(cause));
  }

  /* Removes pending requests, one after the other: a concurrent request is answered, or stays. */
  private static <T> List<CompletableFuture<T>> taken(Map<Long, Answer<T>> asked) {
    List<CompletableFuture<T>> all = new ArrayList<>();
    for (long number : List.copyOf(asked.keySet())) {
      var one = asked.remove(number);
      if (one != null) all.add(one);
    }
    return all;
  }

  private <T extends @Nullable Object> T await(CompletableFuture<T> future, Duration limit)
      throws TimeoutException {
    boolean interrupted = false;
    long end = timing.nanoTime() + limit.toNanos();
    try {
      while (true) {
        try {
          return timing.await(future, end - timing.nanoTime());
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } catch (ExecutionException wrapped) {
      if (wrapped.getCause() instanceof RuntimeException cause) throw cause;
      throw new IllegalStateException(wrapped);
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  private <T extends @Nullable Object> T ask(
      Map<Long, Answer<T>> asked, Wanted objects, LongFunction<Event> event, Object what) {
    long number = numbers.incrementAndGet();
    wanted.put(number, objects);
    try {
      return ask(asked, number, event, what);
    } finally {
      wanted.remove(number);
    }
  }

  /* Passes a request to the node, which answers it under a number. */
  private <T extends @Nullable Object> T ask(
      Map<Long, Answer<T>> asked, long number, LongFunction<Event> event, Object what) {
    var answer = new Answer<T>(timing.nanoTime() + limit().toNanos());
    asked.put(number, answer);
    ask(number, answer, event);
    try {
      return result(answer);
    } catch (Late late) {
      throw tooLate(what);
    }
  }

  private DeadlineExceeded tooLate(Object what) {
    return new DeadlineExceeded(
        what
            + " did not come to "
            + this
            + " within "
            + limit().toMillis()
            + " ms: another client works on it, or the server cannot be reached; ./stoa status"
            + " shows the clients and what each has. Call again");
  }

  private static <T extends @Nullable Object> T result(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException wrapped) {
      if (wrapped.getCause() instanceof RuntimeException cause) throw cause;
      throw wrapped;
    }
  }

  private void ask(long number, CompletableFuture<?> future, LongFunction<Event> event) {
    mailbox.put(() -> {
      RuntimeException end = over;
      if (end == null && leaving) end = new Closed(name + " is leaving");
      if (end != null) future.completeExceptionally(end);
      else if (moving) waiting.add(() -> ask(number, future, event));
      else if (!future.isDone() && !isElsewhere(number)) take(event.apply(number));
    });
  }

  /* Whether a request must go to the server. Others wait. */
  private boolean isElsewhere(long number) {
    var of = wanted.get(number);
    if (of == null) return false;
    for (var object : of.objects) {
      if (!isAtServer(object)) continue;
      if (of.alone) {
        goElsewhere(number);
        return true;
      }
      site.moveToClients(object);
    }
    return false;
  }

  private boolean isAsked(long number) {
    return operations.containsKey(number)
        || reads.containsKey(number)
        || locals.containsKey(number);
  }

  private void goElsewhere(long number) {
    CompletableFuture<?> future = operations.remove(number);
    if (future == null) future = reads.remove(number);
    if (future == null) future = locals.remove(number);
    if (future != null) future.completeExceptionally(new AtServer());
  }

  /// Returns whether an object is at the server, as far as this process knows.
  boolean isAtServer(StreamId object) {
    return startsAtServer.contains(object) ? !away.contains(object) : lent.contains(object);
  }

  /// Records that an object is at the server unless the root says otherwise.
  void noteAtServer(StreamId object) {
    startsAtServer.add(object);
  }

  /// Waits until the root's earlier messages are known.
  void hear() {
    var heard = new CompletableFuture<Void>();
    mailbox.put(() -> heard.complete(null));
    heard.join();
  }

  /// Returns whether this process has seen the newest state of an object since it came from the
  /// server, so that a copy here is no older than what calls at the server have answered.
  boolean isCurrent(StreamId object) {
    return current.contains(object);
  }

  /// Returns how often objects have changed sides.
  long sides() {
    return sides.get();
  }

  /// Records that the newest state of an object was seen.
  ///
  /// @param before [#sides()] before the request
  void seen(StreamId object, long before) {
    if (isCurrent(object)) return;
    mailbox.put(() -> {
      if (sides.get() == before && !isAtServer(object)) current.add(object);
    });
  }

  /// Records that an object has gone to the server, or has come from there.
  void side(StreamId object, boolean atServer) {
    mailbox.put(() -> {
      var _ = sides.incrementAndGet();
      if (!atServer) {
        lent.remove(object);
        away.add(object);
        return;
      }
      away.remove(object);
      current.remove(object);
      if (!startsAtServer.contains(object)) lent.add(object);
      wanted.forEach((number, of) -> {
        if (!of.objects.contains(object)) return;
        if (!of.alone) {
          site.moveToClients(object);
        } else if (isAsked(number)) {
          goElsewhere(number);
          take(new Event.Withdraw(number));
        }
      });
    });
  }

  /// Records that there is another root, which says anew what is at the server.
  void forgetSides() {
    mailbox.put(() -> {
      var _ = sides.incrementAndGet();
      lent.clear();
      away.clear();
      current.clear();
    });
  }

  // ---- for its member

  /// Gets objects for an operation, which [#executed] ends.
  ///
  /// @param alone whether the operation can be made at the server instead
  /// @throws Again when the node was disconnected
  /// @throws AtServer when the operation must be made there
  /// @throws UnknownOutcome when the program wants that after a loss, see [Disconnections]
  Obtained obtain(SortedSet<StreamId> objects, boolean alone, Object what) {
    throwAfterLoss();
    return ask(
        operations, new Wanted(objects, alone), number -> new Event.Submit(number, objects), what);
  }

  /// Gets a copy.
  ///
  /// @throws Again when the node was disconnected
  /// @throws AtServer when the read must be made at the server
  /// @throws UnknownOutcome as [#obtain]
  Copy read(StreamId object, Reads how, Object what) {
    throwAfterLoss();
    return ask(
        how == Reads.LOCAL ? locals : reads,
        new Wanted(List.of(object), true),
        number -> new Event.Read(number, object, how),
        what);
  }

  /// Of the root: the objects of an operation change at the server from the return of this on,
  /// until [#executed].
  void lend(Obtained obtained) {
    var lentNow = new CompletableFuture<@Nullable Void>();
    mailbox.put(() ->
        complete(
            lentNow,
            () -> {
              if (over == null) take(new Event.Lend(obtained.number()));
              return null;
            }));
    result(lentNow);
  }

  /// Of the root: ends an operation whose objects stay at the server, and forgets them.
  void forget(Obtained obtained) {
    mailbox.put(() -> {
      if (over == null) take(new Event.Forget(obtained.number()));
    });
  }

  /* The caller gets its answer also when the node breaks by it. */
  private <T extends @Nullable Object> void complete(CompletableFuture<T> asked, Supplier<T> task) {
    try {
      asked.complete(task.get());
    } catch (RuntimeException | Error broken) {
      asked.completeExceptionally(
          new UnknownOutcome(name + " broke when the call ended; it may have happened", broken));
      throw broken;
    }
  }

  /// Ends an operation.
  ///
  /// @return whether it has happened: it has not when the node was disconnected
  /// @throws UnknownOutcome when the node broke by it
  boolean executed(Obtained obtained, SortedMap<StreamId, byte[]> outputs) {
    var happened = new CompletableFuture<Boolean>();
    mailbox.put(() -> {
      if (node.id().equals(obtained.by())) {
        whenSure(node, () -> complete(happened, () -> executedHere(obtained, outputs)));
      } else {
        happened.complete(false);
      }
    });
    return result(happened);
  }

  private boolean executedHere(Obtained obtained, SortedMap<StreamId, byte[]> outputs) {
    if (over != null || !node.id().equals(obtained.by())) return false;
    take(new Event.Executed(obtained.number(), outputs));
    unflushed = true;
    changes++;
    return true;
  }

  /*
   * A node that was away for longer than its parent waits has lost its objects: others may have
   * them.
   */
  private boolean isFresh() {
    NodeId parent = node.above();
    if (node.isOrphan()) return false;
    if (parent == null || site.links().isFresh(node.id(), parent)) return true;
    site.links().cut(node.id(), parent);
    return false;
  }

  /// Waits, at the root, until everything that has come there is durable.
  void gate() {
    if (store != null) store.awaitPersisted(persisting);
  }

  /// Waits as [#gate], before a read is answered: there may be another root.
  void gateRead() {
    if (store == null) return;
    gate();
    store.confirm();
  }

  /// See [Member#flush].
  void flush() {
    var _ = result(begun().handle((_, failed) -> flushed(failed)));
  }

  /// See [Member#flushing]. Stages that depend on the result run on another thread than the node's.
  CompletableFuture<@Nullable Void> flushing() {
    return begun().handleAsync((_, failed) -> flushed(failed), timing::start);
  }

  private Answer<@Nullable Void> begun() {
    long number = numbers.incrementAndGet();
    var answer = new Answer<@Nullable Void>(timing.nanoTime() + limit().toNanos());
    flushes.put(number, answer);
    ask(
        number,
        answer,
        its -> {
          covered.put(its, new Covered(changes, sights));
          return new Event.Flush(its);
        });
    return answer;
  }

  private @Nullable Void flushed(@Nullable Throwable failed) {
    if (failed instanceof Late) throw tooLate("the word that all is durable");
    // After Again, it is as when the node was disconnected before.
    if (failed instanceof RuntimeException cause && !(cause instanceof Again)) throw cause;
    if (failed instanceof Error error) throw error;
    if (tellLoss()) throw mayBeLost("");
    return null;
  }

  /* Returns whether something may be lost of which no caller knows yet; from now on one knows. */
  private boolean tellLoss() {
    boolean calls = lost.getAndSet(false);
    return lostReads.getAndSet(false) || calls;
  }

  private void throwAfterLoss() {
    if (!lost.get() && !lostReads.get()) return;
    if (site.disconnections().areThrown() && tellLoss()) {
      throw mayBeLost(". This call did nothing");
    }
  }

  private UnknownOutcome mayBeLost(String more) {
    return new UnknownOutcome(
        name
            + " was disconnected; what it did or saw since its last flush may be lost: look at its"
            + " objects, and repeat what is missing"
            + more);
  }

  /// See [Member#close].
  void leave() {
    mailbox.put(() -> {
      if (over != null) return;
      leaving = true;
      if (node.isIn() || moving) take(new Event.Leave());
      else end(); // of a node that has no place, and has done nothing
    });
    Duration limit = site.objects().limits().closeTimeMax();
    try {
      await(left, limit);
    } catch (RuntimeException ended) {
      // Calls may have thrown the same exception, which cannot suppress itself.
      throw ended.equals(over) ? again(ended) : ended;
    } catch (TimeoutException late) {
      mailbox.put(() -> {
        site.links().close(node.id());
        end();
      });
      throw new UnknownOutcome(
          name + " could not leave within " + limit + "; what it did last may be lost", late);
    }
  }

  private RuntimeException again(RuntimeException ended) {
    if (ended instanceof Closed) return new Closed(String.valueOf(ended.getMessage()), ended);
    return new UnknownOutcome(name + " has ended before; what it did last may be lost", ended);
  }

  /// Returns where an object is, as far as this process knows.
  Tree.Whereabouts where(StreamId object) {
    var asked = new CompletableFuture<Tree.Whereabouts>();
    mailbox.put(() -> complete(asked, () -> look(object)));
    return result(asked);
  }

  private Tree.Whereabouts look(StreamId object) {
    if (over != null || !node.isIn()) return new Tree.Whereabouts.Unknown();
    if (isAtServer(object)) return new Tree.Whereabouts.AtServer();
    if (node.owns(object)) return new Tree.Whereabouts.Here();
    return new Tree.Whereabouts.Beyond(node.line(object).getFirst().toString());
  }

  /// Returns its place, and which of some objects are there.
  MemberPlace place(List<Object> asked, List<StreamId> streams) {
    var place = new CompletableFuture<MemberPlace>();
    mailbox.put(() -> {
      TreeNode own = node;
      List<Object> here = new ArrayList<>();
      for (int i = 0; i < asked.size(); i++) {
        if (own.isIn() && own.owns(streams.get(i))) here.add(asked.get(i));
      }
      place.complete(new MemberPlace(own.id(), own.above(), here));
    });
    return place.join();
  }

  /// Returns how many bytes the newest state of an object here has, as it travels; 0 when none is
  /// here.
  long stateBytes(StreamId stream) {
    var bytes = new CompletableFuture<Long>();
    mailbox.put(() -> {
      Copy copy = node.copy(stream);
      bytes.complete(copy == null ? 0L : copy.state().length);
    });
    return bytes.join();
  }

  @Override
  public String toString() {
    return "member " + id();
  }
}

package stoa.store.leading;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.log.BatchLog;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;

/// The gate through which answers leave a store: it holds an answer until everything that the
/// answer reflects is durable. Thread-safe.
///
/// A batch for which handlers wait goes into the mailboxes when the log has it, ahead of its sync.
/// So the handlers go on, and one sync makes all calls durable that they have made meanwhile. The
/// gate makes that sync when an answer waits for it.
public final class AnswerGate {
  /*
   * The batch writer raises `appended` and then `filled`. It raises the other two for a batch that
   * it has synced; the thread that syncs raises them for batches that have gone ahead.
   *
   *   appended   the streams show the entries
   *   filled     the mailboxes have them
   *   shown      the watchers of their keys know them, and readers of the present begin there
   *   durable    answers that reflect them leave
   *
   * Invariants:
   * (1) `shown` and `durable` are at or below what the disk has.
   * (2) A caller that has got an answer, and a watcher that has heard of a change, finds it at or
   *     below `shown`; or the batch writer is still filling the mailboxes, or a thread is showing
   *     the change. ReadMoments waits for both.
   * (3) A thread adds an answer and then reads `durable`; a thread raises `durable` and then looks
   *     at the answers. So no answer stays that may leave.
   * (4) A thread adds an answer and then looks whether another one syncs; a thread that has synced
   *     looks at the answers afterwards. So no answer waits without a thread that syncs.
   * (5) The answers of a key leave in the order in which they come: an answer that comes while the
   *     gate holds an earlier one of its key, or a thread is giving that to its caller, lines up
   *     behind it, and one thread at a time gives answers of a key. A thread that has given some
   *     looks at the answers again, as other threads have passed over those of its keys.
   */
  private static final Logger LOG = LoggerFactory.getLogger(AnswerGate.class);

  /// An answer that the gate may hold.
  public interface Held {
    /// Returns the key of which it is an answer.
    Key key();

    /// Returns the last log counter that the answer reflects.
    long reflects();

    /// Gives the answer to its caller.
    void leaves();

    /// Fails the caller: the log may lack what the answer reflects.
    void isLost(RuntimeException why);
  }

  /// A task for the moment at which the log is durable up to a counter.
  private record Later(long counter, Runnable task) {}

  private final @Nullable BatchLog log;
  private final boolean opens;
  private final Health health;
  private final Threads threads;
  private final Progress progress;
  private final AtomicLong durable;
  private final AtomicBoolean syncing = new AtomicBoolean();
  private volatile long appended;
  private volatile long filled;
  private volatile long shown;

  // Whether a thread tells watchers of what it is about to show.
  private volatile boolean isShowing;

  // Why the log may lack what was appended; null while nothing is known to be lost.
  private volatile @Nullable RuntimeException lost;

  // Whether a tick has passed over entries that are not durable.
  private volatile boolean isDue;

  // Guarded by itself.
  private final ArrayDeque<Later> later = new ArrayDeque<>();

  // In the order in which they came. Guarded by itself, as are changes of the next three fields.
  private final List<Held> held = new ArrayList<>();
  private volatile int heldCount;

  // How many answers of each key the gate holds, or threads are giving to their callers.
  private final ConcurrentHashMap<Key, Integer> lines = new ConcurrentHashMap<>();

  // The keys whose answers a thread is giving to their callers.
  private final Set<Key> leavingKeys = new HashSet<>();

  private Runnable caller = () -> {};

  /// @param log null when another store leads
  /// @param alone whether the store orders its log itself: only then may batches go ahead
  /// @param counter the log counter up to which the log is durable
  public AnswerGate(
      @Nullable BatchLog log,
      boolean alone,
      Health health,
      Threads threads,
      Progress progress,
      long counter) {
    this.log = log;
    this.opens = alone && log != null && log.syncsApart();
    this.health = health;
    this.threads = threads;
    this.progress = progress;
    this.durable = new AtomicLong(counter);
    appended = counter;
    filled = counter;
    shown = counter;
  }

  /// Sets what calls a thread that will [#sync]. Called once, before the first request.
  public void calledBy(Runnable newCaller) {
    caller = newCaller;
  }

  // ---- for the batch writer

  /// Returns whether a batch may go into the mailboxes ahead of its sync.
  public boolean mayGoAhead() {
    return opens && lost == null;
  }

  /// Notes that the streams show the entries up to a counter.
  public void appended(long counter) {
    appended = counter;
  }

  /// Notes that the log is durable up to a counter.
  public void durable(long counter) {
    durable.accumulateAndGet(counter, Math::max);
  }

  /// Runs a task when the log is durable up to a counter, before readers know of that.
  public void later(long counter, Runnable task) {
    synchronized (later) {
      later.add(new Later(counter, task));
    }
  }

  /// Notes that the mailboxes have all entries up to a counter.
  ///
  /// @param isDurable whether they are durable
  public void filled(long counter, boolean isDurable) {
    filled = counter;
    if (isDurable) show(counter);
  }

  /// Lets answers leave, and calls a thread that syncs if answers wait for that. The batch writer
  /// calls this when its turn is over: the listeners of answers run here.
  public void open() {
    release();
    call();
  }

  private void show(long counter) {
    synchronized (later) {
      if (counter <= shown) return;
      isShowing = true;
      try {
        for (Later next; (next = later.peek()) != null && next.counter <= counter; ) {
          later.remove().task.run();
        }
        shown = counter;
      } finally {
        isShowing = false;
      }
      progress.reach(counter);
    }
  }

  // ---- answers

  /// Returns whether an answer may leave at once: everything that it reflects is durable, and no
  /// earlier answer of its key is on its way.
  public boolean passes(Held answer) {
    return isDurable(answer.reflects()) && !isBehindOthers(answer);
  }

  /// Returns whether an earlier answer of the same key is on its way to its caller.
  private boolean isBehindOthers(Held answer) {
    return !lines.isEmpty() && lines.containsKey(answer.key());
  }

  /// Holds an answer when it reflects entries that are not durable, or when earlier answers of its
  /// key are on their way; returns whether it took the answer. It calls one of the methods of the
  /// answer then, perhaps before this returns. Of two answers of a key, one call ends before the
  /// other begins.
  ///
  /// @param tellsNothing whether the answer is a failure that tells nothing of any state, and so
  ///   leaves when the log has failed
  public boolean takes(Held answer, boolean tellsNothing) {
    if (passes(answer)) return false;
    if (lost != null && tellsNothing) return false;
    synchronized (held) {
      held.add(answer);
      heldCount = held.size();
      lines.merge(answer.key(), 1, Integer::sum);
    }
    if (lost != null || isDurable(answer.reflects())) release();
    return true;
  }

  private void release() {
    while (heldCount > 0) {
      List<Held> leaving = takeThoseThatMayLeave();
      if (leaving.isEmpty()) return;
      try {
        leaving.forEach(this::give);
      } finally {
        haveLeft(leaving);
      }
    }
  }

  private List<Held> takeThoseThatMayLeave() {
    boolean all = lost != null;
    long to = durable.get();
    var leaving = new ArrayList<Held>();
    synchronized (held) {
      var stay = new HashSet<Key>(leavingKeys);
      held.removeIf(answer -> {
        boolean leaves = (all || answer.reflects() <= to) && !stay.contains(answer.key());
        if (leaves) leaving.add(answer);
        else stay.add(answer.key());
        return leaves;
      });
      heldCount = held.size();
      for (Held answer : leaving) leavingKeys.add(answer.key());
    }
    return leaving;
  }

  private void give(Held answer) {
    RuntimeException why = lost;
    try {
      if (why == null || isDurable(answer.reflects())) answer.leaves();
      else answer.isLost(why);
    } catch (RuntimeException ofTheListener) {
      LOG.error("an answer has left, and its listener failed", ofTheListener);
    }
  }

  private void haveLeft(List<Held> gone) {
    synchronized (held) {
      for (Held answer : gone) {
        leavingKeys.remove(answer.key());
        lines.computeIfPresent(answer.key(), (_, count) -> count == 1 ? null : count - 1);
      }
    }
  }

  /// Returns the last log counter that the streams show. A reader of streams who does not know what
  /// an answer reflects takes this.
  public long appended() {
    return appended;
  }

  /// Returns the last log counter that readers of the present know. It may be about to rise while
  /// the gate [is showing][#isShowing].
  public long shown() {
    return shown;
  }

  /// Returns whether a thread tells watchers of entries that are not shown yet.
  public boolean isShowing() {
    return isShowing;
  }

  /// Returns whether the log is durable up to a counter.
  public boolean isDurable(long counter) {
    return counter <= durable.get();
  }

  /// Returns whether the mailboxes have entries that are not durable.
  public boolean isBehind() {
    return filled > durable.get();
  }

  /// Waits until everything that the streams show now is durable.
  ///
  /// @throws stoa.Unavailable when the log has failed
  public void awaitAppended() {
    await(appended);
  }

  /// Waits until the log is durable up to a counter that the streams show.
  ///
  /// @throws stoa.Unavailable when the log has failed
  public void await(long counter) {
    for (int spin = 0; !isDurable(counter); spin++) {
      RuntimeException why = lost != null ? lost : health.failure();
      if (why != null) throw Health.unavailable(why);
      if (!syncOnly()) threads.pause(spin);
      // Their listeners run elsewhere: this thread may hold locks.
      else if (heldCount > 0) handOver(() -> threads.work(this::open));
    }
  }

  // ---- the sync

  /// Returns whether something waits for a sync and no thread syncs.
  public boolean isWanted() {
    return (isDue || heldCount > 0) && isBehind() && !syncing.get();
  }

  /// Calls a thread that syncs if something waits for that.
  public void call() {
    if (isWanted()) handOver(caller);
  }

  private static void handOver(Runnable call) {
    try {
      call.run();
    } catch (RejectedExecutionException closed) {
      LOG.debug("the store is closing, which ends what waits", closed);
    }
  }

  /// Notes a tick: what no answer waits for becomes durable soon, too.
  public void tick() {
    if (!isBehind()) return;
    isDue = true;
    call();
  }

  /// Makes durable what the mailboxes have, lets answers leave, and calls a thread for a further
  /// sync that is wanted by then; returns false when all is durable already, or another thread
  /// makes the sync.
  public boolean sync() {
    if (!syncOnly()) return false;
    open();
    return true;
  }

  private boolean syncOnly() {
    if (!isBehind() || lost != null || !syncing.compareAndSet(false, true)) return false;
    try {
      isDue = false;
      long to = filled;
      Objects.requireNonNull(log).sync();
      show(to);
      durable(to);
    } catch (RuntimeException failed) {
      health.fail(failed);
      lose(failed);
      progress.wake();
    } finally {
      syncing.set(false);
    }
    return true;
  }

  /// Fails all answers that wait, and all later ones that reflect more than what is durable.
  public void lose(RuntimeException cause) {
    if (lost == null) {
      lost =
          cause instanceof UnknownOutcome
              ? cause
              : new UnknownOutcome("the log failed: " + cause.getMessage(), cause);
    }
    synchronized (later) {
      later.clear();
    }
    release();
  }
}

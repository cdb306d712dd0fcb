package stoa.store.running;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// A unit of work that is settled once, with an answer or a failure. It has a stage, a thread that
/// waits for it, and an outcome. Thread-safe.
public abstract class Pending {
  /*
   *                 waits              begin
   *   SUBMITTED ───────────► WAITING ─────────► BEGUN
   *                           │   ▲               ▲
   *                  takeBack │   │ waitsAgain    │ beginAfterAll
   *                           ▼   │               │
   *                         TAKEN_BACK ───────────┘
   *
   * A request that finds its key free begins without having waited.
   *
   * Invariants:
   * (1) One thread settles a request. Readers see the outcome after they have seen `done`.
   * (2) A request that is taken back before it begins does not run, unless the store could not log
   *     its verdict.
   */
  private enum Stage {
    /// The request is not in the mailbox of its key: the batch writer has not yet logged a put.
    SUBMITTED,
    /// The request is in the mailbox.
    WAITING,
    /// The run of the request has begun.
    BEGUN,
    /// A verdict took the request back before its run began.
    TAKEN_BACK
  }

  private static final AtomicReferenceFieldUpdater<Pending, Stage> STAGE =
      AtomicReferenceFieldUpdater.newUpdater(Pending.class, Stage.class, "stage");

  private volatile Stage stage;
  private @Nullable Answer answer;
  private @Nullable RuntimeException failure;
  private volatile boolean done;
  private volatile @Nullable Thread waiter;

  // The error that the caller gets before the request is settled; null while the caller waits.
  private volatile @Nullable RuntimeException left;

  // ---- its stage

  // The updater sets the stage.
  @SuppressWarnings("NullAway.Init")
  Pending() {
    STAGE.lazySet(this, Stage.SUBMITTED); // no other thread sees it yet, so it needs no fence
  }

  /// Moves it into the mailbox.
  final void waits() {
    if (stage == Stage.SUBMITTED) stage = Stage.WAITING;
  }

  /// Returns whether it has not come into the mailbox.
  final boolean isSubmitted() {
    return stage == Stage.SUBMITTED;
  }

  /// Returns whether it waits in the mailbox.
  final boolean isWaiting() {
    return stage == Stage.WAITING;
  }

  /// Returns whether a run of it has begun.
  final boolean isBegun() {
    return stage == Stage.BEGUN;
  }

  /// Returns whether it was taken back before it began.
  final boolean isTakenBack() {
    return stage == Stage.TAKEN_BACK;
  }

  /// Begins its run, or begins it again; returns false when it was taken back.
  final boolean begin() {
    Stage before = stage;
    if (before == Stage.BEGUN) return true;
    return before != Stage.TAKEN_BACK && STAGE.compareAndSet(this, before, Stage.BEGUN);
  }

  /// Takes it back if it waits; returns whether it did.
  final boolean takeBack() {
    return STAGE.compareAndSet(this, Stage.WAITING, Stage.TAKEN_BACK);
  }

  /// Begins its run although it was taken back; returns false when it is not taken back any more.
  final boolean beginAfterAll() {
    return STAGE.compareAndSet(this, Stage.TAKEN_BACK, Stage.BEGUN);
  }

  /// Puts it back among those that wait, although it was taken back; returns false when it has
  /// begun.
  final boolean waitsAgain() {
    return STAGE.compareAndSet(this, Stage.TAKEN_BACK, Stage.WAITING);
  }

  // ---- its outcome

  /// Returns whether it is settled.
  public final boolean isDone() {
    return done;
  }

  /// Returns whether its caller has stopped waiting: it is settled, or [#leave] released the
  /// caller.
  public final boolean isLeft() {
    return done || left != null;
  }

  /// Releases its caller with an error. The request itself continues.
  void leave(RuntimeException why) {
    left = why;
    wake();
  }

  /// Returns the answer of a settled request.
  ///
  /// @throws RuntimeException the failure, when it failed
  public final Answer answer() {
    check();
    Answer result = answer;
    if (result == null) throw new IllegalStateException(this + " has no answer");
    return result;
  }

  /// Throws the failure of a settled request, or the error with which [#leave] released the caller.
  public final void check() {
    if (!done) {
      RuntimeException why = left;
      throw why != null ? why : new IllegalStateException("the request is not settled");
    }
    RuntimeException cause = failure;
    if (cause != null) throw cause;
  }

  /// Returns whether a failure settled it.
  public final boolean failed() {
    return failure() != null;
  }

  /// Returns the failure that settled it; null when there is none.
  public final @Nullable RuntimeException failure() {
    return done ? failure : null;
  }

  /// Settles it with an answer; null when there is nothing to answer. This may take effect later,
  /// when everything that the answer reflects is durable.
  public final void complete(@Nullable Answer result) {
    answer = result;
    if (!isHeldBack(null)) settle();
  }

  /// Settles it with a failure, like [#complete].
  public void fail(RuntimeException cause) {
    failure = toldAs(cause);
    if (!isHeldBack(cause)) settle();
  }

  /// Settles it with a failure in place of the outcome that was held back.
  final void failInstead(RuntimeException cause) {
    answer = null;
    failure = toldAs(cause);
    settle();
  }

  /// Settles it with its outcome.
  final void settle() {
    ends(failure);
    release();
    done = true;
    wake();
    settled();
  }

  /// Holds its outcome back until that is durable; returns whether it did. [#settle] or
  /// [#failInstead] is called then.
  ///
  /// @param cause the failure; null when it did not fail
  abstract boolean isHeldBack(@Nullable RuntimeException cause);

  /// Returns the failure that its caller gets.
  abstract RuntimeException toldAs(RuntimeException cause);

  /// Notes that it ends.
  ///
  /// @param cause the failure; null when it did not fail
  abstract void ends(@Nullable RuntimeException cause);

  /// Releases the resources that it held while it was in progress.
  abstract void release();

  /// Tells the subclass that it is settled and that the waiting thread is awake.
  abstract void settled();

  // ---- the thread that waits for it

  /// Registers the current thread as the one to wake when it is settled.
  public final void isAwaited() {
    waiter = Thread.currentThread();
  }

  /// Blocks until it is settled or releases its caller.
  public final void await() {
    if (isLeft()) return;
    isAwaited();
    boolean interrupted = false;
    while (!isLeft()) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  /// Wakes the waiting thread, so that it checks its condition again.
  public final void wake() {
    Thread thread = waiter;
    if (thread != null) LockSupport.unpark(thread);
  }
}

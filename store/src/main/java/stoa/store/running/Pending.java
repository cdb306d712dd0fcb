package stoa.store.running;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// Something that is settled once, with an answer or a failure: how far it is, the thread that
/// waits for it, and its outcome. Thread-safe.
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
   * (1) One thread settles it. Readers see the outcome after they have seen `done`.
   * (2) A request that is taken back before it began does not run, unless its verdict could not be logged.
   */
  private enum Stage {
    /// It is not in the mailbox of its key: a put is not known to be logged.
    SUBMITTED,
    /// It is in the mailbox.
    WAITING,
    /// Its run has begun.
    BEGUN,
    /// It was taken back before its run began.
    TAKEN_BACK
  }

  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.SUBMITTED);
  private @Nullable Answer answer;
  private @Nullable RuntimeException failure;
  private volatile boolean done;
  private volatile @Nullable Thread waiter;

  /// What its caller is told before it is settled; null while the caller waits.
  private volatile @Nullable RuntimeException left;

  // ---- its stage

  Pending() {}

  /// It goes into the mailbox.
  final void waits() {
    if (stage.get() == Stage.SUBMITTED) stage.set(Stage.WAITING);
  }

  /// Whether it waits in the mailbox.
  final boolean isWaiting() {
    return stage.get() == Stage.WAITING;
  }

  /// Whether a run of it has begun.
  final boolean isBegun() {
    return stage.get() == Stage.BEGUN;
  }

  /// Whether it was taken back before it began.
  final boolean isTakenBack() {
    return stage.get() == Stage.TAKEN_BACK;
  }

  /// Its run begins, or begins again; answers false when it was taken back.
  final boolean begin() {
    Stage before = stage.get();
    if (before == Stage.BEGUN) return true;
    return before != Stage.TAKEN_BACK && stage.compareAndSet(before, Stage.BEGUN);
  }

  /// Takes it back if it waits; answers whether it did.
  final boolean takeBack() {
    return stage.compareAndSet(Stage.WAITING, Stage.TAKEN_BACK);
  }

  /// It begins although it was taken back; answers false when it is not taken back any more.
  final boolean beginAfterAll() {
    return stage.compareAndSet(Stage.TAKEN_BACK, Stage.BEGUN);
  }

  /// It waits although it was taken back; answers false when it has begun.
  final boolean waitsAgain() {
    return stage.compareAndSet(Stage.TAKEN_BACK, Stage.WAITING);
  }

  // ---- its outcome

  /// Whether it is settled.
  public final boolean isDone() {
    return done;
  }

  /// Whether its caller waits for it no longer: it is settled, or the caller was let go.
  public final boolean isLeft() {
    return done || left != null;
  }

  /// Lets its caller go. The request itself goes on.
  void leave(RuntimeException why) {
    left = why;
    wake();
  }

  /// The answer of a settled request.
  ///
  /// @throws RuntimeException the failure, when it failed
  public final Answer answer() {
    check();
    Answer result = answer;
    if (result == null) throw new IllegalStateException(this + " has no answer");
    return result;
  }

  /// Throws the failure of a settled request that failed, or why it let its caller go.
  public final void check() {
    if (!done) {
      RuntimeException why = left;
      throw why != null ? why : new IllegalStateException("the request is not settled");
    }
    RuntimeException cause = failure;
    if (cause != null) throw cause;
  }

  /// Whether a failure settled it.
  public final boolean failed() {
    return failure() != null;
  }

  /// The failure that settled it; null when there is none.
  public final @Nullable RuntimeException failure() {
    return done ? failure : null;
  }

  /// Settles it with an answer; null when there is nothing to answer.
  public final void complete(@Nullable Answer result) {
    answer = result;
    settle();
  }

  /// Settles it with a failure.
  public void fail(RuntimeException cause) {
    failure = toldAs(cause);
    settle();
  }

  private void settle() {
    release();
    done = true;
    wake();
    settled();
  }

  /// The failure that its caller is told.
  abstract RuntimeException toldAs(RuntimeException cause);

  /// Lets go of what it held while it was under way.
  abstract void release();

  /// It is settled, and the thread that waits for it is awake.
  abstract void settled();

  // ---- the thread that waits for it

  /// The current thread waits for it, and is woken when it is settled.
  public final void isAwaited() {
    waiter = Thread.currentThread();
  }

  /// Waits until it is settled, or lets its caller go.
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

  /// Has the thread that waits for it look again.
  public final void wake() {
    Thread thread = waiter;
    if (thread != null) LockSupport.unpark(thread);
  }
}

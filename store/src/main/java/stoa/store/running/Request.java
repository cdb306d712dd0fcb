package stoa.store.running;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.calls.Pace;

/// One thing asked of a key, from when the store accepts it until it is settled.
///
/// It is settled once, with an answer or a failure, after everything that the answer reflects is
/// durable.
public abstract sealed class Request extends Pending
    permits ChangeRequest, NoteRequest, AppendRequest, CommitRequest, QuestionRequest {
  /// About what an entry takes in the log beside its payload, with what the log tells of it.
  static final long ENTRY_BYTES = 256;

  /// The key; pinned until the request is settled.
  public final Resident resident;

  /// What is known of how long it runs.
  public final Pace pace;

  /// How many handlers wait for it, directly and through others.
  public final int depth;

  /// Whether it runs in a [Round], where nothing may wait.
  boolean hasty;

  /// When it was asked, in ticks.
  public int since;

  /// How many ticks it may take altogether; 0 when only its run is limited.
  public int ticksMax;

  /// The run that asks; null when none of this store does.
  public @Nullable Execution asker;

  /// The keys whose handlers wait for it in other stores, outermost first.
  public List<Key> callers = List.of();

  /// Why the leader refuses it; set before the batch is settled.
  public @Nullable RuntimeException refusal;

  /// The log counter up to which its answer reaches; valid once done.
  public long reach;

  /// The generation in which it was executed; valid once done.
  long generation;

  /// The number with which it was settled; valid once done.
  public long number;

  private volatile long session;
  private long id;
  private boolean isAhead;
  private volatile @Nullable Consumer<Request> listener;

  Request(Resident resident, Pace pace, int depth) {
    this.resident = resident;
    this.pace = pace;
    this.depth = depth;
    since = resident.books().now();
  }

  // ---- who asks

  /// Notes which client's session asks, for an operator.
  public Request askedBy(long askingSession) {
    session = askingSession;
    return this;
  }

  /// The session of the client who asks, itself or in a transaction; 0 for none.
  long session() {
    StoreTransaction in = transaction();
    return in == null ? session : in.session();
  }

  /// The transaction that asks, commits, or has a part here; null outside of one.
  public @Nullable StoreTransaction transaction() {
    return null;
  }

  /// The number by which an operator knows it.
  final synchronized long id(AtomicLong ids) {
    if (id == 0) id = ids.incrementAndGet();
    return id;
  }

  // ---- its time

  /// Whether more ticks have passed than it may take.
  final boolean isLate(int now) {
    return ticksMax > 0 && now - since > ticksMax;
  }

  /// Gives it what is left of the time of the request whose handler asks it.
  public final void hastenAs(Request outer) {
    since = outer.since;
    ticksMax = outer.ticksMax;
  }

  // ---- its place in the log

  /// It waits for its place in a batch: what the same key is asked meanwhile waits behind it.
  public final void goesAhead() {
    if (!keepsItsTurn()) return;
    isAhead = true;
    resident.goesAhead();
  }

  /// Whether what the same key is asked meanwhile waits behind it.
  final boolean isAhead() {
    return isAhead;
  }

  /// Whether what the same key is asked later is executed after it.
  boolean keepsItsTurn() {
    return false;
  }

  /// Whether what it logs has a place in the order of several stores.
  public boolean isOrdered() {
    return false;
  }

  /// About how many bytes it logs.
  public long bytes() {
    return 0;
  }

  /// About how many bytes it logs that stay.
  public long keptBytes() {
    return 0;
  }

  /// Whether the reserve of a full log is for it: it gives up something, or a logged call cannot
  /// end without it, and nothing that this call has put can be given up before.
  public boolean isSparing() {
    return true;
  }

  /// Whether it is not logged, as far as the leader knows. Only the leader asks.
  final boolean isRefused() {
    return refusal != null || failed();
  }

  // ---- its outcome

  /// The generation of the key in which it was executed, 0 when the key was absent. Valid once
  /// done.
  public final long generation() {
    return generation;
  }

  /// The log counter up to which its answer reaches. Valid once done.
  public final long reach() {
    return reach;
  }

  /// The number with which a request without an answer was settled: for a deletion, the generation
  /// that it ended.
  ///
  /// @throws RuntimeException the failure, when it failed
  public final long number() {
    check();
    return number;
  }

  /// Whether the store gave up a question, because its handler asks other keys:
  /// [Store#beginQuestion(Request)] asks it again. Valid once done.
  public boolean isMoved() {
    return false;
  }

  /// Whether its caller need not wait for it any more.
  public boolean isOver() {
    return isDone();
  }

  /// Tells a listener when it is settled or lets its caller go, at once if it is or has. The
  /// listener must not block; there is one at most.
  public final void whenDone(Consumer<Request> newListener) {
    listener = newListener;
    if (isLeft()) tell();
  }

  @Override
  void leave(RuntimeException why) {
    super.leave(why);
    tell();
  }

  @Override
  RuntimeException toldAs(RuntimeException cause) {
    return cause;
  }

  @Override
  void release() {
    resident.books().settled(this);
    unpin();
  }

  /// Notes that a caller of this process sees what it reflects, unless a handler is the caller.
  final void observe() {
    if (depth == 0) resident.books().observe(reach);
  }

  /// Lets its keys leave memory.
  void unpin() {
    resident.unpin();
  }

  @Override
  final void settled() {
    if (listener != null) tell();
  }

  private void tell() {
    Consumer<Request> told;
    synchronized (this) {
      told = listener;
      listener = null;
    }
    if (told != null) told.accept(this);
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + " of " + resident.key;
  }
}

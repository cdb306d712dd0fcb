package stoa.store.running;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.store.calls.Pace;
import stoa.store.leading.AnswerGate;

/// One operation on a key, from when the store accepts it until the store settles it.
///
/// The store settles it once, with an answer or a failure, after everything that the answer
/// reflects is durable. Its caller owns it until the store accepts it, then the batch writer, and
/// then the runner of its key.
@SuppressWarnings("exports") // see the package
public abstract sealed class Request extends Pending implements AnswerGate.Held
    permits ChangeRequest, NoteRequest, AppendRequest, CommitRequest, QuestionRequest {
  /// The approximate size of a log entry beside its payload, with the notes that the log adds about
  /// it.
  static final long ENTRY_BYTES = 256;

  /// The key; pinned until the request is settled.
  public final Resident resident;

  /// How long the request is expected to run.
  public final Pace pace;

  /// How many handlers wait for the request, directly and through others.
  public final int depth;

  /// Whether the request runs in a `BriefTurn`, where nothing may wait.
  boolean hasty;

  /// The tick at which the caller made the request.
  public int since;

  /// How many ticks the request may take altogether; 0 when the store limits only its run.
  public int ticksMax;

  /// The run that makes the request; null when no run of this store does.
  public @Nullable Execution asker;

  /// The keys of other stores whose handlers wait for the request, outermost first.
  public List<Key> callers = List.of();

  /// The reason for which the batch writer refuses the request; set before the batch is settled.
  public @Nullable RuntimeException refusal;

  /// The log counter up to which the answer reaches; valid once done.
  public long reach;

  // The last log counter that the answer reflects, through the answers of other keys, too.
  private long reflects;

  /// The generation in which the request was executed; valid once done.
  long generation;

  /// The number with which the store settled the request; valid once done.
  public long number;

  // The stages of the request, for the trace of its call; null when no tracer records the call.
  private @Nullable Stages stages;

  private volatile long session;
  private long id;
  private @Nullable Request namedAs;
  private boolean isAhead;
  private boolean parked;
  private boolean isInside;

  // Whether the gate holds the answer.
  private volatile boolean held;

  // Whether a thread waits for the answer and makes the sync that the answer needs.
  private volatile boolean watched;
  private volatile @Nullable Consumer<Request> listener;

  Request(Resident resident, Pace pace, int depth) {
    this.resident = resident;
    this.pace = pace;
    this.depth = depth;
    since = resident.books().now();
  }

  // ---- the caller

  /// Notes the session of the client that makes the request, for an operator.
  public Request askedBy(long askingSession) {
    session = askingSession;
    return this;
  }

  /// Records where the request is until it is settled. Called before any other thread knows the
  /// request.
  ///
  /// @param trace of the call; null when no tracer records it
  public final void trace(@Nullable Trace trace) {
    if (trace != null) stages = new Stages(trace);
  }

  /// Returns the stages of the request, for the trace of its call; null when no tracer records it.
  public final @Nullable Stages stages() {
    return stages;
  }

  /// Returns the session of the client that makes the request, itself or in a transaction; 0 for
  /// none.
  long session() {
    StoreTransaction in = transaction();
    return in == null ? session : in.session();
  }

  /// Returns the transaction that makes the request, commits with it, or has it as a part; null
  /// outside of one.
  public @Nullable StoreTransaction transaction() {
    return null;
  }

  /// Returns the number by which an operator names the request.
  final synchronized long id(AtomicLong ids) {
    if (namedAs != null) return namedAs.id(ids);
    if (id == 0) id = ids.incrementAndGet();
    return id;
  }

  /// Makes an operator see this request as another one, for which it is made.
  final void isNamedAs(Request other) {
    namedAs = other;
    session = other.session;
  }

  // ---- its time

  /// Returns whether more ticks have passed than the request may take.
  final boolean isLate(int now) {
    return ticksMax > 0 && now - since > ticksMax;
  }

  /// Gives the request the remaining time of an outer request, whose handler makes it.
  public final void hastenAs(Request outer) {
    since = outer.since;
    ticksMax = outer.ticksMax;
  }

  // ---- its place in the log

  /// Makes later requests of the same key wait behind this one, which waits for its place in a
  /// batch.
  public final void goAhead() {
    if (!keepsItsTurn()) return;
    isAhead = true;
    resident.countAhead();
  }

  /// Returns whether later requests of the same key wait behind this one.
  final boolean isAhead() {
    return isAhead;
  }

  /// Returns whether the store executes later requests of the same key after this one.
  boolean keepsItsTurn() {
    return false;
  }

  /// Returns whether its log entry has a place in the order of several stores.
  public boolean isOrdered() {
    return false;
  }

  /// Returns about how many bytes it logs.
  public long bytes() {
    return 0;
  }

  /// Returns about how many of the bytes that it logs stay in the log.
  public long keptBytes() {
    return 0;
  }

  /// Returns whether it may use the reserve of a full log. It may if it frees space, or if a logged
  /// call cannot end without it and no put of that call can free space before.
  public boolean isSparing() {
    return true;
  }

  /// Returns whether the batch writer has refused or failed it, so that it is not logged. Only the
  /// batch writer calls this.
  final boolean isRefused() {
    return refusal != null || failed();
  }

  /// Returns whether its batch goes ahead of its sync, since a handler waits for it, or because it
  /// will probably call other keys.
  public boolean hastensOthers() {
    return false;
  }

  // ---- when its answer leaves

  /// Notes that the batch writer has logged it in a batch that ends at a log counter.
  public void loggedTo(long counter) {
    reflects(counter);
  }

  /// Notes that its answer reflects the log up to a counter.
  final void reflects(long counter) {
    if (counter > reflects) reflects = counter;
  }

  /// Notes that its answer reflects everything in the log, as far as its maker knows.
  final void reflectsAll() {
    reflects(resident.books().gate().appended());
  }

  @Override
  public final Key key() {
    return resident.key;
  }

  @Override
  public final long reflects() {
    return reflects;
  }

  /// Notes that its answer stays within the store: only the store uses it, for other answers.
  final void staysInside() {
    isInside = true;
  }

  /// Returns whether its answer stays within the store. The answers that the store makes of it are
  /// held back, if necessary.
  boolean isInside() {
    return isInside || depth > 0;
  }

  /// Returns whether the gate holds its answer.
  public final boolean isHeld() {
    return held && !isDone();
  }

  /// Notes that the current thread waits for the answer and looks at [#isHeld] meanwhile, to make
  /// the sync; or that it no longer does.
  public final void isWatched(boolean isSo) {
    watched = isSo;
    if (!isSo && isHeld()) resident.books().gate().call();
  }

  @Override
  final boolean isHeldBack(@Nullable RuntimeException cause) {
    if (isInside()) return false;
    if (cause != null && !isSubmitted()) reflectsAll();
    AnswerGate gate = resident.books().gate();
    if (gate.passes(this)) return false;
    boolean tellsNothing =
        cause instanceof Unavailable || cause instanceof UnknownOutcome || cause instanceof Closed;
    held = true;
    if (!gate.takes(this, tellsNothing)) return false;
    if (!watched && !isDone()) gate.call();
    return true;
  }

  @Override
  public final void leaves() {
    settle();
  }

  @Override
  public final void isLost(RuntimeException why) {
    failInstead(why);
  }

  // ---- its outcome

  /// Returns the generation of the key in which it was executed, 0 when the key was absent. Valid
  /// once done.
  public final long generation() {
    return generation;
  }

  /// Returns the log counter up to which its answer reaches. Valid once done.
  public final long reach() {
    return reach;
  }

  /// Returns the number of a request that has no answer: for a deletion, the generation that it
  /// ended.
  ///
  /// @throws RuntimeException the failure, when it failed
  public final long number() {
    check();
    return number;
  }

  /// Returns whether the store gave up a question because its handler asks other keys:
  /// [Store#beginQuestion(Request)] asks it again. Valid once done.
  public boolean isMoved() {
    return false;
  }

  /// Returns whether its caller need not wait for it any more.
  public boolean isOver() {
    return isDone();
  }

  /// Sets the listener, which this calls when the request is settled or releases its caller, or at
  /// once if that has happened. The listener must not block. A request has one listener at most.
  public final void whenDone(Consumer<Request> newListener) {
    listener = newListener;
    if (isLeft()) tell();
  }

  @Override
  final void ends(@Nullable RuntimeException cause) {
    Stages recorded = stages;
    if (recorded != null) recorded.end(cause);
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
    if (!parked) resident.books().settled(this);
    unpin();
  }

  /// Stops counting the request as in progress before it is settled, while it waits for nothing
  /// that is in progress. It still pins its keys.
  final void park() {
    parked = true;
    resident.books().settled(this);
  }

  /// Notes that a caller of this process sees the state that the answer reflects, unless the caller
  /// is a handler.
  final void observe() {
    if (depth == 0) resident.books().observe(reach);
  }

  /// Unpins its keys, so that they may leave memory.
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

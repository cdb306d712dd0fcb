package stoa.store;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;

/// One thing asked of a key, from when it is accepted until it is settled.
///
/// It is settled once, with an answer or a failure, after everything that the answer reflects is
/// durable.
public final class Request {
  /// What is asked.
  enum Kind {
    /// Execute a put, logged.
    PUT,
    /// End the key's generation, logged.
    DELETE,
    /// Append an entry for which nothing is executed.
    NOTE,
    /// Append to users' streams, at one log address.
    APPEND,
    /// Commit a transaction, logged.
    COMMIT,
    /// Execute what a committed transaction does to one key.
    PART,
    /// Copy the handler.
    FORK,
    /// Ask the handler, after every put before; not logged.
    GET,
    /// Ask whether the key is alive, and in which generation.
    GENERATION,
    /// Ask for the address of the last executed put.
    POSITION
  }

  /// About what an entry takes in the log beside its payload, with what the log tells of it.
  private static final long ENTRY_BYTES = 256;

  final Kind kind;
  final Resident resident;

  /// The value of a PUT, the payload of a NOTE.
  final byte[] value;

  /// The kind of entry that a NOTE appends.
  byte noteKind;

  /// What a PUT or GET expects of the key.
  final @Nullable Existence existence;

  /// What a GET asks.
  final @Nullable Object query;

  /// What the value of a PUT was read as before it was logged; null when its handler reads the
  /// value, and once the handler has this.
  @Nullable Object read;

  /// Who asks, when a handler does.
  final Records.@Nullable Origin origin;

  /// How many handlers wait for this request, directly and through others.
  final int depth;

  /// The transaction that asks, commits, or has a part here; null outside of one.
  final @Nullable Transaction transaction;

  /// Whether the asking thread itself may execute it: the code is known to be short.
  final boolean quick;

  /// Whether it is known to be brief, see [Pace].
  boolean brief;

  /// Whether it runs in a [Round], where nothing may wait.
  boolean hasty;

  /// When it was asked, in ticks.
  int since;

  /// How many ticks it may take altogether; 0 when only its run is limited.
  int ticksMax;

  /// Whether a GET is given up when the handler asks other keys: it is then [#moved], and is to be
  /// asked as of one moment.
  boolean alone;

  /// The log counter up to which all was committed when a GET was asked that may be given up.
  long asked;

  // Set by the leader when it is put in a batch, before the request goes to the mailbox.
  long address;
  long counter;
  long nowMicros;
  boolean begins;
  byte @Nullable [] opening;
  @Nullable RuntimeException refusal;

  /// The note without which this must not be logged: what the value of a nested PUT reflects; of
  /// the NOTE of an answer, that of the one before. Null once it is settled.
  @Nullable Request after;

  /// The run that asks; null when none of this store does.
  @Nullable Execution asker;

  /// The keys whose handlers wait for it in other stores, outermost first.
  List<Key> callers = List.of();

  /// Whether a PUT is made by a handler of another store, so that its refusal is logged, too.
  boolean visits;

  /// The address of the logged put for whose execution a POSITION waits; 0 when it waits for what
  /// there is.
  long behind;

  /// Why that put is taken back; null when it is not.
  volatile @Nullable Deadlock passed;

  /// What must not have been lost when an announcement is logged.
  Announcements.@Nullable Reflected reflected;

  /// What an APPEND appends.
  @Nullable Appending appending;

  /// Whether the state had changed behind the moment that the transaction reads at, or the handler
  /// asked other keys: the question is to be asked of the past. Valid once done.
  boolean moved;

  /// What a FORK found; valid once done.
  @Nullable Copy copy;

  /// The log counter up to which what it is answered with reaches; valid once done.
  long reach;

  /// The generation that the request was executed in; valid once done.
  long generation;

  /// What a NOTE, GENERATION, POSITION or DELETE found; valid once done.
  long number;

  /// The session of the client who asks; 0 when it is none of a server's.
  private volatile long session;

  /// How far it is, until it is settled.
  private enum Stage {
    /// It is not in the mailbox of its key: a put is not known to be logged.
    ASKED,
    /// It is in the mailbox.
    WAITING,
    /// Its run has begun.
    BEGUN,
    /// It is taken back before its run began.
    TAKEN_BACK
  }

  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.ASKED);

  /// The verdict over a PUT that is taken back before its run began.
  private volatile @Nullable Request verdict;

  private long id;
  private @Nullable Answer answer;
  private @Nullable RuntimeException failure;
  private boolean isAhead;
  private volatile boolean done;
  private volatile @Nullable Thread waiter;
  private volatile @Nullable Consumer<Request> listener;

  /// Notes of which client's session it is, for an operator.
  public Request askedBy(long askingSession) {
    session = askingSession;
    return this;
  }

  /// The session of the client who asks, itself or in a transaction; 0 for none.
  long session() {
    Transaction in = transaction;
    return in == null ? session : in.session();
  }

  Request(
      Kind kind,
      Resident resident,
      byte[] value,
      @Nullable Existence existence,
      @Nullable Object query,
      Records.@Nullable Origin origin,
      int depth,
      boolean quick) {
    this(kind, resident, value, existence, query, origin, depth, quick, null);
  }

  private Request(
      Kind kind,
      Resident resident,
      byte[] value,
      @Nullable Existence existence,
      @Nullable Object query,
      Records.@Nullable Origin origin,
      int depth,
      boolean quick,
      @Nullable Transaction transaction) {
    this.kind = kind;
    this.resident = resident;
    this.value = value;
    this.existence = existence;
    this.query = query;
    this.origin = origin;
    this.depth = depth;
    this.quick = quick;
    this.transaction = transaction;
    since = resident.store().runners().now();
  }

  /// By what an operator knows it.
  synchronized long id(AtomicLong ids) {
    if (id == 0) id = ids.incrementAndGet();
    return id;
  }

  /// Whether more ticks have passed than it may take.
  boolean isLate(int now) {
    return ticksMax > 0 && now - since > ticksMax;
  }

  /// It takes as long as the one that asks it may.
  void hastenAs(Request outer) {
    since = outer.since;
    ticksMax = outer.ticksMax;
  }

  /// It goes into the mailbox.
  void waits() {
    if (stage.get() == Stage.ASKED) stage.set(Stage.WAITING);
  }

  /// Whether it waits in the mailbox.
  boolean isWaiting() {
    return stage.get() == Stage.WAITING;
  }

  /// Whether a run of it has begun.
  boolean isBegun() {
    return stage.get() == Stage.BEGUN;
  }

  /// Its run begins, or begins again; answers false when it is taken back.
  boolean begin() {
    Stage before = stage.get();
    if (before == Stage.BEGUN) return true;
    return before != Stage.TAKEN_BACK && stage.compareAndSet(before, Stage.BEGUN);
  }

  /// It is executed after all, since a verdict over it could not be logged; answers false when it
  /// is not taken back by that any more.
  synchronized boolean beginAfterAll(Request failed) {
    return failed.equals(verdict) && stage.compareAndSet(Stage.TAKEN_BACK, Stage.BEGUN);
  }

  /// It waits as before, since the verdict over it could not be logged; answers false when it was
  /// begun.
  synchronized boolean waitsAgain() {
    verdict = null;
    return stage.compareAndSet(Stage.TAKEN_BACK, Stage.WAITING);
  }

  /// Whether it is taken back, and was not begun before.
  boolean isTakenBack() {
    return stage.get() == Stage.TAKEN_BACK;
  }

  /// Takes it back if it waits; answers whether it did.
  boolean takeBack() {
    return stage.compareAndSet(Stage.WAITING, Stage.TAKEN_BACK);
  }

  void verdict(Request note) {
    verdict = note;
  }

  /// The verdict over a put that is taken back, null for the moment in which it is being made.
  @Nullable Request verdict() {
    return verdict;
  }

  /// A request of a transaction: a GET, FORK, COMMIT or PART.
  static Request of(
      Transaction transaction,
      Kind kind,
      Resident resident,
      @Nullable Existence existence,
      @Nullable Object query,
      boolean quick) {
    byte[] nothing = {};
    return new Request(kind, resident, nothing, existence, query, null, 0, quick, transaction);
  }

  /// A request that copies the handler as it is.
  static Request fork(Resident resident) {
    byte[] nothing = {};
    return new Request(Kind.FORK, resident, nothing, null, null, null, 0, false);
  }

  static Request note(Resident resident, byte noteKind, byte[] payload) {
    var request = new Request(Kind.NOTE, resident, payload, null, null, null, 0, true);
    request.noteKind = noteKind;
    resident.noteBegins();
    return request;
  }

  static Request append(Appending appending) {
    Resident first = appending.residents()[0];
    byte[] nothing = {};
    var request = new Request(Kind.APPEND, first, nothing, null, null, null, 0, true);
    request.appending = appending;
    return request;
  }

  /// It waits for its place in a batch: what its key is asked meanwhile waits behind it.
  void goesAhead() {
    if (kind != Kind.PUT && kind != Kind.DELETE && kind != Kind.GET) return;
    isAhead = true;
    resident.goesAhead();
  }

  /// Whether what it logs has a place in the order of several stores.
  boolean isOrdered() {
    return switch (kind) {
      case PUT, DELETE, NOTE -> resident.ordered;
      case APPEND, COMMIT -> true;
      case PART, FORK, GET, GENERATION, POSITION -> false;
    };
  }

  /// About how many bytes it logs.
  long bytes() {
    if (transaction != null) return transaction.bytes();
    Appending appends = appending;
    if (appends != null) return appends.bytes();
    return value.length;
  }

  private boolean isQuestion() {
    return switch (kind) {
      case GET, FORK, GENERATION, POSITION -> true;
      case PUT, DELETE, NOTE, APPEND, COMMIT, PART -> false;
    };
  }

  /// What a question fails with, about which nothing can be unknown: it changes nothing.
  static RuntimeException ofQuestion(RuntimeException cause) {
    return cause instanceof UnknownOutcome
        ? new Unavailable("nothing was changed, ask again later: " + cause.getMessage(), cause)
        : cause;
  }

  /// About how many bytes it logs of what is to stay.
  long keptBytes() {
    return switch (kind) {
      case PUT, APPEND, COMMIT -> bytes() + ENTRY_BYTES;
      case DELETE, NOTE, PART, FORK, GET, GENERATION, POSITION -> 0;
    };
  }

  /// Whether it is logged though the log is full, in the room that is kept: it gives up something,
  /// or a call that was logged before needs it to come to its end, without which nothing of what
  /// that has put can be given up.
  boolean isSparing() {
    return switch (kind) {
      case PUT ->
          (origin != null && origin.isHandler())
              || resident.store().factory(resident.key.space()).givesUp(value);
      case COMMIT -> transaction != null && transaction.onlyDeletes();
      case APPEND -> false;
      case DELETE, NOTE, PART, FORK, GET, GENERATION, POSITION -> true;
    };
  }

  /// Whether it is settled.
  public boolean isDone() {
    return done;
  }

  /// Whether a question was given up, because the handler asks other keys: ask it with
  /// [Store#beginQuestion(Request)]. Valid once done.
  public boolean isMoved() {
    return moved;
  }

  /// The generation of the key in which it was executed, 0 when the key was absent. Valid once
  /// done.
  public long generation() {
    return generation;
  }

  /// Whether nobody has to wait for it any more: it is settled, or the put is executed or taken
  /// back for which it waits.
  boolean isOver() {
    return done || passed != null || (behind > 0 && resident.hasExecuted(behind));
  }

  /// The answer of a settled request.
  ///
  /// @throws RuntimeException the failure, when it failed
  public Answer answer() {
    check();
    Answer result = answer;
    if (result == null) throw new IllegalStateException(kind + " has no answer");
    return result;
  }

  /// The log counter up to which what it is answered with reaches. Valid once done.
  public long reach() {
    return reach;
  }

  /// What a settled request without an answer found: for a deletion, the generation that it ended.
  ///
  /// @throws RuntimeException the failure, when it failed
  public long number() {
    check();
    return number;
  }

  /// Whether it is settled by a failure.
  boolean failed() {
    return failure() != null;
  }

  /// The failure by which it is settled; null when there is none.
  @Nullable RuntimeException failure() {
    return done ? failure : null;
  }

  /// Whether it is not logged, as far as whoever leads knows. Asked by that one only.
  boolean isRefused() {
    return refusal != null || failed();
  }

  /// Throws the failure of a settled request that failed.
  void check() {
    if (!done) throw new IllegalStateException("the request is not settled");
    RuntimeException cause = failure;
    if (cause != null) throw cause;
  }

  /// Tells a listener when it is settled, at once if it is. The listener must not block; there is
  /// one at most.
  public void whenDone(Consumer<Request> newListener) {
    listener = newListener;
    if (done) tell();
  }

  void complete(@Nullable Answer result) {
    answer = result;
    settle();
  }

  void fail(RuntimeException cause) {
    failure = isQuestion() ? ofQuestion(cause) : cause;
    if (kind == Kind.NOTE && noteKind == Records.ANSWERED) resident.answerLost();
    settle();
  }

  private void settle() {
    if (kind == Kind.NOTE) resident.noteEnds();
    else if (depth == 0) resident.store().observed().advance(reach);
    if (ticksMax > 0) resident.store().takingBack().settled(this);
    if (isAhead) resident.isPassed();
    resident.store().settled();
    if (appending == null) resident.unpin();
    else appending.unpin();
    after = null;
    done = true;
    wake();
    if (listener != null) tell();
  }

  /// Lets the thread that waits for it look again.
  void wake() {
    Thread thread = waiter;
    if (thread != null) LockSupport.unpark(thread);
  }

  private void tell() {
    Consumer<Request> told;
    synchronized (this) {
      told = listener;
      listener = null;
    }
    if (told != null) told.accept(this);
  }

  void waiter(@Nullable Thread thread) {
    waiter = thread;
  }
}

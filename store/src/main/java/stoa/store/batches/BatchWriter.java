package stoa.store.batches;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.leading.Admission;
import stoa.store.leading.AnswerGate;
import stoa.store.leading.Health;
import stoa.store.leading.Intents;
import stoa.store.leading.ReadMoments;
import stoa.store.records.Records;
import stoa.store.running.AppendRequest;
import stoa.store.running.Appending;
import stoa.store.running.CheckpointRequest;
import stoa.store.running.CommitRequest;
import stoa.store.running.Execution;
import stoa.store.running.GetRequest;
import stoa.store.running.Journal;
import stoa.store.running.NoteRequest;
import stoa.store.running.PartRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.SpaceRegistry;
import stoa.store.running.StoreTransaction;
import stoa.store.running.TimeLimits;
import stoa.store.running.WaitChain;
import stoa.store.running.WaitingCalls;
import stoa.store.threads.Threads;

/// Makes sure that a thread writes the next batch, and that threads execute the requests of the
/// batch and wait for them. Thread-safe.
public final class BatchWriter implements Journal, Intake.Help {
  private static final int SPINS = 400;

  // A gathering thread writes a batch itself if batches take less than this.
  private static final long SWIFT_MICROS = 100;

  // A gathering thread writes a batch of one request itself if batches take less than this and no
  // other request is in progress.
  private static final long SOON_MICROS = 2_000;

  private static final int GATHERED_BATCHES_MAX = 4;

  // Beyond so many requests in progress, this does not count how many of them are notes.
  private static final int NOTES_COUNTED_MAX = 8;

  // How often to check whether a request waits for another store.
  private static final long LOOK_NANOS = 2_000_000;

  private final Intake intake;
  private final AnswerGate gate;
  private final Residents residents;
  private final Admission admission;
  private final TimeLimits limits;
  private final SpaceRegistry spaces;
  private final Health health;
  private final Threads threads;
  private final BriefTurns turns = new BriefTurns();
  private final AtomicBoolean writerCalled = new AtomicBoolean();

  // Null when all keys are here.
  private final @Nullable Neighbors neighbors;

  private @Nullable WaitingCalls waiting;

  /// The parts that a batch writer uses.
  ///
  /// @param intake where requests wait for their batch
  /// @param residents the keys that execute the requests
  /// @param admission how many requests are in progress
  /// @param limits how long requests may take
  public record Parts(
      Intake intake,
      Residents residents,
      Admission admission,
      TimeLimits limits,
      SpaceRegistry spaces,
      Health health,
      Threads threads) {}

  /// @param neighbors null when all keys are here
  public BatchWriter(Parts parts, @Nullable Neighbors neighbors) {
    this.intake = parts.intake;
    this.gate = parts.intake.gate();
    this.residents = parts.residents;
    this.admission = parts.admission;
    this.limits = parts.limits;
    this.spaces = parts.spaces;
    this.health = parts.health;
    this.threads = parts.threads;
    this.neighbors = neighbors;
    intake.helpedBy(this);
    gate.calledBy(this::wakeWriterThread);
  }

  /// Sets the calls that wait for conditions. Called once, before the first request.
  public void waiting(WaitingCalls calls) {
    waiting = calls;
  }

  @Override
  public @Nullable PutRequest attemptBehind(PutRequest change) {
    WaitingCalls calls = waiting;
    return calls == null ? null : calls.attemptBehind(change);
  }

  /// Passes a tick to the turns.
  public void tick() {
    turns.watch(threads);
    intake.tick();
    gate.tick();
    if (!intake.isEmpty()) callWriterThread();
  }

  // ---- the log

  /// Returns the gate through which answers leave.
  public AnswerGate gate() {
    return gate;
  }

  /// Returns the log counters that can be read.
  public ReadMoments moments() {
    return intake.moments();
  }

  /// Returns the counter of [ReadMoments#moment] for a reader that asks a key directly, without
  /// waiting for the key's earlier puts. If the key is ordered among several stores, this first
  /// waits for the batch in progress, which may have a lower address than an answer that another
  /// store has given.
  long momentAt(Key key) {
    intake.moments().await(key.stream(), spaces.isOrdered(key));
    return intake.moments().moment();
  }

  /// Returns the epoch in which log addresses are issued.
  public long epoch() {
    return intake.epoch();
  }

  /// Returns the term under which this process leads the log.
  public long term() {
    return intake.term();
  }

  /// Returns a number that no other opening of this log has.
  public long owner() {
    return intake.owner();
  }

  /// Returns the log counter with which the epoch began.
  public long firstCounter() {
    return intake.firstCounter();
  }

  /// Returns when this process shows everything that was acknowledged before.
  ///
  /// @throws Unavailable when the log has failed
  public void confirm() {
    health.confirm();
  }

  /// Pins a key for a request of a caller and returns it.
  ///
  /// @throws stoa.LimitExceeded when too many requests are in progress
  /// @throws Closed when the store is closed
  Resident accepted(Key key) {
    return residents.pinAccepted(key);
  }

  /// Returns whether the store is open and its log has not failed.
  public boolean mayLog() {
    return !health.isClosed() && !health.hasFailed();
  }

  /// Returns whether no request waits for a batch.
  public boolean isIdle() {
    return intake.isEmpty();
  }

  // ---- puts and deletions

  /// Adds a request to the queue for a batch, or fails it when the log has failed.
  public void add(Request request) {
    intake.add(request);
  }

  /// Fails a request that waits for no batch if the log has failed; returns whether it did.
  public boolean refuses(Request request) {
    return intake.refuses(request);
  }

  /// Logs and executes a request, and waits until it is settled.
  public <R extends Request> R log(R request) {
    intake.add(request);
    return await(request);
  }

  /// Begins to log and execute a request. The store executes the requests of one thread in order.
  public void logAsync(Request request) {
    intake.add(request);
    callWriterThread();
  }

  /// Logs a checkpoint of a key, and waits until the key has made it.
  public void checkpoint(Key key) {
    log(new CheckpointRequest(accepted(key))).check();
  }

  @Override
  public void logAgain(PutRequest attempt) {
    intake.add(attempt);
    BriefTurn turn = turns.current();
    if (turn == null || !turn.isWriting()) callWriterThread();
  }

  @Override
  public PutRequest logLeft(Key key, byte[] value, Existence existence) {
    Terms terms = Terms.expecting(existence).at(Pace.LONG);
    var request = new PutRequest(residents.pinBegun(key), Put.of(value), terms, null, 0);
    logAsync(request);
    return request;
  }

  // ---- questions

  /// Asks a key's handler and waits for the answer.
  public GetRequest get(GetRequest request) {
    if (isUnconfirmed(request)) return request;
    if (request.pace.isShort() && threads.mayRunQuick()) {
      if (isHeldUp(request)) return request;
      request.isWatched(true);
      Resident resident = request.resident;
      if (!resident.runAlone(request) && resident.enqueue(request)) {
        var _ = resident.runQuickUntil(request);
      }
    } else {
      ask(request);
    }
    return await(request);
  }

  /// Asks a key's handler behind the requests of the same key that wait for a batch; at once when
  /// there are none. If the key is ordered among several stores, the question also comes behind the
  /// batch in progress.
  public void askInTurn(GetRequest question) {
    if (isUnconfirmed(question)) return;
    RuntimeException late = limits.late(question);
    if (late != null) {
      question.fail(late);
      return;
    }
    Resident resident = question.resident;
    if (resident.hasAhead()
        || intake.moments().isUnderWay(resident.key.stream(), resident.ordered)) {
      intake.add(question);
      callWriterThread();
    } else if (!intake.refuses(question)) {
      askSoon(question);
    }
  }

  @Override
  public void askSoon(QuestionRequest question) {
    Resident resident = question.resident;
    if (!resident.enqueue(question)) return;
    if (question.pace == Pace.BRIEF && threads.isGathering()) turns.mine().add(resident);
    else resident.dispatch();
  }

  /// Puts a question behind the waiting requests of its key.
  public void ask(QuestionRequest request) {
    if (isUnconfirmed(request)) return;
    if (isHeldUp(request)) return;
    if (request.resident.enqueue(request)) request.resident.dispatch();
  }

  /// Asks the live state, for a transaction.
  public void askInTransaction(QuestionRequest request) {
    admission.begun();
    if (health.isClosed()) request.fail(new Closed("the store is closed"));
    else if (!intake.refuses(request)) {
      Resident resident = request.resident;
      if (request.pace.isShort() && threads.mayRunQuick()) {
        request.isWatched(true);
        if (!resident.runAlone(request) && resident.enqueue(request)) {
          var _ = resident.runQuickUntil(request);
        }
      } else if (resident.enqueue(request)) {
        resident.dispatch();
      }
    }
    await(request);
  }

  /// Fails a question when the log cannot confirm that this process shows everything that was
  /// acknowledged; returns whether it did.
  private boolean isUnconfirmed(QuestionRequest question) {
    try {
      health.confirm();
      return false;
    } catch (Unavailable failed) {
      question.fail(failed);
      return true;
    }
  }

  /// Waits for the batch in progress and for transactions over several stores that change the key
  /// of a question, if the key is ordered among the stores. Fails the question when that takes too
  /// long, and returns whether it did.
  private boolean isHeldUp(QuestionRequest question) {
    try {
      Resident resident = question.resident;
      intake.moments().await(resident.key.stream(), resident.ordered);
      return false;
    } catch (Unavailable failed) {
      question.fail(failed);
      return true;
    }
  }

  // ---- transactions

  /// Ends an intent.
  public void end(Intents.Intent intent) {
    intake.end(intent);
  }

  /// Appends the puts of a transaction, and waits until all its keys have executed them.
  ///
  /// @return its log counter
  public long commit(StoreTransaction transaction) {
    Resident first = transaction.first();
    admission.accept();
    Check.that(first.pin(), "%s stays in memory while it is used", first.key);
    var request = new CommitRequest(first, transaction);
    request.trace(Trace.current());
    boolean quick = threads.mayRunQuick();
    request.isWatched(quick);
    intake.add(request);
    if (quick) {
      for (int spin = 0; spin < SPINS && !request.isDone(); spin++) {
        if (syncs(request)) continue;
        if (!intake.isEmpty() && writeBatch(request) && request.isDone()) break;
        if (!runParts(transaction)) threads.pause(0);
      }
    }
    park(request);
    return request.number();
  }

  /// Returns a request to commit a transaction together with other stores.
  public CommitRequest across(StoreTransaction transaction) {
    Resident any = transaction.any();
    admission.accept();
    Check.that(any.pin(), "%s stays in memory while it is used", any.key);
    return new CommitRequest(any, transaction);
  }

  /// Executes those parts of a committed transaction that this thread may execute; returns whether
  /// it executed any short one.
  private boolean runParts(StoreTransaction transaction) {
    boolean any = false;
    for (PartRequest part : transaction.parts()) {
      if (part.isDone()) continue;
      if (part.pace.isShort()) any |= part.resident.runQuickUntil(part);
      else if (threads.mayRunLong()) part.resident.runUntil(part);
    }
    return any;
  }

  /// Waits until a committed transaction is executed; returns false when a part of it waits for
  /// another store.
  public boolean awaitHere(StoreTransaction transaction, Request request) {
    if (neighbors == null) {
      park(request);
      return true;
    }
    request.isAwaited();
    while (!request.isDone()) {
      if (!intake.isEmpty()) callWriterThread();
      if (transaction.parts().stream().anyMatch(BatchWriter::waitsForOtherGroup)) return false;
      threads.pause(LOOK_NANOS);
    }
    return true;
  }

  /// Returns whether the run that a request waits for waits for another store.
  public static boolean waitsForOtherGroup(Request request) {
    var chain = new WaitChain();
    for (Request next = request; next != null && !next.isDone(); ) {
      Execution running = next.resident.running;
      if (running == null || chain.isCircle(running)) return false;
      if (running.visit != null) return true;
      next = running.waitingFor;
    }
    return false;
  }

  // ---- waiting

  /// Waits until a request is settled; meanwhile writes batches and runs short requests.
  public <R extends Request> R await(R request) {
    if (threads.mayRunQuick()) {
      Resident resident = request.resident;
      request.isWatched(true);
      for (int spin = 0; spin < SPINS && !request.isDone(); spin++) {
        if (syncs(request)) continue;
        if (!intake.isEmpty() && writeBatch(request) && request.isDone()) break;
        if (threads.mayRunLong()) resident.runUntil(request);
        if (!request.pace.isShort() || !resident.runQuickUntil(request)) threads.pause(0);
      }
    }
    park(request);
    return request;
  }

  /// Waits without running a request.
  void park(Request request) {
    if (request.isDone()) return;
    if (!intake.isEmpty()) callWriterThread();
    boolean works = threads.mayRunQuick() && threads.mayRunLong();
    if (works && request.resident.hasSequels()) {
      request.isWatched(false); // this thread may rest there while the answer is held
      helpSequels(request);
    }
    boolean syncs = true;
    while (syncs && request.isHeld()) syncs = threads.mayRunQuick() && gate.sync();
    request.isWatched(false);
    request.await();
  }

  /// Makes the sync for which the answer to a request waits, or gives another thread that makes it
  /// a little time; returns whether the answer waited.
  private boolean syncs(Request request) {
    if (!request.isHeld()) return false;
    if (!gate.sync()) threads.pause(0);
    return true;
  }

  /// Executes what a request waits for behind the puts of its key: the calling thread is a worker,
  /// and all workers may be waiting so.
  private void helpSequels(Request request) {
    boolean interrupted = false;
    request.isAwaited();
    while (!request.isLeft() && request.resident.hasSequels()) {
      if (request.resident.helpSequels() || (!intake.isEmpty() && writeBatch(null))) continue;
      threads.rest(request);
      interrupted |= threads.takeInterrupt();
    }
    if (interrupted) threads.giveInterrupt();
  }

  /// Waits on a handler's thread, which meanwhile executes the request that it waits for.
  @Override
  public void awaitHelping(Request request, Execution caller) {
    Resident resident = request.resident;
    request.isAwaited();
    boolean interrupted = false;
    boolean waited = false;
    caller.restBegins();
    try {
      while (!request.isOver()) {
        caller.checkNotTakenBack();
        if (caller.refused != null) return;
        caller.makeWay();
        if (!intake.isEmpty() && writeBatch(null)) continue;
        if (resident.runQuickUntil(request) || resident.helpSequels()) continue;
        if (waited && resident.isScheduled() && threads.mayRunLong()) {
          // No other thread is free for a run that may not return.
          resident.runUntil(request);
        } else if (!request.isOver()) {
          threads.rest(request);
          interrupted |= threads.takeInterrupt();
          waited = true;
        }
      }
    } finally {
      caller.restEnds();
      if (interrupted) threads.giveInterrupt();
    }
  }

  // ---- writing batches

  /// Writes a batch if something waits for one and none is in progress, and calls the writer thread
  /// for the rest of the queue.
  ///
  /// @param own a request whose key this thread runs itself if it is quick, or null
  /// @return whether it did. A thread that waits would otherwise go on writing batches of nothing,
  ///   and not execute what it waits for
  @Override
  public boolean writeBatch(@Nullable Request own) {
    Request mine = own != null && own.pace.isShort() ? own : null;
    if (!intake.hasWork() || !intake.tryWrite(mine)) return false;
    // This comes first: this thread's own request may run for longer than expected.
    if (!intake.isEmpty()) callWriterThread();
    if (mine == null) return true;
    if (mine instanceof CommitRequest commit) {
      var _ = runParts(commit.transaction);
    } else {
      var _ = mine.resident.runQuickUntil(mine);
    }
    return true;
  }

  /// Writes the requests that the calling thread, a [Gatherer], has begun, and runs the brief ones.
  /// When that may take long, this leaves them to the writer thread and the workers. Requests of
  /// several calls share a batch.
  public void writeGathered() {
    BriefTurn turn = turns.mine();
    turn.beginWriting();
    try {
      var mine = new ArrayList<Resident>();
      turn.run(mine); // requests that need no batch, and must not wait for one
      if (!intake.isEmpty()) {
        turn.end();
        turn.beginWriting();
      }
      boolean written = true;
      for (int batch = 0; written && batch < GATHERED_BATCHES_MAX && mayWriteHere(); batch++) {
        mine.clear();
        try {
          written = intake.tryWrite(null, mine); // otherwise the other writing thread looks again
        } finally {
          turn.run(mine);
        }
      }
    } finally {
      if (!intake.isEmpty()) wakeWriterThread();
      turn.end();
    }
  }

  /// Returns whether a thread that must return soon may write a batch. It may if a batch takes
  /// hardly longer than a hand-over to another thread, or if no other request is in progress that
  /// the batch could delay.
  private boolean mayWriteHere() {
    if (intake.isEmpty() || intake.asksElsewhere()) return false;
    return intake.takesLessThan(SWIFT_MICROS) || (isAlone() && intake.takesLessThan(SOON_MICROS));
  }

  /// Returns whether exactly one request is in progress, beside those that its batch has behind it
  /// and notes that nobody waits for.
  private boolean isAlone() {
    int underWay = admission.underWay() - intake.behindNext();
    return underWay == 1
        || (underWay <= 1 + NOTES_COUNTED_MAX && underWay - intake.unhurried() == 1);
  }

  /// Runs a task when the calling thread has finished its turn of brief requests; returns false
  /// when the thread is in no turn.
  public boolean afterTurn(Runnable task) {
    BriefTurn turn = turns.current();
    return turn != null && turn.after(task);
  }

  /// Makes a worker run the brief requests of some keys.
  @Override
  public void runBrief(List<Resident> scheduled) {
    threads.work(() -> {
      BriefTurn turn = turns.mine();
      turn.begin();
      try {
        turn.run(scheduled);
      } finally {
        turn.end();
      }
    });
  }

  /// Calls the writer thread to write the queue, unless the calling thread writes it soon.
  @Override
  public void callWriterThread() {
    if (!threads.isGathering()) wakeWriterThread();
  }

  private void wakeWriterThread() {
    if (!writerCalled.get() && writerCalled.compareAndSet(false, true)) {
      threads.write(this::write);
    }
  }

  private void write() {
    writerCalled.set(false);
    do {
      boolean written = true;
      while (written && !intake.isEmpty()) written = intake.tryWrite(null);
    } while (gate.isWanted() && gate.sync());
  }

  // ---- notes

  /// Appends an entry that no handler executes; returns its stream address.
  public long append(Key key, byte[] payload) {
    NoteRequest note = log(noted(key, payload));
    long address = note.number();
    gate.await(note.reflects());
    return address;
  }

  /// Begins to append to users' streams. The caller has pinned them, and [Admission] has accepted
  /// the append.
  public AppendRequest append(Appending appending) {
    var request = new AppendRequest(appending);
    intake.add(request);
    return request;
  }

  /// Returns a request to append an entry, as [Store#append(Key, byte\[\])] does.
  public NoteRequest noted(Key key, byte[] payload) {
    return new NoteRequest(accepted(key), Records.NOTE, payload);
  }

  /// Appends an entry to a resident's stream with the next batch, on any thread that writes that
  /// batch; does not wait.
  @Override
  public NoteRequest note(Resident resident, byte kind, byte[] payload) {
    var _ = residents.pinBegun(resident);
    var request = new NoteRequest(resident, kind, payload);
    intake.add(request);
    return request;
  }

  @Override
  public void noteSoon(Resident resident, byte kind, byte[] payload) {
    var _ = residents.pinBegun(resident);
    intake.addSoon(new NoteRequest(resident, kind, payload));
  }

  /// Appends an answer that a handler got, like [#note].
  ///
  /// @param before the preceding answer to the handlers of the key. The batch logs this answer only
  ///   if it has logged that one, so that when the last answer is durable, all answers are
  @Override
  public NoteRequest noteAnswer(Resident resident, byte[] payload, @Nullable NoteRequest before) {
    var _ = residents.pinBegun(resident);
    var request = new NoteRequest(resident, Records.ANSWERED, payload);
    request.after = before;
    intake.add(request);
    return request;
  }

  /// Requests to log an announcement.
  ///
  /// @param reflected the nested answers without which no batch may log it
  public void announce(
      Resident announcements, byte[] announced, NoteRequest.@Nullable Reflected reflected) {
    var _ = residents.pinBegun(announcements);
    var request = new NoteRequest(announcements, Records.NOTE, announced);
    request.reflected = reflected;
    intake.add(request);
  }
}

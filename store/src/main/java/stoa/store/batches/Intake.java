package stoa.store.batches;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.Sequencer;
import stoa.log.Token;
import stoa.store.calls.Pace;
import stoa.store.leading.AnswerGate;
import stoa.store.leading.BatchTurn;
import stoa.store.leading.Claims;
import stoa.store.leading.Health;
import stoa.store.leading.Intents;
import stoa.store.leading.LogClock;
import stoa.store.leading.ReadMoments;
import stoa.store.leading.Tally;
import stoa.store.ordering.Addresses;
import stoa.store.records.Draft;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;
import stoa.store.running.AppendRequest;
import stoa.store.running.Appending;
import stoa.store.running.Bans;
import stoa.store.running.ChangeRequest;
import stoa.store.running.CheckpointRequest;
import stoa.store.running.CommitRequest;
import stoa.store.running.DeleteRequest;
import stoa.store.running.ForkRequest;
import stoa.store.running.GenerationRequest;
import stoa.store.running.GetRequest;
import stoa.store.running.NoteRequest;
import stoa.store.running.PartRequest;
import stoa.store.running.PositionRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.SpaceRegistry;
import stoa.store.running.Stages;
import stoa.store.running.StoreTransaction;
import stoa.store.running.TimeLimits;
import stoa.store.running.Unfinished;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;
import stoa.store.watching.Watches;

/// Gathers the requests to log, gives them addresses, logs them batch by batch, and puts them into
/// the mailboxes of their keys: when the batch is durable, or ahead of that when handlers wait for
/// it (see [AnswerGate]).
///
/// The first thread that finds no batch in progress writes the next one. It is either a caller, so
/// that a lone caller needs no other thread, or the store's writer thread, which continues while
/// the queue has requests. No thread waits to fill a batch; a batch grows while the preceding one
/// is synced.
public final class Intake {
  /*
   * Draft decides the entries of a batch, BatchTurn which thread writes it, ReadMoments which counters
   * can be read. This class queues requests and writes batches.
   *
   * Invariants:
   * (1) The thread that writes the batch alone touches the draft, the sequencer and the batch in
   *     progress. One batch is in progress at a time.
   * (2) When a thread adds to the queue, no batch is in progress, or the thread that writes it
   *     looks at the queue after the batch: no request is left behind.
   * (3) A batch fills the mailboxes in log order, before any later batch begins.
   */
  private static final int BATCH_ENTRIES_MAX = 8_192;
  private static final int BATCH_BYTES_MAX = 8 << 20;
  private static final int APPENDS_AVERAGED = 16;

  // How many addresses this reserves at a time from an order of several stores: more than a batch
  // takes. The rest serves batches that need no place in that order.
  private static final int RESERVED = 1 << 18;

  // How long a batch waits for a coordinator that gives addresses.
  private static final long ORDER_MICROS_MAX = 10_000_000;

  // The maximum that the average counts: a pause of the whole process says nothing about the log.
  private static final long APPEND_MICROS_COUNTED_MAX = 4_000;

  // Of batches that take less than this, only some are timed: a clock would take a part of that.
  private static final long QUICK_MICROS = 5;
  private static final long QUICK_ONE_IN = 16;

  private final @Nullable BatchLog log;
  private final @Nullable Addresses order;
  private final LogClock clock;
  private final TimeLimits limits;
  private final SpaceRegistry spaces;
  private final Bans bans;
  private final Watches watches;
  private final Health health;
  private final BatchTurn turn;
  private final ReadMoments moments;
  private final AnswerGate gate;
  private final Unfinished unfinished;
  private final Tally tally;
  private final ConcurrentLinkedQueue<Request> queue = new ConcurrentLinkedQueue<>();

  // The notes that wait for a batch with other requests. There are few of them.
  private final ConcurrentLinkedQueue<Request> unhurried = new ConcurrentLinkedQueue<>();

  // Whether they have waited long enough.
  private volatile boolean notesDue;

  private final Claims claims;
  private final Intents intents;
  private final Residents residents;

  // The requests that wait for transactions over several stores, or for those that have lost often,
  // oldest first.
  private final ConcurrentLinkedDeque<Request> deferred = new ConcurrentLinkedDeque<>();

  // Whether a claim or an intent has ended since a batch last looked at the deferred requests.
  private volatile boolean lookAgain;
  private final Progress progress;
  private final long term;

  // The log counter with which the epoch began.
  private final long firstCounter;

  // Owned by the thread that writes the batch.
  private final Draft draft;
  private final Arrangement arrangement = new Arrangement();
  private Sequencer sequencer;
  private long reservedTo;

  // The counter of the last decision over several stores that this has logged.
  private long decided;

  // The keys of deferred requests; later requests of the same keys wait behind these.
  private final Set<Resident> waiting = new HashSet<>();

  // The keys whose calls wait for the intent of a transaction. Later calls wait behind these, but
  // those of handlers.
  private final Set<Resident> heldBack = new HashSet<>();
  private boolean retries;

  // Whether the batch has the requests that were deferred.
  private boolean retried;
  private final ArrayList<Request> taken = new ArrayList<>();
  private final ArrayList<Request> scheduled = new ArrayList<>();
  private final ArrayList<Resident> brief = new ArrayList<>();

  // The requests that no handler executes.
  private final ArrayList<Request> settled = new ArrayList<>();
  private @Nullable List<Resident> gathered;
  private long sequence;

  // The average duration of recent batches, in microseconds.
  private volatile double appendMicros = APPEND_MICROS_COUNTED_MAX;

  private volatile long epoch;
  private @Nullable Help help;

  /// Helps the thread that writes a batch.
  interface Help {
    /// Calls the writer thread to write the queue, unless the calling thread writes it soon.
    void callWriterThread();

    /// Makes a worker run the brief requests of some keys.
    void runBrief(List<Resident> scheduled);

    /// Returns what a batch should have behind a change, see [WaitingCalls#attemptBehind].
    @Nullable PutRequest attemptBehind(PutRequest change);
  }

  /// The log that this process leads.
  ///
  /// @param log null when another store leads: this then refuses every request
  /// @param order null when the store is alone and orders its log itself
  /// @param clock the time of the log
  /// @param unfinished the puts that each batch notes
  /// @param health whether the log can be used
  /// @param tally counts batches
  public record Led(
      @Nullable BatchLog log,
      @Nullable Addresses order,
      LogClock clock,
      Unfinished unfinished,
      Health health,
      Tally tally) {}

  /// Begins an epoch of the log.
  public Intake(
      Led led,
      Residents residents,
      TimeLimits limits,
      SpaceRegistry spaces,
      Bans bans,
      Watches watches,
      Threads threads) {
    this.log = led.log;
    this.order = led.order;
    this.clock = led.clock;
    this.health = led.health;
    this.unfinished = led.unfinished;
    this.tally = led.tally;
    this.limits = limits;
    this.spaces = spaces;
    this.bans = bans;
    this.watches = watches;
    this.residents = residents;
    this.claims = new Claims(clock::machineMicros, threads);
    this.draft = new Draft(residents::directory);
    this.turn = new BatchTurn(clock::machineMicros, threads);
    BatchLog.Tail tail = log == null ? BatchLog.Tail.EMPTY : log.tail();
    term = log == null ? 0 : log.term();
    Addresses.Adopted adopted =
        log == null || order == null
            ? new Addresses.Adopted(tail.epoch() + 1, tail.counter(), List.of())
            : order.adopt(term, tail);
    if (log != null) {
      adopted.decided().forEach(decided -> restore(decided, log));
      log.seal(adopted.epoch());
    }
    BatchLog.Tail sealed = log == null ? tail : log.tail();
    epoch = sealed.epoch();
    sequencer = new Sequencer(epoch, sealed.counter());
    sequencer.skip(adopted.counter());
    progress = new Progress(sealed.counter());
    gate = new AnswerGate(log, order == null, health, threads, progress, sealed.counter());
    moments = new ReadMoments(health, turn, threads, order, claims, gate);
    firstCounter = sealed.counter();
    intents = new Intents(clock::machineMicros, epoch);
  }

  /// Sets the helper of the thread that writes a batch. Called once, before the first request.
  void helpedBy(Help newHelp) {
    help = newHelp;
  }

  private Help help() {
    return Objects.requireNonNull(help, "a helper");
  }

  /// Returns how far the log is committed.
  public Progress progress() {
    return progress;
  }

  /// Returns the log counter with which the epoch began.
  long firstCounter() {
    return firstCounter;
  }

  /// Returns the epoch in which addresses are issued.
  public long epoch() {
    return epoch;
  }

  /// Returns the term under which this process leads the log.
  public long term() {
    return term;
  }

  /// Returns a number that no other opening of this log has.
  public long owner() {
    return order == null ? epoch : term;
  }

  /// Returns whether the thread that writes a batch first waits for another process.
  boolean asksElsewhere() {
    return order != null && !order.isBeside();
  }

  /// Returns the log counters that can be read.
  public ReadMoments moments() {
    return moments;
  }

  /// Returns the gate through which answers leave.
  public AnswerGate gate() {
    return gate;
  }

  /// Adds a request to the queue, or fails it when the log has failed.
  void add(Request request) {
    if (refuses(request)) return;
    request.goAhead();
    queue.add(request);
  }

  /// Adds a note for the next batch that is made anyway, or that of the next tick.
  void addSoon(NoteRequest note) {
    if (refuses(note)) return;
    note.goAhead();
    unhurried.add(note);
  }

  /// Fails a request if the log has failed; returns whether it did. The streams may then show
  /// entries that are not durable, so this refuses questions too. The caller must have pinned the
  /// request's key before: a key pinned earlier shows only durable entries.
  boolean refuses(Request request) {
    Unavailable refusal = health.refusal();
    if (refusal != null) request.fail(refusal);
    return refusal != null;
  }

  /// Fails the requests in the queue when the store is closed.
  public void end(RuntimeException cause) {
    for (Request request; (request = queue.poll()) != null; ) request.fail(cause);
    for (Request request; (request = unhurried.poll()) != null; ) request.fail(cause);
    for (Request request; (request = deferred.poll()) != null; ) request.fail(cause);
  }

  boolean isEmpty() {
    return queue.isEmpty() && !notesDue && !hasDeferred();
  }

  /// Returns how many requests come right behind the first one in the queue.
  int behindNext() {
    return queue.peek() instanceof PutRequest put ? put.behind.size() : 0;
  }

  /// Returns how many notes wait for a batch that others need.
  int unhurried() {
    return unhurried.size();
  }

  /// Returns whether anything waits for a batch, be it a note that waits for others.
  boolean hasWork() {
    return !isEmpty() || !unhurried.isEmpty();
  }

  /// Returns whether deferred requests may go on.
  private boolean hasDeferred() {
    return (lookAgain || health.hasFailed()) && !deferred.isEmpty();
  }

  /// Counts the requests that wait for a batch.
  public int waiting() {
    return queue.size() + deferred.size();
  }

  /// Checks that the log has not failed.
  ///
  /// @throws Unavailable when it has failed
  public void checkSound() {
    health.checkSound();
  }

  /// Returns whether recent batches took less than a time.
  boolean takesLessThan(long micros) {
    return appendMicros < micros;
  }

  /// Writes one batch if no other is in progress; returns whether it did.
  ///
  /// @param own the request of the calling thread, which runs the request's key itself
  boolean tryWrite(@Nullable Request own) {
    return tryWrite(own, null);
  }

  /// Writes one batch, like [#tryWrite(Request)], for a thread that runs brief requests.
  ///
  /// @param mine receives the keys with brief requests; null leaves them to a worker
  boolean tryWrite(@Nullable Request own, @Nullable List<Resident> mine) {
    if (!turn.tryBegin()) return false;
    gathered = mine;
    boolean again = false;
    try {
      writeBatch(own);
      again = retried;
    } finally {
      turn.end();
    }
    gate.open();
    if (again) intents.passed();
    if (health.hasFailed()) progress.wake();
    return true;
  }

  private void writeBatch(@Nullable Request own) {
    taken.clear();
    gather();
    defer();
    admit();
    if (taken.isEmpty() || !reserve()) return;
    defer(); // the wait for addresses lets transactions claim keys
    if (taken.isEmpty()) return;
    arrangement.arrange(taken);
    begin();
    for (Request request : taken) {
      try {
        resolve(request);
      } catch (RuntimeException | Error broken) {
        // For instance, a directory cannot be read: the batch and its changes are in doubt.
        var cause = new IllegalStateException("a batch could not be made: " + broken, broken);
        health.fail(cause);
        fail(Health.unavailable(cause));
        return;
      }
    }
    if (draft.isEmpty()) publish(own, !gate.isBehind());
    else append(sequencer.grant(draft.addresses()), own);
  }

  // ---- transactions over several stores

  /// Waits for the batch in progress, and begins no other until [#letGo].
  ///
  /// @throws Unavailable when the wait takes too long, or the log has failed
  public void hold() {
    turn.hold();
    gathered = null;
    if (health.hasFailed()) {
      letGo();
      health.checkSound();
    }
  }

  /// Ends the hold that [#hold] began.
  public void letGo() {
    turn.letGo();
    if (health.hasFailed()) progress.wake();
    if (!isEmpty()) help().callWriterThread();
  }

  /// Claims the streams of a transaction over several stores, during a hold. Until [#release], this
  /// logs nothing else to them. Returns false when another transaction is in the way.
  public boolean claim(Claims.Claim claim) {
    return claims.take(claim);
  }

  /// Ends a claim.
  public void release(Claims.Claim claim) {
    claims.release(claim);
    lookAgain();
  }

  // ---- transactions that have lost often

  /// Returns the intents of transactions that have lost often.
  public Intents intents() {
    return intents;
  }

  /// Waits until nothing is under way that began before an intent stood and may change its keys.
  public void awaitBefore(Intents.Intent intent) {
    var _ = turn.awaitBatch();
    if (claims.isEmpty()) return;
    for (StreamId stream : intent.streams()) {
      var _ = claims.await(stream);
    }
  }

  /// Ends an intent, and lets what it has held back go on.
  public void end(Intents.Intent intent) {
    if (intents.end(intent)) lookAgain();
    pass();
  }

  /// Ends the intents whose time is over.
  public void tick() {
    if (!unhurried.isEmpty()) notesDue = true;
    if (intents.tick()) lookAgain();
    pass();
  }

  /// Lets further intents stand when nothing is left of what ended ones have held back.
  private void pass() {
    if (deferred.isEmpty()) intents.passed();
  }

  private void lookAgain() {
    lookAgain = true;
    if (!isEmpty()) help().callWriterThread();
  }

  /// Returns the refusal of a transaction that changes what the intent of another one holds back;
  /// null when it changes nothing of that kind, or has an intent of its own: no two wait for each
  /// other.
  public @Nullable RuntimeException heldBack(StoreTransaction transaction) {
    Intents.Intent own = transaction.intent();
    if (intents.isEmpty() || (own != null && own.isStanding())) return null;
    for (Draft.Change change : transaction.changes().changes()) {
      if (intents.holdsBack(change.end().key.stream(), change.footprint())) {
        return transaction.changes().aborted(change.end(), sequencer.last());
      }
    }
    return null;
  }

  // ---- several stores, their votes

  /// Returns the entries that a transaction would log now, during a hold; keeps none of them.
  ///
  /// @throws RuntimeException when the transaction cannot commit
  public List<Entry> sketch(CommitRequest commit) {
    taken.clear();
    begin();
    RuntimeException full = commit.isSparing() ? null : refusal(commit.keptBytes());
    if (full != null) throw full;
    try {
      RuntimeException refusal = draft.commit(commit.transaction.changes());
      if (refusal != null) throw refusal;
      commit.voted = true;
      return draft.entries();
    } finally {
      draft.rollBack();
    }
  }

  /// Commits transactions during a hold.
  ///
  /// @param token their addresses
  /// @param commits by the offset in the token; each was sketched during this hold
  /// @param note logged with them at the first address; null for nothing
  public void commit(
      Token token, SortedMap<Integer, CommitRequest> commits, @Nullable NoteRequest note) {
    taken.clear();
    long before = sequencer.last();
    checkBehind(token, before);
    sequencer.skip(token.first().counter() - 1);
    begin();
    try {
      if (note != null) take(note, 0);
      commits.forEach((offset, commit) -> take(commit, offset));
    } catch (RuntimeException broken) {
      health.fail(broken);
      throw broken;
    }
    Token own = sequencer.grant(token.count());
    Check.that(own.equals(token), "%s and %s are the same", own, token);
    if (draft.isEmpty()) publish(null, true);
    else append(token, null);
    // With a note, this batch makes the decision. Without one, the decision was made before, and
    // the log must not contain other entries in its place.
    boolean lacks = note == null && commits.values().stream().anyMatch(Request::failed);
    if (lacks && !health.hasFailed()) {
      health.fail(new Unavailable("what was decided could not be logged"));
    }
    if (note != null && note.failed()) {
      // The addresses in front of the decision are given to others.
      sequencer = new Sequencer(epoch, before);
    } else {
      decided = token.first().counter();
    }
  }

  private void checkBehind(Token token, long last) {
    if (token.first().counter() > last) return;
    var broken =
        new IllegalStateException(
            "broken invariant: a decision at "
                + token
                + " lies in front of what is logged, "
                + last);
    health.fail(broken);
    throw broken;
  }

  private void take(Request request, int offset) {
    taken.add(request);
    draft.goTo(offset);
    resolve(request);
    RuntimeException refusal = request.refusal;
    if (refusal != null) throw new IllegalStateException("what is held up has changed", refusal);
  }

  /// Logs the decided entries that the log lacks, and the present epoch of addresses, during a
  /// hold. If the log lacked an entry, this fails the log: the objects in memory lack the entry,
  /// and the store must be opened again.
  public void adopt(Addresses.Adopted adopted) {
    BatchLog own = Objects.requireNonNull(log);
    boolean missing = false;
    try {
      for (Addresses.Decided decided : adopted.decided()) missing |= restore(decided, own);
      own.seal(adopted.epoch());
    } catch (RuntimeException unknown) {
      health.fail(unknown);
      throw unknown;
    }
    if (missing) {
      health.fail(
          new Unavailable(
              "this store had missed a decision about a transaction over several groups, and has"
                  + " logged it now; open the store again"));
    }
    BatchLog.Tail sealed = own.tail();
    long last = Math.max(sequencer.last(), adopted.counter());
    sequencer = new Sequencer(sealed.epoch(), sealed.counter());
    sequencer.skip(last);
    reservedTo = 0;
    for (Addresses.Decided one : adopted.decided()) {
      decided = Math.max(decided, one.token().first().counter());
    }
    epoch = sealed.epoch();
  }

  /// Logs decided entries, unless the log has them; returns whether it did. A store that lacks them
  /// has logged nothing since the decision.
  private boolean restore(Addresses.Decided decided, BatchLog to) {
    Entry first = decided.entries().getFirst();
    if (to.streams().last(first.stream()) >= first.address()) return false;
    BatchLog.Tail tail = to.tail();
    checkBehind(decided.token(), tail.counter());
    long micros = Math.max(tail.nowMicros(), decided.nowMicros());
    var batch =
        new Batch(decided.token(), term, ++sequence, micros, decided.entries(), tail.note());
    to.append(
        batch,
        outcome -> {
          if (outcome instanceof BatchOutcome.Committed) return;
          throw new Unavailable("what was decided could not be logged: " + outcome);
        });
    return true;
  }

  // ---- a batch

  private void begin() {
    draft.begin(epoch, sequencer.last(), clock.nowMicros());
  }

  /// Takes requests from the queue, up to the bounds of a batch.
  private void gather() {
    long bytes = 0;
    retries = hasDeferred();
    retried = retries;
    if (retries) {
      lookAgain = false;
      waiting.clear();
      heldBack.clear();
    }
    notesDue = false;
    takeNotes();
    Request request;
    while (taken.size() < BATCH_ENTRIES_MAX
        && bytes < BATCH_BYTES_MAX
        && (request = next()) != null) {
      RuntimeException failed = health.failure();
      if (failed != null) {
        request.fail(Health.unavailable(failed));
      } else {
        takeNotes();
        taken.add(request);
        bytes += request.bytes();
        Stages stages = request.stages();
        if (stages != null && !(request instanceof GetRequest)) stages.batch();
        if (request instanceof PutRequest put) follow(put);
      }
    }
    if (retries && !deferred.isEmpty()) lookAgain = true; // they did not all fit
  }

  /// Takes the requests that come right behind a put.
  private void follow(PutRequest put) {
    for (PutRequest behind : put.behind) {
      behind.goAhead();
      taken.add(behind);
    }
    put.behind = List.of();
    PutRequest attempt = help().attemptBehind(put);
    if (attempt == null) return;
    takeNotes();
    attempt.goAhead();
    taken.add(attempt);
  }

  /// Takes the notes that wait for others. The arrival of a call is noted before the call can be
  /// executed, and must not lie behind its execution: so this comes before each request.
  private void takeNotes() {
    for (Request note; (note = unhurried.poll()) != null; ) {
      RuntimeException failed = health.failure();
      if (failed == null) taken.add(note);
      else note.fail(Health.unavailable(failed));
    }
  }

  /// Takes the next request: first those that were deferred, if they may go on.
  private @Nullable Request next() {
    if (retries) {
      Request request = deferred.poll();
      if (request != null) return request;
      retries = false;
    }
    return queue.poll();
  }

  /// Defers the requests that would come in between a transaction over several stores and its vote,
  /// those that the intent of a transaction holds back, and those behind them.
  private void defer() {
    if (claims.isEmpty() && waiting.isEmpty() && intents.isEmpty() && heldBack.isEmpty()) return;
    var later = new ArrayList<Request>();
    for (Request request : taken) {
      boolean waits = mustWait(request);
      if (!waits && !isHeldBack(request)) continue;
      later.add(request);
      if (!waits) {
        if (!(request instanceof CommitRequest)) heldBack.add(request.resident);
      } else if (request instanceof AppendRequest append) {
        waiting.addAll(List.of(append.appending.residents()));
      } else if (!(request instanceof CommitRequest)) {
        waiting.add(request.resident);
      }
    }
    if (later.isEmpty()) return;
    taken.removeAll(Set.copyOf(later));
    if (retries) later.reversed().forEach(deferred::addFirst); // the rest of them is newer
    else deferred.addAll(later);
  }

  private boolean mustWait(Request request) {
    return switch (request) {
      case CommitRequest commit ->
          commit.transaction.read().stream().anyMatch(claims::changes)
              || commit.transaction.changed().stream().anyMatch(claims::has);
      case AppendRequest append ->
          Stream.of(append.appending.residents())
              .anyMatch(one -> waiting.contains(one) || claims.has(one.key.stream()));
      case QuestionRequest question ->
          waiting.contains(question.resident) || claims.changes(question.resident.key.stream());
      case PutRequest put ->
          isClaimed(put, put.resident.nextGeneration == 0) || isBehind(put.after);
      case NoteRequest note ->
          isClaimed(note, note.kind == Records.VERDICT)
              || isBehind(note.after)
              || (note.reflected != null && waiting.contains(note.reflected.resident()));
      case ChangeRequest change -> isClaimed(change, change instanceof DeleteRequest);
    };
  }

  /// Returns whether a request must wait for a transaction that has lost often, or behind a request
  /// that waits for it. A request of a call that is under way does not wait: the transaction may
  /// wait for that call.
  private boolean isHeldBack(Request request) {
    if (intents.isEmpty() && heldBack.isEmpty()) return false;
    return switch (request) {
      case CommitRequest commit -> heldBack(commit.transaction) != null;
      case QuestionRequest question -> question.depth == 0 && heldBack.contains(question.resident);
      case PutRequest put -> {
        boolean begins = put.resident.nextGeneration == 0;
        yield isHeldBack(put, put.origin, begins ? Footprint.ALL : put.footprint);
      }
      case DeleteRequest deletion -> isHeldBack(deletion, deletion.origin, Footprint.ALL);
      case AppendRequest _, ChangeRequest _, NoteRequest _ -> false;
    };
  }

  private boolean isHeldBack(
      ChangeRequest change, Records.@Nullable Origin origin, Footprint footprint) {
    StreamId stream = change.resident.key.stream();
    if (origin != null && origin.isHandler()) {
      intents.passes(stream, footprint, origin.caller());
      return false;
    }
    return heldBack.contains(change.resident) || intents.holdsBack(stream, footprint);
  }

  /// Returns whether a request must wait for its key.
  ///
  /// @param lists whether it may change the directory of the key's space
  private boolean isClaimed(Request request, boolean lists) {
    Key key = request.resident.key;
    return waiting.contains(request.resident)
        || claims.has(key.stream())
        || (lists && claims.has(residents.directory(key.space()).key.stream()));
  }

  /// Returns whether an answer that a request reflects is deferred.
  private boolean isBehind(@Nullable NoteRequest answer) {
    return answer != null && !answer.isDone() && waiting.contains(answer.resident);
  }

  /// Refuses the requests for which the log has no room; requests that free space always have room.
  private void admit() {
    long bytes = 0;
    for (Request request : taken) bytes += request.keptBytes();
    if (bytes == 0 || refusal(bytes) == null) return;
    taken.removeIf(request -> {
      RuntimeException full = request.isSparing() ? null : refusal(request.keptBytes());
      if (full != null) request.fail(full);
      return full != null;
    });
  }

  private @Nullable RuntimeException refusal(long bytes) {
    try {
      Objects.requireNonNull(log).makeRoom(bytes);
      return null;
    } catch (RuntimeException full) {
      return new Unavailable("nothing was logged: " + full.getMessage(), full);
    }
  }

  /// Gets addresses for the batch from the order of several stores, if there is one. Waits for a
  /// coordinator that gives them; returns whether it got them.
  private boolean reserve() {
    Addresses common = order;
    if (common == null) return true;
    boolean ordered = false;
    for (Request request : taken) ordered |= request.isOrdered();
    long last = sequencer.last();
    if (!ordered && last >= moments.wanted() && last + RESERVED / 2 < reservedTo) return true;
    long end = clock.machineMicros() + ORDER_MICROS_MAX;
    while (true) {
      try {
        skip(common.reserve(term, RESERVED, decided));
        return true;
      } catch (RuntimeException refusal) {
        boolean later = refusal instanceof Unavailable && clock.machineMicros() < end;
        if (later && !health.isClosed() && stepAside()) continue;
        RuntimeException failed = health.failure();
        RuntimeException cause = failed != null ? failed : refusal;
        fail(new Unavailable("nothing was logged: " + cause.getMessage(), cause));
        return false;
      }
    }
  }

  /// Waits a little for a new coordinator, which may hold this log before it gives addresses. The
  /// requests of the batch keep their place. Returns whether the log has not failed meanwhile.
  private boolean stepAside() {
    var waiting = List.copyOf(taken);
    List<Resident> mine = gathered;
    turn.stepAside();
    gathered = mine;
    taken.clear();
    taken.addAll(waiting);
    return !health.hasFailed();
  }

  private void skip(long to) {
    sequencer.skip(to);
    reservedTo = to + RESERVED;
  }

  private void append(Token token, @Nullable Request own) {
    long batchMicros = draft.nowMicros();
    clock.reached(batchMicros);
    noteChanges();
    var batch = new Batch(token, term, ++sequence, batchMicros, draft.entries(), unfinished.note());
    int weight = tally.batch();
    BatchLog to = Objects.requireNonNull(log);
    if (goesAhead()) {
      BatchOutcome outcome = to.write(batch);
      if (outcome instanceof BatchOutcome.Committed) {
        gate.appended(sequencer.last());
        gate.later(
            sequencer.last(),
            () -> tally.durable(weight, clock.machineMicros() - batchMicros, batch.entries()));
      }
      settle(outcome, token, own, false);
      return;
    }
    boolean isTimed = weight > 0 || appendMicros >= QUICK_MICROS || sequence % QUICK_ONE_IN == 0;
    to.append(
        batch,
        outcome -> {
          long micros = isTimed ? clock.machineMicros() - batchMicros : 0;
          if (outcome instanceof BatchOutcome.Committed) {
            tally.durable(weight, micros, batch.entries());
            gate.appended(sequencer.last());
          }
          if (isTimed) average(micros);
          settle(outcome, token, own, true);
        });
  }

  /// Returns whether the batch goes into the mailboxes ahead of its sync: a handler waits for it,
  /// or it begins calls that will probably call other keys. All these share a sync then. Any other
  /// batch is synced first, since its answers would wait for that anyway.
  private boolean goesAhead() {
    if (!gate.mayGoAhead()) return false;
    for (Request request : taken) if (request.hastensOthers()) return true;
    return false;
  }

  /// Notes the puts of the batch that will put to other keys, as far as there is room.
  private void noteChanges() {
    for (Request request : taken) {
      if (!(request instanceof PutRequest put) || put.refusal != null) continue;
      if (!spaces.changesOthers(put.resident.key, put.value)) continue;
      if (!unfinished.hasRoom()) return;
      unfinished.begins(put.resident.key, put.address, moments.moment());
    }
  }

  private void forgetChanges() {
    for (Request request : taken) {
      if (!(request instanceof PutRequest put) || put.refusal != null) continue;
      if (spaces.changesOthers(put.resident.key, put.value)) {
        unfinished.ends(put.resident.key, put.address, null);
      }
    }
  }

  private void average(long micros) {
    long took = Math.clamp(micros, 0L, APPEND_MICROS_COUNTED_MAX);
    double before = appendMicros;
    appendMicros = before + (took - before) / APPENDS_AVERAGED;
  }

  /// Gives a request its place in the batch in progress, or refuses it. A refusal may reflect the
  /// batch itself, so its caller gets it after the batch is settled.
  private void resolve(Request request) {
    request.refusal =
        switch (request) {
          case PutRequest put -> put(put);
          case DeleteRequest deletion -> delete(deletion);
          case NoteRequest note -> note(note);
          case CheckpointRequest checkpoint -> checkpoint(checkpoint);
          case AppendRequest append -> append(append.appending);
          case CommitRequest commit -> commit(commit);
          // The batch does not log a question: the question keeps its place behind earlier puts.
          case GetRequest question -> limits.late(question);
          case GenerationRequest _, PositionRequest _, ForkRequest _, PartRequest _ ->
              throw new IllegalStateException(request + " goes to the mailbox");
        };
  }

  private @Nullable RuntimeException put(PutRequest put) {
    Resident resident = put.resident;
    RuntimeException refusal = refusal(put);
    boolean alive = resident.nextGeneration != 0;
    put.code = spaces.code(resident.key);
    if (refusal == null) {
      refusal = draft.put(resident, put.existence, put.origin, put.code, put.value, put.footprint);
    }
    if (refusal == null) {
      draft.alsoChanges(resident, put.others, put.code);
      placed(put);
      put.begins = !alive;
      if (put.begins) put.opening = put.existence.opening();
    } else if (put.visits) {
      draft.refused(resident, Objects.requireNonNull(put.origin), refusal);
    }
    return refusal;
  }

  /// Returns the refusal of a put that does not depend on its expectation of the key; null for
  /// none.
  private @Nullable RuntimeException refusal(PutRequest put) {
    RuntimeException late = limits.late(put);
    if (late != null) return late;
    if (put.lacksAnswer()) return new Unavailable("what the call reflects could not be logged");
    return bans.refusal(put.resident.key, put.resident.nextGeneration);
  }

  private @Nullable RuntimeException delete(DeleteRequest deletion) {
    RuntimeException refusal = limits.late(deletion);
    if (refusal != null) return refusal;
    refusal = draft.delete(deletion.resident, deletion.existence, deletion.origin);
    if (refusal == null) placed(deletion);
    return refusal;
  }

  private static void placed(ChangeRequest change) {
    change.address = change.resident.nextTail;
    change.counter = change.resident.nextChange;
  }

  private @Nullable RuntimeException commit(CommitRequest commit) {
    var changes = commit.transaction.changes();
    RuntimeException refusal = commit.voted ? draft.commitVoted(changes) : draft.commit(changes);
    if (refusal == null) commit.counter = draft.counter();
    return refusal;
  }

  private @Nullable RuntimeException note(NoteRequest note) {
    if (note.lacksAnswer()) {
      return new Unavailable("an answer that was told before this one could not be logged");
    }
    NoteRequest.Reflected reflected = note.reflected;
    if (reflected != null && reflected.isLost()) {
      return new Unavailable("what is announced could not be logged");
    }
    draft.note(note.resident, note.kind, note.payload);
    note.number = note.resident.nextTail;
    return null;
  }

  private @Nullable RuntimeException checkpoint(CheckpointRequest checkpoint) {
    draft.checkpoint(checkpoint.resident);
    checkpoint.address = checkpoint.resident.nextTail;
    checkpoint.counter = checkpoint.resident.nextCheckpoint;
    return null;
  }

  private @Nullable RuntimeException append(Appending appending) {
    appending.given().log =
        draft.append(
            appending.residents(), appending.origin(), appending.data(), appending.addresses());
    return null;
  }

  private void settle(BatchOutcome outcome, Token token, @Nullable Request own, boolean isDurable) {
    switch (outcome) {
      case BatchOutcome.Committed() -> {
        trace();
        tell();
        publish(own, isDurable);
      }
      case BatchOutcome.Refused(RuntimeException cause) -> {
        forgetChanges();
        draft.rollBack();
        sequencer.takeBack(token);
        fail(
            cause instanceof LimitExceeded
                ? cause
                : new Unavailable("nothing was logged: " + cause.getMessage(), cause));
      }
      case BatchOutcome.Unknown(RuntimeException cause) -> {
        health.fail(cause);
        fail(new UnknownOutcome("the log failed: " + cause.getMessage(), cause));
        gate.lose(cause);
      }
      case BatchOutcome.Fenced(long epoch) -> {
        var cause = new IllegalStateException("the log was sealed by epoch " + epoch);
        health.fail(cause);
        fail(Health.unavailable(cause));
        gate.lose(cause);
      }
    }
  }

  /// Tells the owner of each note that the note is durable, before any reader can see it.
  private void tell() {
    for (Request request : taken) {
      if (!(request instanceof NoteRequest note)) return; // such a note is the first one
      LongConsumer durable = note.durable;
      if (durable != null) durable.accept(note.number);
    }
  }

  /// Records in the traces of the batch's requests that the log has the batch.
  private void trace() {
    for (Request request : taken) {
      Stages stages = request.stages();
      if (stages == null || request.refusal != null) continue;
      long counter =
          switch (request) {
            case ChangeRequest change -> change.counter;
            case CommitRequest commit -> commit.counter;
            default -> 0; // it has no address of its own
          };
      if (counter > 0) stages.logged(draft.entries().size(), epoch + "." + counter);
    }
  }

  /// Fills the mailboxes, and settles the requests that no handler executes.
  ///
  /// @param isDurable whether the log is durable up to the batch
  private void publish(@Nullable Request own, boolean isDurable) {
    scheduled.clear();
    brief.clear();
    settled.clear();
    moments.beginPublishing();
    try {
      if (isDurable) gate.durable(sequencer.last());
      fillMailboxes(own, isDurable);
      gate.filled(sequencer.last(), isDurable);
    } catch (RuntimeException | Error broken) {
      // The mailboxes may lack committed requests: the next opening of the store finds them.
      var cause = new IllegalStateException("a batch could not be published: " + broken, broken);
      health.fail(cause);
      gate.lose(cause);
      throw broken;
    } finally {
      moments.endPublishing();
    }
    // A caller that gets its answer may ask the store again, on this thread.
    for (Request request : scheduled) {
      // A handler that waits for the request runs it at once: all workers may be waiting like it.
      if (request.depth > 0) request.wake();
      request.resident.dispatch();
    }
    List<Resident> mine = gathered;
    if (mine != null) mine.addAll(brief);
    else if (!brief.isEmpty()) help().runBrief(List.copyOf(brief));
    if (settled.isEmpty()) return;
    for (Request request : List.copyOf(settled)) {
      RuntimeException refusal = request.refusal;
      if (refusal != null) request.fail(refusal);
      else request.complete(null);
    }
  }

  /// Returns whether no handler executes a request.
  private static boolean isNote(Request request) {
    return request instanceof NoteRequest || request instanceof AppendRequest;
  }

  private void fillMailboxes(@Nullable Request own, boolean isDurable) {
    for (StreamEnd end : draft.touched()) end.publish();
    long last = sequencer.last();
    for (Request request : taken) {
      request.loggedTo(last);
      if (request.refusal != null || isNote(request)) {
        settled.add(request);
        continue;
      }
      if (request instanceof CommitRequest commit) {
        boolean mine = commit.equals(own);
        List<PartRequest> parts = commit.transaction.parts(commit);
        for (PartRequest part : parts) {
          part.loggedTo(last);
          enqueue(part, mine);
        }
        if (parts.isEmpty()) settled.add(commit); // it only appends to streams
      } else {
        if (request instanceof ChangeRequest change) change.nowMicros = clock.last();
        enqueue(request, isWith(own, request));
      }
    }
    if (!isDurable) {
      // Also when there is no watcher yet: one may come before the batch is durable.
      List<Change> changes = changes();
      gate.later(last, () -> changes.forEach(one -> watches.changed(one.key, one.counter)));
    } else if (!watches.isEmpty()) {
      for (Change one : changes()) watches.changed(one.key, one.counter);
    }
  }

  private record Change(Key key, long counter) {}

  private List<Change> changes() {
    var changes = new ArrayList<Change>();
    for (StreamEnd end : draft.touched()) {
      if (draft.hasChanged(end)) changes.add(new Change(end.key, end.nextChange));
    }
    return changes;
  }

  /// Returns whether the thread that writes the batch for its own request also runs another one.
  /// For its own transaction, it runs only the parts of that.
  private static boolean isWith(@Nullable Request own, Request request) {
    return own != null && !(own instanceof CommitRequest) && own.resident.equals(request.resident);
  }

  private void enqueue(Request request, boolean mine) {
    if (!request.resident.enqueue(request) || mine) return;
    if (request.pace == Pace.BRIEF) brief.add(request.resident);
    else scheduled.add(request);
  }

  private void fail(RuntimeException cause) {
    taken.forEach(request -> request.fail(cause));
  }
}

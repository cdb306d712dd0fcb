package stoa.store.running;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.ThrowableText;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.calls.Pace;
import stoa.store.leading.Moments;
import stoa.store.records.Draft;
import stoa.store.records.KeyRefusals;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// A key that is in memory: the tail of its stream, the requests that wait for it, and its state
/// when it is loaded.
@SuppressWarnings("exports") // see the package
public final class Resident extends StreamEnd implements Runnable {
  /*
   * Three owners.
   *
   * The leader (the thread that holds Intake.leading) owns what this inherits, the end of the stream as it
   * will be when the batch under way is committed. On commit it publishes that as tail and change.
   *
   * The runner (whoever moved lane to RUNNING) owns live and target, and executes the mailbox in
   * order: one thread at a time, in stream order. A request leaves the mailbox after it is executed.
   * When a run is taken back, its thread has lost the lane: recover gives it to the next runner, and
   * the lost thread touches nothing here again.
   *
   *        submit                claim                mailbox empty
   *   IDLE ──────► SCHEDULED ──────────► RUNNING ──────────────► IDLE
   *                    ▲                    │ max reached, or taken back
   *                    └────────────────────┘
   *
   * Anyone may pin. pins counts requests under way; an unpinned resident may be evicted (pins = -1),
   * and is then made again from the index.
   *
   * Invariants:
   * (1) Puts enter the mailbox in stream order, after they are durable.
   * (2) Every put at or below target is reflected in live, or will be when live is loaded; every put
   *     above is in the mailbox, or not committed.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Resident.class);
  private static final int IDLE = 0;
  private static final int SCHEDULED = 1;
  private static final int RUNNING = 2;
  private static final int TURN_MAX = 256;

  /// Whether its puts have a place in the order of several stores.
  public final boolean ordered;

  private final Parts parts;
  private final Runs runs;

  /// The last put that was executed, with everything that is logged about it in the stream.
  private long nextSettled;

  /// The last committed address of the stream.
  private volatile long tail;

  /// The log counter of the last committed put or deletion; UNKNOWN until a reader asks.
  private final AtomicLong change = new AtomicLong(UNKNOWN);

  private final long firstTail;

  // The runner's.
  private volatile @Nullable Materialized live;
  private long target;
  private volatile long generation;
  private volatile long executed;

  /// The log counter of the last put or deletion that live reflects.
  private long executedChange;

  /// The last nested answer that the state reflects, which need not be in the log yet; null when
  /// there is none since it was loaded. When it is there, all before it are.
  @Nullable NoteRequest lastNote;

  public volatile @Nullable Execution running;

  /// The last put whose state was announced to other replicas, or needs no announcement.
  private volatile long announced;

  /// Whether the state in memory is not what is to be gone on with.
  private volatile boolean stale;

  private final AtomicInteger lane = new AtomicInteger(IDLE);
  private final ConcurrentLinkedQueue<Request> mailbox = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pins = new AtomicInteger();

  private final AtomicInteger notes = new AtomicInteger();

  /// How many nested answers could not be logged, and how many of them the state was loaded behind.
  private final AtomicInteger answersLost = new AtomicInteger();

  private volatile int answersFound;

  /// How many puts, deletions and questions wait in batches, or wait for that, and are not settled.
  private final AtomicInteger ahead = new AtomicInteger();

  /// Whether a worker has been asked to run the lane and has not come yet.
  private final AtomicBoolean dispatched = new AtomicBoolean();

  /// Whether it was used since the evictor last passed.
  volatile boolean referenced;

  /// The weight with which it is counted in [Residents].
  private long weight;

  /// What the keys in memory use, all the same.
  ///
  /// @param loader makes their states
  /// @param runs runs their handlers
  /// @param keeper keeps their past
  /// @param residents counts what they take
  /// @param moments says what can be read
  /// @param books counts their requests
  public record Parts(
      Loader loader,
      Runs runs,
      Keeper keeper,
      Residents residents,
      Moments moments,
      Bookkeeping books) {}

  public Resident(Parts parts, Key key) {
    super(key);
    this.parts = parts;
    this.runs = parts.runs;
    this.ordered = runs.spaces.isOrdered(key);
    Streams streams = parts.loader.streams;
    StreamId stream = key.stream();
    long last = streams.last(stream);
    var mark = last == 0 ? null : streams.lastMark(stream, last);
    tail = last;
    firstTail = last;
    target = last;
    nextTail = last;
    if (mark != null) {
      var says = Records.mark(mark.data());
      if (says.alive()) {
        nextGeneration = mark.address();
        nextListed = says.listed();
        everDeleted = streams.lastMark(stream, mark.address() - 1) != null;
      } else {
        everDeleted = true;
      }
    }
    generation = nextGeneration;
    if (last > 0) refuseOther(mark != null);
  }

  /// Refuses to be a stream of the other sort than what is in it.
  private void refuseOther(boolean marked) {
    boolean users = false;
    if (!marked) {
      StoredEntry entry = parts.loader.streams.read(key.stream(), tail);
      if (entry == null) return;
      users = entry.kind() == Records.DATA;
    }
    if (users != key.isStream()) throw Residents.mixed(key);
  }

  /// What is counted of its requests.
  Bookkeeping books() {
    return parts.books;
  }

  /// Whether a put takes away and adds nothing, so that it is logged though the log is full.
  boolean givesUp(byte[] value) {
    return runs.factory(key).givesUp(value);
  }

  /// The last committed address of the stream.
  public long tail() {
    return tail;
  }

  /// The log counter of the last committed put or deletion, 0 when there was none. A verdict over a
  /// put is no change: it says what the put was.
  public long change() {
    long known = change.get();
    if (known != UNKNOWN) return known;
    change.compareAndSet(UNKNOWN, changeAt(firstTail));
    return change.get();
  }

  private long changeAt(long address) {
    long counter = 0;
    for (long at = address; at > 0; at--) {
      var entry = parts.loader.streams.read(key.stream(), at);
      if (entry == null) return counter; // what is in front was released: it was before that
      counter = entry.log().counter();
      if (entry.kind() == Records.PUT || entry.kind() == Records.DELETE) {
        return counter;
      }
    }
    return 0;
  }

  @Override
  public long lastChange() {
    return Math.max(nextChange, change.get());
  }

  /// Whether its state is in memory, so that no call on it waits to go on from the log.
  public boolean isLoaded() {
    return live != null;
  }

  /// Whether the put at an address is executed, in this process or before.
  public boolean hasExecuted(long address) {
    return executed >= address;
  }

  long generationHint() {
    return generation;
  }

  /// Whether the state is in memory and has changed since it was announced to other replicas.
  public boolean isUnannounced() {
    return live != null && executed > announced;
  }

  /// Looks, as [#look], at a state that is to be announced to other replicas; counts it as
  /// announced. Answers null also when the state is not what the log says.
  public <T> @Nullable T announce(Function<Materialized, @Nullable T> look) {
    return look(state -> {
      if (stale || lacksAnswer()) return null;
      announced = executed;
      return look.apply(state);
    });
  }

  /// The state is to be loaded anew for the next request, by a checkpoint that was put there.
  public void stale() {
    stale = true;
  }

  // ---- pins

  /// Keeps it in memory until [#unpin]; answers whether it still is.
  public boolean pin() {
    while (true) {
      int count = pins.get();
      if (count < 0) return false;
      if (pins.compareAndSet(count, count + 1)) return true;
    }
  }

  /// Whether it was not evicted.
  boolean isPresent() {
    return pins.get() >= 0;
  }

  /// Ends what [#pin] began.
  public void unpin() {
    pins.decrementAndGet();
  }

  void noteBegins() {
    notes.incrementAndGet();
  }

  void noteEnds() {
    notes.decrementAndGet();
  }

  /// A nested answer that the state reflects could not be logged: the state is loaded anew for the
  /// next request, which finds the answer again and logs it.
  public void answerLost() {
    answersLost.incrementAndGet();
  }

  /// How many nested answers could not be logged so far.
  public int answersLost() {
    return answersLost.get();
  }

  /// Whether the stream lacks a nested answer, so that its past cannot be told.
  boolean lacksAnswer() {
    return answersFound != answersLost.get();
  }

  /// How many entries that nobody executes are on their way into the stream.
  public int notesUnderWay() {
    return notes.get();
  }

  /// Gives it up when it has no pin; answers whether it did.
  boolean evict() {
    if (!pins.compareAndSet(0, -1)) return false;
    live = null; // targets may still point here
    return true;
  }

  /// Fails what waits, when the store is closed and nothing is executed any more.
  void end(RuntimeException cause) {
    for (Request request : mailbox) {
      if (!request.isDone()) request.fail(cause);
    }
  }

  /// Returns about how many bytes it takes in memory.
  public long weight() {
    return weight;
  }

  // ---- the leader

  @Override
  public long settled() {
    // In this order: the notes of what is executed were begun before.
    long last = executed;
    if (notes.get() == 0 && !lacksAnswer()) nextSettled = Math.max(nextSettled, last);
    return nextSettled;
  }

  @Override
  public void publish() {
    super.publish();
    tail = nextTail;
    if (nextChange != UNKNOWN) change.set(nextChange);
  }

  // ---- the mailbox

  /// Puts a request behind the others; answers whether the caller must see to it that the lane
  /// runs.
  public boolean enqueue(Request request) {
    request.waits();
    mailbox.add(request);
    return lane.get() == IDLE && lane.compareAndSet(IDLE, SCHEDULED);
  }

  /// A put, a deletion or a question goes into a batch.
  void goesAhead() {
    ahead.incrementAndGet();
  }

  /// It is settled.
  void isPassed() {
    ahead.decrementAndGet();
  }

  /// Whether something that is asked now must wait its turn: behind puts and deletions, and behind
  /// questions that wait for them.
  public boolean hasAhead() {
    return ahead.get() > 0;
  }

  /// Whether the lane waits for a thread.
  public boolean isScheduled() {
    return lane.get() == SCHEDULED;
  }

  /// Whether something is executed, or waits for that.
  public boolean isBusy() {
    return lane.get() != IDLE || !mailbox.isEmpty();
  }

  /// Looks at the state if it is loaded, no request waits and no thread runs; answers null
  /// otherwise.
  ///
  /// @param look must not wait
  public <T> @Nullable T look(Function<Materialized, @Nullable T> look) {
    if (lane.get() != IDLE || !mailbox.isEmpty() || !lane.compareAndSet(IDLE, RUNNING)) return null;
    try {
      Materialized state = live;
      return state == null || !mailbox.isEmpty() ? null : look.apply(state);
    } finally {
      release();
    }
  }

  /// Executes a question at once when the state is loaded, nothing is ahead of it and no thread
  /// runs; answers whether it did.
  public boolean runAlone(Request question) {
    if (lane.get() != IDLE || !mailbox.isEmpty() || !lane.compareAndSet(IDLE, RUNNING)) {
      return false;
    }
    if (!isReady() || !mailbox.isEmpty()) {
      question.waits();
      mailbox.add(question);
      drainQuick(question);
    } else if (execute(question)) {
      release();
    } else {
      runs.threads.back();
    }
    return true;
  }

  @Override
  public void run() {
    dispatched.set(false);
    runUntil(null);
  }

  /// Executes what waits, up to a request, if no other thread does.
  public void runUntil(@Nullable Request last) {
    if (lane.get() == SCHEDULED && lane.compareAndSet(SCHEDULED, RUNNING)) drain(last);
  }

  /// Has a thread of its own execute what waits, up to a request: all workers may wait for other
  /// stores.
  public void help(Request last) {
    try {
      runs.threads.serve(() -> runUntil(last));
    } catch (RejectedExecutionException full) {
      LOG.debug("{} waits for a worker", key, full);
    }
  }

  /// As [#runUntil], for a thread that must come back soon: leaves what is not quick to others.
  /// Answers whether it executed anything.
  public boolean runQuickUntil(Request last) {
    if (lane.get() != SCHEDULED) return false;
    if (loadsElsewhere(last)) {
      dispatch(); // nobody else does for a thread that was to run it
      return false;
    }
    return lane.compareAndSet(SCHEDULED, RUNNING) && drainQuick(last);
  }

  /// Whether another thread is to load the state, which may take long: the request is to come back
  /// in time, with this thread.
  private boolean loadsElsewhere(Request last) {
    return last.ticksMax > 0 && !isReady() && !runs.threads.mayRunLong();
  }

  /// Whether the state is in memory, and is what is to be gone on with.
  private boolean isReady() {
    return live != null && !stale && !lacksAnswer();
  }

  private boolean drainQuick(Request last) {
    boolean any = false;
    for (Request next; !last.isDone() && (next = mailbox.peek()) != null && next.pace.isShort(); ) {
      if (loadsElsewhere(last)) break;
      any = true;
      next.hasty = false;
      if (!execute(next)) {
        runs.threads.back();
        return true;
      }
      mailbox.poll();
    }
    release();
    return any;
  }

  /// Runs what is brief and waits for nothing, in a [Round]; leaves the rest to a worker.
  public void runBrief() {
    if (lane.get() != SCHEDULED || !lane.compareAndSet(SCHEDULED, RUNNING)) return;
    for (int turn = 0; turn < TURN_MAX; turn++) {
      Request next = mailbox.peek();
      if (next == null) {
        release();
        return;
      }
      if (!isBrief(next)) break;
      next.hasty = true;
      if (!execute(next)) {
        runs.threads.back();
        return;
      }
      mailbox.poll();
    }
    lane.set(SCHEDULED);
    dispatch();
  }

  /// Whether to execute a request waits for nothing, unless its handler asks another key.
  private boolean isBrief(Request request) {
    Materialized state = live;
    boolean brief = request.pace == Pace.BRIEF;
    if (!brief || request.isTakenBack() || state == null || lacksAnswer()) return false;
    return switch (request) {
      case GetRequest _ -> true;
      case PutRequest put -> !put.begins && !state.isCheckpointDue(put.value.length);
      default -> false;
    };
  }

  /// Has a worker run the lane, unless one is on its way already.
  public void dispatch() {
    if (dispatched.compareAndSet(false, true)) runs.threads.work(this);
  }

  private void drain(@Nullable Request last) {
    for (int turn = 0; turn < TURN_MAX; turn++) {
      Request next = mailbox.peek();
      if (next == null) break;
      // What is behind it may wait for the run that waits for it.
      boolean isPast = last != null && next != last && (last.isOver() || last.isBegun());
      if (isPast) break;
      next.hasty = false;
      if (!execute(next)) {
        runs.threads.back();
        return;
      }
      mailbox.poll();
      if (next == last) break;
    }
    release();
  }

  private void release() {
    lane.set(IDLE);
    if (!mailbox.isEmpty() && lane.compareAndSet(IDLE, SCHEDULED)) dispatch();
  }

  /// A run has ended beside its thread: the next runner loads the state anew.
  ///
  /// @param request what was taken back; null when nothing was, and the run is to be done again
  void recover(@Nullable Request request) {
    running = null;
    live = null;
    if (request != null && mailbox.peek() == request) mailbox.poll();
    lane.set(SCHEDULED);
    dispatch();
  }

  /// A put was executed while the state is loaded, which may go on for long: who waits for it need
  /// not wait for those behind it.
  void passed(long address) {
    executed = address;
    for (Request request : mailbox) {
      boolean over = request instanceof PositionRequest waits && waits.isBehind(address);
      if (over) request.wake();
    }
  }

  /// The put at an address that waits here, if it is the next; null when it is not.
  @Nullable PutRequest waitingAt(long address) {
    return mailbox.peek() instanceof PutRequest next && next.address == address ? next : null;
  }

  /// While no thread has the lane: a put is not executed, since a verdict takes it back.
  void skip(long address) {
    if (address > target) target = address;
  }

  // ---- execution

  /// Executes a request and settles it. Answers false when the lane was lost on the way.
  private boolean execute(Request request) {
    Throwable unloaded = null;
    if (!isReady() && needsState(request) && !request.isTakenBack()) {
      // Before it is begun: meanwhile it waits, and can be taken back.
      try {
        var _ = live();
      } catch (Execution.Abandoned lost) {
        return false;
      } catch (Execution.Yielded yielded) {
        recover(null);
        return false;
      } catch (RuntimeException | Error failure) {
        unloaded = failure;
      }
    }
    if (!request.begin() && passes(request)) return true;
    if (unloaded != null) {
      fail(request, unloaded);
      return true;
    }
    try {
      return switch (request) {
        case PutRequest put -> put(put);
        case DeleteRequest deletion -> delete(deletion);
        case PartRequest part -> part(part);
        case CheckpointRequest checkpoint -> checkpoint(checkpoint);
        case GetRequest question -> get(question);
        case GenerationRequest question -> tell(question, generation);
        case PositionRequest question -> tell(question, live().position());
        case ForkRequest fork -> fork(fork);
        case NoteRequest _, AppendRequest _, CommitRequest _ ->
            throw new IllegalStateException(request + " is not executed");
      };
    } catch (Execution.Abandoned lost) {
      return false;
    } catch (Execution.Yielded yielded) {
      recover(null);
      return false;
    } catch (Execution.Elsewhere asksOthers) {
      running = null;
      if (request instanceof GetRequest question) giveToThePast(question);
      else request.complete(null);
      return true;
    } catch (RuntimeException | Error failure) {
      fail(request, failure);
      return true;
    }
  }

  /// Whether a request needs the state of the key. A state that cannot be made need not be made to
  /// end.
  private boolean needsState(Request request) {
    return switch (request) {
      case GenerationRequest _ -> false;
      case DeleteRequest _, CheckpointRequest _ -> !isQuarantined();
      default -> true;
    };
  }

  private boolean isQuarantined() {
    return runs.bans.refusal(key, generation) != null;
  }

  /// Gives a request up that cannot be executed, or whose state cannot be loaded, because its files
  /// are damaged, say. Other keys go on.
  private void fail(Request request, Throwable failure) {
    RuntimeException cause =
        switch (failure) {
          case Execution.Suspended suspended -> suspended.reason();
          case RuntimeException known -> known;
          default ->
              new CallFailed(key + " cannot be loaded: " + ThrowableText.of(failure), failure);
        };
    boolean logged = request instanceof ChangeRequest;
    giveUp(request, logged ? new Execution.Suspended(cause).failure() : cause);
  }

  /// Lets go of the state: it is loaded anew, with what is logged, for the next request.
  private void giveUp(Request request, RuntimeException failure) {
    running = null;
    live = null;
    if (request instanceof ChangeRequest change) {
      skip(change.address);
      if (runs.others().hasNeighbors()) runs.unfinished.givenUp(key, change.address);
    }
    request.fail(failure);
  }

  private boolean tell(QuestionRequest question, long number) {
    question.number = number;
    question.reach = executedChange;
    question.complete(null);
    return true;
  }

  /// Passes a request that was taken back before it ran; answers false when it runs after all. What
  /// is behind it may not be executed before the verdict is durable, nor it itself when the verdict
  /// may be in the log.
  private boolean passes(Request request) {
    if (request instanceof PutRequest put) return passes(put);
    unpin(); // as Deadlines has pinned it
    return true;
  }

  private boolean passes(PutRequest put) {
    NoteRequest verdict;
    while ((verdict = runs.verdicts.awaitVerdict(put)) == null) {
      if (put.begin()) return false; // else it was taken back again
    }
    RuntimeException failure = verdict.failure();
    if (failure != null) {
      if (!put.beginAfterAll(verdict)) return !put.begin() && passes(put);
      unpin();
      if (parts.loader.health.hasFailed()) giveUp(put, new Execution.Suspended(failure).failure());
      return put.isDone();
    }
    target = put.address;
    Materialized state = live;
    if (state != null) {
      parts.keeper.changes(this, state, executedChange, put, put.address);
      state.skip(put.address);
      executed = put.address;
      executedChange = put.counter;
    }
    // Otherwise loading executes it, with those before it, which an earlier process may have left.
    unpin(); // as Deadlines has pinned it
    return true;
  }

  /// Visits the requests that are here: the one that is executed, if any, and those that wait.
  void visitRequests(Consumer<Request> visitor) {
    mailbox.forEach(visitor);
  }

  private boolean put(PutRequest request) {
    Materialized state = live();
    if (request.address <= state.position()) {
      // It was begun on a thread that is lost, or made way, and was executed again by loading.
      request.generation = state.generation();
      request.reach = parts.moments.moment();
      Answer answer = state.answerAt(request.address);
      if (answer == null) answer = parts.loader.findAnswer(key, request.address);
      if (answer != null) request.complete(answer);
      else request.fail(parts.loader.reason(key, request.address));
      return true;
    }
    if (!request.begins && state.generation() == 0) {
      target = request.address;
      executed = request.address;
      request.fail(KeyRefusals.gone(key));
      return true;
    }
    target = request.address;
    parts.keeper.changes(this, state, executedChange, request, request.address);
    Execution execution = Execution.live(runs, this, request);
    Answer answer =
        run(
            execution,
            () -> {
              Answer given = state.put(request.begins, request.opening, request.value, execution);
              execution.gate();
              if (state.isCheckpointDue(request.value.length)) execution.gateAll();
              return given;
            });
    if (answer == null) return false;
    execution.settleLong();
    runs.unfinished.ends(key, request.address, execution.lastNote());
    running = null;
    generation = state.generation();
    executed = request.address;
    executedChange = request.counter;
    request.generation = generation;
    request.reach = Math.max(request.counter, execution.reach);
    state.settle(request.value.length);
    reweigh(state);
    request.complete(answer);
    return true;
  }

  private boolean delete(DeleteRequest request) {
    boolean quarantined = isQuarantined();
    Materialized state = quarantined ? unmade() : live();
    if (request.address <= state.position()) {
      // Loading has executed it.
      request.reach = parts.moments.moment();
      request.number = parts.keeper.generationAfter(key, request.address - 1);
      request.complete(null);
      return true;
    }
    target = request.address;
    if (!quarantined) {
      parts.keeper.changes(this, state, executedChange, request, request.address);
    }
    state.delete(request.address);
    parts.keeper.deleted(key, request.address);
    executedChange = request.counter;
    request.reach = request.counter;
    request.number = generation;
    generation = 0;
    executed = request.address;
    reweigh(state);
    request.complete(null);
    return true;
  }

  /// Makes a logged checkpoint, unless loading has.
  private boolean checkpoint(CheckpointRequest request) {
    boolean made = request.address <= target;
    if (!made && isQuarantined()) {
      live = null; // loading makes it
    } else if (!made) {
      Materialized state = live();
      parts.loader.barrier.await(this);
      state.checkpoint();
      reweigh(state);
    }
    skip(request.address);
    request.complete(null);
    return true;
  }

  /// Executes what a committed transaction does here: all of it, before anybody sees any of it, and
  /// after every key of it has its part.
  private boolean part(PartRequest request) {
    parts.moments.awaitPublished();
    StoreTransaction transaction = request.transaction;
    Materialized state = live();
    boolean first = true;
    for (LoggedCall loggedCall : transaction.loggedCalls()) {
      if (loggedCall.resident != this || loggedCall.address <= state.position()) continue;
      target = loggedCall.address;
      if (first) parts.keeper.changes(this, state, executedChange, request, loggedCall.address);
      first = false;
      byte[] value = loggedCall.value;
      if (value == null) {
        state.delete(loggedCall.address);
        parts.keeper.deleted(key, loggedCall.address);
      } else if (!execute(state, loggedCall, value, request)) {
        return false;
      }
      generation = state.generation();
    }
    executed = state.position();
    executedChange = request.counter;
    reweigh(state);
    request.complete(null);
    return true;
  }

  private boolean execute(
      Materialized state, LoggedCall loggedCall, byte[] value, PartRequest request) {
    var logged = new LoggedAnswers();
    int number = 0;
    for (Draft.Answered answered : loggedCall.answers()) {
      logged.add(loggedCall.address, ++number, answered.answer());
    }
    Execution execution = Execution.committed(runs, this, loggedCall, logged, request);
    if (loggedCall.copied) state.copy();
    if (run(execution, () -> state.put(loggedCall.begins, loggedCall.opening, value, execution))
        == null) {
      return false;
    }
    running = null;
    state.settle(value.length);
    return true;
  }

  private boolean fork(ForkRequest request) {
    Materialized state = live();
    if (!hasMoved(request)) request.copy = state.copy(tail);
    request.reach = executedChange;
    request.complete(null);
    return true;
  }

  /// Whether the state reflects more than a transaction is to see.
  private boolean hasMoved(QuestionRequest request) {
    StoreTransaction transaction = request.transaction();
    return transaction != null && executedChange > transaction.counter();
  }

  private boolean get(GetRequest request) {
    Materialized state = live();
    if (hasMoved(request)) {
      request.moved = true;
      request.complete(null);
      return true;
    }
    RuntimeException diverged = runs.bans.refusal(key, state.generation());
    if (diverged != null) {
      request.fail(diverged);
      return true;
    }
    Existence expected = request.existence;
    if (isGone(expected, state)) {
      request.fail(KeyRefusals.gone(key));
      return true;
    }
    Execution execution = Execution.question(runs, this, state.position(), request);
    RuntimeException fatal = runs.bans.fatalQuestion(execution);
    if (fatal != null) {
      request.fail(fatal);
      return true;
    }
    Answer answer = run(execution, () -> state.get(request.query, expected.opening(), execution));
    if (answer == null) return false;
    running = null;
    if (request.moved) {
      giveToThePast(request);
      return true;
    }
    request.generation = state.generation();
    request.reach = Math.max(executedChange, execution.reach);
    request.complete(answer);
    return true;
  }

  /// Settles a question that must be asked of the past.
  private void giveToThePast(GetRequest question) {
    if (question.alone) question.reach = executedChange;
    question.complete(null);
  }

  private static boolean isGone(Existence expected, Materialized state) {
    return expected.isGone(state.generation(), state.position());
  }

  /// Runs a handler; answers null when the lane was lost on the way.
  private @Nullable Answer run(Execution execution, Supplier<Answer> handler) {
    running = execution;
    runs.runners.enter(execution);
    try {
      Answer answer = handler.get();
      execution.checkNotYielded();
      if (!execution.finish()) return null;
      runs.runners.passed(execution);
      return answer;
    } catch (Execution.Unwinding stop) {
      throw execution.stopped(stop);
    } catch (RuntimeException failure) {
      if (!execution.finish()) return null;
      throw failure;
    } catch (Error error) {
      if (execution.isTakenBack()) return null;
      if (execution.isKnownToStand()) {
        if (error instanceof StackOverflowError && !runs.threads.mayRunLong()) {
          throw new Execution.Yielded(); // a worker has more stack
        }
        throw new Execution.Suspended(
            new CallFailed("version " + execution.address() + " of " + key + " failed", error));
      }
      runs.verdicts.takeBack(execution, error);
      return null;
    } finally {
      runs.runners.exit(execution);
    }
  }

  /// Stands for a state that is not made.
  private Materialized unmade() {
    Materialized state = parts.loader.state(key);
    live = state;
    stale = false;
    return state;
  }

  private Materialized live() {
    Materialized state = live;
    if (state == null || !isReady()) {
      // What loading would go on with could not be logged, and would be begun again and again.
      parts.loader.health.confirm();
      int lost = answersLost.get();
      lastNote = null;
      stale = false; // first: what makes it stale is there already
      state = parts.loader.state(key);
      state.load(target, tail, this);
      running = null;
      generation = state.generation();
      executed = state.position();
      executedChange = changeAt(state.position());
      answersFound = lost;
      live = state;
      reweigh(state);
    }
    return state;
  }

  private void reweigh(Materialized state) {
    referenced = true;
    long now = state.weight();
    if (now != weight) {
      parts.residents.reweigh(now - weight);
      weight = now;
    }
  }
}

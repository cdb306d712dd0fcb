package stoa.store.running;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.base.Answer;
import stoa.base.CheckpointRule;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.ThrowableText;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.calls.Pace;
import stoa.store.leading.ReadMoments;
import stoa.store.records.Draft;
import stoa.store.records.KeyRefusals;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// A key in memory: the tail of its stream, the requests that wait for it, and its state when that
/// is loaded.
@SuppressWarnings("exports") // see the package
public final class Resident extends StreamEnd implements Runnable {
  /*
   * Three owners.
   *
   * The thread that writes the batch in progress (see Intake and BatchTurn) owns the inherited
   * fields: the end of the stream as it will be when that batch commits. On commit this thread
   * publishes that end as tail and change.
   *
   * The runner (the thread that moved lane to RUNNING) owns live and target, and executes the
   * mailbox in order: one thread at a time, in stream order. A request leaves the mailbox after its
   * execution. When a run is taken back, its thread has lost the lane: recover gives the lane to
   * the next runner, and the lost thread touches nothing here again.
   *
   *      submit                claim                mailbox empty
   * IDLE ──────► SCHEDULED ──────────► RUNNING ──────────────► IDLE
   *                  ▲                    │ max reached, or taken back
   *                  └────────────────────┘
   *
   * Any thread may pin. pins counts the requests in progress; the store may evict an unpinned
   * resident (pins = -1), and later makes a new one from the index.
   *
   * Invariants:
   * (1) Puts enter the mailbox in stream order, when the log has them. AnswerGate holds what would
   *     tell of those that are not durable.
   * (2) live reflects every put at or below target, or will reflect it when live is loaded. Every
   *     put above target is in the mailbox, or not published.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Resident.class);
  private static final int IDLE = 0;
  private static final int SCHEDULED = 1;
  private static final int RUNNING = 2;
  private static final int TURN_MAX = 256;

  // The weight of a state above which a copy may take longer than a brief call.
  private static final long BRIEF_COPY_BYTES_MAX = 2L * CheckpointRule.BYTES_MIN;

  // A store keeps many residents: an atomic object for each field would make one larger by a
  // seventh.
  private static final AtomicLongFieldUpdater<Resident> CHANGE =
      AtomicLongFieldUpdater.newUpdater(Resident.class, "change");
  private static final AtomicLongFieldUpdater<Resident> REFLECTS =
      AtomicLongFieldUpdater.newUpdater(Resident.class, "reflects");
  private static final AtomicIntegerFieldUpdater<Resident> LANE =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "lane");
  private static final AtomicIntegerFieldUpdater<Resident> PINS =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "pins");
  private static final AtomicIntegerFieldUpdater<Resident> NOTES =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "notes");
  private static final AtomicIntegerFieldUpdater<Resident> ANSWERS_LOST =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "answersLost");
  private static final AtomicIntegerFieldUpdater<Resident> AHEAD =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "ahead");
  private static final AtomicIntegerFieldUpdater<Resident> DISPATCHED =
      AtomicIntegerFieldUpdater.newUpdater(Resident.class, "dispatched");

  /// Whether its puts have a place in the order of several stores.
  public final boolean ordered;

  private final Parts parts;
  private final Runs runs;

  // The last executed put for which the stream has everything that the store logs about it.
  private long nextSettled;

  // The last published address of the stream; it need not be durable.
  private volatile long tail;

  // The log counter of the last published put or deletion; UNKNOWN until a reader asks.
  private volatile long change = UNKNOWN;

  private final long firstTail;

  // Owned by the runner.
  private volatile @Nullable Materialized live;
  private long target;
  private volatile long generation;
  private volatile long executed;

  // The log counter of the last put or deletion that live reflects.
  private long executedChange;

  /// The last nested answer that the state reflects; null when the handler has got none since the
  /// state was loaded. The log need not have it yet; once it does, it has all earlier ones.
  @Nullable NoteRequest lastNote;

  public volatile @Nullable Execution running;

  // The puts whose changes of other keys are on their way into the log; null before the first.
  private volatile @Nullable Sequels sequels;

  // The last put whose state the store announced to other replicas, or that needs no announcement.
  private volatile long announced;

  // Whether the next request must load the state anew.
  private volatile boolean stale;

  // IDLE in the beginning.
  private volatile int lane;
  private final ConcurrentLinkedQueue<Request> mailbox = new ConcurrentLinkedQueue<>();
  private volatile int pins;

  private volatile int notes;

  // How many nested answers could not be logged, and how many of them the state was loaded behind.
  private volatile int answersLost;

  private volatile int answersFound;

  // How many puts, deletions and questions are in batches or wait for one, and are not settled.
  private volatile int ahead;

  // Whether a worker was asked to run the lane and has not come yet.
  // 0 or 1.
  private volatile int dispatched;

  /// Whether a request has used the key since the evictor last passed it.
  volatile boolean referenced;

  /// Whether the last of its calls that may wait for a condition had to.
  volatile boolean callsWait;

  /// Whether the last of its puts called other keys.
  volatile boolean callsOthers;

  // The last log counter that the state reflects, through the answers of other keys, too.
  private volatile long reflects;

  // The weight with which [Residents] counts the key.
  private long weight;

  /// The parts that all keys in memory share.
  ///
  /// @param loader makes their states
  /// @param runs runs their handlers
  /// @param keeper keeps their past
  /// @param residents counts their memory
  /// @param moments says which log counters can be read
  /// @param books counts their requests
  public record Parts(
      Loader loader,
      Runs runs,
      Keeper keeper,
      Residents residents,
      ReadMoments moments,
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
    reflects = last == 0 ? 0 : parts.books.gate().appended();
    target = last;
    nextTail = last;
    if (mark != null) {
      var says = Records.mark(mark.data());
      if (says.alive()) {
        nextGeneration = mark.address();
        nextListed = says.listed();
        everDeleted = streams.hasMark(stream, mark.address() - 1);
      } else {
        everDeleted = true;
      }
    }
    generation = nextGeneration;
    if (last > 0) refuseOther(mark != null);
  }

  /// Refuses to be a stream of another sort than the entries in it.
  private void refuseOther(boolean marked) {
    boolean users = false;
    if (!marked) {
      StoredEntry entry = parts.loader.streams.read(key.stream(), tail);
      if (entry == null) return;
      users = Records.isOfUsers(entry.kind());
    }
    if (users != key.isStream()) throw Residents.mixed(key);
  }

  /// Returns the counters of its requests.
  Bookkeeping books() {
    return parts.books;
  }

  /// Returns whether a put only removes data. The store logs such a put even when the log is full.
  boolean givesUp(byte[] value) {
    return runs.factory(key).givesUp(value);
  }

  /// Returns the last address of the stream that its mailbox has. It need not be durable.
  public long tail() {
    return tail;
  }

  /// Returns the log counter of the last published put or deletion, 0 when there was none. A
  /// verdict is not a change: it completes the put that it takes back.
  public long change() {
    long known = change;
    if (known != UNKNOWN) return known;
    CHANGE.compareAndSet(this, UNKNOWN, changeAt(firstTail));
    return change;
  }

  /// Reads the last change for the batch writer, before a change of a part of the key. When the
  /// stream cannot be read, that change counts as one of everything.
  void learnChange() {
    try {
      var _ = change();
    } catch (RuntimeException unreadable) {
      LOG.debug("{} is not read before its change", key, unreadable); // its execution reads it
    }
  }

  private long changeAt(long address) {
    long counter = 0;
    for (long at = address; at > 0; at--) {
      var entry = parts.loader.streams.read(key.stream(), at);
      if (entry == null) return counter; // the change is older: it was released
      counter = entry.log().counter();
      if (entry.kind() == Records.PUT || entry.kind() == Records.DELETE) {
        return counter;
      }
    }
    return 0;
  }

  @Override
  public long lastChange() {
    return Math.max(nextChange, change);
  }

  /// Returns whether its state is in memory. No unfinished call on the key then waits to be
  /// resumed.
  public boolean isLoaded() {
    return live != null;
  }

  /// Returns whether this process or an earlier one has executed the put at an address.
  public boolean hasExecuted(long address) {
    return executed >= address;
  }

  long generationHint() {
    return generation;
  }

  /// Returns the address at which the generation of an address began, if it is known without a
  /// read; 0 otherwise, also when the key is absent there.
  long generationAt(long address) {
    return address == firstTail ? generation : 0;
  }

  /// Returns whether the state is in memory and has changed since the store announced it to other
  /// replicas.
  public boolean isUnannounced() {
    return live != null && executed > announced;
  }

  /// Looks, like [#look], at a state that the caller will announce to other replicas, and counts it
  /// as announced. Also returns null when the state differs from the log, and while changes are on
  /// their way that its puts have left to the store: another replica may make a checkpoint of an
  /// announced state, and nothing makes them again behind that.
  public <T> @Nullable T announce(Function<Materialized, @Nullable T> look) {
    return look(state -> {
      if (stale || lacksAnswer() || hasSequels()) return null;
      announced = executed;
      return look.apply(state);
    });
  }

  /// Makes the next request load the state anew, from a checkpoint that the caller has put there.
  public void markStale() {
    stale = true;
  }

  // ---- pins

  /// Keeps it in memory until [#unpin]; returns false when it was evicted before.
  public boolean pin() {
    while (true) {
      int count = pins;
      if (count < 0) return false;
      if (PINS.compareAndSet(this, count, count + 1)) return true;
    }
  }

  /// Returns whether it was not evicted.
  boolean isPresent() {
    return pins >= 0;
  }

  /// Ends what [#pin] began.
  public void unpin() {
    PINS.decrementAndGet(this);
  }

  void noteBegins() {
    NOTES.incrementAndGet(this);
  }

  void noteEnds() {
    NOTES.decrementAndGet(this);
  }

  /// Notes that the log lacks a nested answer that the state reflects. The next request loads the
  /// state anew, finds the answer again and logs it.
  public void answerLost() {
    Sequels open = sequels;
    if (open != null) open.noteLost();
    ANSWERS_LOST.incrementAndGet(this);
  }

  /// Returns whether nothing may be logged for the key: the log may lack the note that it has what
  /// earlier puts have left to the store. The next request loads the state anew, and notes it
  /// again.
  boolean lacksSequelNote() {
    Sequels open = sequels;
    return open != null && open.lacksNote();
  }

  /// Returns how many nested answers could not be logged so far.
  public int answersLost() {
    return answersLost;
  }

  /// Returns whether the stream lacks a nested answer, so that its past cannot be read.
  boolean lacksAnswer() {
    return answersFound != answersLost;
  }

  /// Returns how many entries that no handler executes are on their way into the stream.
  public int notesUnderWay() {
    return notes;
  }

  /// Evicts it when it has no pin; returns whether it did.
  boolean evict() {
    if (!PINS.compareAndSet(this, 0, -1)) return false;
    live = null; // targets may still point here
    return true;
  }

  /// Fails the waiting requests when the store is closed and executes nothing any more.
  void end(RuntimeException cause) {
    for (Request request : mailbox) {
      if (!request.isDone()) request.fail(cause);
    }
  }

  /// Returns about how many bytes it takes in memory.
  public long weight() {
    return weight;
  }

  // ---- the batch writer

  @Override
  public long advanceSettled() {
    // The store reads `executed` first: the puts up to it have begun their notes.
    long last = executed;
    Sequels open = sequels;
    if (open != null) last = Math.min(last, open.settled());
    if (notes == 0 && !lacksAnswer()) nextSettled = Math.max(nextSettled, last);
    return nextSettled;
  }

  @Override
  public void publish() {
    super.publish();
    tail = nextTail;
    if (nextChange != UNKNOWN) change = nextChange;
  }

  // ---- the mailbox

  /// Adds a request to the mailbox; returns whether the caller must make a thread run the lane.
  public boolean enqueue(Request request) {
    request.waits();
    mailbox.add(request);
    return lane == IDLE && LANE.compareAndSet(this, IDLE, SCHEDULED);
  }

  /// Counts a put, a deletion or a question that goes into a batch.
  void countAhead() {
    AHEAD.incrementAndGet(this);
  }

  /// Notes that such a request is settled.
  void uncountAhead() {
    AHEAD.decrementAndGet(this);
  }

  /// Returns whether a new request must wait for its turn: behind puts and deletions, and behind
  /// questions that wait for them.
  public boolean hasAhead() {
    return ahead > 0;
  }

  /// Returns whether the lane waits for a thread.
  public boolean isScheduled() {
    return lane == SCHEDULED;
  }

  /// Returns whether a thread executes a request, or a request waits for that.
  public boolean isBusy() {
    return lane != IDLE || !mailbox.isEmpty();
  }

  /// Applies a function to the state if the state is loaded, no request waits and no thread runs;
  /// returns null otherwise.
  ///
  /// @param look must not wait
  public <T> @Nullable T look(Function<Materialized, @Nullable T> look) {
    if (lane != IDLE || !mailbox.isEmpty() || !LANE.compareAndSet(this, IDLE, RUNNING)) return null;
    try {
      Materialized state = live;
      return state == null || !mailbox.isEmpty() ? null : look.apply(state);
    } finally {
      release();
    }
  }

  /// Executes a question at once when the state is loaded, the question has no request ahead of it
  /// and no thread runs; returns whether it did.
  public boolean runAlone(Request question) {
    if (lane != IDLE || !mailbox.isEmpty() || !LANE.compareAndSet(this, IDLE, RUNNING)) {
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
    dispatched = 0;
    runUntil(null);
  }

  /// Executes the waiting requests, up to a given one, if no other thread does.
  public void runUntil(@Nullable Request last) {
    if (lane == SCHEDULED && LANE.compareAndSet(this, SCHEDULED, RUNNING)) drain(last);
  }

  /// Makes a thread of its own execute the waiting requests, up to a given one: all workers may be
  /// waiting for other stores.
  public void help(Request last) {
    try {
      runs.threads.serve(() -> runUntil(last));
    } catch (RejectedExecutionException full) {
      LOG.debug("{} waits for a worker", key, full);
    }
  }

  /// Does the same as [#runUntil] on a thread that must return soon: leaves slow requests to
  /// others. Returns whether it executed any request.
  public boolean runQuickUntil(Request last) {
    if (lane != SCHEDULED) return false;
    if (loadsElsewhere(last)) {
      dispatch(); // this thread was to run the lane
      return false;
    }
    return LANE.compareAndSet(this, SCHEDULED, RUNNING) && drainQuick(last);
  }

  /// Returns whether another thread must load the state, which may take long: the request has a
  /// time limit, and this thread must return by then.
  private boolean loadsElsewhere(Request last) {
    return last.ticksMax > 0 && !isReady() && !runs.threads.mayRunLong();
  }

  /// Returns whether the state is in memory and up to date.
  private boolean isReady() {
    return live != null && !stale && !lacksAnswer();
  }

  private boolean drainQuick(Request last) {
    boolean any = false;
    for (Request next;
        !last.isDone()
            && !last.isHeld()
            && (next = mailbox.peek()) != null
            && next.pace.isShort(); ) {
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

  /// Runs brief requests that wait for nothing, in a `BriefTurn`; leaves the rest to a worker.
  public void runBrief() {
    if (lane != SCHEDULED || !LANE.compareAndSet(this, SCHEDULED, RUNNING)) return;
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
    lane = SCHEDULED;
    dispatch();
  }

  /// Returns whether this can execute a request without waiting, unless its handler asks another
  /// key.
  private boolean isBrief(Request request) {
    Materialized state = live;
    boolean brief = request.pace == Pace.BRIEF;
    if (!brief || request.isTakenBack() || state == null || lacksAnswer()) return false;
    return switch (request) {
      case GetRequest _ -> true;
      case PutRequest put -> !put.begins && !state.isCheckpointDue(put.value.length);
      case PartRequest part -> isBrief(part, state);
      default -> false;
    };
  }

  /// Returns whether the changes of a transaction are brief puts that need no answer of another key
  /// and lead to no checkpoint, on a state of which a copy takes little time.
  private boolean isBrief(PartRequest part, Materialized state) {
    if (!state.forksCheaply() && state.weight() > BRIEF_COPY_BYTES_MAX) return false;
    long weight = 0;
    for (LoggedCall call : part.transaction.loggedCalls()) {
      if (call.resident != this) continue;
      byte[] value = call.value;
      if (value == null || call.begins || !call.answers().isEmpty()) return false;
      weight += CheckpointRule.weightOf(value.length);
    }
    return !state.isCheckpointDue((int) Math.min(weight, Integer.MAX_VALUE));
  }

  /// Returns whether a copy of the state takes little time; false while no state is in memory.
  boolean forksCheaply() {
    Materialized state = live;
    return state != null && state.forksCheaply();
  }

  /// Makes a worker run the lane, unless one is on its way already.
  public void dispatch() {
    if (dispatched == 0 && DISPATCHED.compareAndSet(this, 0, 1)) runs.threads.work(this);
  }

  private void drain(@Nullable Request last) {
    for (int turn = 0; turn < TURN_MAX; turn++) {
      Request next = mailbox.peek();
      if (next == null) break;
      // The requests behind `last` may wait for the run that waits for `last`.
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
    lane = IDLE;
    if (!mailbox.isEmpty() && LANE.compareAndSet(this, IDLE, SCHEDULED)) dispatch();
  }

  /// Makes the next runner load the state anew, after a run was taken from its thread.
  ///
  /// @param request the request that was taken back; null when none was, and the run is to be
  ///   repeated
  void recover(@Nullable Request request) {
    running = null;
    live = null;
    if (request != null && mailbox.peek() == request) mailbox.poll();
    lane = SCHEDULED;
    dispatch();
  }

  // ---- changes of other keys that puts leave to the store

  /// Returns the puts whose changes of other keys are on their way into the log; null before the
  /// first one.
  @Nullable Sequels sequels() {
    return sequels;
  }

  /// Begins to make the changes of other keys that a put has left to the store.
  ///
  /// @param counter the log counter of the put
  void follow(long address, long counter, Consumer<Sequel> changes) {
    Sequels all = sequels;
    if (all == null) {
      all = new Sequels(this, runs);
      sequels = all;
    }
    all.begin(address, counter, changes);
  }

  /// Returns whether changes that its puts have left to the store are on their way into the log.
  public boolean hasSequels() {
    Sequels open = sequels;
    return open != null && !open.isEmpty();
  }

  /// Executes requests on which these changes wait; returns whether it executed any.
  public boolean helpSequels() {
    Sequels open = sequels;
    return open != null && open.help(runs.threads);
  }

  /// Pins another key for a request of a put of this one.
  Resident pinned(Key other) {
    return parts.residents.pinBegun(other);
  }

  /// Waits, in front of a checkpoint, until the log has the changes that its puts have left to the
  /// store, and the note of that. A replica that begins at the checkpoint does not log the note.
  /// Another replica, which lacks the checkpoint, would make the changes again behind later ones.
  private void awaitFollowed() {
    if (sequels != null) parts.loader.barrier.await(this);
  }

  /// Settles a request, behind the changes that earlier puts have left to the store.
  private void settle(Request request, @Nullable Answer answer) {
    Sequels open = sequels;
    if (open == null) request.complete(answer);
    else open.settle(request, answer);
  }

  /// Notes that loading, which may take long, has executed a put. A thread that waits for this put
  /// need not wait for those behind it.
  void passed(long address) {
    executed = address;
    for (Request request : mailbox) {
      boolean over = request instanceof PositionRequest waits && waits.isBehind(address);
      if (over) request.wake();
    }
  }

  /// Returns the put at an address if it is the next in the mailbox; null otherwise.
  @Nullable PutRequest waitingAt(long address) {
    return mailbox.peek() instanceof PutRequest next && next.address == address ? next : null;
  }

  /// Passes a put that is not executed, since a verdict takes it back. No thread has the lane then.
  void skip(long address) {
    if (address > target) target = address;
  }

  // ---- execution

  /// Executes a request and settles it. Returns false when the thread lost the lane on the way.
  private boolean execute(Request request) {
    Throwable unloaded = null;
    if (!isReady() && needsState(request) && !request.isTakenBack()) {
      // This comes before the request begins: until then it waits, and a verdict can take it back.
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
    } catch (Execution.AsksThePast asksOthers) {
      running = null;
      if (request instanceof GetRequest question) giveToThePast(question);
      else request.complete(null);
      return true;
    } catch (RuntimeException | Error failure) {
      fail(request, failure);
      return true;
    }
  }

  /// Returns whether a request needs the state of the key. A deletion of a quarantined key does
  /// not, since the store may be unable to make that state.
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

  /// Gives up a request that cannot be executed, or whose state cannot be loaded, for instance
  /// because files are damaged. Other keys are not affected.
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

  /// Drops the state and fails a request. The next request loads the state anew from the log.
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
    question.reflects(reflects);
    question.number = number;
    question.reach = executedChange;
    settle(question, null);
    return true;
  }

  /// Passes a request that was taken back before it ran; returns false when it runs after all. The
  /// runner must not execute the requests behind it before the log has the verdict, and must not
  /// execute the request itself when the log may have the verdict.
  private boolean passes(Request request) {
    if (request instanceof PutRequest put) return passes(put);
    unpin(); // Verdicts.takeBack pinned it
    return true;
  }

  private boolean passes(PutRequest put) {
    NoteRequest verdict;
    while ((verdict = runs.verdicts.awaitVerdict(put)) == null) {
      if (put.begin()) return false; // otherwise a verdict takes it back again
    }
    RuntimeException failure = verdict.failure();
    if (failure != null) {
      if (!put.beginAfterAll(verdict)) return !put.begin() && passes(put);
      unpin();
      if (parts.loader.health.hasFailed()) giveUp(put, new Execution.Suspended(failure).failure());
      return put.isDone() || put.isHeld();
    }
    target = put.address;
    reflectsAll();
    Materialized state = live;
    if (state != null) {
      parts.keeper.changes(this, state, executedChange, put, put.address);
      state.skip(put.address);
      executed = put.address;
      executedChange = put.counter;
    }
    // Otherwise loading executes the put, together with earlier puts that an earlier process may
    // have left.
    unpin(); // Verdicts.takeBack pinned it
    return true;
  }

  /// Passes the requests in the mailbox to a visitor: the one in execution, if any, and those that
  /// wait.
  void visitRequests(Consumer<Request> visitor) {
    mailbox.forEach(visitor);
  }

  /// Notes that the state and the answer of an executed change reflect what either of them does.
  private void reflects(ChangeRequest change) {
    change.reflects(reflects);
    reflectsTo(change.reflects());
  }

  private void reflectsTo(long counter) {
    if (counter > reflects) REFLECTS.accumulateAndGet(this, counter, Math::max);
  }

  /// Notes that the state reflects everything in the log, as far as the store knows.
  void reflectsAll() {
    reflectsTo(parts.books.gate().appended());
  }

  /// Returns whether everything that the state reflects is durable.
  public boolean isDurable() {
    return parts.books.gate().isDurable(reflects);
  }

  private boolean put(PutRequest request) {
    Materialized state = live();
    if (request.address <= state.position()) {
      // Its first run lost its thread or made way, and loading has executed it again.
      request.reflects(reflects);
      request.generation = state.generation();
      request.reach = Math.max(request.counter, parts.moments.moment());
      Answer answer = state.answerAt(request.address);
      if (answer == null) answer = parts.loader.findAnswer(key, request.address);
      if (answer == null) {
        request.fail(parts.loader.reason(key, request.address));
      } else if (answer.isWaiting() && request.mayWait()) {
        runs.waiting.begin(request, answer.isTimed());
        runs.waiting.changed(this); // the state may be a later one
      } else {
        runs.waiting.changed(this);
        settle(request, answer);
      }
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
    Consumer<Sequel> left = execution.left();
    if (left == null) runs.unfinished.ends(key, request.address, execution.lastNote());
    else follow(request.address, request.counter, left);
    if (state.isCheckpointDue(request.value.length)) awaitFollowed();
    running = null;
    if (callsOthers != execution.hasCalled()) callsOthers = execution.hasCalled();
    request.reflects(execution.reflects());
    reflects(request);
    generation = state.generation();
    executed = request.address;
    executedChange = request.counter;
    request.generation = generation;
    request.reach = Math.max(request.counter, execution.reach);
    state.settle(request.value.length);
    reweigh(state);
    boolean waits = answer.isWaiting();
    if (waits && request.mayWait()) {
      runs.waiting.begin(request, answer.isTimed());
      return true;
    }
    if (!waits) runs.waiting.changed(this);
    settle(request, answer);
    return true;
  }

  private boolean delete(DeleteRequest request) {
    boolean quarantined = isQuarantined();
    Materialized state = quarantined ? unmade() : live();
    if (request.address <= state.position()) {
      // Loading has executed the deletion.
      request.reflects(reflects);
      request.reach = Math.max(request.counter, parts.moments.moment());
      request.number = parts.keeper.generationAfter(key, request.address - 1);
      request.complete(null);
      return true;
    }
    target = request.address;
    if (!quarantined) {
      parts.keeper.changes(this, state, executedChange, request, request.address);
    }
    state.delete(request.address);
    reflects(request);
    parts.keeper.deleted(key, request.address);
    executedChange = request.counter;
    request.reach = request.counter;
    request.number = generation;
    generation = 0;
    executed = request.address;
    reweigh(state);
    runs.waiting.deleted(this);
    request.complete(null);
    return true;
  }

  /// Makes a logged checkpoint, unless loading has made it.
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
    runs.waiting.changed(this);
    request.complete(null);
    return true;
  }

  /// Executes all changes of a committed transaction to this key, after every key of the
  /// transaction has its part and before any caller sees one of the changes.
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
    reflects(request);
    reweigh(state);
    if (generation == 0) runs.waiting.deleted(this);
    else runs.waiting.changed(this);
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
    if (state.isCheckpointDue(value.length)) awaitFollowed();
    Answer answer =
        run(execution, () -> state.put(loggedCall.begins, loggedCall.opening, value, execution));
    if (answer == null) return false;
    if (loggedCall.footprint().commuting() && !answer.isSilent()) {
      LOG.error(
          "version {} of {} failed when its transaction was committed; its method is marked"
              + " @Commutes, and must not throw because of the object's state",
          loggedCall.address,
          key);
    }
    running = null;
    state.settle(value.length);
    return true;
  }

  /// Returns a copy of the state for a transaction, if the state is loaded, no request waits, and
  /// the transaction sees it; null otherwise. A [ForkRequest] tells why a state cannot be copied.
  public @Nullable WorkingCopy copyNow(StoreTransaction transaction) {
    return look(state -> {
      if (!isReady() || hasSequels() || executedChange > transaction.counter()) return null;
      if (!isDurable()) return null;
      try {
        WorkingCopy copy = state.copy(tail);
        parts.books.observe(executedChange);
        return copy;
      } catch (RuntimeException | StackOverflowError unfit) {
        return null;
      }
    });
  }

  private boolean fork(ForkRequest request) {
    Materialized state = live();
    if (!hasMoved(request)) request.copy = state.copy(tail);
    request.reflects(reflects);
    request.reach = executedChange;
    settle(request, null);
    return true;
  }

  /// Returns whether the state reflects changes behind the moment of the request's transaction.
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
    request.reflects(Math.max(reflects, execution.reflects()));
    request.reach = Math.max(executedChange, execution.reach);
    settle(request, answer);
    return true;
  }

  /// Settles a question whose caller must ask the past instead.
  private void giveToThePast(GetRequest question) {
    question.reflects(reflects);
    if (question.alone) question.reach = executedChange;
    question.complete(null);
  }

  private static boolean isGone(Existence expected, Materialized state) {
    return expected.isGone(state.generation(), state.position());
  }

  /// Runs a handler; returns null when the thread lost the lane on the way.
  private @Nullable Answer run(Execution execution, Supplier<Answer> handler) {
    running = execution;
    Request request = execution.request;
    Stages stages = request == null ? null : request.stages();
    if (stages != null) execution.trace(stages.run());
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
      runs.runners.passed(execution);
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

  /// Returns a placeholder for a state that is not made.
  private Materialized unmade() {
    Materialized state = parts.loader.state(key);
    live = state;
    stale = false;
    return state;
  }

  private Materialized live() {
    Materialized state = live;
    if (state == null || !isReady()) {
      // Without this check, loading would resume calls that it cannot log, again and again.
      parts.loader.health.confirm();
      int lost = answersLost;
      lastNote = null;
      Sequels open = sequels;
      if (open != null) open.loads();
      stale = false; // first: the new checkpoint is there already
      state = parts.loader.state(key);
      long last = state.load(target, tail, this);
      running = null;
      generation = state.generation();
      executed = state.position();
      executedChange = last == Materialized.NOTHING ? changeAt(state.position()) : last;
      reflectsAll();
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

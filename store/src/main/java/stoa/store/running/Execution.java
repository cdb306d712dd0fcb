package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.Deadlock;
import stoa.Gone;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.log.StoredEntry;
import stoa.spi.Cancellation;
import stoa.store.calls.HandlerQuery;
import stoa.store.calls.Put;
import stoa.store.calls.Visit;
import stoa.store.records.KeyRefusals;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;

/// One run of a handler. It gives the handler its inputs, and makes the handler's calls on other
/// keys.
///
/// The thread that runs the handler uses it. Other threads take it back, and read the request that
/// it waits for.
public final class Execution implements Cancellation.Run {
  /// The reason for which a handler runs.
  public enum Mode {
    /// A logged put; this process executes it for the first time, as far as it knows.
    LIVE,
    /// A logged put that an earlier process may have begun.
    RESUMED,
    /// A logged put of the past. The log has all its nested answers.
    REPLAYED,
    /// A question. The store does not log it.
    READING,
    /// A put of a transaction that is not committed, on a copy of the state.
    TENTATIVE
  }

  /// Thrown through a handler that must stop now. A handler passes it on; a handler that does not
  /// is stopped at its next call, and the store drops its answer.
  public abstract static sealed class Unwinding extends Error implements stoa.base.Unwinding
      permits Abandoned, AsksThePast, Leaving, Suspended, Yielded {
    private static final long serialVersionUID = 1L;

    private Unwinding(String message, @Nullable Throwable cause) {
      super(message, cause, false, false);
    }
  }

  /// Thrown through a handler that waited while its run was taken back.
  static final class Abandoned extends Unwinding {
    private static final long serialVersionUID = 1L;

    Abandoned() {
      super("the call was taken back", null);
    }
  }

  /// Thrown through a handler that answers a question, a transaction or a reader of the past from
  /// the live state, when it asks other keys. Those keys may have changed behind the reader's
  /// moment, so the caller asks the past instead.
  public static final class AsksThePast extends Unwinding {
    private static final long serialVersionUID = 1L;

    public AsksThePast() {
      super("the question goes to the past", null);
    }
  }

  /// Thrown through a handler whose run must make way for the run that it interrupts on its thread.
  /// A worker repeats it from the log as soon as a thread is free.
  static final class Yielded extends Unwinding {
    private static final long serialVersionUID = 1L;

    Yielded() {
      super("the call makes way for another", null);
    }
  }

  /// Thrown through a handler whose nested call could not be settled. The store resumes it from the
  /// log later.
  public static final class Suspended extends Unwinding {
    private static final long serialVersionUID = 1L;

    private final RuntimeException reason;

    Suspended(RuntimeException reason) {
      super("the call cannot go on now", reason);
      this.reason = reason;
    }

    /// Returns the reason for which the run stopped.
    public RuntimeException reason() {
      return reason;
    }

    RuntimeException failure() {
      return new stoa.UnknownOutcome(
          "the call is logged and could not be finished; it goes on when its object is used again",
          reason);
    }
  }

  /// Thrown through a handler of a transaction that calls a key of another store. The client or
  /// server that runs the transaction makes that call and then runs the handler again, see
  /// [StoreTransaction#leaving].
  public static final class Leaving extends Unwinding {
    private static final long serialVersionUID = 1L;

    private final transient Visit visit;
    private final boolean nested;

    /// Stops a handler that calls a key.
    static Leaving toCall(Visit visit) {
      return new Leaving(visit, false);
    }

    /// Stops a handler that calls a transaction of a key.
    static Leaving toTransact(Visit visit) {
      return new Leaving(visit, true);
    }

    private Leaving(Visit visit, boolean nested) {
      super(
          "the client or server that runs the transaction makes the call of " + visit.target(),
          null);
      this.visit = visit;
      this.nested = nested;
    }

    /// Returns the call.
    public Visit visit() {
      return visit;
    }

    /// Returns whether the call is a transaction within the transaction.
    public boolean isNested() {
      return nested;
    }
  }

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long TIME = 0xD1B54A32D192ED03L;

  // About 200 KB.
  private static final int HEADROOM_FRAMES = 2_000;

  private static final AtomicIntegerFieldUpdater<Execution> STATE =
      AtomicIntegerFieldUpdater.newUpdater(Execution.class, "state");

  private static final AtomicReferenceFieldUpdater<Execution, Runners.Runner> RUNNER =
      AtomicReferenceFieldUpdater.newUpdater(Execution.class, Runners.Runner.class, "runner");

  // The time of a question that has not asked for it: reading a clock costs a tenth of an accessor.
  private static final long UNREAD = Long.MIN_VALUE;

  private static final int RUNNING = 0; // the state of a new run
  private static final int DONE = 1;
  private static final int TAKEN_BACK = 2;
  private static final int STANDING = 3;

  private final Runs runs;
  private final Mode mode;
  private final Key key;
  public final @Nullable Resident resident;
  final long address;
  private long nowMicros;
  private final int depth;
  private final @Nullable LoggedAnswers logged;

  /// The request that waits for this run, or null when the store runs it to load the state.
  public final @Nullable Request request;

  private volatile int state;
  private int calls;
  private int entered;

  // Keeps the compiler from removing the work.
  @SuppressWarnings("unused")
  private long headroom;

  /// The request for which this run waits. Threads that look for circles read it.
  public volatile @Nullable Request waitingFor;

  /// The call on another store's key for which this run waits. Other threads read it.
  public volatile @Nullable Visit visit;

  /// The keys of other stores whose handlers wait for this run, outermost first, when no request
  /// waits for it.
  public List<Key> callers = List.of();

  /// Whether the store may refuse the request for which this run waits instead: it has logged
  /// nothing for it. Guarded by [WaitGraph].
  boolean refusable;

  /// The refusal of the request for which this run waits; null for none. Another run sets it when
  /// the two would wait for each other.
  public volatile @Nullable Deadlock refused;

  /// The log counter of the put; for a question about the past, the counter at which it reads.
  public long counter;

  /// Whether the live state, which must not wait, answers a question about the past.
  public boolean looking;

  /// Whether the run answers a question about the past.
  public boolean past;

  /// The run that asks this one about the past; null when the question comes from outside.
  public @Nullable Execution caller;

  /// Whether the run has asked another key.
  public boolean asked;

  /// The log counter up to which the answers of other keys to this run reach.
  public long reach;

  // The last log counter that these answers reflect.
  private long reflects;

  /// The run that this one interrupts on its thread to help; [Runners] sets it.
  @Nullable Execution below;

  /// Whether the put begins a generation.
  boolean begins;

  // The number of the code that executes the put; negative when the run executes no put.
  private int code = -1;

  /// The transaction in which the handler runs and calls other keys; null outside of one.
  public @Nullable StoreTransaction transaction;

  /// The change that the transaction makes here; null for none.
  @Nullable LoggedCall loggedCall;

  /// The call or run that makes the put; null when the put comes from outside.
  Records.@Nullable Origin origin;

  private long generation;

  private volatile Runners.@Nullable Runner runner;

  private volatile boolean exited;
  private long id;

  /// The number of a question: the same number in every process.
  int question;

  /// How many ticks the run may take when no request waits for it; 0 when the store's limit
  /// applies.
  int ticksMax;

  // The reason for which the run was taken back; valid once it was.
  private volatile @Nullable RuntimeException reason;

  /// The tick at which the run began, moved forward by the time in which it waited for others. Its
  /// thread writes it.
  volatile int startTick;

  // The last nested answer that the log must have before this run ends. When the log has it, the
  // log has the answers before it, too.
  private @Nullable NoteRequest unsettledNote;

  // The last nested answer.
  private @Nullable NoteRequest lastNote;

  private @Nullable Suspended suspended;

  // Makes the changes of other keys that the run leaves to the store; null when there are none.
  private @Nullable Consumer<Sequel> left;

  // Whether the run has called another key, or was about to.
  private boolean called;

  private boolean yielded;

  // Whether the run waits for others, and its thread executes nothing of it.
  private boolean resting;

  // Where the calls of the run are recorded; null when no tracer records them.
  private @Nullable Trace trace;

  private Execution(
      Runs runs,
      Mode mode,
      Key key,
      @Nullable Resident resident,
      long address,
      long nowMicros,
      int depth,
      @Nullable LoggedAnswers logged,
      @Nullable Request request) {
    this.runs = runs;
    this.mode = mode;
    this.key = key;
    this.resident = resident;
    this.address = address;
    this.nowMicros = nowMicros;
    this.depth = depth;
    this.logged = logged;
    this.request = request;
  }

  /// Begins the first run of a logged put for which a request waits.
  static Execution live(Runs runs, Resident resident, PutRequest put) {
    var run =
        new Execution(
            runs,
            Mode.LIVE,
            resident.key,
            resident,
            put.address,
            put.nowMicros,
            put.depth,
            null,
            put);
    run.begins = put.begins;
    run.origin = put.origin;
    run.code = put.code;
    return run;
  }

  /// Begins a run of a logged put that loads a state.
  ///
  /// @param resident the key whose unfinished calls the run resumes, or null in a view of the past
  /// @param logged the entries of the log about the put
  static Execution again(
      Runs runs,
      Key key,
      @Nullable Resident resident,
      StoredEntry entry,
      Records.Put put,
      LoggedAnswers logged) {
    Mode mode = resident == null ? Mode.REPLAYED : Mode.RESUMED;
    var run =
        new Execution(
            runs, mode, key, resident, entry.address(), entry.nowMicros(), 0, logged, null);
    run.begins = put.begins();
    run.origin = put.origin();
    run.code = put.code();
    run.counter = entry.log().counter();
    return run;
  }

  /// Begins a run of a put of a committed transaction.
  ///
  /// @param logged the answers to the put's calls in the transaction
  static Execution committed(
      Runs runs, Resident resident, LoggedCall call, LoggedAnswers logged, PartRequest part) {
    var run =
        new Execution(
            runs,
            Mode.REPLAYED,
            resident.key,
            resident,
            call.address,
            call.nowMicros,
            0,
            logged,
            part);
    run.begins = call.begins;
    run.origin = call.origin;
    run.code = call.code;
    return run;
  }

  /// Begins a run of a question on the live state of a key.
  ///
  /// @param position the address of the last put or deletion that the state reflects
  static Execution question(Runs runs, Resident resident, long position, GetRequest question) {
    var run =
        new Execution(
            runs,
            Mode.READING,
            resident.key,
            resident,
            position,
            UNREAD,
            question.depth,
            null,
            question);
    run.transaction = question.transaction;
    run.question = question.query instanceof HandlerQuery query ? query.number() : 0;
    return run;
  }

  /// Begins a run that reads beside the live state of a key.
  ///
  /// @param position the address of the last put or deletion that the run sees
  /// @param depth how many handlers wait for the run
  public static Execution beside(Runs runs, Key key, long position, int depth) {
    return new Execution(runs, Mode.READING, key, null, position, UNREAD, depth, null, null);
  }

  /// Begins a run in a transaction that is not committed, on a copy of the state.
  ///
  /// @param mode [Mode#READING] or [Mode#TENTATIVE]
  static Execution within(
      StoreTransaction transaction, Runs runs, Mode mode, Key key, WorkingCopy copy, int depth) {
    var run =
        new Execution(
            runs, mode, key, null, copy.nextAddress(), transaction.nowMicros(), depth, null, null);
    run.transaction = transaction;
    run.counter = transaction.counter();
    return run;
  }

  /// Returns the key at which the handler runs.
  public Key key() {
    return key;
  }

  /// Returns the stream address of the put; for a question, that of the last put before it.
  public long address() {
    return address;
  }

  /// Returns the stream address at which the key's generation began, 0 for a question about an
  /// absent key.
  public long generation() {
    return generation;
  }

  /// Sets the generation of the key in which the handler runs.
  public void generation(long address) {
    generation = address;
  }

  /// Returns the number of the code that executes the handler. For a logged put this is the result
  /// of [HandlerFactory#code()] when the batch writer logged it; otherwise it is the present
  /// result.
  public int code() {
    int known = code;
    return known >= 0 ? known : runs.spaces.code(key);
  }

  void code(int number) {
    code = number;
  }

  /// Returns the time that the batch writer gave the put, in microseconds since 1970.
  public long nowMicros() {
    if (loggedCall != null) loggedCall.timed = true;
    if (nowMicros == UNREAD) nowMicros = runs.clock.nowMicros();
    return nowMicros;
  }

  /// Returns the seed of a put's random numbers. It is the same in every run of the put, and
  /// differs in another store, since that store's time differs.
  public long seed() {
    if (loggedCall != null) loggedCall.timed = true;
    return seed(key, address, isReading() ? 0 : nowMicros, origin);
  }

  /// Returns the seed of the random numbers of a put, see [#seed()].
  ///
  /// @param by the origin of the put, or null when it came from outside
  @SuppressWarnings("exports") // see the package
  public static long seed(Key key, long address, long nowMicros, Records.@Nullable Origin by) {
    long time = nowMicros * TIME;
    return by != null && by.isTransaction()
        ? by.caller().low() ^ by.number() * GOLDEN ^ time
        : key.stream().low() ^ address * GOLDEN ^ time;
  }

  /// Returns the same as [#address()], and notes that the handler uses it.
  public long version() {
    if (loggedCall != null) loggedCall.addressed = true;
    return address;
  }

  /// Returns the transaction in which the handler runs; null outside of one.
  public @Nullable StoreTransaction transaction() {
    return transaction;
  }

  /// Returns whether the handler must not change its state.
  public boolean isReading() {
    return mode == Mode.READING;
  }

  /// Returns whether the handler answers for the past, and sees other keys as they were.
  public boolean isPast() {
    return past;
  }

  /// Returns the reason for which the handler runs.
  public Mode mode() {
    return mode;
  }

  /// Returns where the calls of the run are recorded; null when no tracer records them. Only the
  /// thread that runs the handler calls this.
  public @Nullable Trace trace() {
    StoreTransaction within = transaction;
    return within != null && resident == null ? within.trace() : trace;
  }

  /// Sets where the next calls of the run are recorded.
  public void trace(@Nullable Trace next) {
    StoreTransaction within = transaction;
    if (within != null && resident == null) within.trace(next);
    else trace = next;
  }

  /// Returns how many handlers wait for this run, directly and through others.
  public int depth() {
    return depth;
  }

  /// Returns the keys whose handlers wait for this run, outermost first, and then its own key.
  public List<Key> path() {
    var path = new ArrayList<Key>();
    addTo(path);
    return path;
  }

  private void addTo(List<Key> path) {
    StoreTransaction within = transaction;
    if (within != null && resident == null) {
      path.addAll(within.path());
      return;
    }
    Execution around = outer();
    if (around != null) around.addTo(path);
    else path.addAll(waitingInOtherGroups());
    path.add(key);
  }

  /// Returns the run of this store that waits for this one; null when there is none.
  private @Nullable Execution outer() {
    Request by = request;
    return by == null ? caller : by.asker;
  }

  /// Returns the keys of other stores whose handlers wait for this run, outermost first.
  private List<Key> waitingInOtherGroups() {
    Execution around = outer();
    if (around != null) return around.waitingInOtherGroups();
    Request by = request;
    return by == null ? callers : by.callers;
  }

  /// Returns the error for a call that would close a circle on this run's own path, which may lead
  /// through other stores.
  public Deadlock circle(Key target) {
    List<Key> path = path();
    var circle = new ArrayList<Key>(path.subList(path.indexOf(target), path.size()));
    circle.add(target);
    return KeyRefusals.deadlock(circle);
  }

  /// Encodes a refusal of the store as the answer to a call of the handler.
  public Nested told(RuntimeException refusal) {
    return Nested.toLog(runs.factory(key).failure(refusal).encoded());
  }

  /// Returns whether the handler of a key waits for this run by way of another store.
  public boolean waitsForOtherGroup(Key target) {
    return waitingInOtherGroups().contains(target);
  }

  /// Returns whether this run waits for another key.
  boolean isWaiting() {
    return waitingFor != null || visit != null;
  }

  /// Returns whether this run executes a request, rather than one in front of it on the same key.
  public boolean executes(Request waits) {
    if (waits.equals(request)) return true;
    long put =
        switch (waits) {
          case PositionRequest position -> position.behind;
          case ChangeRequest change -> change.address;
          default -> 0;
        };
    return mode == Mode.RESUMED && put == address;
  }

  /// Returns whether a key belongs to another store. [#visit] calls such a key.
  public boolean isInOtherGroup(Key target) {
    return runs.others().isInOtherGroup(target);
  }

  /// Calls a key of another store, as [#put] and [#get] call a key of this one.
  ///
  /// @param kind a put, or a question
  /// @param call the value or the question, as [Neighbors] takes it
  public byte[] visit(Visit.Kind kind, Key target, Object call, Existence existence) {
    ensureHeadroom();
    if (around(kind, target)) return leaveBeside(kind, target, call, existence);
    if (!isReading()) return visited(kind, target, call, existence);
    leaveLive();
    leaveRound();
    return asked(() -> runs.others().getInOtherGroup(this, target, call, existence)).answer();
  }

  /// Calls a key of another store that shares no order with this one, like [#visit]. The handler
  /// need not see that key at the same moment.
  public byte[] visitApart(Visit.Kind kind, Key target, Object call, Existence existence) {
    ensureHeadroom();
    if (around(kind, target)) return leaveBeside(kind, target, call, existence);
    if (!isReading()) return visited(kind, target, call, existence);
    if (transaction != null) leaveLive();
    leaveRound();
    return asked(() -> runs.others().getInOtherGroupNow(this, target, call, existence)).answer();
  }

  /// Returns whether the transaction in which the handler runs makes a call on a key of another
  /// store.
  private boolean around(Visit.Kind kind, Key target) {
    if (kind == Visit.Kind.PUT && isReading()) {
      throw new UnsupportedOperationException(
          "an accessor of " + key + " must not change " + target);
    }
    StoreTransaction around = transaction;
    return around != null && !(isReading() && around.isOnlyReading());
  }

  private byte[] leaveBeside(Visit.Kind kind, Key target, Object call, Existence existence) {
    leaveLive();
    return tentative(
        target,
        () -> {
          byte[] known = inTransaction().leave(this, kind, target, call, existence);
          return () -> known;
        });
  }

  private byte[] visited(Visit.Kind kind, Key target, Object call, Existence existence) {
    return nested(
        target,
        origin ->
            kind == Visit.Kind.PUT
                ? runs.others().putInOtherGroup(this, target, call, existence, origin)
                : runs.others().getInOtherGroupNow(this, target, call, existence));
  }

  /// Makes the client or server that runs the transaction call a key of another store with a nested
  /// transaction, for a handler that runs in the transaction.
  public byte[] leaveToTransact(Key target, Object call, Existence existence) {
    return tentative(
        target,
        () -> {
          byte[] known = inTransaction().leaveToTransact(this, target, call, existence);
          return () -> known;
        });
  }

  /// Checks a put that would begin a key, before the store logs it.
  public interface Beginning {
    /// Returns the refusal, encoded as an answer of the key's handler; null when there is none.
    byte @Nullable [] refusal();

    /// Returns the error of a key's handler that could not execute the put, as an answer; null when
    /// it can.
    default byte @Nullable [] unfit() {
      return null;
    }
  }

  /// Returns the decoded value that the handler puts; null when the handler must decode the value
  /// itself. Returns it only once, since the handler may change it.
  public @Nullable Object takeRead() {
    if (!(request instanceof PutRequest put) || put.address != address) return null;
    Object read = put.read;
    put.read = null;
    return read;
  }

  /// Puts a value at another key and returns the answer of its handler. In a replay the answer
  /// comes from the log.
  ///
  /// @return the answer as encoded by the other key's handler, or by its factory when the store
  ///   refused
  public byte[] put(Key target, byte[] value, Existence existence) {
    return put(target, Put.of(value), existence, () -> null);
  }

  /// Puts a decoded value, like [#put(Key, byte\[\], Existence)].
  ///
  /// @param beginning checks the put when the key is absent
  public byte[] put(Key target, Put put, Existence existence, Beginning beginning) {
    ensureHeadroom();
    if (isReading()) {
      throw new UnsupportedOperationException(
          "an accessor of " + key + " must not change " + target);
    }
    if (mode == Mode.TENTATIVE) {
      return tentative(target, () -> tentative(target, put, existence, beginning));
    }
    return nested(
        target, origin -> runs.others().put(this, target, put, existence, beginning, origin));
  }

  /// Asks the handler of another key a question.
  public byte[] get(Key target, Object query, Existence existence) {
    ensureHeadroom();
    if (mode == Mode.TENTATIVE) {
      return tentative(target, () -> inTransaction().get(target, query, existence, depth + 1));
    }
    if (isReading() && transaction != null && resident == null) {
      return tentative(target, () -> inTransaction().get(target, query, existence, depth + 1));
    }
    leaveLive();
    return getApart(target, query, existence);
  }

  /// Asks the handler of another key that shares no order with this one. The caller need not see
  /// that key at the same moment. Not allowed within a transaction.
  public byte[] getApart(Key target, Object query, Existence existence) {
    ensureHeadroom();
    if (isReading()) {
      leaveRound();
      return asked(() -> runs.others().get(this, target, query, existence)).answer();
    }
    return nested(target, origin -> runs.others().get(this, target, query, existence));
  }

  /// Gives up a question that the live state answers for a reader of one moment.
  public void leaveLive() {
    if (!isReading() || resident == null) return;
    if (!(request instanceof GetRequest question)) return;
    if (transaction == null && !question.alone) return;
    question.moved = true;
    throw new AsksThePast();
  }

  /// Runs code of another key here, as part of the transaction in which this handler runs.
  ///
  /// @throws IllegalStateException when the handler runs in no transaction
  public byte[] run(Target target, Object query, Existence existence) {
    ensureHeadroom();
    StoreTransaction around = transaction;
    if (around == null || mode != Mode.TENTATIVE) {
      Records.Origin by = origin;
      // The code ran in a transaction that is committed.
      if (by != null && by.isTransaction()) return nested(target.key(), _ -> outside(target.key()));
      return outside(target.key()).answer();
    }
    return tentative(target.key(), () -> around.run(target.key(), query, existence, depth + 1));
  }

  private Nested outside(Key target) {
    throw new IllegalStateException(
        key
            + " calls a transaction of "
            + target
            + ", which runs at a caller outside; call it there, or in the body of a transaction");
  }

  /// Makes a nested call of a transaction. When the transaction commits, the batch writer logs the
  /// answer beside the put.
  private byte[] tentative(Key target, Supplier<Answer> call) {
    if (suspended != null) throw suspended;
    byte[] answer;
    try {
      if (depth >= runs.waits.depthMax()) {
        RuntimeException refusal =
            KeyRefusals.tooDeep(key, target, depth + 1, runs.waits.depthMax());
        answer = runs.factory(key).failure(refusal).encoded();
      } else {
        answer = call.get().encoded();
      }
    } catch (Gone | AlreadyExists | Deadlock told) {
      answer = runs.factory(key).failure(told).encoded();
    } catch (RuntimeException trouble) {
      throw suspend(trouble);
    }
    if (loggedCall != null) loggedCall.answered(target, answer);
    return answer;
  }

  private Answer tentative(Key target, Put put, Existence existence, Beginning beginning) {
    StoreTransaction within = inTransaction();
    byte[] unfit = beginning.unfit();
    if (unfit != null) return () -> unfit;
    if (!(existence instanceof Existence.Generation) && within.generation(target) == 0) {
      byte[] refusal = beginning.refusal();
      if (refusal != null) return () -> refusal;
    }
    return within.put(target, put, existence, depth + 1);
  }

  private StoreTransaction inTransaction() {
    return Objects.requireNonNull(transaction);
  }

  /// The result of a nested call.
  ///
  /// @param answer the encoded answer
  /// @param mustBeLogged whether the store could not find the answer again after a crash
  public record Nested(byte[] answer, boolean mustBeLogged) {
    /// Returns an answer that the store could not find again after a crash.
    public static Nested toLog(byte[] answer) {
      return new Nested(answer, true);
    }

    /// Returns an answer that the log has, or that the store can make again.
    public static Nested found(byte[] answer) {
      return new Nested(answer, false);
    }
  }

  /// Fails here when the stack is nearly used up. Nothing is in progress here, unlike in the middle
  /// of the code that serves the call. Endless recursion across keys passes here at every level, so
  /// this checks only one call in eight.
  private void ensureHeadroom() {
    if ((++entered & 7) == 0) headroom = headroom(HEADROOM_FRAMES, entered, 1, 2, 3);
  }

  private static long headroom(int frames, long a, long b, long c, long d) {
    return frames == 0 ? a : headroom(frames - 1, b, c, d, a) + (a ^ b) + (c ^ d);
  }

  /// Makes a value that may differ between runs of the put and that the handler keeps, such as the
  /// trace of an exception. The store keeps the value of the first run: it logs the value beside
  /// the put, like the answer to a nested call, and a replay takes it from there.
  ///
  /// @param made makes the value, and calls no other key
  public byte[] once(Supplier<byte[]> made) {
    if (isReading()) return made.get();
    if (mode == Mode.TENTATIVE) {
      byte[] bytes = made.get();
      if (loggedCall != null) loggedCall.answered(key, bytes);
      return bytes;
    }
    return nested(key, _ -> Nested.found(made.get()));
  }

  /// Returns whether the log has the answer to the next call that the handler makes.
  public boolean knowsNext() {
    return logged != null && logged.find(address, calls + 1) != null;
  }

  /// Returns whether the handler may [leave][#leave] changes of other keys to the store. A handler
  /// whose put the log knows with answers to such calls makes these calls as before.
  public boolean mayLeave() {
    return switch (mode) {
      case LIVE, RESUMED -> resident != null && (!runs.others().hasNeighbors() || isFollowed());
      case REPLAYED -> true;
      case READING, TENTATIVE -> false;
    };
  }

  /// Leaves changes of other keys to the store, which makes them when the put stands. Their answers
  /// are dropped; the put is answered when they are in the log and executed. After a crash the
  /// store may make them again, in the order of the puts.
  ///
  /// @param changes begins to make them
  public void leave(Consumer<Sequel> changes) {
    if (mode == Mode.REPLAYED || isFollowed()) return;
    Sequels known = resident == null ? null : resident.sequels();
    boolean isMade = known != null && known.isFollowed(address); // and only to be noted again
    left = isMade ? _ -> {} : changes;
  }

  /// Returns whether the log has all changes that the put has left to the store.
  private boolean isFollowed() {
    return logged != null && logged.isFollowed(address);
  }

  /// Returns whether the log may lack what its key has left to the store before.
  boolean lacksSequelNote() {
    return resident != null && resident.lacksSequelNote();
  }

  /// Returns what makes the changes that the run has left to the store; null when there are none.
  @Nullable Consumer<Sequel> left() {
    return left;
  }

  /// Waits until the changes are made that earlier puts of the key have left to the store.
  public void awaitSequels() {
    Resident here = isReading() ? null : resident;
    Sequels sequels = here == null ? null : here.sequels();
    if (sequels == null || sequels.isEmpty()) return;
    checkNotTakenBack();
    leaveRound();
    try {
      sequels.await(runs.journal, runs.threads);
    } catch (RuntimeException failed) {
      throw suspend(failed);
    }
    checkNotTakenBack();
  }

  private byte[] nested(Key target, Function<Records.Origin, Nested> call) {
    checkNotTakenBack();
    if (suspended != null) throw suspended;
    leaveRound();
    int number = ++calls;
    byte[] known = logged == null ? null : logged.find(address, number);
    if (known != null) return known;
    if (mode == Mode.REPLAYED || resident == null) {
      // No handler may catch this error and continue.
      throw suspend(
          new stoa.Corrupt(
              "the answer to call "
                  + number
                  + " of version "
                  + address
                  + " of "
                  + key
                  + " is missing"));
    }
    var origin = new Records.Origin(key.stream(), address, number);
    Nested nested = asked(() -> call.apply(origin));
    checkNotTakenBack();
    byte[] answered = Records.answered(origin, target, nested.answer);
    NoteRequest note = runs.journal.noteAnswer(resident, answered, resident.lastNote);
    lastNote = note;
    resident.lastNote = note;
    if (nested.mustBeLogged) unsettledNote = note;
    return nested.answer;
  }

  /// Stops a run in a `BriefTurn`, which must not wait: a worker repeats it.
  private void leaveRound() {
    called = true;
    Request waits = request;
    if (resident == null || waits == null || !waits.hasty) return;
    yielded = true;
    throw new Yielded();
  }

  /// Returns whether the run executes a put that neither a handler nor a transaction makes.
  public boolean isPutFromOutside() {
    Records.Origin by = origin;
    return code >= 0
        && mode != Mode.TENTATIVE
        && (by == null || !(by.isHandler() || by.isTransaction()));
  }

  /// Returns whether the run has called another key, or was about to.
  public boolean hasCalled() {
    return called;
  }

  /// Drops the answer of a handler that was to make way and continued instead.
  void checkNotYielded() {
    if (yielded) throw new Yielded();
  }

  /// Makes a call and returns the store's refusal as its answer. An error of this store itself is
  /// no answer, and no handler may catch it.
  private Nested asked(Supplier<Nested> call) {
    try {
      return call.get();
    } catch (RuntimeException trouble) {
      throw suspend(trouble);
    }
  }

  /// Stops the run; the store resumes it from the log later.
  ///
  /// @return the error that the handler must throw
  public Unwinding suspend(RuntimeException reason) {
    var stop = new Suspended(reason);
    suspended = stop;
    return stop;
  }

  /// Waits until the log has every nested answer that it needs to make this run's answer again.
  void gate() {
    if (suspended != null) throw suspended;
    // After a crash the store finds the nested puts again. With neighbors this waits for the last
    // note: once the answer is in the log, no request behind this run has begun when the run
    // resumes after a crash and waits for an answer, so the store can refuse that request.
    await(runs.others().hasNeighbors() ? lastNote : unsettledNote);
  }

  /// Waits until the log has what the next call may reflect.
  public void gateReflected() {
    await(unsettledNote);
  }

  /// Waits until the log has every nested answer of this run and of earlier ones. A run that starts
  /// from the checkpoint behind them does not ask for them again.
  void gateAll() {
    Resident here = resident;
    await(here == null ? lastNote : here.lastNote);
    if (here != null) here.lastNote = null;
  }

  /// Returns the note without which the batch writer must not log a later nested put.
  public @Nullable NoteRequest unsettledNote() {
    return unsettledNote;
  }

  /// Returns the last nested answer, which need not be in the log yet; null when there is none.
  @Nullable NoteRequest lastNote() {
    return lastNote;
  }

  private void await(@Nullable NoteRequest note) {
    if (note != null) {
      runs.journal.awaitHelping(note, this);
      sees(note);
      try {
        note.number();
      } catch (RuntimeException failure) {
        throw suspend(failure);
      }
    }
  }

  /// Notes that the run knows the outcome of a request.
  public void sees(Request request) {
    reflects = Math.max(reflects, request.reflects());
  }

  /// Returns the last log counter that the answers of other keys to this run reflect.
  long reflects() {
    return reflects;
  }

  /// Notes that the run begins to wait for others, until [#restEnds]. When the process ends
  /// meanwhile, the run has not ended it. The thread of the run calls both.
  public void restBegins() {
    rest(true);
  }

  /// Notes that the run goes on.
  public void restEnds() {
    rest(false);
  }

  private void rest(boolean begins) {
    resting = begins;
    Runners.Runner on = runner;
    if (on != null) on.note();
  }

  /// Returns whether the run waits for others, and its thread executes nothing of it.
  boolean rests() {
    return resting;
  }

  /// Notes that the run has waited for other keys; this time does not count as its own.
  public void hasWaited(int ticks) {
    int moved = startTick + ticks;
    startTick = moved;
  }

  /// Returns whether the log says that an earlier run of the put stood; nothing may then take this
  /// run back.
  boolean isKnownToStand() {
    if (state == STANDING) return true;
    Records.Origin by = origin;
    return (by != null && by.isTransaction()) || (logged != null && logged.isDone(address));
  }

  /// Logs that a long run stands, before any caller sees its effects. Another run of the put may
  /// last longer, and must not be taken back for that.
  void settleLong() {
    if (isReading() || resident == null || isKnownToStand() || !runs.limits.lastedLong(this))
      return;
    await(runs.journal.note(resident, Records.DONE, Records.done(address)));
  }

  /// Ends the run; returns false when it was taken back before.
  boolean finish() {
    return STATE.compareAndSet(this, RUNNING, DONE) || STATE.compareAndSet(this, STANDING, DONE);
  }

  /// Makes that nothing takes the run back any more, neither a time limit nor an operator, in this
  /// run or a later one of the same put: the log says so in front of the calls that the run makes
  /// next. These have their own time, whatever is left to the run. For a handler that must not
  /// forget which calls it has made.
  public void stand() {
    if (state == STANDING) return;
    checkNotTakenBack();
    Resident here = isReading() || isKnownToStand() ? null : resident;
    if (here != null) leaveRound();
    if (!STATE.compareAndSet(this, RUNNING, STANDING)) throw new Abandoned();
    if (here == null) return;
    var _ = runs.journal.note(here, Records.DONE, Records.done(address));
  }

  /// Returns whether [#stand()] was called.
  public boolean stands() {
    return state == STANDING;
  }

  /// Ends a run that was stopped. Returns the error to throw, which is [Abandoned] exactly when the
  /// run was taken back.
  Unwinding stopped(Unwinding by) {
    return finish() ? by : new Abandoned();
  }

  /// Takes the run back, if it has not ended.
  boolean takeBack() {
    return STATE.compareAndSet(this, RUNNING, TAKEN_BACK);
  }

  /// Takes the run back, like [#takeBack()], and makes its thread stop where it can stop the code.
  boolean stop(RuntimeException why) {
    reason = why;
    if (!takeBack()) return false;
    Cancellation.stop(this);
    if (exited) Cancellation.ended(this);
    return true;
  }

  /// Takes the run from a thread that others wait for; a worker repeats it.
  public void preempt() {
    Resident where = resident;
    if (where == null || !takeBack()) return;
    where.recover(null);
    Cancellation.stop(this);
    if (exited) Cancellation.ended(this);
  }

  /// Returns the reason with which [#stop] took the run back.
  RuntimeException stopReason() {
    return Objects.requireNonNull(reason);
  }

  /// Sets the thread that begins to run the handler. Other threads see the run once it is the
  /// runner's top.
  void enter(Runners.Runner on) {
    RUNNER.lazySet(this, on);
  }

  /// Returns the runner of the thread that runs the handler; null before a thread does.
  Runners.@Nullable Runner runner() {
    return runner;
  }

  /// Returns the thread that runs the handler; null before a thread does.
  public @Nullable Thread thread() {
    Runners.Runner on = runner;
    return on == null ? null : on.thread;
  }

  /// Notes that the thread has left the run.
  void exited() {
    if (state == DONE) return; // nothing takes it back or reads it any more
    exited = true;
    if (isTakenBack()) Cancellation.ended(this);
  }

  @Override
  public boolean isCurrent() {
    return runs.runners.isOfCurrentThread(this) && this.equals(runs.runners.current());
  }

  /// Returns whether the run has taken longer than it may.
  boolean isOverdue(int now, int ticks) {
    int lasted = now - startTick;
    if (lasted > ticks || (ticksMax > 0 && lasted > ticksMax)) return true;
    Request waits = request;
    return waits != null && waits.isLate(now);
  }

  /// Returns a number for this run of the key, the same in every process: the address of a logged
  /// put, or a negative number for a question that has a number. Returns 0 for any other run, which
  /// the store never refuses.
  long run() {
    return switch (mode) {
      case LIVE, RESUMED, REPLAYED -> address;
      case READING, TENTATIVE -> question == 0 ? 0 : -1 - (question & 0xffff_ffffL);
    };
  }

  /// Returns the id by which an operator names the run.
  long id(AtomicLong ids) {
    Request waits = request;
    if (waits != null) return waits.id(ids);
    synchronized (this) {
      if (id == 0) id = ids.incrementAndGet();
      return id;
    }
  }

  boolean isTakenBack() {
    return state == TAKEN_BACK;
  }

  /// Stops the handler if the run was taken back.
  public void checkNotTakenBack() {
    if (isTakenBack()) throw new Abandoned();
  }

  /// Returns the error for a question about the past of another key when that question is nested
  /// too deeply or closes a circle; null when it does neither.
  public @Nullable RuntimeException refusalOfPast(Key target) {
    if (depth >= runs.waits.depthMax()) {
      return KeyRefusals.tooDeep(key, target, depth + 1, runs.waits.depthMax());
    }
    if (waitsForOtherGroup(target)) return circle(target);
    var path = new ArrayList<Key>();
    path.add(target);
    for (@Nullable Execution run = this; run != null; run = run.caller) {
      path.addFirst(run.key);
      if (run.key.equals(target)) return KeyRefusals.deadlock(path);
    }
    return null;
  }

  /// Makes way when the run that this one interrupts on its thread can continue. The request for
  /// which this run waits may itself wait for that run.
  public void makeWay() {
    for (@Nullable Execution under = below; under != null; under = under.below) {
      Request awaited = under.waitingFor;
      if (under.refused == null && (awaited == null || !awaited.isOver())) continue;
      yielded = true;
      throw new Yielded();
    }
  }

  /// Returns a run whose request the store can refuse, among the runs that wait for each other from
  /// a key to this run; null when there is none.
  @Nullable Execution refusableBehind(Resident target) {
    var chain = new WaitChain();
    for (@Nullable Resident next = target; next != null && !next.key.equals(key); ) {
      Execution running = next.running;
      if (running == null || running.refusable) return running;
      if (chain.isCircle(running)) return null;
      Request awaited = running.waitingFor;
      next = awaited == null || awaited.isDone() ? null : awaited.resident;
    }
    return null;
  }

  /// Returns the path of keys from a key to the key of this run, where each waits for the next;
  /// null when no such path exists.
  @Nullable List<Key> circleThrough(Resident target) {
    var path = new ArrayList<Key>();
    path.add(key);
    var chain = new WaitChain();
    for (@Nullable Resident next = target; next != null; ) {
      path.add(next.key);
      if (next.key.equals(key)) return path;
      Execution running = next.running;
      if (running == null || chain.isCircle(running)) return null;
      Request awaited = running.waitingFor;
      next = awaited == null || awaited.isDone() ? null : awaited.resident;
    }
    return null;
  }
}

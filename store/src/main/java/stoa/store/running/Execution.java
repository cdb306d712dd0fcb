package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.Deadlock;
import stoa.Gone;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.StoredEntry;
import stoa.spi.Cancellation;
import stoa.store.calls.Put;
import stoa.store.calls.Query;
import stoa.store.calls.Visit;
import stoa.store.records.KeyRefusals;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;

/// One run of a handler: what it may know, and how it calls other keys.
///
/// The thread that runs the handler uses it; other threads take it back, and look what it waits
/// for.
public final class Execution implements Cancellation.Run {
  /// Why a handler runs.
  public enum Mode {
    /// A logged put, for the first time as far as this process knows.
    LIVE,
    /// A logged put that an earlier process may have begun.
    RESUMED,
    /// A logged put of the past, whose nested answers are all in the log.
    REPLAYED,
    /// A question, which is not logged.
    READING,
    /// A put of a transaction that is not committed, on a copy of the state.
    TENTATIVE
  }

  /// Thrown through a handler that cannot go on now. A handler passes it on; one that does not is
  /// stopped at its next call, and what it answers is dropped.
  public abstract static sealed class Unwinding extends Error implements stoa.base.Unwinding
      permits Abandoned, Elsewhere, Leaving, Suspended, Yielded {
    private static final long serialVersionUID = 1L;

    private Unwinding(String message, @Nullable Throwable cause) {
      super(message, cause, false, false);
    }
  }

  /// Thrown through a handler whose run was taken back while it waited.
  static final class Abandoned extends Unwinding {
    private static final long serialVersionUID = 1L;

    Abandoned() {
      super("the call was taken back", null);
    }
  }

  /// Thrown through a handler that answers a question, a transaction, or a reader of the past, from
  /// the present and asks other keys: they need not be as the reader sees them. The past is asked
  /// instead.
  public static final class Elsewhere extends Unwinding {
    private static final long serialVersionUID = 1L;

    public Elsewhere() {
      super("the question goes to the past", null);
    }
  }

  /// Thrown through a handler whose run must make way for one that it interrupts on its thread: it
  /// is done again, from the log, as soon as a thread is free.
  static final class Yielded extends Unwinding {
    private static final long serialVersionUID = 1L;

    Yielded() {
      super("the call makes way for another", null);
    }
  }

  /// Thrown through a handler whose nested call could not be settled: it goes on from the log
  /// later.
  public static final class Suspended extends Unwinding {
    private static final long serialVersionUID = 1L;

    private final RuntimeException reason;

    Suspended(RuntimeException reason) {
      super("the call cannot go on now", reason);
      this.reason = reason;
    }

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
  /// server that runs the transaction makes the call there, and the handler again, see
  /// [StoreTransaction#leaving].
  public static final class Leaving extends Unwinding {
    private static final long serialVersionUID = 1L;

    private final transient Visit visit;
    private final boolean nested;

    /// A handler calls a key.
    static Leaving toCall(Visit visit) {
      return new Leaving(visit, false);
    }

    /// A handler calls a transaction of a key.
    static Leaving toTransact(Visit visit) {
      return new Leaving(visit, true);
    }

    private Leaving(Visit visit, boolean nested) {
      super("the call of " + visit.target() + " is made by whoever runs the transaction", null);
      this.visit = visit;
      this.nested = nested;
    }

    /// What it calls.
    public Visit visit() {
      return visit;
    }

    /// Whether that is a transaction within the transaction.
    public boolean isNested() {
      return nested;
    }
  }

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long TIME = 0xD1B54A32D192ED03L;

  /// About 200 KB.
  private static final int HEADROOM_FRAMES = 2_000;

  private static final AtomicIntegerFieldUpdater<Execution> STATE =
      AtomicIntegerFieldUpdater.newUpdater(Execution.class, "state");

  private static final AtomicReferenceFieldUpdater<Execution, Runners.Runner> RUNNER =
      AtomicReferenceFieldUpdater.newUpdater(Execution.class, Runners.Runner.class, "runner");

  private static final int RUNNING = 0;
  private static final int DONE = 1;
  private static final int TAKEN_BACK = 2;

  private final Runs runs;
  private final Mode mode;
  private final Key key;
  public final @Nullable Resident resident;
  final long address;
  private final long nowMicros;
  private final int depth;
  private final @Nullable LoggedAnswers logged;

  /// The request that waits for this run, or null when it is run to load the state.
  public final @Nullable Request request;

  private volatile int state = RUNNING;
  private int calls;
  private int entered;

  /// Keeps the compiler from leaving the work out.
  @SuppressWarnings("unused")
  private long headroom;

  /// What this run waits for; read by others that look for circles.
  public volatile @Nullable Request waitingFor;

  /// The call of another store's key for which this run waits; read by others as well.
  public volatile @Nullable Visit visit;

  /// The keys whose handlers wait for this run in other stores, outermost first, when no request
  /// waits for it.
  public List<Key> callers = List.of();

  /// Whether what this run waits for may be refused instead: nothing was logged for it. Guarded by
  /// [WaitGraph].
  boolean refusable;

  /// Why what this run waits for is refused, once it is. Another run sets it, when both would wait
  /// for each other.
  public volatile @Nullable Deadlock refused;

  /// The log counter of the put; of a question about the past, as of which it is asked.
  public long counter;

  /// Whether a question about the past is answered by the live state, which may not wait.
  public boolean looking;

  /// Whether it is a question about the past.
  public boolean past;

  /// The run that asks this one for the past; null when the question comes from outside.
  public @Nullable Execution caller;

  /// Whether it asked another key.
  public boolean asked;

  /// The log counter up to which what it was told by other keys reaches.
  public long reach;

  /// The run that this one interrupts on its thread, by helping; set by [Runners].
  @Nullable Execution below;

  /// Whether the put begins a generation.
  boolean begins;

  /// The number of the code that executes it; negative when no put is executed.
  private int code = -1;

  /// The transaction in which the handler runs, and calls other keys; null outside of one.
  public @Nullable StoreTransaction transaction;

  /// What a transaction does here, when it does something.
  @Nullable LoggedCall loggedCall;

  /// The call or run that makes the put; null when the put comes from outside.
  Records.@Nullable Origin origin;

  private long generation;

  private volatile Runners.@Nullable Runner runner;

  private volatile boolean exited;
  private long id;

  /// Of a question, which one it is: the same number in every process.
  int question;

  /// How many ticks a run may take that no request waits for; 0 when the store's limit holds.
  int ticksMax;

  /// Why it was taken back; valid once it was.
  private volatile @Nullable RuntimeException reason;

  /// When it began, moved on by the time in which it waited for others. Its thread writes it.
  volatile int startTick;

  /// The last nested answer that must be durable before this run's answer leaves; those before it
  /// are when it is.
  private @Nullable NoteRequest unsettledNote;

  /// The last nested answer.
  private @Nullable NoteRequest lastNote;

  private @Nullable Suspended suspended;

  /// Whether it has called another key, or was to.
  private boolean called;

  private boolean yielded;

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

  /// The first run of a logged put, which a request waits for.
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

  /// A run of a logged put that loads a state.
  ///
  /// @param resident whose calls go on when they are found unfinished, or null in a view of the
  ///   past
  /// @param logged what the log tells of the put
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

  /// A run of a put of a committed transaction.
  ///
  /// @param logged what the calls of the put were answered in the transaction
  static Execution committed(
      Runs runs, Resident resident, LoggedCall call, LoggedAnswers logged, PartRequest part) {
    var run =
        new Execution(
            runs,
            Mode.REPLAYED,
            resident.key,
            resident,
            call.address,
            part.nowMicros,
            0,
            logged,
            part);
    run.begins = call.begins;
    run.origin = call.origin;
    run.code = call.code;
    return run;
  }

  /// A run of a question, on the live state of a key.
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
            runs.clock.nowMicros(),
            question.depth,
            null,
            question);
    run.transaction = question.transaction;
    run.question = question.query instanceof Query query ? query.number() : 0;
    return run;
  }

  /// A run that reads, beside the live state of a key.
  ///
  /// @param position the address of the last put or deletion that is seen
  /// @param depth how many handlers wait for it
  public static Execution beside(Runs runs, Key key, long position, int depth) {
    return new Execution(
        runs, Mode.READING, key, null, position, runs.clock.nowMicros(), depth, null, null);
  }

  /// A run in a transaction that is not committed, on a copy of the state.
  ///
  /// @param mode [Mode#READING] or [Mode#TENTATIVE]
  static Execution within(
      StoreTransaction transaction, Runs runs, Mode mode, Key key, Copy copy, int depth) {
    var run =
        new Execution(
            runs, mode, key, null, copy.nextAddress(), transaction.nowMicros(), depth, null, null);
    run.transaction = transaction;
    run.counter = transaction.counter();
    return run;
  }

  /// The key at which the handler runs.
  public Key key() {
    return key;
  }

  /// The stream address of the put, or of the last one before a question.
  public long address() {
    return address;
  }

  /// The stream address at which the key's generation began, 0 when a question is about an absent
  /// key.
  public long generation() {
    return generation;
  }

  public void generation(long address) {
    generation = address;
  }

  /// The number of the code that executes the handler: what [HandlerFactory#code()] said when the
  /// put was logged; for a question and a put that is not logged yet, what it says now.
  public int code() {
    int known = code;
    return known >= 0 ? known : runs.spaces.code(key);
  }

  void code(int number) {
    code = number;
  }

  /// The time that the leader gave the put, in microseconds since 1970.
  public long nowMicros() {
    return nowMicros;
  }

  /// What a put's random numbers begin with: the same in every run of it, and another in another
  /// store, whose time is another.
  public long seed() {
    Records.Origin by = origin;
    long time = isReading() ? 0 : nowMicros * TIME;
    return by != null && by.isTransaction()
        ? by.caller().low() ^ by.number() * GOLDEN ^ time
        : key.stream().low() ^ address * GOLDEN ^ time;
  }

  /// As [#address()], for a handler that goes by it.
  public long version() {
    if (loggedCall != null) loggedCall.addressed = true;
    return address;
  }

  /// The transaction in which the handler runs; null outside of one.
  public @Nullable StoreTransaction transaction() {
    return transaction;
  }

  /// Whether the handler may change nothing.
  public boolean isReading() {
    return mode == Mode.READING;
  }

  /// Whether the handler is asked for the past, and sees other keys as they were.
  public boolean isPast() {
    return past;
  }

  public Mode mode() {
    return mode;
  }

  public int depth() {
    return depth;
  }

  /// The keys whose handlers wait for this run, outermost first, and its own.
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
    else path.addAll(waitingAbroad());
    path.add(key);
  }

  /// The run of this store that waits for this one; null when there is none.
  private @Nullable Execution outer() {
    Request by = request;
    return by == null ? caller : by.asker;
  }

  /// The keys whose handlers wait for this run and have called this store, outermost first.
  private List<Key> waitingAbroad() {
    Execution around = outer();
    if (around != null) return around.waitingAbroad();
    Request by = request;
    return by == null ? callers : by.callers;
  }

  /// The circle that a call would close on this run's own path, which may lead through other
  /// stores.
  public Deadlock circle(Key target) {
    List<Key> path = path();
    var circle = new ArrayList<Key>(path.subList(path.indexOf(target), path.size()));
    circle.add(target);
    return KeyRefusals.deadlock(circle);
  }

  /// What the handler is told when the store refuses a call of it.
  public Nested told(RuntimeException refusal) {
    return Nested.toLog(runs.factory(key).failure(refusal).encoded());
  }

  /// Whether the handler of a key waits for this run by way of another store.
  public boolean waitsAbroad(Key target) {
    return waitingAbroad().contains(target);
  }

  /// Whether it waits for another key.
  boolean isWaiting() {
    return waitingFor != null || visit != null;
  }

  /// Whether it is what a request on its key waits for, rather than what is in front of it.
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

  /// Whether a key is another store's, which is called by [#visit].
  public boolean isAbroad(Key target) {
    return runs.others().isAbroad(target);
  }

  /// Calls a key of another store, as [#put] and [#get] do one of this.
  ///
  /// @param kind a put, or a question
  /// @param call what is put there or asked, as [Neighbors] takes it
  public byte[] visit(Visit.Kind kind, Key target, Object call, Existence existence) {
    ensureHeadroom();
    if (around(kind, target)) return leaveBeside(kind, target, call, existence);
    if (!isReading()) return visited(kind, target, call, existence);
    leaveLive();
    leaveRound();
    return asked(() -> runs.others().getAbroad(this, target, call, existence)).answer();
  }

  /// As [#visit], of a key that shares no order with this one: it need not be seen at the same
  /// moment.
  public byte[] visitApart(Visit.Kind kind, Key target, Object call, Existence existence) {
    ensureHeadroom();
    if (around(kind, target)) return leaveBeside(kind, target, call, existence);
    if (!isReading()) return visited(kind, target, call, existence);
    if (transaction != null) leaveLive();
    leaveRound();
    return asked(() -> runs.others().getAbroadNow(this, target, call, existence)).answer();
  }

  /// Whether the transaction in which the handler runs makes a call on a key of another store.
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
                ? runs.others().putAbroad(this, target, call, existence, origin)
                : runs.others().getAbroadNow(this, target, call, existence));
  }

  /// Has the client or server that runs the transaction call a key of another store with a
  /// transaction within this one, for a handler that runs in it.
  public byte[] leaveToTransact(Key target, Object call, Existence existence) {
    return tentative(
        target,
        () -> {
          byte[] known = inTransaction().leaveToTransact(this, target, call, existence);
          return () -> known;
        });
  }

  /// Says, before a put that would begin a key is logged, why it cannot.
  public interface Beginning {
    /// The refusal, as the key's handler would encode it as an answer; null when there is none.
    byte @Nullable [] refusal();

    /// Why the key's handler could not execute the put, as an answer; null when it can.
    default byte @Nullable [] unfit() {
      return null;
    }
  }

  /// What the value that the handler puts was read as before it was logged; null when the handler
  /// is to read it. Answers it once, as the handler may change it.
  public @Nullable Object takeRead() {
    if (!(request instanceof PutRequest put) || put.address != address) return null;
    Object read = put.read;
    put.read = null;
    return read;
  }

  /// Puts a value at another key and answers what its handler does. In a replay the answer comes
  /// from the log.
  ///
  /// @return the answer as encoded by the other key's handler, or by its factory when the store
  ///   refused
  public byte[] put(Key target, byte[] value, Existence existence) {
    return put(target, Put.of(value), existence, () -> null);
  }

  /// As [#put(Key, byte\[\], Existence)], of a value that was read.
  ///
  /// @param beginning is asked when the key is absent
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

  /// Asks the handler of another key.
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

  /// Asks the handler of another key that shares no order with this one: it need not be seen at the
  /// same moment. Not from within a transaction.
  public byte[] getApart(Key target, Object query, Existence existence) {
    ensureHeadroom();
    if (isReading()) {
      leaveRound();
      return asked(() -> runs.others().get(this, target, query, existence)).answer();
    }
    return nested(target, origin -> runs.others().get(this, target, query, existence));
  }

  /// Gives a question up that the live state answers for a reader of one moment.
  public void leaveLive() {
    if (!isReading() || resident == null) return;
    if (!(request instanceof GetRequest question)) return;
    if (transaction == null && !question.alone) return;
    question.moved = true;
    throw new Elsewhere();
  }

  /// Runs code of another key here, as part of the transaction in which this handler runs.
  ///
  /// @throws IllegalStateException when it runs in none
  public byte[] run(Target target, Object query, Existence existence) {
    ensureHeadroom();
    StoreTransaction around = transaction;
    if (around == null || mode != Mode.TENTATIVE) {
      Records.Origin by = origin;
      // It ran, in a transaction that is committed.
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

  /// A nested call of a transaction: its answer is logged beside the put, when the transaction is.
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
    return within.put(target, put.value(), existence, depth + 1);
  }

  private StoreTransaction inTransaction() {
    return Objects.requireNonNull(transaction);
  }

  /// What a nested call came to.
  ///
  /// @param answer the encoded answer
  /// @param mustBeLogged whether it could not be found again after a crash
  public record Nested(byte[] answer, boolean mustBeLogged) {
    /// An answer that could not be found again after a crash.
    public static Nested toLog(byte[] answer) {
      return new Nested(answer, true);
    }

    /// An answer that the log has, or that can be made again.
    public static Nested found(byte[] answer) {
      return new Nested(answer, false);
    }
  }

  /// Fails here, where nothing is under way, rather than in the middle of what serves the call,
  /// when the stack is nearly used up. Endless recursion that calls out comes by here at every
  /// level, so that one call in eight suffices.
  private void ensureHeadroom() {
    if ((++entered & 7) == 0) headroom = headroom(HEADROOM_FRAMES, entered, 1, 2, 3);
  }

  private static long headroom(int frames, long a, long b, long c, long d) {
    return frames == 0 ? a : headroom(frames - 1, b, c, d, a) + (a ^ b) + (c ^ d);
  }

  /// Something that need not be the same in every run of the put, such as the trace of an
  /// exception, and that the handler keeps: as it was made the first time. It is logged beside the
  /// put, as the answer to a nested call is, and a replay takes it from there.
  ///
  /// @param made makes it, and calls no other key
  public byte[] once(Supplier<byte[]> made) {
    if (isReading()) return made.get();
    if (mode == Mode.TENTATIVE) {
      byte[] bytes = made.get();
      if (loggedCall != null) loggedCall.answered(key, bytes);
      return bytes;
    }
    return nested(key, _ -> Nested.found(made.get()));
  }

  private byte[] nested(Key target, Function<Records.Origin, Nested> call) {
    checkNotTakenBack();
    if (suspended != null) throw suspended;
    leaveRound();
    int number = ++calls;
    byte[] known = logged == null ? null : logged.find(address, number);
    if (known != null) return known;
    if (mode == Mode.REPLAYED || resident == null) {
      // No handler may catch this and go on.
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

  /// A run in a round may not wait: a worker does it again.
  private void leaveRound() {
    called = true;
    Request waits = request;
    if (resident == null || waits == null || !waits.hasty) return;
    yielded = true;
    throw new Yielded();
  }

  /// Whether it has called another key, or was to.
  public boolean hasCalled() {
    return called;
  }

  /// Drops what a handler answers that was to make way and has gone on.
  void checkNotYielded() {
    if (yielded) throw new Yielded();
  }

  /// What the store refuses, it answers. What it throws is trouble of its own, which is no answer
  /// and nothing for a handler to catch.
  private Nested asked(Supplier<Nested> call) {
    try {
      return call.get();
    } catch (RuntimeException trouble) {
      throw suspend(trouble);
    }
  }

  /// Stops the run, to go on from the log later.
  ///
  /// @return what the handler must throw
  public Unwinding suspend(RuntimeException reason) {
    var stop = new Suspended(reason);
    suspended = stop;
    return stop;
  }

  /// Waits until everything that this run's answer reflects is durable.
  void gate() {
    if (suspended != null) throw suspended;
    // What was put is found again. But with its answer in the log, what is behind this has not
    // begun
    // when this goes on after a crash and waits for an answer, so that it can be refused.
    await(runs.others().hasNeighbors() ? lastNote : unsettledNote);
  }

  /// Waits until what the next call may reflect is durable.
  public void gateReflected() {
    await(unsettledNote);
  }

  /// Waits until every nested answer of this run and those before is durable: behind a checkpoint,
  /// nobody asks again.
  void gateAll() {
    Resident here = resident;
    await(here == null ? lastNote : here.lastNote);
    if (here != null) here.lastNote = null;
  }

  /// The note without which no later nested put may be logged.
  public @Nullable NoteRequest unsettledNote() {
    return unsettledNote;
  }

  /// The last nested answer, which need not be in the log yet; null when there is none.
  @Nullable NoteRequest lastNote() {
    return lastNote;
  }

  private void await(@Nullable NoteRequest note) {
    if (note != null) {
      runs.journal.awaitHelping(note, this);
      try {
        note.number();
      } catch (RuntimeException failure) {
        throw suspend(failure);
      }
    }
  }

  public void hasWaited(int ticks) {
    int moved = startTick + ticks;
    startTick = moved;
  }

  /// Whether the log says that an earlier run of the put stood: then this one must not be taken
  /// back.
  boolean isKnownToStand() {
    Records.Origin by = origin;
    return (by != null && by.isTransaction()) || (logged != null && logged.isDone(address));
  }

  /// After the end of a run that lasted long: makes durable that it stands, before anybody sees
  /// what it did. Another run of it may last longer, and must not be taken back for that.
  void settleLong() {
    if (isReading() || resident == null || isKnownToStand() || !runs.limits.lastedLong(this))
      return;
    await(runs.journal.note(resident, Records.DONE, Records.done(address)));
  }

  /// Ends the run, if it was not taken back before.
  boolean finish() {
    return STATE.compareAndSet(this, RUNNING, DONE);
  }

  /// Ends a run that was stopped; answers what is thrown on, which is [Abandoned] exactly when the
  /// run was taken back.
  Unwinding stopped(Unwinding by) {
    return finish() ? by : new Abandoned();
  }

  /// Takes the run back, if it has not ended.
  boolean takeBack() {
    return STATE.compareAndSet(this, RUNNING, TAKEN_BACK);
  }

  /// As [#takeBack()], and has its thread stop it, where the code that it runs can be stopped.
  boolean stop(RuntimeException why) {
    reason = why;
    if (!takeBack()) return false;
    Cancellation.stop(this);
    if (exited) Cancellation.ended(this);
    return true;
  }

  /// Takes it from a thread that must come back; a worker does it again.
  public void preempt() {
    Resident where = resident;
    if (where == null || !takeBack()) return;
    where.recover(null);
    Cancellation.stop(this);
    if (exited) Cancellation.ended(this);
  }

  /// Why it was taken back by [#stop].
  RuntimeException stopReason() {
    return Objects.requireNonNull(reason);
  }

  /// A thread begins to run the handler. Others see it once it is the runner's top.
  void enter(Runners.Runner on) {
    RUNNER.lazySet(this, on);
  }

  /// What [Runners] knows of the thread that runs the handler; null before one does.
  Runners.@Nullable Runner runner() {
    return runner;
  }

  /// The thread that runs the handler; null before one does.
  public @Nullable Thread thread() {
    Runners.Runner on = runner;
    return on == null ? null : on.thread;
  }

  /// Its thread has left it.
  void exited() {
    if (state == DONE) return; // nobody takes it back any more, nor asks
    exited = true;
    if (isTakenBack()) Cancellation.ended(this);
  }

  @Override
  public boolean isCurrent() {
    return runs.runners.isOfCurrentThread(this) && this.equals(runs.runners.current());
  }

  /// Whether it has taken longer than it may.
  boolean isOverdue(int now, int ticks) {
    int lasted = now - startTick;
    if (lasted > ticks || (ticksMax > 0 && lasted > ticksMax)) return true;
    Request waits = request;
    return waits != null && waits.isLate(now);
  }

  /// Which run of the key it is, the same number in every process: of a logged put its address, of
  /// anything else one below zero.
  long run() {
    return switch (mode) {
      case LIVE, RESUMED, REPLAYED -> address;
      case READING, TENTATIVE -> -1 - (question & 0xffff_ffffL);
    };
  }

  /// By what an operator knows it.
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

  public void checkNotTakenBack() {
    if (isTakenBack()) throw new Abandoned();
  }

  /// Why a question to another key as it was is refused, as it would be now; null when it is not.
  public @Nullable RuntimeException refusalOfPast(Key target) {
    if (depth >= runs.waits.depthMax()) {
      return KeyRefusals.tooDeep(key, target, depth + 1, runs.waits.depthMax());
    }
    if (waitsAbroad(target)) return circle(target);
    var path = new ArrayList<Key>();
    path.add(target);
    for (@Nullable Execution run = this; run != null; run = run.caller) {
      path.addFirst(run.key);
      if (run.key.equals(target)) return KeyRefusals.deadlock(path);
    }
    return null;
  }

  /// Makes way when a run that this one interrupts on its thread can go on: what this one waits for
  /// may wait for that run.
  public void makeWay() {
    for (@Nullable Execution under = below; under != null; under = under.below) {
      Request awaited = under.waitingFor;
      if (under.refused == null && (awaited == null || !awaited.isOver())) continue;
      yielded = true;
      throw new Yielded();
    }
  }

  /// A run that can be refused what it waits for, of those that wait for each other from a key to
  /// this one; null when there is none.
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

  /// The path of keys from a key to the one whose handler runs here, when each waits for the next;
  /// null when they do not meet.
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

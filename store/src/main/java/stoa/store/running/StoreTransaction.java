package stoa.store.running;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Ref;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.Trace;
import stoa.spi.Cancellation;
import stoa.store.calls.HandlerQuery;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Visit;
import stoa.store.leading.Intents;
import stoa.store.records.Draft;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// Puts and questions over several keys that see one moment of the log. The puts become durable and
/// visible together, or not at all (vCorfu, section 4.3).
///
/// One thread at a time uses it.
@SuppressWarnings("exports") // see the package
public final class StoreTransaction implements AutoCloseable {
  /*
   * Puts run at once, on copies of the states as of the moment. The transaction keeps the puts, and
   * the answers to their calls on other keys, as loggedCalls. The batch writer appends the
   * loggedCalls under one log address if nothing that the transaction has read or written has
   * changed since (Intake.commit). Each key then executes its loggedCalls again, with the known
   * answers, and calls no other key.
   *
   * The footprints of a key say which parts of it the transaction has read or written, or that it
   * has used all of it. Where only other parts have changed since, the loggedCalls execute on a
   * state in which their part is as they have seen it. A put that commutes has told its caller
   * nothing, so it may execute on any state.
   *
   * When a handler calls another store, the client or server that runs the transaction makes that
   * call (leaving). It gives up the handler and all its puts, and runs the handler again with one
   * more answer. The handler sees the same moment and draws the same random numbers, so that it
   * makes the same calls.
   *
   * Nested transactions are layers. A layer copies the keys to which it puts; it is merged into the
   * layer below, or dropped. The reads of a dropped layer still count: the program depends on them.
   *
   * Invariants:
   * (1) touched holds every key that was read or written, pinned, from before its first read on,
   *     and footprints has the parts that were used; none stands for the whole key.
   * (2) The loggedCalls on a key stand in the order in which they ran on its copy.
   * (3) All parts of a commit are in their mailboxes before any key executes one, so that a caller
   *     that sees one part and asks for another finds it.
   */
  private static final class Layer {
    private final @Nullable Layer below;
    private final int loggedCalls;
    private final int appends;
    private final boolean readOnly;
    // Empty until it has a copy.
    private Map<StreamId, WorkingCopy> copies = Map.of();

    private Layer(@Nullable Layer below, int loggedCalls, int appends, boolean readOnly) {
      this.below = below;
      this.loggedCalls = loggedCalls;
      this.appends = appends;
      this.readOnly = readOnly;
    }

    private void put(StreamId stream, WorkingCopy copy) {
      if (copies.isEmpty()) copies = new HashMap<>();
      copies.put(stream, copy);
    }

    private @Nullable WorkingCopy find(StreamId stream) {
      for (@Nullable Layer layer = this; layer != null; layer = layer.below) {
        WorkingCopy copy = layer.copies.get(stream);
        if (copy != null) return copy;
      }
      return null;
    }
  }

  // How many parts of a key it counts before all of the key counts.
  private static final int PARTS_MAX = 1_024;

  private static final Set<Footprint> WHOLE = Set.of(Footprint.ALL);

  /// The operations that a transaction may do.
  public enum Access {
    /// The transaction only reads.
    READS,
    /// The transaction reads and writes.
    WRITES
  }

  /// The bounds of a transaction.
  ///
  /// @param access the operations that it may do
  /// @param micros how long it may take
  /// @param keysMax how many keys it may read and write
  /// @param bytesMax the encoded size of its puts and of the answers that the batch writer logs
  ///   with them
  /// @param names the names of the limits
  public record Bounds(Access access, long micros, int keysMax, long bytesMax, LimitNames names) {
    /// Sets bounds whose limits have the names of the configuration.
    public Bounds(Access access, long micros, int keysMax, long bytesMax) {
      this(access, micros, keysMax, bytesMax, LimitNames.STANDARD);
    }

    /// Returns whether the transaction refuses puts.
    boolean isReadOnly() {
      return access == Access.READS;
    }
  }

  /// The names of a transaction's limits in errors, so that the caller knows which limit to change.
  ///
  /// @param time the name of the time limit
  /// @param keys the name of the limit on the number of keys
  /// @param bytes the name of the limit on bytes
  public record LimitNames(String time, String keys, String bytes) {
    static final LimitNames STANDARD =
        new LimitNames(
            "timeMax, or what was left of totalTimeMax",
            "transactionObjectsMax",
            "transactionBytesMax");
  }

  /// The identity of a transaction in the log, with which the store finds its outcome again.
  ///
  /// @param key one of the keys to which it puts
  /// @param tail the last address of the key's stream when the transaction began to put there
  /// @param mark the mark that its puts carry
  public record Id(Key key, long tail, StreamId mark) {}

  /// The services of the store that a transaction needs.
  public interface Host {
    /// Asks a key's handler as of the moment of a transaction when the live state cannot answer.
    Answer askPast(
        StoreTransaction transaction, Key key, Object query, Existence existence, int depth);

    /// Returns a copy of the state of a key as of a log counter.
    ///
    /// @param tail the last address of the key's stream
    WorkingCopy copyPast(Key key, long counter, long tail);

    /// Returns a copy of the state of a key as of the moment of a transaction, if the state is in
    /// memory and waits for nothing; null otherwise.
    @Nullable WorkingCopy copyNow(StoreTransaction transaction, Resident resident);

    /// Asks the live state, and loads it first when it is not in memory.
    void ask(QuestionRequest question);

    /// Appends the puts of a transaction, and waits until all its keys have executed them; returns
    /// its log counter.
    long commit(StoreTransaction transaction);

    /// Returns the epoch in which log addresses are issued.
    long epoch();

    /// Throws when the store is closed.
    void checkOpen();

    /// Returns the first address of a stream behind a log counter, or the address after its last
    /// one.
    long firstBehind(StreamId stream, long counter);

    /// Counts a transaction that was aborted because another call changed a key.
    void lostBecauseOf(Key key);

    /// Ends the intent of a transaction that is over.
    void over(Intents.Intent intent);
  }

  /// The beginning of a transaction.
  ///
  /// @param at the log address as of which the transaction reads
  /// @param nowMicros when it begins
  /// @param mark the mark that its puts carry
  /// @param unpin releases the pin that keeps its moment readable
  public record Begun(LogAddress at, long nowMicros, StreamId mark, Runnable unpin) {}

  private final Host host;
  private final Residents residents;
  private final Runs runs;
  private final LogAddress at;
  private final long nowMicros;
  private final Bounds bounds;

  // The session of the client that runs the transaction; 0 when it runs in this process.
  private volatile long session;

  private final StreamId mark;
  private final Runnable unpin;
  private final LinkedHashMap<StreamId, Resident> touched = new LinkedHashMap<>();

  // Empty and unmodifiable until the first one comes, as are the streams: most transactions have
  // none.
  private Map<StreamId, Set<Footprint>> footprints = Map.of();

  private final ArrayList<LoggedCall> loggedCalls = new ArrayList<>();

  // The users' streams to which it appends, pinned. It reads nothing of them.
  private Map<StreamId, Resident> streams = Map.of();

  private final ArrayList<Draft.Append> appends = new ArrayList<>();
  private final ArrayDeque<Key> running = new ArrayDeque<>(2);
  private final AtomicInteger partsLeft = new AtomicInteger();
  private volatile @Nullable List<PartRequest> parts;
  private Layer top;
  private long bytes;
  private int numbers;

  // Where the calls of the handler that runs are recorded; null when no tracer records them.
  private @Nullable Trace trace;

  // The pace of the slowest put.
  private Pace slowest = Pace.BRIEF;

  private boolean ended;
  private boolean oneQuestion;
  private boolean late;

  // Guarded by this.
  private boolean held;
  private boolean closing;

  // The reason for which it cannot commit.
  private @Nullable RuntimeException doomed;

  // The intent under which it runs; null for none.
  private volatile Intents.@Nullable Intent intent;

  // The keys that it has used, once it was aborted and has ended; empty until then.
  private volatile Set<StreamId> used = Set.of();

  // The key whose change aborted it.
  private volatile @Nullable Key changed;

  // The state of the call in progress, when that may call other stores; null otherwise.
  private @Nullable Journey journey;

  /// A call that may call other stores.
  private static final class Journey {
    private final List<Key> callers;
    private final List<byte[]> answers;
    private int next;
    private Execution.@Nullable Leaving left;

    private Journey(List<Key> callers, List<byte[]> answers) {
      this.callers = callers;
      this.answers = answers;
    }
  }

  public StoreTransaction(Host host, Residents residents, Runs runs, Bounds bounds, Begun begun) {
    this.host = host;
    this.residents = residents;
    this.runs = runs;
    this.bounds = bounds;
    this.at = begun.at;
    this.nowMicros = begun.nowMicros;
    this.mark = begun.mark;
    this.unpin = begun.unpin;
    this.top = new Layer(null, 0, 0, bounds.isReadOnly());
  }

  /// Marks this as one question from outside whose handler asks other keys; returns this.
  public StoreTransaction forOneQuestion() {
    oneQuestion = true;
    return this;
  }

  /// Marks this, like [#forOneQuestion()], for a handler of another store.
  ///
  /// @param callers the keys whose handlers wait for the question, outermost first
  public StoreTransaction forOneQuestion(List<Key> callers) {
    journey = new Journey(callers, List.of());
    return forOneQuestion();
  }

  /// Returns whether this is one question from outside whose handler asks other keys.
  public boolean isOneQuestion() {
    return oneQuestion;
  }

  /// Returns the log address as of which it reads.
  public LogAddress at() {
    return at;
  }

  /// Returns the log counter as of which it reads.
  public long counter() {
    return at.counter();
  }

  /// Returns where the calls of the running handler are recorded; null when no tracer records them.
  @Nullable Trace trace() {
    return trace;
  }

  void trace(@Nullable Trace next) {
    trace = next;
  }

  /// Returns whether it refuses puts now.
  public boolean isReadOnly() {
    return top.readOnly;
  }

  /// Returns whether it refuses puts from its beginning to its end.
  boolean isOnlyReading() {
    return bounds.isReadOnly();
  }

  /// Returns whether it was committed or given up.
  public boolean isEnded() {
    return ended;
  }

  /// Returns whether it has refused a call because its time was over.
  public boolean isLate() {
    return late;
  }

  // ---- calls

  /// Asks a key's handler as of the moment, after this transaction's own puts.
  ///
  /// @param pace how long the question is expected to run
  /// @throws stoa.Gone when the key is not as expected
  public Answer get(Target target, Object query, Existence existence, Pace pace) {
    check();
    return tell(() -> ask(target.key(), query, existence, depth(), pace));
  }

  /// Asks, like [#get(Target, Object, Existence, Pace)], for a handler.
  ///
  /// @param depth how many handlers wait for the question
  public Answer get(Key target, Object query, Existence existence, int depth) {
    check();
    Pace pace = query instanceof HandlerQuery known ? known.pace() : Pace.LONG;
    return ask(target, query, existence, depth, pace);
  }

  private Answer ask(Key key, Object query, Existence existence, int depth, Pace pace) {
    if (isRunning(key)) throw circle(key);
    Resident resident = oneQuestion ? null : touch(key);
    if (resident != null) {
      uses(resident, query instanceof HandlerQuery known ? known.footprint() : Footprint.ALL);
    }
    WorkingCopy copy = top.find(key.stream());
    if (copy != null) return ask(key, copy, query, existence, depth);
    // The first handler of one question asks others: it would leave the live state.
    if (!oneQuestion || !running.isEmpty()) {
      Answer answer = askLive(key, resident, query, existence, pace);
      if (answer != null) return answer;
    }
    running.push(key);
    try {
      return host.askPast(this, key, query, existence, depth);
    } finally {
      running.pop();
    }
  }

  /// Asks the live state if the transaction sees it and it suffices; returns null otherwise.
  ///
  /// @param touched null for one question, which commits nothing and need not record what it reads
  private @Nullable Answer askLive(
      Key key, @Nullable Resident touched, Object query, Existence existence, Pace pace) {
    Resident resident = touched == null ? residents.pin(key) : touched;
    try {
      if (resident.change() > counter()) return null;
      var request = new GetRequest(pinned(resident), query, existence, pace.awaited(), this);
      request.trace(trace);
      ask(request);
      return request.moved ? null : request.answer();
    } finally {
      if (touched == null) resident.unpin();
    }
  }

  /// Asks the live state, and loads it first when it is not in memory. The question has the
  /// remaining time of the transaction where that is less than the store's limit for a call.
  private void ask(QuestionRequest request) {
    boolean hasty = bounds.micros < runs.limits.callMicrosMax();
    if (hasty) {
      long left = bounds.micros - (runs.clock.nowMicros() - nowMicros);
      runs.limits.limit(request, Duration.of(left, ChronoUnit.MICROS));
    }
    host.ask(request);
    if (hasty && request.failure() instanceof DeadlineExceeded) late = true;
  }

  private Answer ask(Key key, WorkingCopy copy, Object query, Existence existence, int depth) {
    if (copy.isGone(existence)) throw KeyRefusals.gone(key);
    var execution = execution(Execution.Mode.READING, key, copy, depth);
    return run(execution, () -> copy.get(query, existence.opening(), execution));
  }

  /// Puts a value on this transaction's copy of the key.
  ///
  /// @param pace how long the put is expected to run
  /// @throws UnsupportedOperationException when the transaction only reads
  /// @throws stoa.Gone when the key is not as expected
  public Answer put(Target target, byte[] value, Existence existence, Pace pace) {
    return put(target, Put.of(value), existence, pace);
  }

  /// Puts a value that works on a part of the key's state, like [#put(Target, byte\[\], Existence,
  /// Pace)].
  public Answer put(Target target, Put put, Existence existence, Pace pace) {
    check();
    slows(pace);
    return tell(() -> make(target.key(), put, existence, depth()));
  }

  Answer put(Key key, Put put, Existence existence, int depth) {
    check();
    slows(Pace.SHORT); // the handler that makes the put is not brief
    return make(key, put, existence, depth);
  }

  private void slows(Pace pace) {
    if (pace.compareTo(slowest) < 0) slowest = pace;
  }

  private Answer make(Key key, Put put, Existence existence, int depth) {
    byte[] value = put.value();
    checkWrites(key);
    if (isRunning(key)) throw circle(key);
    WorkingCopy copy = own(key);
    boolean begins = copy.generation() == 0;
    if (copy.isGone(existence)) throw KeyRefusals.gone(key);
    if (!begins && existence instanceof Existence.Absent) {
      throw new AlreadyExists(key + " exists already");
    }
    byte[] opening = existence.opening();
    count(value.length + (opening == null || !begins ? 0 : opening.length));
    var execution = execution(Execution.Mode.TENTATIVE, key, copy, depth);
    int code = runs.spaces.code(key);
    execution.code(code);
    var origin = new Records.Origin(mark, 0, ++numbers);
    Resident resident = touch(key);
    var loggedCall = new LoggedCall(resident, copy, value, code, origin, opening, put.footprint());
    uses(resident, loggedCall.footprint());
    execution.loggedCall = loggedCall;
    execution.origin = origin;
    execution.begins = begins;
    loggedCalls.add(loggedCall);
    Answer answer = run(execution, () -> copy.put(begins, loggedCall.opening, value, execution));
    for (Draft.Answered answered : loggedCall.answers()) count(answered.answer().length);
    if (loggedCall.footprint().commuting()
        && !(answer.isSilent() && loggedCall.answers().isEmpty())) {
      loggedCall.tells();
      uses(resident, Footprint.ALL);
    }
    return answer;
  }

  /// Runs a handler's code on the key as this transaction sees it. The code may put to other keys,
  /// and changes nothing of this key.
  public Answer run(Target target, Object query, Existence existence) {
    check();
    return tell(() -> run(target.key(), query, existence, depth()));
  }

  Answer run(Key key, Object query, Existence existence, int depth) {
    WorkingCopy copy = own(key);
    uses(touch(key), Footprint.ALL);
    if (copy.isGone(existence)) throw KeyRefusals.gone(key);
    var execution = execution(Execution.Mode.TENTATIVE, key, copy, depth);
    return run(execution, () -> copy.get(query, existence.opening(), execution));
  }

  /// Ends a key's generation.
  ///
  /// @return the generation, 0 when this transaction began it
  public long delete(Target target, Existence existence) {
    check();
    Key key = target.key();
    checkWrites(key);
    WorkingCopy copy = own(key);
    if (copy.generation() == 0 || copy.isGone(existence)) throw KeyRefusals.gone(key);
    count(0);
    var origin = new Records.Origin(mark, 0, ++numbers);
    Resident resident = touch(key);
    uses(resident, Footprint.ALL);
    loggedCalls.add(new LoggedCall(resident, copy, null, 0, origin, null, Footprint.ALL));
    long ended = copy.committedGeneration();
    copy.delete();
    return ended;
  }

  /// Appends an entry to a user's stream when this commits. That neither reads the stream nor
  /// depends on it.
  ///
  /// @param stream as of [Key#ofStream]
  /// @throws IllegalArgumentException when it is the stream of an object, or of the store itself
  public void append(Key stream, byte[] data) {
    check();
    checkWrites(stream);
    count(data.length);
    Resident known = streams.get(stream.stream());
    if (known == null) {
      checkKeys();
      known = residents.pin(stream);
      if (streams.isEmpty()) streams = new LinkedHashMap<>();
      streams.put(stream.stream(), known);
    }
    appends.add(new Draft.Append(known, data));
  }

  /// Returns the address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    check();
    return own(key).generation();
  }

  // ---- other stores

  /// A call that may call keys of other stores.
  public interface Call<X extends Throwable> {
    /// Makes the call.
    byte[] make() throws X;
  }

  /// Makes a call whose handler may call keys of other stores. The client or server that runs the
  /// transaction makes those calls for it.
  ///
  /// @param callers the keys of other stores whose handlers wait for the call, outermost first
  /// @param answers the answers to the first of these calls
  /// @throws Execution.Leaving when the handler makes a further call. The transaction then keeps
  ///   nothing of this one, and the caller must make it again with one more answer
  public <X extends Throwable> byte[] leaving(List<Key> callers, List<byte[]> answers, Call<X> call)
      throws X {
    check();
    var mine = new Journey(callers, answers);
    long bytesBefore = bytes;
    int numbersBefore = numbers;
    enter();
    journey = mine;
    try {
      byte[] answer = call.make();
      if (mine.left != null) throw mine.left;
      return answer;
    } finally {
      journey = null;
      if (mine.left == null) {
        keep();
      } else {
        drop();
        bytes = bytesBefore;
        numbers = numbersBefore;
      }
    }
  }

  /// Returns the answer of another store's key to a handler, or stops the handler to get that
  /// answer.
  byte[] leave(Execution by, Visit.Kind kind, Key target, Object call, Existence existence) {
    Journey mine = journey(by, target);
    if (mine.next < mine.answers.size()) return mine.answers.get(mine.next++);
    mine.left = Execution.Leaving.toCall(visit(by, kind, target, call, existence));
    throw mine.left;
  }

  /// Does the same as [#leave] when the handler calls a transaction.
  byte[] leaveToTransact(Execution by, Key target, Object call, Existence existence) {
    Journey mine = journey(by, target);
    if (mine.next < mine.answers.size()) return mine.answers.get(mine.next++);
    mine.left = Execution.Leaving.toTransact(visit(by, Visit.Kind.PUT, target, call, existence));
    throw mine.left;
  }

  private Journey journey(Execution by, Key target) {
    Journey mine = journey;
    if (mine == null) {
      throw new UnsupportedOperationException(
          by.key()
              + " calls "
              + target
              + " in a transaction, and another group keeps that; open the store as a client does,"
              + " by its stoa:// URL");
    }
    check();
    return mine;
  }

  private Visit visit(Execution by, Visit.Kind kind, Key target, Object call, Existence existence) {
    var id = new Visit.Id(by.key().stream(), by.address(), 0, 0);
    return new Visit(id, kind, target, call, existence, counter(), path(), 0);
  }

  /// Returns the keys whose handlers run, outermost first; keys that wait in other stores come
  /// first.
  List<Key> path() {
    var path = new ArrayList<Key>();
    if (journey != null) path.addAll(journey.callers);
    path.addAll(running.reversed());
    return path;
  }

  private boolean isRunning(Key key) {
    return running.contains(key) || (journey != null && journey.callers.contains(key));
  }

  private int depth() {
    return journey == null ? 0 : journey.callers.size();
  }

  /// Returns how many keys it has read and written.
  public int keys() {
    return touched.size() + streams.size();
  }

  // ---- nested transactions

  /// Begins a nested transaction: [#keep] merges its puts and [#drop] drops them.
  public void enter() {
    check();
    top = new Layer(top, loggedCalls.size(), appends.size(), top.readOnly);
  }

  /// Begins a nested transaction that refuses puts.
  public void enterToRead() {
    check();
    top = new Layer(top, loggedCalls.size(), appends.size(), true);
  }

  /// Ends the nested transaction that began last, and keeps its puts.
  public void keep() {
    Layer ended = leaveLayer();
    ended.copies.forEach(top::put);
  }

  /// Ends the nested transaction that began last, and drops its puts.
  public void drop() {
    Layer ended = leaveLayer();
    loggedCalls.subList(ended.loggedCalls, loggedCalls.size()).clear();
    appends.subList(ended.appends, appends.size()).clear();
  }

  private Layer leaveLayer() {
    Layer layer = top;
    Layer below = layer.below;
    if (below == null) throw new IllegalStateException("no nested transaction is under way");
    top = below;
    return layer;
  }

  // ---- its end

  /// Makes the puts durable and visible.
  ///
  /// @return the log address; [#at()] when the transaction has put and appended nothing
  /// @throws Aborted when a key that it has read or written has changed
  /// @throws stoa.UnknownOutcome when the log failed; ask with [#id()]
  public LogAddress commit() {
    check();
    ended = true;
    try {
      if (!writes()) return at;
      return new LogAddress(host.epoch(), host.commit(this));
    } catch (Aborted lost) {
      throw told(lost);
    } finally {
      unpin();
    }
  }

  /// Returns the argument for [Store#outcome], when the transaction has put something.
  public Id id() {
    LoggedCall first = loggedCalls.getFirst();
    return new Id(first.resident.key, first.tail(), mark);
  }

  /// Returns whether it would log something.
  public boolean writes() {
    return !loggedCalls.isEmpty() || !appends.isEmpty();
  }

  /// Returns the same as [#id], and null when the transaction has put nothing.
  public @Nullable Id identity() {
    return loggedCalls.isEmpty() ? null : id();
  }

  /// Gives the transaction up, if it has not ended.
  @Override
  public synchronized void close() {
    if (ended) return;
    closing = held;
    if (held) return; // for now
    ended = true;
    unpin();
  }

  private void unpin() {
    if (changed != null) used = Set.copyOf(touched.keySet());
    Intents.Intent mine = intent;
    if (mine != null) host.over(mine);
    touched.values().forEach(Resident::unpin);
    touched.clear();
    streams.values().forEach(Resident::unpin);
    streams = Map.of();
    unpin.run();
  }

  // ---- for the batch writer

  List<LoggedCall> loggedCalls() {
    return loggedCalls;
  }

  /// Returns whether it has ended objects, and changes nothing else.
  boolean onlyDeletes() {
    for (LoggedCall loggedCall : loggedCalls) {
      if (loggedCall.value != null) return false;
    }
    return appends.isEmpty();
  }

  /// Returns how many bytes it puts, with the answers that the batch writer logs.
  public long bytes() {
    return bytes;
  }

  long nowMicros() {
    return nowMicros;
  }

  /// Returns the key to which it put first, or one to which it appends.
  public Resident first() {
    return loggedCalls.isEmpty() ? any() : loggedCalls.getFirst().resident;
  }

  /// Returns one of the keys that it has read or written, or to which it appends.
  public Resident any() {
    var some = touched.isEmpty() ? streams : touched;
    return some.values().iterator().next();
  }

  /// Returns the streams of the keys that it has read and does not change.
  public Set<StreamId> read() {
    var all = new HashSet<>(touched.keySet());
    all.removeAll(changed());
    return all;
  }

  /// Returns the streams that get entries when it commits: those of the keys that it changes, those
  /// to which it appends, and those that list the keys that it begins or deletes.
  public Set<StreamId> changed() {
    var all = new HashSet<StreamId>();
    for (Draft.Append append : appends) all.add(append.end().key.stream());
    for (LoggedCall loggedCall : loggedCalls) {
      all.add(loggedCall.resident.key.stream());
      if (loggedCall.begins || loggedCall.value == null) {
        all.add(residents.directory(loggedCall.resident.key.space()).key.stream());
      }
    }
    return all;
  }

  /// Freezes the transaction while it commits together with its calls in other stores, until
  /// [#letGo] or [#committed].
  ///
  /// @return false when it has ended
  public synchronized boolean hold() {
    if (ended) return false;
    held = true;
    return true;
  }

  /// Ends the freeze of [#hold] without a commit.
  public synchronized void letGo() {
    held = false;
    if (closing) close();
  }

  /// Notes that the transaction was committed together with its calls in other stores.
  public synchronized void committed() {
    ended = true;
    unpin();
  }

  /// Returns how long its puts are expected to run.
  Pace pace() {
    return slowest;
  }

  /// Returns the changes that it commits, for the batch writer.
  public Draft.Changes changes() {
    return changes;
  }

  private final Draft.Changes changes =
      new Draft.Changes() {
        @Override
        public long counter() {
          return at.counter();
        }

        @Override
        public long nowMicros() {
          return nowMicros;
        }

        @Override
        public Collection<Resident> touched() {
          return touched.values();
        }

        @Override
        public Collection<Footprint> footprints(StreamEnd end) {
          return footprints.getOrDefault(end.key.stream(), Set.of());
        }

        @Override
        public List<LoggedCall> changes() {
          return loggedCalls;
        }

        @Override
        public List<Draft.Append> appends() {
          return appends;
        }

        @Override
        public RuntimeException aborted(StreamEnd changed, long counter) {
          return StoreTransaction.this.aborted(changed.key, counter);
        }

        // Replicas differ over a key that it has read or written. A plain deletion of such a key is
        // possible.
        @Override
        public @Nullable RuntimeException refusal() {
          for (Resident resident : touched.values()) {
            RuntimeException refusal = runs.bans.refusal(resident.key, resident.nextGeneration);
            if (refusal != null) return refusal;
          }
          for (LoggedCall change : loggedCalls) {
            if (!change.resident.lacksSequelNote()) continue;
            return new Unavailable(
                "what follows from earlier calls of "
                    + change.resident.key
                    + " could not be noted; try again");
          }
          return null;
        }
      };

  private Aborted aborted(Key key, long counter) {
    Ref<?> ref =
        key.label() instanceof Ref<?> known ? known : new Ref<>(key.space(), key.toString());
    changed = key;
    return new Aborted(ref, at, new LogAddress(host.epoch(), counter));
  }

  /// Adds the versions of the key to an abort. The caller's thread looks them up here, not the
  /// batch writer.
  public Aborted told(Aborted lost) {
    Key key = changed;
    if (key == null) return lost;
    host.lostBecauseOf(key);
    long read = host.firstBehind(key.stream(), counter()) - 1;
    long won = host.firstBehind(key.stream(), lost.changedAt().counter() - 1);
    return new Aborted(lost.object(), read, lost.readAt(), won, lost.changedAt());
  }

  /// Returns the part of each key that it changes, when it commits; none when it only appends to
  /// streams.
  public List<PartRequest> parts(CommitRequest commit) {
    var byKey = new LinkedHashMap<StreamId, PartRequest>();
    for (LoggedCall loggedCall : loggedCalls) {
      PartRequest part =
          byKey.computeIfAbsent(
              loggedCall.resident.key.stream(),
              _ -> {
                var fresh = new PartRequest(residents.pinBegun(loggedCall.resident), this, slowest);
                fresh.counter = commit.counter;
                fresh.nowMicros = loggedCall.nowMicros;
                return fresh;
              });
      part.address = loggedCall.address;
    }
    partsLeft.set(byKey.size());
    List<PartRequest> made = List.copyOf(byKey.values());
    parts = made;
    if (made.isEmpty()) {
      commit.number = commit.counter;
      commit.reach = commit.counter;
    }
    for (Request part : made) {
      // The commit is durable. A key that could not execute its part executes it when it is loaded
      // again.
      part.whenDone(_ -> {
        if (partsLeft.decrementAndGet() == 0) {
          commit.number = commit.counter;
          commit.reach = commit.counter;
          commit.complete(null);
        }
      });
    }
    return made;
  }

  /// Returns the parts that are in their mailboxes.
  public List<PartRequest> parts() {
    List<PartRequest> made = parts;
    return made == null ? List.of() : made;
  }

  // ---- intents

  /// Makes it run under an intent, which ends with it; returns this.
  public StoreTransaction under(Intents.@Nullable Intent declared) {
    intent = declared;
    return this;
  }

  /// Returns the intent under which it runs; null for none.
  public Intents.@Nullable Intent intent() {
    return intent;
  }

  /// Returns the parts of the keys that it has read or written, once it was aborted; none stands
  /// for all of a key.
  public synchronized Map<StreamId, Set<Footprint>> used() {
    var parts = new HashMap<StreamId, Set<Footprint>>();
    for (StreamId stream : used.isEmpty() ? touched.keySet() : used)
      parts.put(stream, footprints.getOrDefault(stream, Set.of()));
    return parts;
  }

  // ---- helpers

  /// Notes the session of the client that runs the transaction, for an operator.
  public void askedBy(long askingSession) {
    session = askingSession;
  }

  long session() {
    return session;
  }

  private void check() {
    if (ended) throw new IllegalStateException("the transaction has ended; begin another");
    RuntimeException cause = doomed;
    if (cause != null) throw cause;
    if (journey != null && journey.left != null) throw journey.left;
    host.checkOpen();
    if (runs.clock.nowMicros() - nowMicros > bounds.micros) {
      late = true;
      throw new DeadlineExceeded(
          oneQuestion
              ? "an accessor asked others for more than "
                  + bounds.micros / 1_000
                  + " ms (ten times callTimeMax)"
              : "the transaction took more than "
                  + bounds.micros / 1_000
                  + " ms ("
                  + bounds.names.time
                  + "); nothing was written");
    }
  }

  private void checkWrites(Key key) {
    if (top.readOnly) {
      throw new UnsupportedOperationException(
          "the transaction only reads and cannot change " + key);
    }
  }

  private void count(long more) {
    bytes += more;
    if (bytes > bounds.bytesMax) {
      throw doom(
          new LimitExceeded(
              "the transaction writes more than "
                  + bounds.bytesMax
                  + " bytes ("
                  + bounds.names.bytes
                  + "); nothing was written, do it in parts"));
    }
  }

  private RuntimeException doom(RuntimeException cause) {
    doomed = cause;
    return cause;
  }

  private Resident touch(Key key) {
    Resident known = touched.get(key.stream());
    if (known != null) return known;
    checkKeys();
    Resident resident = residents.pin(key);
    touched.put(key.stream(), resident);
    var _ = resident.change(); // loads it for the batch writer
    return resident;
  }

  /// Notes that it works on a part of a key. It works on all of the key when it looks at a part
  /// that an earlier call of its own may have changed by what other parts are.
  private void uses(Resident resident, Footprint footprint) {
    if (bounds.isReadOnly()) return;
    if (footprints.isEmpty()) footprints = new HashMap<>();
    StreamId stream = resident.key.stream();
    Set<Footprint> used = footprints.get(stream);
    if (used != null && used.contains(Footprint.ALL)) return;
    if (footprint.isAll()) {
      footprints.put(stream, WHOLE);
      return;
    }
    if (used == null) {
      used = new HashSet<>(2);
      footprints.put(stream, used);
    }
    boolean looks = !footprint.commuting();
    boolean follows = looks && used.contains(Footprint.commutingAll(footprint.code()));
    if (follows || used.size() == PARTS_MAX) footprints.put(stream, WHOLE);
    else used.add(footprint);
  }

  /// Checks that it may have one key more.
  private void checkKeys() {
    if (keys() < bounds.keysMax) return;
    throw doom(
        new LimitExceeded(
            "the transaction reads and writes more than "
                + bounds.keysMax
                + " objects ("
                + bounds.names.keys
                + "); nothing was written, do it in parts"));
  }

  private static Resident pinned(Resident resident) {
    stoa.base.Check.that(resident.pin(), "%s stays in memory while it is used", resident.key);
    return resident;
  }

  /// Returns this layer's copy of a key.
  private WorkingCopy own(Key key) {
    StreamId stream = key.stream();
    WorkingCopy mine = top.copies.get(stream);
    if (mine != null) return mine;
    WorkingCopy below = top.find(stream);
    WorkingCopy copy = below == null ? copy(key) : below.fork();
    top.put(stream, copy);
    return copy;
  }

  private WorkingCopy copy(Key key) {
    Resident resident = touch(key);
    if (resident.change() <= counter()) {
      WorkingCopy now = host.copyNow(this, resident);
      if (now != null) return now;
      var request = new ForkRequest(pinned(resident), Pace.SHORT, this);
      ask(request);
      var _ = request.number();
      WorkingCopy copy = request.copy;
      if (copy != null) return copy;
    }
    return host.copyPast(key, counter(), resident.tail());
  }

  private Execution execution(Execution.Mode mode, Key key, WorkingCopy copy, int depth) {
    return Execution.within(this, runs, mode, key, copy, depth);
  }

  private Answer run(Execution execution, java.util.function.Supplier<Answer> handler) {
    boolean outermost = running.isEmpty();
    long began = runs.clock.nowMicros();
    running.push(execution.key());
    if (outermost) runs.runners.enter(execution);
    try {
      Answer answer = handler.get();
      execution.gate();
      if (outermost && !execution.finish()) throw execution.stopReason();
      runs.runners.passed(execution);
      // The key executes the put once more where it lives, and cannot take it back there.
      if (outermost && runs.clock.nowMicros() - began > runs.limits.callMicrosMax())
        throw late(execution);
      return answer;
    } catch (RuntimeException trouble) {
      throw doom(trouble); // an exception leaves the copy in doubt
    } catch (Error error) {
      if (outermost && execution.isTakenBack()) throw doom(execution.stopReason());
      if (!(error instanceof Execution.Unwinding || error instanceof Cancellation.Stopped)) {
        doom(new CallFailed("a call on " + execution.key() + " failed: " + error, error));
      }
      throw error;
    } finally {
      running.pop();
      if (outermost) runs.runners.exit(execution);
    }
  }

  private DeadlineExceeded late(Execution execution) {
    return new DeadlineExceeded(
        "a call on "
            + execution.key()
            + " ran for more than "
            + runs.limits.callMicrosMax() / 1_000
            + " ms (callTimeMax) in a transaction; nothing was written");
  }

  /// Makes a call, and turns an error that stopped its handler into the caller's error.
  private Answer tell(java.util.function.Supplier<Answer> call) {
    trace = Trace.current();
    try {
      return call.get();
    } catch (Execution.Suspended stopped) {
      throw doom(QuestionRequest.failure(stopped.reason())); // nothing is written yet
    }
  }

  private Deadlock circle(Key key) {
    List<Key> path = path();
    path.add(key);
    return KeyRefusals.deadlock(path.subList(path.indexOf(key), path.size()));
  }
}

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
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.spi.Cancellation;
import stoa.store.calls.Pace;
import stoa.store.calls.Visit;
import stoa.store.records.Draft;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// Puts and questions over several keys that see one moment of the log, and whose puts become
/// durable and visible at once, or not at all (vCorfu, section 4.3).
///
/// One thread at a time uses it.
@SuppressWarnings("exports") // see the package
public final class StoreTransaction implements AutoCloseable {
  /*
   * Puts run at once, on copies of the states as of the moment. What they are, and what the calls
   * that they make on other keys answered, is kept as loggedCalls. The leader appends the loggedCalls under one
   * log address if no key that was read or written has changed since (Intake.commit). Each key then
   * executes its loggedCalls again, with the answers that are known, and calls nobody.
   *
   * What a handler calls in other stores, whoever runs the transaction calls there (leaving): the handler is
   * given up, and so is all that it has put, and it runs again with one more answer. It sees the same moment and draws the
   * same random numbers, so that it makes the same calls.
   *
   * Nested transactions are layers: a layer copies what it puts to, and is merged into the one below
   * or dropped. What a dropped layer has read stays read: the program went by it.
   *
   * Invariants:
   * (1) touched holds every key that was read or written, pinned, from before it was read on.
   * (2) The loggedCalls on a key stand in the order in which they ran on its copy.
   * (3) All parts of a commit are in their mailboxes before any is executed, so that who sees one
   *     and asks for another finds it.
   */
  private static final class Layer {
    private final @Nullable Layer below;
    private final int loggedCalls;
    private final boolean readOnly;
    private final Map<StreamId, Copy> copies = new HashMap<>();

    private Layer(@Nullable Layer below, int loggedCalls, boolean readOnly) {
      this.below = below;
      this.loggedCalls = loggedCalls;
      this.readOnly = readOnly;
    }

    private @Nullable Copy find(StreamId stream) {
      for (@Nullable Layer layer = this; layer != null; layer = layer.below) {
        Copy copy = layer.copies.get(stream);
        if (copy != null) return copy;
      }
      return null;
    }
  }

  /// What a transaction may do.
  public enum Access {
    /// It only reads.
    READS,
    /// It reads and writes.
    WRITES
  }

  /// The bounds of a transaction.
  ///
  /// @param access what it may do
  /// @param micros how long it may take
  /// @param keysMax how many keys it may read and write
  /// @param bytesMax the encoded size of its puts and of the answers that are logged with them
  /// @param names what the limits are called
  public record Bounds(Access access, long micros, int keysMax, long bytesMax, LimitNames names) {
    /// With limits that are called as in the configuration.
    public Bounds(Access access, long micros, int keysMax, long bytesMax) {
      this(access, micros, keysMax, bytesMax, LimitNames.STANDARD);
    }

    /// Whether it refuses puts.
    boolean isReadOnly() {
      return access == Access.READS;
    }
  }

  /// What the limits of a transaction are called in errors, so that the caller knows which one to
  /// change.
  ///
  /// @param time of the time
  /// @param keys of how many keys
  /// @param bytes of their bytes
  public record LimitNames(String time, String keys, String bytes) {
    static final LimitNames STANDARD =
        new LimitNames(
            "timeMax, or what was left of totalTimeMax",
            "transactionObjectsMax",
            "transactionBytesMax");
  }

  /// The identity of what a transaction logs, by which its outcome is found again.
  ///
  /// @param key one of the keys to which it puts
  /// @param tail the last address of the key's stream when the transaction began to put there
  /// @param mark what its puts carry
  public record Id(Key key, long tail, StreamId mark) {}

  /// What a transaction needs of its store.
  public interface Host {
    /// Asks a key's handler as of the moment of a transaction, for which the live state does not
    /// do.
    Answer askPast(
        StoreTransaction transaction, Key key, Object query, Existence existence, int depth);

    /// A copy of the state of a key as of a log counter.
    ///
    /// @param tail the last address of the key's stream
    Copy copyPast(Key key, long counter, long tail);

    /// Asks a state that is in memory, or has it loaded.
    void ask(QuestionRequest question);

    /// Appends what a transaction puts, and waits until all its keys have executed it; answers its
    /// log counter.
    long commit(StoreTransaction transaction);

    /// The epoch in which log addresses are issued.
    long epoch();

    /// Refuses when the store is closed.
    void checkOpen();

    /// The first address of a stream that stands behind a log counter, or the one after its last.
    long firstBehind(StreamId stream, long counter);

    /// Counts a transaction that has lost, because another call has changed a key.
    void lostBecauseOf(Key key);
  }

  /// How a transaction begins.
  ///
  /// @param at the log address as of which it reads
  /// @param nowMicros when it begins
  /// @param mark what its puts carry
  /// @param unpin ends what keeps its moment readable
  public record Begun(LogAddress at, long nowMicros, StreamId mark, Runnable unpin) {}

  private final Host host;
  private final Residents residents;
  private final Runs runs;
  private final LogAddress at;
  private final long nowMicros;
  private final Bounds bounds;

  /// The session of the client who runs it; 0 when it runs here.
  private volatile long session;

  private final StreamId mark;
  private final Runnable unpin;
  private final LinkedHashMap<StreamId, Resident> touched = new LinkedHashMap<>();
  private final ArrayList<LoggedCall> loggedCalls = new ArrayList<>();
  private final ArrayDeque<Key> running = new ArrayDeque<>();
  private final AtomicInteger partsLeft = new AtomicInteger();
  private volatile List<PartRequest> parts = List.of();
  private Layer top;
  private long bytes;
  private int numbers;

  /// The pace of the slowest put.
  private Pace slowest = Pace.SHORT;

  private boolean ended;
  private boolean oneQuestion;
  private boolean late;

  // Guarded by this.
  private boolean held;
  private boolean closing;

  /// Why it cannot be committed.
  private @Nullable RuntimeException doomed;

  /// The key over which it was aborted.
  private volatile @Nullable Key changed;

  /// Of the call under way, when it may call other stores.
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
    this.top = new Layer(null, 0, bounds.isReadOnly());
  }

  public StoreTransaction forOneQuestion() {
    oneQuestion = true;
    return this;
  }

  public StoreTransaction forOneQuestion(List<Key> callers) {
    journey = new Journey(callers, List.of());
    return forOneQuestion();
  }

  /// Whether it is one question from outside, whose handler asks other keys.
  public boolean isOneQuestion() {
    return oneQuestion;
  }

  /// The log address as of which it reads.
  public LogAddress at() {
    return at;
  }

  /// The log counter as of which it reads.
  public long counter() {
    return at.counter();
  }

  /// Whether it refuses puts now.
  public boolean isReadOnly() {
    return top.readOnly;
  }

  /// Whether it refuses puts from its beginning to its end.
  boolean isOnlyReading() {
    return bounds.isReadOnly();
  }

  /// Whether it was committed or given up.
  public boolean isEnded() {
    return ended;
  }

  /// Whether something was refused since its time was over.
  public boolean isLate() {
    return late;
  }

  // ---- what it does

  /// Asks a key's handler as of the moment, after this transaction's puts.
  ///
  /// @param pace what is known of how long the question runs
  /// @throws stoa.Gone when the key is not as expected
  public Answer get(Target target, Object query, Existence existence, Pace pace) {
    check();
    return tell(() -> ask(target.key(), query, existence, depth(), pace));
  }

  public Answer get(Key target, Object query, Existence existence, int depth) {
    check();
    return ask(target, query, existence, depth, Pace.LONG);
  }

  private Answer ask(Key key, Object query, Existence existence, int depth, Pace pace) {
    if (isRunning(key)) throw circle(key);
    Copy copy = top.find(key.stream());
    if (copy != null) return ask(key, copy, query, existence, depth);
    // The handler that is asked first asks others: it would leave the live state.
    if (!oneQuestion || !running.isEmpty()) {
      Answer answer = askLive(key, query, existence, pace);
      if (answer != null) return answer;
    }
    running.push(key);
    try {
      return host.askPast(this, key, query, existence, depth);
    } finally {
      running.pop();
    }
  }

  /// Asks the live state, if that is what is seen and suffices; answers null otherwise.
  private @Nullable Answer askLive(Key key, Object query, Existence existence, Pace pace) {
    // One question commits nothing, so that nobody has to know what it read.
    Resident resident = oneQuestion ? residents.pin(key) : touch(key);
    try {
      if (resident.change() > counter()) return null;
      var request = new GetRequest(pinned(resident), query, existence, pace.awaited(), this);
      ask(request);
      return request.moved ? null : request.answer();
    } finally {
      if (oneQuestion) resident.unpin();
    }
  }

  /// Asks a state that is in memory, or has it loaded, within the time of the transaction where
  /// that is less than any call may take.
  private void ask(QuestionRequest request) {
    boolean hasty = bounds.micros < runs.limits.callMicrosMax();
    if (hasty) {
      long left = bounds.micros - (runs.clock.nowMicros() - nowMicros);
      runs.limits.limit(request, Duration.of(left, ChronoUnit.MICROS));
    }
    host.ask(request);
    if (hasty && request.failure() instanceof DeadlineExceeded) late = true;
  }

  private Answer ask(Key key, Copy copy, Object query, Existence existence, int depth) {
    if (copy.isGone(existence)) throw KeyRefusals.gone(key);
    var execution = execution(Execution.Mode.READING, key, copy, depth);
    return run(execution, () -> copy.get(query, existence.opening(), execution));
  }

  /// Puts a value, on this transaction's copy of the key.
  ///
  /// @param pace what is known of how long the put runs
  /// @throws UnsupportedOperationException when the transaction only reads
  /// @throws stoa.Gone when the key is not as expected
  public Answer put(Target target, byte[] value, Existence existence, Pace pace) {
    check();
    if (!pace.isShort()) slowest = Pace.LONG;
    return tell(() -> put(target.key(), value, existence, depth()));
  }

  Answer put(Key key, byte[] value, Existence existence, int depth) {
    check();
    checkWrites(key);
    if (isRunning(key)) throw circle(key);
    Copy copy = own(key);
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
    var loggedCall = new LoggedCall(touch(key), copy, value, code, origin, opening);
    execution.loggedCall = loggedCall;
    execution.origin = origin;
    execution.begins = begins;
    loggedCalls.add(loggedCall);
    Answer answer = run(execution, () -> copy.put(begins, loggedCall.opening, value, execution));
    for (Draft.Answered answered : loggedCall.answers()) count(answered.answer().length);
    return answer;
  }

  /// Runs a handler's code on the key as this transaction sees it; it may put to other keys, and
  /// changes nothing here.
  public Answer run(Target target, Object query, Existence existence) {
    check();
    return tell(() -> run(target.key(), query, existence, depth()));
  }

  Answer run(Key key, Object query, Existence existence, int depth) {
    Copy copy = own(key);
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
    Copy copy = own(key);
    if (copy.generation() == 0 || copy.isGone(existence)) throw KeyRefusals.gone(key);
    count(0);
    var origin = new Records.Origin(mark, 0, ++numbers);
    loggedCalls.add(new LoggedCall(touch(key), copy, null, 0, origin, null));
    long ended = copy.committedGeneration();
    copy.delete();
    return ended;
  }

  /// The address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    check();
    return own(key).generation();
  }

  // ---- other stores

  /// A call that may call keys of other stores.
  public interface Call<X extends Throwable> {
    /// Makes it.
    byte[] make() throws X;
  }

  /// Makes a call whose handler may call keys of other stores, which the client or server that runs
  /// the transaction makes for it.
  ///
  /// @param callers the keys whose handlers wait for it in other stores, outermost first
  /// @param answers what was answered to the first of these calls
  /// @throws Execution.Leaving when it makes a further one: nothing of it is kept, and it is to be
  ///   made again with one more answer
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

  /// What a key of another store answers to a handler of this one.
  byte[] leave(Execution by, Visit.Kind kind, Key target, Object call, Existence existence) {
    Journey mine = journey(by, target);
    if (mine.next < mine.answers.size()) return mine.answers.get(mine.next++);
    mine.left = Execution.Leaving.toCall(visit(by, kind, target, call, existence));
    throw mine.left;
  }

  /// As [#leave], when the handler calls a transaction.
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

  /// The keys whose handlers run, outermost first, those that wait in other stores before them.
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

  /// How many keys it has read and written.
  public int keys() {
    return touched.size();
  }

  // ---- nested transactions

  /// Begins a nested transaction: what is put from now on is merged by [#keep] or dropped by
  /// [#drop].
  public void enter() {
    check();
    top = new Layer(top, loggedCalls.size(), top.readOnly);
  }

  /// As [#enter], for a nested transaction that refuses puts.
  public void enterToRead() {
    check();
    top = new Layer(top, loggedCalls.size(), true);
  }

  /// Ends the nested transaction that began last, and keeps what it did.
  public void keep() {
    Layer ended = leaveLayer();
    top.copies.putAll(ended.copies);
  }

  /// Ends the nested transaction that began last, and drops what it did.
  public void drop() {
    Layer ended = leaveLayer();
    loggedCalls.subList(ended.loggedCalls, loggedCalls.size()).clear();
  }

  private Layer leaveLayer() {
    Layer layer = top;
    Layer below = layer.below;
    if (below == null) throw new IllegalStateException("no nested transaction is under way");
    top = below;
    return layer;
  }

  // ---- its end

  /// Makes what was put durable and visible.
  ///
  /// @return the log address; [#at()] when nothing was put
  /// @throws Aborted when a key that was read or written has changed
  /// @throws stoa.UnknownOutcome when the log failed; ask with [#id()]
  public LogAddress commit() {
    check();
    ended = true;
    try {
      if (loggedCalls.isEmpty()) return at;
      return new LogAddress(host.epoch(), host.commit(this));
    } catch (Aborted lost) {
      throw told(lost);
    } finally {
      unpin();
    }
  }

  /// What to ask [Store#outcome] with, when something was put.
  public Id id() {
    LoggedCall first = loggedCalls.getFirst();
    return new Id(first.resident.key, first.tail(), mark);
  }

  /// As [#id], null when nothing was put.
  public @Nullable Id identity() {
    return loggedCalls.isEmpty() ? null : id();
  }

  /// Gives it up, if it has not ended.
  @Override
  public synchronized void close() {
    if (ended) return;
    closing = held;
    if (held) return; // for now
    ended = true;
    unpin();
  }

  private void unpin() {
    touched.values().forEach(Resident::unpin);
    touched.clear();
    unpin.run();
  }

  // ---- for the leader

  List<LoggedCall> loggedCalls() {
    return loggedCalls;
  }

  /// Whether it has ended objects, and changes nothing else.
  boolean onlyDeletes() {
    for (LoggedCall loggedCall : loggedCalls) {
      if (loggedCall.value != null) return false;
    }
    return true;
  }

  /// How many bytes it puts, with the answers that are logged.
  public long bytes() {
    return bytes;
  }

  long nowMicros() {
    return nowMicros;
  }

  /// The key to which it put first.
  public Resident first() {
    return loggedCalls.getFirst().resident;
  }

  /// One of the keys that it read or wrote.
  public Resident any() {
    return touched.values().iterator().next();
  }

  /// The streams on which it depends: of the keys that it read or wrote, and of where those are
  /// listed that it begins or deletes.
  public Set<StreamId> streams() {
    var streams = new HashSet<>(touched.keySet());
    for (LoggedCall loggedCall : loggedCalls) {
      if (loggedCall.begins || loggedCall.value == null) {
        streams.add(residents.directory(loggedCall.resident.key.space()).key.stream());
      }
    }
    return streams;
  }

  /// It is being committed together with what it did in other stores: it stays as it is until
  /// [#letGo] or [#committed].
  ///
  /// @return false when it has ended
  public synchronized boolean hold() {
    if (ended) return false;
    held = true;
    return true;
  }

  /// It need not stay as it is any more.
  public synchronized void letGo() {
    held = false;
    if (closing) close();
  }

  /// It was committed together with what it did in other stores.
  public synchronized void committed() {
    ended = true;
    unpin();
  }

  /// What is known of how long its puts run.
  Pace pace() {
    return slowest;
  }

  /// What it is to commit, for the leader.
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
        public List<LoggedCall> changes() {
          return loggedCalls;
        }

        @Override
        public RuntimeException aborted(StreamEnd changed, long counter) {
          return StoreTransaction.this.aborted(changed.key, counter);
        }

        // Replicas differ over a key that it read or wrote. To delete such a key alone is
        // possible.
        @Override
        public @Nullable RuntimeException refusal() {
          for (Resident resident : touched.values()) {
            RuntimeException refusal = runs.bans.refusal(resident.key, resident.nextGeneration);
            if (refusal != null) return refusal;
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

  /// An abort with the versions of the key: looked up here, not by the leader.
  public Aborted told(Aborted lost) {
    Key key = changed;
    if (key == null) return lost;
    host.lostBecauseOf(key);
    long read = host.firstBehind(key.stream(), counter()) - 1;
    long won = host.firstBehind(key.stream(), lost.changedAt().counter() - 1);
    return new Aborted(lost.object(), read, lost.readAt(), won, lost.changedAt());
  }

  /// What each key has to execute, when it is committed.
  public List<PartRequest> parts(CommitRequest commit) {
    var byKey = new LinkedHashMap<StreamId, PartRequest>();
    for (LoggedCall loggedCall : loggedCalls) {
      PartRequest part =
          byKey.computeIfAbsent(
              loggedCall.resident.key.stream(),
              _ -> {
                var made = new PartRequest(residents.pinBegun(loggedCall.resident), this, slowest);
                made.counter = commit.counter;
                made.nowMicros = nowMicros;
                return made;
              });
      part.address = loggedCall.address;
    }
    partsLeft.set(byKey.size());
    parts = List.copyOf(byKey.values());
    for (Request part : parts) {
      // It is durable. What a key could not execute, it executes when it is loaded again.
      part.whenDone(_ -> {
        if (partsLeft.decrementAndGet() == 0) {
          commit.number = commit.counter;
          commit.reach = commit.counter;
          commit.complete(null);
        }
      });
    }
    return parts;
  }

  /// The parts that are in their mailboxes.
  public List<PartRequest> parts() {
    return parts;
  }

  // ---- helpers

  /// Notes of which client's session it is, for an operator.
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
    if (touched.size() >= bounds.keysMax) {
      throw doom(
          new LimitExceeded(
              "the transaction reads and writes more than "
                  + bounds.keysMax
                  + " objects ("
                  + bounds.names.keys
                  + "); nothing was written, do it in parts"));
    }
    Resident resident = residents.pin(key);
    touched.put(key.stream(), resident);
    var _ = resident.change(); // the leader goes by it
    return resident;
  }

  private static Resident pinned(Resident resident) {
    stoa.base.Check.that(resident.pin(), "%s stays in memory while it is used", resident.key);
    return resident;
  }

  /// This layer's copy of a key.
  private Copy own(Key key) {
    StreamId stream = key.stream();
    Copy mine = top.copies.get(stream);
    if (mine != null) return mine;
    Copy below = top.find(stream);
    Copy copy = below == null ? copy(key) : below.fork();
    top.copies.put(stream, copy);
    return copy;
  }

  private Copy copy(Key key) {
    Resident resident = touch(key);
    if (resident.change() <= counter()) {
      var request = new ForkRequest(pinned(resident), Pace.SHORT, this);
      ask(request);
      var _ = request.number();
      Copy copy = request.copy;
      if (copy != null) return copy;
    }
    return host.copyPast(key, counter(), resident.tail());
  }

  private Execution execution(Execution.Mode mode, Key key, Copy copy, int depth) {
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
      // It is executed once more where the key lives, and cannot be taken back there.
      if (outermost && runs.clock.nowMicros() - began > runs.limits.callMicrosMax())
        throw late(execution);
      return answer;
    } catch (RuntimeException trouble) {
      throw doom(trouble); // what a handler does not answer leaves the copy in doubt
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

  /// What stopped a handler, to the caller.
  private Answer tell(java.util.function.Supplier<Answer> call) {
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

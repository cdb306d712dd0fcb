package stoa.store;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.log.ShardLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;

/// A key-value store whose values are handlers: a put is an append to the key's stream, and the
/// key's handler executes it where it lives (CRESON, section III).
///
/// Puts on one key are executed one at a time, in the order of its stream; keys beside each other.
/// A put is answered after it, and everything that its answer reflects, is durable. Thread-safe.
public final class Store implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Store.class);
  private static final int SPINS = 400;
  private static final int LONG_TICKS = 1;
  private static final int SCAN_ENTRIES = 256;
  private static final long HELP_NANOS = 1_000_000;

  private final StoreConfig config;
  private final int ticksMax;
  private final ShardLog log;
  private final Threads threads;
  private final Residents residents;
  private final Runners runners = new Runners();
  private final Intake intake;
  private final ConcurrentHashMap<String, HandlerFactory> factories = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Resident> directories = new ConcurrentHashMap<>();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicBoolean writerCalled = new AtomicBoolean();

  /// Held while a run begins to wait for another, so that of two that would close a circle one sees
  /// the other.
  private final ReentrantLock waiting = new ReentrantLock();

  private final Object idle = new Object();
  private volatile boolean closed;

  /// A store on a log, which it closes with itself. Seals the log for an epoch of its own.
  public Store(StoreConfig config, ShardLog log, Clock clock, Threads threads) {
    this.config = config;
    this.log = log;
    this.threads = threads;
    this.residents = new Residents(this, config.residentBytesMax());
    this.intake = new Intake(this, log, clock);
    ticksMax = (int) Math.max(1, config.callTimeMax().toMillis() / Threads.TICK_MILLIS);
    threads.every(this::watch);
  }

  private void watch() {
    try {
      runners.tick(ticksMax, this::overdue);
    } catch (RuntimeException failure) {
      LOG.error("the watch over calls goes on after a failure", failure);
    }
    if (!intake.isEmpty()) callWriter();
  }

  // ---- what callers use

  /// Says what makes the handlers of a space. Once for each space, before its keys are used.
  public void register(String space, HandlerFactory factory) {
    factories.putIfAbsent(space, factory);
  }

  /// A key, ready to be asked. Cheap to make; keeps nothing in memory by itself.
  public Target target(Key key) {
    return new Target(key);
  }

  /// A key with a short way to where it is in memory. Thread-safe.
  public final class Target {
    private final Key key;
    private volatile @Nullable Resident known;

    private Target(Key key) {
      this.key = key;
    }

    /// The key.
    public Key key() {
      return key;
    }

    private Resident pin() {
      Resident resident = known;
      if (resident != null && resident.pin()) {
        if (!resident.referenced) resident.referenced = true;
        return resident;
      }
      resident = residents.pin(key);
      known = resident;
      return resident;
    }
  }

  /// Puts a value and waits until it is executed.
  ///
  /// @param quick whether the calling thread may execute it: the code is known to be short
  /// @return the settled request
  /// @throws LimitExceeded when too many requests are under way
  /// @throws Closed when the store is closed
  public Request put(Target target, byte[] value, Existence existence, boolean quick) {
    Request request = newPut(target, value, existence, quick);
    intake.add(request);
    return await(request);
  }

  /// Puts a value without waiting. What one thread asks in this way is executed in order.
  ///
  /// @param quick whether a thread that waits for the key may execute it: the code is known to be
  ///   short
  public Request putAsync(Target target, byte[] value, Existence existence, boolean quick) {
    Request request = newPut(target, value, existence, quick);
    intake.add(request);
    callWriter();
    return request;
  }

  private Request newPut(Target target, byte[] value, Existence existence, boolean quick) {
    Resident resident = accepted(target::pin);
    return new Request(Request.Kind.PUT, resident, value, existence, null, null, 0, quick);
  }

  /// Ends a key's generation and waits until that is executed.
  ///
  /// @throws Gone when there is nothing to end
  public void delete(Target target, Existence existence) {
    Resident resident = accepted(target::pin);
    byte[] nothing = {};
    var request =
        new Request(Request.Kind.DELETE, resident, nothing, existence, null, null, 0, true);
    intake.add(request);
    await(request).number();
  }

  /// Asks a key's handler and waits for the answer.
  ///
  /// @param quick whether the calling thread may execute it: the code is known to be short
  /// @return the settled request
  public Request get(Target target, Object query, Existence existence, boolean quick) {
    Request request = newGet(target, query, existence, quick);
    if (intake.refuses(request)) return request;
    if (quick && threads.mayRunQuick()) {
      Resident resident = request.resident;
      if (!resident.runAlone(request) && resident.enqueue(request)) {
        var _ = resident.runQuickUntil(request);
      }
    } else {
      ask(request);
    }
    return await(request);
  }

  /// Asks a key's handler without waiting, after the puts that this thread asked before.
  ///
  /// @param quick whether a thread that waits for the key may execute it: the code is known to be
  ///   short
  public Request getAsync(Target target, Object query, Existence existence, boolean quick) {
    Request request = newGet(target, query, existence, quick);
    intake.add(request);
    callWriter();
    return request;
  }

  private Request newGet(Target target, Object query, Existence existence, boolean quick) {
    Resident resident = accepted(target::pin);
    byte[] nothing = {};
    return new Request(Request.Kind.GET, resident, nothing, existence, query, null, 0, quick);
  }

  /// The generation of a key when it was last executed in this process, 0 when that is not known: a
  /// hint that costs nothing.
  public long generationHint(Target target) {
    Resident resident = target.known;
    return resident == null ? 0 : resident.generationHint();
  }

  /// The stream address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    return ask(Request.Kind.GENERATION, key);
  }

  /// The stream address of the last put or deletion that was executed on a key, 0 when there was
  /// none.
  public long position(Key key) {
    return ask(Request.Kind.POSITION, key);
  }

  private long ask(Request.Kind kind, Key key) {
    Resident resident = accepted(() -> residents.pin(key));
    byte[] nothing = {};
    var request = new Request(kind, resident, nothing, null, null, null, 0, false);
    ask(request);
    return await(request).number();
  }

  private Request await(Request request) {
    if (threads.mayRunQuick()) {
      Resident resident = request.resident;
      for (int spin = 0; spin < SPINS && !request.isDone(); spin++) {
        if (!intake.isEmpty()) lead(request);
        if (threads.mayRunLong()) resident.runUntil(request);
        if (!request.quick || !resident.runQuickUntil(request)) Thread.onSpinWait();
      }
    }
    park(request);
    return request;
  }

  /// Appends an entry that no handler executes, to a key that is used for nothing else, and waits
  /// until it is durable.
  ///
  /// @return its stream address
  public long append(Key key, byte[] payload) {
    Resident resident = accepted(() -> residents.pin(key));
    Request request = Request.note(resident, Records.NOTE, payload);
    intake.add(request);
    return await(request).number();
  }

  /// Visits the entries that [#append] added to a key, in order.
  public void scan(Key key, Predicate<StoredEntry> visitor) {
    Resident resident = residents.pin(key);
    try {
      intake.checkUsable();
      streams().scan(key.stream(), 1, resident.tail(), visitor);
    } finally {
      resident.unpin();
    }
  }

  /// The names of the keys of a space that exist now, in the order in which they began, with the
  /// generations in which they are.
  public Iterator<byte[]> list(String space) {
    Resident directory = directory(space);
    long end = directory.tail();
    StreamId stream = directory.key.stream();
    var gone = new BitSet();
    streams()
        .scan(
            stream,
            1,
            end,
            entry -> {
              if (entry.kind() == Records.UNLISTED) {
                gone.set(Math.toIntExact(Records.unlisted(entry.payload())));
              }
              return true;
            });
    return new Names(stream, end, gone);
  }

  /// The listed names of a directory, read a part at a time.
  private final class Names implements Iterator<byte[]> {
    private final StreamId stream;
    private final long end;
    private final BitSet gone;
    private long next = 1;
    private Iterator<byte[]> part = List.<byte[]>of().iterator();

    private Names(StreamId stream, long end, BitSet gone) {
      this.stream = stream;
      this.end = end;
      this.gone = gone;
    }

    @Override
    public boolean hasNext() {
      while (!part.hasNext() && next <= end) {
        var names = new ArrayList<byte[]>();
        long last = Math.min(end, next + SCAN_ENTRIES - 1);
        streams()
            .scan(
                stream,
                next,
                last,
                entry -> {
                  if (entry.kind() == Records.LISTED && !gone.get((int) entry.address())) {
                    names.add(entry.payload());
                  }
                  return true;
                });
        next = last + 1;
        part = names.iterator();
      }
      return part.hasNext();
    }

    @Override
    public byte[] next() {
      if (!hasNext()) throw new NoSuchElementException();
      return part.next();
    }
  }

  /// A key as it was after a stream address.
  public Past past(Key key, long address) {
    long position = position(key);
    if (address < 0 || address > position) {
      throw new IllegalArgumentException(
          "version " + address + " of " + key + " is not between 0 and " + position);
    }
    barrier(key);
    return new Past(key, address);
  }

  /// Makes keys known whose puts an earlier process left unfinished after they had put to other
  /// keys, so that they go on before anything else is asked.
  ///
  /// @param keys makes a key of its space and name
  public void resume(BiFunction<String, byte[], Key> keys) {
    for (Unfinished.Name name : intake.unfinished().earlier()) {
      try {
        Key key = keys.apply(name.space(), name.name());
        var _ = position(key);
        intake.unfinished().resumed(key);
      } catch (RuntimeException failure) {
        LOG.warn("a call on a key of {} cannot go on yet: {}", name.space(), failure.getMessage());
      }
    }
  }

  /// A put has ended, or was taken back.
  void ended(Key key, long address) {
    intake.unfinished().ends(key, address);
  }

  /// Waits until the nested answers of what was executed on a key are in its stream.
  private void barrier(Key key) {
    Resident resident = residents.pin(key);
    try {
      while (resident.notesUnderWay() > 0) {
        if (!lead(null)) LockSupport.parkNanos(this, HELP_NANOS / 10);
      }
    } finally {
      resident.unpin();
    }
  }

  /// The state of a key at a past address. Thread-safe; questions are answered one at a time.
  public final class Past {
    private final Key key;
    private final long address;
    private @Nullable Materialized state;

    private Past(Key key, long address) {
      this.key = key;
      this.address = address;
    }

    /// Asks the handler as it was; a fresh one when the key was absent.
    public synchronized Answer get(Object query, byte @Nullable [] opening) {
      Materialized loaded = state;
      if (loaded == null) {
        loaded = new Materialized(Store.this, key, factory(key.space()));
        loaded.load(address, streams().last(key.stream()), null);
        state = loaded;
      }
      var execution =
          new Execution(
              Store.this,
              Execution.Mode.READING,
              key,
              null,
              loaded.position(),
              nowMicros(),
              0,
              null,
              null);
      return loaded.get(query, opening, execution);
    }
  }

  /// One entry of a key's stream.
  ///
  /// @param entry the entry, whose payload is in the store's format
  /// @param event what it says
  public record Event(StoredEntry entry, What event) {
    /// What an entry says.
    public sealed interface What {
      /// A put.
      ///
      /// @param value what was put
      record Put(byte[] value) implements What {}

      /// A call that the handler made was answered.
      ///
      /// @param call the address of the put that called
      /// @param space the space of the key that was called
      /// @param name its name
      record Answered(long call, String space, byte[] name) implements What {}

      /// A put was taken back.
      ///
      /// @param call the address of the put
      /// @param reason why
      record TakenBack(long call, String reason) implements What {}

      /// A put that ran long stands.
      ///
      /// @param call the address of the put
      record Stood(long call) implements What {}

      /// The generation ended.
      record Deleted() implements What {}
    }
  }

  /// The entries of a key's stream from one address to another, both inclusive.
  public List<Event> events(Key key, long from, long to) {
    var events = new ArrayList<Event>();
    scan(
        key,
        entry -> {
          if (entry.address() > to) return false;
          if (entry.address() >= from) events.add(new Event(entry, what(entry)));
          return true;
        });
    return events;
  }

  private static Event.What what(StoredEntry entry) {
    byte[] payload = entry.payload();
    return switch (entry.kind()) {
      case Records.PUT -> new Event.What.Put(Records.put(payload).value());
      case Records.ANSWERED -> {
        var answered = Records.answered(payload);
        yield new Event.What.Answered(answered.call(), answered.space(), answered.name());
      }
      case Records.VERDICT -> {
        var verdict = Records.verdict(payload);
        yield new Event.What.TakenBack(verdict.call(), verdict.reason());
      }
      case Records.DONE -> new Event.What.Stood(Records.done(payload));
      default -> new Event.What.Deleted();
    };
  }

  /// How many keys are in memory.
  public int residentKeys() {
    return residents.size();
  }

  @Override
  public void close() {
    synchronized (idle) {
      if (closed) return;
      closed = true;
      callWriter();
      long end = System.nanoTime() + config.closeTimeMax().toNanos();
      while (underWay.get() > 0) {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) break;
        try {
          idle.wait(Math.min(millis, 10));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
      }
    }
    threads.close();
    log.close();
    // What is logged stands. Its callers are told that they will not hear of it here.
    var cause = new UnknownOutcome("the store was closed while the call was under way");
    intake.end(cause);
    residents.end(cause);
  }

  // ---- what the other classes of the store use

  Streams streams() {
    return log.streams();
  }

  /// Refuses to bring keys into memory when the log has failed.
  void checkUsable() {
    intake.checkUsable();
  }

  Residents residents() {
    return residents;
  }

  Runners runners() {
    return runners;
  }

  long nowMicros() {
    return intake.nowMicros();
  }

  HandlerFactory factory(String space) {
    HandlerFactory factory = factories.get(space);
    if (factory == null) throw new IllegalStateException("nobody registered the space " + space);
    return factory;
  }

  /// The stream that lists the keys of a space; it stays in memory.
  Resident directory(String space) {
    return directories.computeIfAbsent(
        space, name -> residents.pin(Key.of("stoa/directory", name)));
  }

  static Gone gone(Key key) {
    return new Gone(key + " was deleted; ask the store for the key again to begin a new one");
  }

  /// Throws [Unavailable] when the log has failed.
  void checkLog() {
    intake.checkUsable();
  }

  void dispatch(Resident resident) {
    threads.workers().execute(resident);
  }

  void checkpoint(Key key, long address, byte[] state) {
    try {
      streams().checkpoint(key.stream(), address, state);
    } catch (RuntimeException failure) {
      // Derived data: loading replays more. What is wrong shows at the next put.
      LOG.warn("no checkpoint of {} at {}: {}", key, address, failure.getMessage());
    }
  }

  private void accept() {
    if (underWay.incrementAndGet() > config.queuedCallsMax()) {
      settled();
      throw new LimitExceeded(
          "more than "
              + config.queuedCallsMax()
              + " calls are under way (queuedCallsMax); wait for some, or raise the limit");
    }
    if (closed) {
      settled();
      throw new Closed("the store is closed");
    }
  }

  /// Accepts a request, and pins its key.
  private Resident accepted(Supplier<Resident> pin) {
    accept();
    try {
      return pin.get();
    } catch (RuntimeException unreadable) {
      settled();
      throw unreadable;
    }
  }

  /// A request is settled.
  void settled() {
    if (underWay.decrementAndGet() == 0 && closed) {
      synchronized (idle) {
        idle.notifyAll();
      }
    }
  }

  private void ask(Request request) {
    if (intake.refuses(request)) return;
    if (request.resident.enqueue(request)) request.resident.dispatch();
  }

  /// Leads a batch if nobody leads, and calls the writer for what is left.
  ///
  /// @param own a request whose key this thread runs itself if it is quick, or null
  private boolean lead(@Nullable Request own) {
    Request mine = own != null && own.quick ? own : null;
    if (!intake.tryLead(mine)) return false;
    // First: what this thread runs may take longer than it should.
    if (!intake.isEmpty()) callWriter();
    if (mine != null) {
      var _ = mine.resident.runQuickUntil(mine);
    }
    return true;
  }

  private void callWriter() {
    if (!writerCalled.get() && writerCalled.compareAndSet(false, true)) {
      threads.writer().execute(this::write);
    }
  }

  private void write() {
    writerCalled.set(false);
    boolean led = true;
    while (led && !intake.isEmpty()) led = intake.tryLead(null);
  }

  /// Waits without running anything.
  private void park(Request request) {
    if (request.isDone()) return;
    if (!intake.isEmpty()) callWriter();
    request.waiter(Thread.currentThread());
    boolean interrupted = false;
    while (!request.isDone()) {
      LockSupport.park(request);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  // ---- calls from handler to handler

  /// Appends an entry to a resident's stream with the next batch, whoever leads it; does not wait.
  Request note(Resident resident, byte kind, byte[] payload) {
    Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
    underWay.incrementAndGet();
    Request request = Request.note(resident, kind, payload);
    intake.add(request);
    return request;
  }

  Execution.Nested nestedPut(
      Execution caller, Key target, byte[] value, Existence existence, Records.Origin origin) {
    boolean resumed = caller.mode() == Execution.Mode.RESUMED;
    long address = resumed ? addressInLog(caller, target, origin) : 0;
    Deadlock refused = awaitExecuted(caller, target, address);
    if (refused != null) return told(caller, refused);
    if (address > 0) {
      return new Execution.Nested(answerFromLog(target, address).encoded(), false);
    }
    Request request =
        nestedRequest(caller, Request.Kind.PUT, target, value, existence, null, origin);
    request.after = caller.unsettledNote();
    intake.unfinished().begins(caller.key(), caller.address());
    return nested(caller, request, () -> intake.add(request));
  }

  Execution.Nested nestedGet(Execution caller, Key target, Object query, Existence existence) {
    byte[] nothing = {};
    Deadlock refused = awaitExecuted(caller, target, 0);
    if (refused != null) return told(caller, refused);
    Request request =
        nestedRequest(caller, Request.Kind.GET, target, nothing, existence, query, null);
    return nested(
        caller,
        request,
        () -> {
          if (!intake.refuses(request) && request.resident.enqueue(request)) {
            var _ = request.resident.runQuickUntil(request);
          }
        });
  }

  private Request nestedRequest(
      Execution caller,
      Request.Kind kind,
      Key target,
      byte[] value,
      @Nullable Existence existence,
      @Nullable Object query,
      Records.@Nullable Origin origin) {
    Request outer = caller.request;
    boolean quick = outer != null && outer.quick;
    Resident resident = residents.pin(target);
    underWay.incrementAndGet();
    return new Request(kind, resident, value, existence, query, origin, caller.depth() + 1, quick);
  }

  /// Waits for a nested call. What the store refuses is an answer too, which must be logged: at
  /// another time it might not refuse.
  private Execution.Nested nested(Execution caller, Request request, Runnable submit) {
    var _ = awaitNested(caller, request, submit);
    try {
      return new Execution.Nested(request.answer().encoded(), request.kind != Request.Kind.PUT);
    } catch (Gone | AlreadyExists | Deadlock | LimitExceeded | DeadlineExceeded | CallFailed told) {
      return told(caller, told);
    } catch (RuntimeException failure) {
      throw caller.suspend(failure);
    }
  }

  /// Submits a request and waits for it; answers why not, when waiting would be wrong.
  private @Nullable RuntimeException awaitNested(
      Execution caller, Request request, Runnable submit) {
    RuntimeException refusal = refusal(caller, request);
    if (refusal != null) {
      request.fail(refusal);
      return refusal;
    }
    int began = runners.now();
    submit.run();
    awaitHelping(request, caller);
    caller.hasWaited(runners.now() - began);
    caller.waitingFor = null;
    return null;
  }

  private Execution.Nested told(Execution caller, RuntimeException refusal) {
    return new Execution.Nested(factory(caller.key().space()).failure(refusal).encoded(), true);
  }

  private @Nullable RuntimeException refusal(Execution caller, Request request) {
    if (request.depth > config.nestingMax()) {
      return new LimitExceeded(
          caller.key()
              + " calls "
              + request.resident.key
              + " at a depth of "
              + request.depth
              + "; nestingMax is "
              + config.nestingMax());
    }
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(request.resident);
      if (circle == null) {
        caller.waitingFor = request;
        return null;
      }
      return deadlock(circle);
    } finally {
      waiting.unlock();
    }
  }

  private static Deadlock deadlock(List<Key> circle) {
    var path = new StringJoiner(" -> ");
    circle.forEach(key -> path.add(key.toString()));
    return new Deadlock("the call would wait for itself: " + path);
  }

  /// Waits on a handler's thread, which meanwhile does what it waits for.
  void awaitHelping(Request request, Execution caller) {
    Resident resident = request.resident;
    request.waiter(Thread.currentThread());
    boolean interrupted = false;
    boolean waited = false;
    try {
      while (!request.isDone()) {
        caller.checkNotTakenBack();
        if (caller.refused != null) return;
        if (caller.holdsUpRefused()) throw new Execution.Yielded();
        if (!intake.isEmpty() && lead(null)) continue;
        if (resident.runQuickUntil(request)) continue;
        if (waited && resident.isScheduled() && threads.mayRunLong()) {
          // No other thread is free for what may not come back.
          resident.runUntil(request);
        } else if (!request.isDone()) {
          LockSupport.parkNanos(request, threads.patienceNanos());
          interrupted |= Thread.interrupted();
          waited = true;
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /// Waits, before a run calls a key that is not loaded, until the calls that were under way there
  /// have gone on: they may call the caller's key, or be waiting for it since an earlier process.
  ///
  /// Of calls that were under way in a circle, one had been refused, or would have been; that need
  /// not be in the log. The one to be refused now is one for which nothing was logged at the key
  /// that it calls.
  ///
  /// @param address where the call is in the log of the key, which must then be executed; 0 when it
  ///   is not there, and may be refused
  /// @return why the call is refused, or null when it is not
  private @Nullable Deadlock awaitExecuted(Execution caller, Key target, long address) {
    byte[] nothing = {};
    Request executed =
        nestedRequest(caller, Request.Kind.POSITION, target, nothing, null, null, null);
    Resident resident = executed.resident;
    if (address > 0 ? resident.hasExecuted(address) : resident.isLoaded()) {
      executed.complete(null);
      return null;
    }
    try {
      Deadlock refused = beginToWait(caller, executed, address == 0);
      if (refused != null) {
        executed.complete(null);
        return refused;
      }
    } catch (Execution.Unwinding unwinding) {
      executed.complete(null);
      throw unwinding;
    }
    int began = runners.now();
    ask(executed);
    awaitHelping(executed, caller);
    caller.hasWaited(runners.now() - began);
    return endToWait(caller, executed);
  }

  private @Nullable Deadlock beginToWait(Execution caller, Request executed, boolean refusable) {
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(executed.resident);
      if (circle != null) {
        if (refusable) return deadlock(circle);
        Execution other = caller.refusableBehind(executed.resident);
        if (other == null) {
          throw caller.suspend(new Unavailable("calls wait for each other: " + deadlock(circle)));
        }
        if (other.refused == null) other.refused = deadlock(circle);
        LockSupport.unpark(other.thread);
        if (Thread.currentThread().equals(other.thread)) throw new Execution.Yielded();
      }
      caller.waitingFor = executed;
      caller.refusable = refusable;
      return null;
    } finally {
      waiting.unlock();
    }
  }

  private @Nullable Deadlock endToWait(Execution caller, Request executed) {
    waiting.lock();
    try {
      caller.waitingFor = null;
      caller.refusable = false;
      Deadlock refused = caller.refused;
      caller.refused = null;
      if (refused != null) return refused;
    } finally {
      waiting.unlock();
    }
    executed.number();
    return null;
  }

  /// The answer to an executed put.
  private Answer answerFromLog(Key target, long address) {
    barrier(target);
    var past = new Materialized(this, target, factory(target.space()));
    Answer answer = past.loadAnswer(address, streams().last(target.stream()));
    return answer != null ? answer : factory(target.space()).failure(takenBack(target, address));
  }

  /// Why a put was taken back.
  RuntimeException takenBack(Key key, long address) {
    var verdicts = new ArrayList<Records.Verdict>();
    streams()
        .scan(
            key.stream(),
            address + 1,
            streams().last(key.stream()),
            entry -> {
              if (entry.kind() == Records.VERDICT) {
                Records.Verdict verdict = Records.verdict(entry.payload());
                if (verdict.call() == address) verdicts.add(verdict);
              }
              return verdicts.isEmpty();
            });
    if (verdicts.isEmpty()) return gone(key);
    Records.Verdict verdict = verdicts.getFirst();
    return verdict.late()
        ? new DeadlineExceeded(verdict.reason())
        : new CallFailed(verdict.reason());
  }

  private long addressInLog(Execution caller, Key target, Records.Origin origin) {
    StreamId stream = target.stream();
    long last = streams().last(stream);
    long low = 1;
    long high = last + 1;
    while (low < high) {
      long middle = (low + high) >>> 1;
      StoredEntry entry = streams().read(stream, middle);
      if (entry != null && entry.log().counter() > caller.counter) high = middle;
      else low = middle + 1;
    }
    var found = new long[1];
    streams()
        .scan(
            stream,
            low,
            last,
            entry -> {
              if (entry.kind() == Records.PUT && origin.equals(Records.originOf(entry.payload()))) {
                found[0] = entry.address();
              }
              return found[0] == 0;
            });
    return found[0];
  }

  // ---- what runs too long, or fails beyond repair

  /// Whether a run lasted so long that another, on a busier machine or under a lower limit, might
  /// be taken back.
  boolean lastedLong(Execution execution) {
    return runners.lasted(execution) > Math.min(LONG_TICKS, ticksMax / 4);
  }

  private void overdue(Execution execution) {
    if (execution.resident == null || execution.isKnownToStand()) return;
    Thread thread = execution.thread;
    // Before it is taken back: its thread may return, and be told back, at any time from then on.
    if (thread != null) threads.lost(thread);
    if (!execution.takeBack()) {
      if (thread != null && !execution.isTakenBack()) threads.back(thread);
      return;
    }
    var failure =
        new DeadlineExceeded(
            "a call on "
                + execution.key()
                + " ran for more than "
                + config.callTimeMax().toMillis()
                + " ms (callTimeMax); what it had changed there was taken back");
    settleTakenBack(
        execution,
        failure,
        () ->
            recover(execution, new UnknownOutcome("the call is logged and ran too long", failure)));
    // The runs that waited for this one on its thread cannot go on there: they begin again
    // elsewhere, and find in the log what they had called.
    for (Execution waiting = execution.below; waiting != null; waiting = waiting.below) {
      Resident resident = waiting.resident;
      if (resident != null && waiting.takeBack()) resident.recover(null);
    }
  }

  /// A run failed with an error that leaves the state in doubt: it is taken back.
  void takeBack(Execution execution, Error error) {
    if (!execution.takeBack()) return;
    LOG.warn("a call on {} failed and is taken back", execution.key(), error);
    var failure =
        new CallFailed(
            "a call on " + execution.key() + " failed and was taken back: " + error, error);
    settleTakenBack(
        execution,
        failure,
        () -> recover(execution, new UnknownOutcome("the call is logged and failed", error)));
  }

  private void settleTakenBack(Execution execution, RuntimeException failure, Runnable notLogged) {
    if (execution.isReading()) {
      recover(execution, failure);
      return;
    }
    Resident resident = Objects.requireNonNull(execution.resident);
    var verdict =
        new Records.Verdict(
            execution.address(),
            failure instanceof DeadlineExceeded,
            String.valueOf(failure.getMessage()));
    note(resident, Records.VERDICT, Records.verdict(verdict))
        .whenDone(note -> {
          if (note.failed()) {
            notLogged.run();
          } else {
            ended(execution.key(), execution.address());
            recover(execution, failure);
          }
        });
    callWriter();
  }

  private void recover(Execution execution, RuntimeException failure) {
    Resident resident = Objects.requireNonNull(execution.resident);
    Request request = execution.request;
    if (request != null) {
      Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
      resident.recover(request);
      request.fail(failure);
      resident.unpin();
    } else {
      resident.recover(null);
    }
  }

  /// The calling thread returns from a run that was taken back.
  void laneLost() {
    threads.back(Thread.currentThread());
  }
}

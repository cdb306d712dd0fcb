package stoa.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Gone;
import stoa.Keep;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Ref;
import stoa.StreamStore;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.log.ShardLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.Running;

/// A key-value store whose values are handlers: a put is an append to the key's stream, and the
/// key's handler executes it where it lives (CRESON, section III).
///
/// Puts on one key are executed one at a time, in the order of its stream; keys beside each other.
/// A put is answered after it, and everything that its answer reflects, is durable. Thread-safe.
public final class Store implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Store.class);
  private static final int SPINS = 400;

  /// A batch that takes less is led where it was gathered.
  private static final long SWIFT_MICROS = 100;

  /// A batch of one request that takes less is, when no other request is under way.
  private static final long SOON_MICROS = 2_000;

  private static final int GATHERED_TURNS_MAX = 4;

  /// Who waits for something that may wait for another store looks whether it does.
  private static final long LOOK_NANOS = 2_000_000;

  /// Which part of the memory for keys is for their past, and for states that follow them.
  private static final int VERSIONS_SHARE = 4;

  private final StoreConfig config;

  /// Null when this executes what another store leads.
  private final @Nullable ShardLog log;

  private final Streams streams;
  private final Threads threads;
  private final Residents residents;
  private final Runners runners = new Runners();
  private final Rounds rounds = new Rounds();
  private final Intake intake;
  private final Nesting nesting;

  /// Null when all keys are here.
  private final @Nullable Abroad abroad;

  private final Visits visits;
  private final Resuming resuming;
  private final TakingBack takingBack;
  private final Versions versions;
  private final Observed observed = new Observed();
  private final Retention retention;
  private final Quarantine quarantine;
  private final @Nullable Announcements announcements;
  private final Watches watches = new Watches(Watches.WATCHES_MAX);
  private final ConcurrentHashMap<String, HandlerFactory> factories = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Resident> directories = new ConcurrentHashMap<>();
  private final AtomicLong marks = new AtomicLong();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicBoolean writerCalled = new AtomicBoolean();

  private final Object idle = new Object();
  private volatile boolean closed;

  /// A store on a log, which it closes with itself. Seals the log for an epoch of its own.
  public Store(StoreConfig config, ShardLog log, Clock clock, Threads threads) {
    this(config, log, log.streams(), null, null, clock, threads);
  }

  /// One of several stores with one order, on a log of its own, which it closes with itself. What
  /// it asks the order for, it waits for.
  ///
  /// @param order null for none: the store gives addresses itself
  /// @param neighbors the other stores; null when there are none whose keys handlers call
  public Store(
      StoreConfig config,
      ShardLog log,
      @Nullable Addresses order,
      @Nullable Neighbors neighbors,
      Clock clock,
      Threads threads) {
    this(config, log, log.streams(), order, neighbors, clock, threads);
  }

  /// A store for [Following], on the streams of a replica that does not lead: it refuses whatever
  /// would have to be logged, and every question. Registering handlers, reading streams and [#scan]
  /// are what it is for.
  public static Store following(StoreConfig config, Streams streams, Clock clock, Threads threads) {
    return new Store(config, null, streams, null, null, clock, threads);
  }

  private Store(
      StoreConfig config,
      @Nullable ShardLog log,
      Streams streams,
      @Nullable Addresses order,
      @Nullable Neighbors neighbors,
      Clock clock,
      Threads threads) {
    this.config = config;
    this.log = log;
    this.streams = streams;
    this.threads = threads;
    long versionBytes = config.residentBytesMax() / VERSIONS_SHARE;
    this.residents = new Residents(this, config.residentBytesMax() - versionBytes);
    this.versions = new Versions(this, threads, versionBytes);
    this.intake = new Intake(this, log, order, clock, threads);
    this.retention = new Retention(this, intake);
    this.nesting = new Nesting(this, intake, threads, config.nestingMax());
    this.abroad = neighbors == null ? null : new Abroad(this, intake, threads, neighbors, config);
    this.visits = new Visits(this, intake, threads);
    this.resuming = new Resuming(this, intake.unfinished(), threads);
    this.takingBack = new TakingBack(this, threads, config.callTimeMax());
    this.quarantine = new Quarantine(this);
    boolean replicated = log != null && log.isReplicated();
    this.announcements = replicated ? new Announcements(this, threads, Announcements.KEPT) : null;
    if (log != null) quarantine.load();
    threads.every(this::watch);
  }

  private void watch() {
    takingBack.watch();
    rounds.watch(this);
    if (!intake.isEmpty()) callWriter();
    visits.tick();
    resuming.tick();
    if (announcements != null) announcements.tick();
  }

  // ---- what callers use

  /// Has it noted what runs, in memory that outlives this process: a call that has ended the
  /// process twice is not executed again, and its key is in quarantine. To be said before anything
  /// runs.
  public void noteRuns(Running place) {
    runners.noteIn(place);
  }

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

    /// The last address of the key's stream, when that is known without a pin; -1 otherwise.
    long tail() {
      Resident resident = known;
      if (resident == null) return -1;
      long tail = resident.tail();
      return resident.isPresent() ? tail : -1;
    }

    /// The key.
    public Key key() {
      return key;
    }

    /// The key in memory, pinned.
    Resident pin() {
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
    return put(target, value, existence, quick, config.callTimeMax());
  }

  /// As [#put(Target, byte\[\], Existence, boolean)], within a time.
  ///
  /// @param timeMax how long it may take from now on, its waiting and its run together, in units of
  ///   [Threads#TICK_MILLIS]; more than the store's limit is that. When it is over, nothing is
  ///   logged, or what is logged is taken back, and it fails with [stoa.DeadlineExceeded]
  public Request put(
      Target target, byte[] value, Existence existence, boolean quick, Duration timeMax) {
    return put(target, Put.of(value), existence, quick, timeMax);
  }

  /// As [#put(Target, byte\[\], Existence, boolean, Duration)], of a value that was read.
  public Request put(Target target, Put put, Existence existence, boolean quick, Duration timeMax) {
    Request request = newPut(target, put.value(), existence, quick);
    request.read = put.read();
    takingBack.limit(request, timeMax);
    intake.add(request);
    return await(request);
  }

  /// Puts a value without waiting. What one thread asks in this way is executed in order.
  ///
  /// @param quick whether a thread that waits for the key may execute it: the code is known to be
  ///   short
  public Request putAsync(Target target, byte[] value, Existence existence, boolean quick) {
    return putAsync(target, value, existence, quick, config.callTimeMax());
  }

  /// As [#putAsync(Target, byte\[\], Existence, boolean)], within a time.
  public Request putAsync(
      Target target, byte[] value, Existence existence, boolean quick, Duration timeMax) {
    return putAsync(target, value, existence, quick, timeMax, null);
  }

  /// As [#putAsync(Target, byte\[\], Existence, boolean)], for a client of a server.
  ///
  /// @param timeMax how long it may take
  /// @param id logged with the put, see [#earlier]; null for none
  public Request putAsync(
      Target target,
      byte[] value,
      Existence existence,
      boolean quick,
      Duration timeMax,
      @Nullable CallId id) {
    return putAsync(target, value, existence, quick ? Pace.SHORT : Pace.LONG, timeMax, id);
  }

  /// As [#putAsync(Target, byte\[\], Existence, boolean, Duration, CallId)], with what is known of
  /// how long it runs.
  public Request putAsync(
      Target target,
      byte[] value,
      Existence existence,
      Pace pace,
      Duration timeMax,
      @Nullable CallId id) {
    return putAsync(target, Put.of(value), existence, pace, timeMax, id);
  }

  /// As [#putAsync(Target, byte\[\], Existence, Pace, Duration, CallId)], of a value that was read.
  public Request putAsync(
      Target target,
      Put put,
      Existence existence,
      Pace pace,
      Duration timeMax,
      @Nullable CallId id) {
    byte[] value = put.value();
    Resident resident = accepted(target::pin);
    var origin = Records.Origin.of(id);
    boolean quick = pace != Pace.LONG;
    var request = new Request(Request.Kind.PUT, resident, value, existence, null, origin, 0, quick);
    request.brief = pace == Pace.BRIEF;
    request.read = put.read();
    takingBack.limit(request, timeMax);
    intake.add(request);
    callWriter();
    return request;
  }

  private Request newPut(Target target, byte[] value, Existence existence, boolean quick) {
    Resident resident = accepted(target::pin);
    return new Request(Request.Kind.PUT, resident, value, existence, null, null, 0, quick);
  }

  /// Ends a key's generation without waiting.
  ///
  /// @param id logged with the deletion, see [#earlier]; null for none
  public Request deleteAsync(Target target, Existence existence, @Nullable CallId id) {
    Request request = newDeletion(target, existence, id);
    intake.add(request);
    callWriter();
    return request;
  }

  /// What became of a call that a client made of an earlier process, on a key; null when it was not
  /// logged. Waits until it is executed.
  ///
  /// @param id of the call
  /// @param since a log counter behind which it was logged, if it was
  /// @throws stoa.TooOld when that is too long ago to be known
  public @Nullable Earlier earlier(Key key, CallId id, long since) {
    checkOpen();
    checkUsable();
    return nesting.earlier(key, java.util.Objects.requireNonNull(Records.Origin.of(id)), since);
  }

  /// Ends a key's generation and waits until that is executed.
  ///
  /// @throws Gone when there is nothing to end
  public void delete(Target target, Existence existence) {
    var _ = delete(target, existence, null);
  }

  /// As [#delete(Target, Existence)].
  ///
  /// @param id logged with the deletion, see [#earlier]; null for none
  /// @return the generation that ended
  public long delete(Target target, Existence existence, @Nullable CallId id) {
    Request request = newDeletion(target, existence, id);
    intake.add(request);
    return await(request).number();
  }

  private Request newDeletion(Target target, Existence existence, @Nullable CallId id) {
    Resident resident = accepted(target::pin);
    byte[] nothing = {};
    var origin = Records.Origin.of(id);
    return new Request(Request.Kind.DELETE, resident, nothing, existence, null, origin, 0, true);
  }

  /// Asks a key's handler and waits for the answer.
  ///
  /// @param quick whether the calling thread may execute it: the code is known to be short
  /// @return the settled request
  public Request get(Target target, Object query, Existence existence, boolean quick) {
    return get(target, query, existence, quick, config.callTimeMax());
  }

  /// As [#get(Target, Object, Existence, boolean)], within a time.
  public Request get(
      Target target, Object query, Existence existence, boolean quick, Duration timeMax) {
    return get(newGet(target, query, existence, quick), timeMax);
  }

  /// As [#get], for a question that is given up when its handler asks other keys, which need not be
  /// as the key itself is seen: then [Request#isMoved()], and [#beginQuestion()] is to be used.
  public Request getAlone(
      Target target, Object query, Existence existence, boolean quick, Duration timeMax) {
    Request request = newGet(target, query, existence, quick);
    request.alone = true;
    return get(request, timeMax);
  }

  private Request get(Request request, Duration timeMax) {
    takingBack.limit(request, timeMax);
    if (isUnconfirmed(request)) return request;
    boolean quick = request.quick;
    if (quick && threads.mayRunQuick()) {
      if (isHeldUp(request)) return request;
      Resident resident = request.resident;
      if (!resident.runAlone(request) && resident.enqueue(request)) {
        var _ = resident.runQuickUntil(request);
      }
    } else {
      ask(request);
    }
    return await(request);
  }

  /// Asks a key's handler without waiting, after the puts and deletions of the key that were asked
  /// before.
  ///
  /// @param quick whether a thread that waits for the key may execute it: the code is known to be
  ///   short
  public Request getAsync(Target target, Object query, Existence existence, boolean quick) {
    return getAsync(target, query, existence, quick, config.callTimeMax());
  }

  /// As [#getAsync(Target, Object, Existence, boolean)], within a time.
  public Request getAsync(
      Target target, Object query, Existence existence, boolean quick, Duration timeMax) {
    return getAsync(target, query, existence, quick ? Pace.SHORT : Pace.LONG, timeMax);
  }

  /// As [#getAsync(Target, Object, Existence, boolean, Duration)], with what is known of how long
  /// it runs.
  public Request getAsync(
      Target target, Object query, Existence existence, Pace pace, Duration timeMax) {
    Request request = newGet(target, query, existence, pace != Pace.LONG);
    request.brief = pace == Pace.BRIEF;
    takingBack.limit(request, timeMax);
    askInTurn(request);
    return request;
  }

  /// As [#getAsync], for a question that is given up when its handler asks other keys; see
  /// [#getAlone].
  public Request getAloneAsync(
      Target target, Object query, Existence existence, Pace pace, Duration timeMax) {
    Request request = newGet(target, query, existence, pace != Pace.LONG);
    request.brief = pace == Pace.BRIEF;
    takingBack.limit(request, timeMax);
    request.alone = true;
    request.asked = moment();
    askInTurn(request);
    return request;
  }

  /* Behind all that waits for its place in a batch and is asked of the same key, so in one with these;
   * at once when there is nothing. Of several stores with one order also behind the batch under way. */
  private void askInTurn(Request question) {
    if (isUnconfirmed(question)) return;
    RuntimeException late = takingBack.late(question);
    if (late != null) {
      question.fail(late);
      return;
    }
    Resident resident = question.resident;
    if (resident.hasAhead() || (resident.ordered && intake.hasBatchUnderWay())) {
      intake.add(question);
      callWriter();
    } else if (!intake.refuses(question) && resident.enqueue(question)) {
      if (question.brief && isGathering()) rounds.mine().add(resident);
      else resident.dispatch();
    }
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

  /// As [#generationHint(Target)], of a key.
  public long generationHint(Key key) {
    Resident resident = residents.pin(key);
    try {
      return resident.generationHint();
    } finally {
      resident.unpin();
    }
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

  /// The last address of a key's stream, with what is logged about that which was executed on it.
  public long tail(Key key) {
    Resident resident = residents.pin(key);
    try {
      while (resident.notesUnderWay() > 0) {
        if (!lead(null)) threads.pause();
      }
      checkOpen();
      checkUsable();
      return resident.tail();
    } finally {
      resident.unpin();
    }
  }

  /// As [#position(Key)], for a reader whose time is over at a tick; 0 for none.
  long position(Key key, int lateTick) {
    return ask(Request.Kind.POSITION, key, lateTick);
  }

  private long ask(Request.Kind kind, Key key) {
    return ask(kind, key, 0);
  }

  private long ask(Request.Kind kind, Key key, int lateTick) {
    Resident resident = accepted(() -> residents.pin(key));
    byte[] nothing = {};
    var request = new Request(kind, resident, nothing, null, null, null, 0, false);
    if (lateTick != 0) {
      request.ticksMax = Math.max(1, lateTick - runners.now());
      takingBack.begun(request);
    }
    ask(request);
    return await(request).number();
  }

  Request await(Request request) {
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
    Request request = noted(key, payload);
    intake.add(request);
    return await(request).number();
  }

  /// Visits the entries that [#append] added to a key, in order.
  public void scan(Key key, Predicate<StoredEntry> visitor) {
    scan(key, 1, visitor);
  }

  /// As [#scan(Key, Predicate)], from an address on.
  public void scan(Key key, long from, Predicate<StoredEntry> visitor) {
    if (follows()) {
      streams().scan(key.stream(), from, streams().last(key.stream()), visitor);
      return;
    }
    Resident resident = residents.pin(key);
    try {
      checkOpen();
      checkUsable();
      streams().scan(key.stream(), from, resident.tail(), visitor);
    } finally {
      resident.unpin();
    }
  }

  /// The names of the keys of a space that exist now, in the order in which they began.
  public Iterator<byte[]> list(String space) {
    checkOpen();
    checkUsable();
    Resident directory = directory(space);
    return new Names(streams(), directory.key.stream(), directory.tail());
  }

  /// The log counter up to which everything is committed: whoever asks a key now finds what was put
  /// up to there, and every [Watcher] has been told of all changes up to there, unless the store
  /// has failed. Not to be asked by a watcher.
  public long moment() {
    return intake.moment();
  }

  /// As [#moment], for who asks a key without having it find its place behind what is put: of a key
  /// that is ordered among several stores, what is under way may have a lower address than what was
  /// answered elsewhere.
  long now(Key key) {
    if (isOrdered(key)) intake.awaitBatch();
    return moment();
  }

  /// Has somebody told of the changes of a key, whether that is in memory or not, until the
  /// registration is closed. Before this returns, the watcher is told of the last change there was,
  /// if there was one; then of each further one before [#moment] passes it. Changes that are
  /// committed together are told once.
  ///
  /// What is told is that something was put. It may be under way still, or be taken back: to ask
  /// the key waits for it.
  ///
  /// @throws LimitExceeded when too many watch
  /// @throws Closed when the store is closed
  public Watch watch(Key key, Watcher watcher) {
    checkOpen();
    Resident resident = residents.pin(key);
    Watch watch = watches.add(key, watcher);
    try {
      awaitPublished();
      checkUsable();
      long last = resident.change();
      if (last > 0) watch.tell(last);
      return watch;
    } catch (RuntimeException failure) {
      watch.close();
      throw failure;
    } finally {
      resident.unpin();
    }
  }

  Watches watches() {
    return watches;
  }

  /// A key as of a place in the log. Nothing is read here.
  ///
  /// @param counter of the log address
  /// @throws IllegalArgumentException when nothing is committed there yet
  public Past at(Key key, long counter) {
    intake.reach(counter);
    observed.advance(counter);
    return Past.at(this, key, counter);
  }

  /// The streams of the store.
  ///
  /// @param streamOf the stream of an object, by its reference
  /// @param appendBytesMax the bytes of one append
  public StreamStore streamStore(Function<Ref<?>, StreamId> streamOf, int appendBytesMax) {
    return new StoredStreams(this, threads.answers(), streamOf, appendBytesMax);
  }

  /// A key as it was after a stream address.
  ///
  /// @throws IllegalArgumentException when the stream is not there yet
  public Past past(Key key, long address) {
    long made = quarantine.lastMade(key);
    long position = made >= 0 ? made : position(key);
    checkVersion(key, address, position);
    retention.check(key, address);
    return Past.after(this, key, address);
  }

  private static void checkVersion(Key key, long address, long position) {
    if (address < 0 || address > position) {
      throw new IllegalArgumentException(
          "version " + address + " of " + key + " is not between 0 and " + position);
    }
  }

  // ---- how much of the past there is

  /// Says how much of the past is to be kept from now on; until then, everything is. To be called
  /// when everything is held that must be.
  public void keep(Keep policy) {
    retention.keep(policy);
  }

  /// The log counters that somebody reads at, and which are to stay readable.
  public Pins pins() {
    return retention.pins();
  }

  /// Pins the present: what is seen now stays readable.
  public Pins.Pin pinNow() {
    Pins.Pin pin = pinPresent(Long.MAX_VALUE);
    observed.advance(pin.counter());
    return pin;
  }

  /// Pins the present: in front of it nothing that it shows is released.
  private Pins.Pin pinPresent(long forMicros) {
    return retention.pins().pin(intake::moment, intake::present, forMicros);
  }

  /// Pins a place of the past.
  ///
  /// @throws IllegalArgumentException when nothing is committed there, or the address was never
  ///   issued
  public Pins.Pin pinAt(LogAddress address) {
    intake.reach(address.counter());
    Pins.Pin pin = retention.pin(() -> retention.pins().pin(address.counter()));
    try {
      checkIssued(address);
    } catch (RuntimeException never) {
      pin.close();
      throw never;
    }
    return pin;
  }

  /// Refuses an address of another epoch than its counter was issued in.
  private void checkIssued(LogAddress address) {
    if (intake.isOrdered()) return; // it may be of another store
    long counter = address.counter();
    boolean old = counter < intake.firstCounter() && counter > 0;
    boolean told = old && counter >= streams().firstInLog();
    Streams.LogItem item = told ? streams().at(counter) : null;
    long epoch = item != null ? item.log().epoch() : old ? address.epoch() : epoch();
    if (epoch != address.epoch()) {
      throw new IllegalArgumentException(
          "log address "
              + address
              + " was never issued; "
              + new LogAddress(epoch, counter)
              + " was");
    }
  }

  /// The oldest version of a key that can be read; 0 when all can.
  public long oldest(Key key) {
    checkOpen();
    return retention.oldest(key);
  }

  /// Releases the versions of a key in front of one, but for what is held; durably.
  ///
  /// @return the oldest version that can be read now
  /// @throws IllegalArgumentException when the version is negative or above [#position]
  public long trim(Key key, long before) {
    long position = position(key);
    checkVersion(key, before, position);
    barrier(key);
    checkUsable();
    return retention.trim(key, before);
  }

  /// As [#trim] up to the last version, for what the layer above keeps by itself: waits for no
  /// other store, and may release less.
  public void forget(Key key) {
    long position = position(key);
    barrier(key);
    retention.forget(key, position);
  }

  /// Tells of several stores with one order that nobody will read any of them in front of a log
  /// counter, but whom is told [stoa.TooOld] if need be.
  void raiseHorizon(long horizon) {
    retention.raiseHorizon(horizon);
  }

  /// The state of a key.
  ///
  /// @param position the stream address of the last put or deletion, 0 when there was none
  /// @param generation 0 when the key is absent
  /// @param from the log counter from which on it is seen
  /// @param state as the handler keeps it; null when the key is absent, or has the position that
  ///   was asked for
  public record Checkpoint(long position, long generation, long from, byte @Nullable [] state) {}

  /// The state of a key now, behind everything that was answered before.
  ///
  /// @param unless the position for which nothing is copied; -1 for none
  public Checkpoint fetch(Target target, long unless) {
    if (!quarantine.all().isEmpty()) {
      RuntimeException diverged = quarantine.refusal(target.key(), generation(target.key()));
      if (diverged != null) throw diverged;
    }
    if (unless >= 0) {
      Resident resident = accepted(target::pin);
      byte[] nothing = {};
      var asked = new Request(Request.Kind.POSITION, resident, nothing, null, null, null, 0, false);
      ask(asked);
      if (await(asked).number() == unless) return new Checkpoint(unless, 0, asked.reach(), null);
    }
    return state(target);
  }

  /// The state of a key now, whether it is in quarantine or not.
  Checkpoint state(Target target) {
    Request forked = Request.fork(accepted(target::pin));
    ask(forked);
    await(forked).check();
    Copy copy = java.util.Objects.requireNonNull(forked.copy);
    observed.advance(forked.reach());
    return new Checkpoint(copy.position(), copy.generation(), forked.reach(), copy.checkpoint());
  }

  /// A state of a key that is kept beside the store's own, by playback.
  public Follower follow(Target target) {
    return new Follower(this, target);
  }

  /// Runs code of a key on the calling thread, beside the state, within the time of a call.
  ///
  /// @throws stoa.DeadlineExceeded when it took longer; code that can be stopped is
  public <T> T limited(Key key, Supplier<T> code) {
    var execution =
        new Execution(this, Execution.Mode.READING, key, null, 0, nowMicros(), 0, null, null);
    return takingBack.here(execution, 0, code);
  }

  // ---- the operator

  /// Puts a key into quarantine whose replicas have diverged: from now on its puts and questions
  /// fail with [stoa.Diverged]. It is logged, and holds until the key is deleted, or [#accept]ed.
  ///
  /// @param evidence what a [Following] told
  /// @return whether it is in quarantine; false when the key was deleted since, or a later state
  ///   was accepted
  public boolean quarantine(Divergence evidence) {
    checkOpen();
    checkUsable();
    return quarantine.put(evidence);
  }

  /// The evidence against the keys that are in quarantine.
  public List<Divergence> diverged() {
    return quarantine.all();
  }

  /// Ends the quarantine of a key: every replica goes on with the state that it has here, which is
  /// logged. It may have versions of its past that differ from those of other replicas.
  ///
  /// @return false when it was in none
  /// @throws LimitExceeded when the state is too large to be logged; it can be deleted
  public boolean accept(Key key) {
    checkOpen();
    checkUsable();
    return quarantine.accept(key);
  }

  /// The calls that run and wait, as many as are asked for, those that run first. Looks at every
  /// key in memory.
  public List<OngoingCall> calls(int callsMax) {
    return takingBack.calls(callsMax);
  }

  /// Cancels a call: it fails with [stoa.CallFailed], which names the operator. A logged one is
  /// taken back by a verdict, so that it is in every replay; the state of its key is what it was
  /// before. What it had put to other keys stands.
  ///
  /// @param id of an [OngoingCall]
  /// @return false when it is not under way any more, is known to stand, as part of a committed
  ///   transaction, or is to be run again and no thread began that within a second
  public boolean cancel(long id) {
    checkOpen();
    return takingBack.cancel(id);
  }

  // ---- the handlers of other stores

  /// Calls a key of this store for the handler of another one, see [Neighbors#visit].
  ///
  /// @throws Unavailable when that is not known now, or this is not led here any more
  public Visit.Said visit(Visit visit, int ticks) {
    return visits.visit(visit, ticks);
  }

  /// Whom a visit to this store waits for, see [Neighbors#follow].
  public Visit.Hop follow(Visit.Id id) {
    return visits.follow(id);
  }

  /// Refuses a call on the way of a visit to this store that waits for its turn, see
  /// [Neighbors#refuse].
  public void refuse(Visit.Id id, long waits, stoa.Deadlock why) {
    visits.refuse(id, waits, why);
  }

  /// Whether a key is another store's.
  boolean isAbroad(Key key) {
    return abroad != null && abroad.has(key);
  }

  /// Whether there are other stores whose keys handlers may call.
  boolean hasNeighbors() {
    return abroad != null;
  }

  /// How handlers call keys of other stores.
  Abroad abroad() {
    return java.util.Objects.requireNonNull(abroad, "there are other stores");
  }

  // ---- transactions

  /// What no other transaction of this log carries: nobody else has opened it in this epoch and
  /// term.
  private StreamId mark() {
    return new StreamId(intake.owner(), marks.incrementAndGet());
  }

  /// Begins a transaction that reads the present.
  public Transaction begin(Transaction.Bounds bounds) {
    checkOpen();
    checkUsable();
    long now = nowMicros();
    Pins.Pin pin = pinPresent(bounds.micros());
    var at = new LogAddress(intake.epoch(), pin.counter());
    return new Transaction(this, at, now, bounds, mark(), pin);
  }

  /// Begins the transaction of one question whose handler asks other keys: all are seen as they are
  /// now.
  public Transaction beginQuestion() {
    return begin(questionBounds()).forOneQuestion();
  }

  /// As [#beginQuestion()], for a part of a question whose other parts are in other stores.
  ///
  /// @param counter as of which all keys are seen
  /// @param callers the keys whose handlers wait for it, outermost first
  Transaction beginQuestion(long counter, List<Key> callers) {
    return begin(questionBounds(), new LogAddress(epoch(), counter)).forOneQuestion(callers);
  }

  /// As [#beginQuestion()], for a question that was given up: all keys are seen as of a moment at
  /// which its own was as it was found then.
  public Transaction beginQuestion(Request moved) {
    if (intake.isOrdered()) return beginQuestionInOrder(moved);
    var at = new LogAddress(epoch(), Math.max(moved.asked, moved.reach));
    return begin(questionBounds(), at).forOneQuestion();
  }

  /// What other stores have answered before it was asked may have higher addresses than its key,
  /// but lower ones than the next change of that, which was asked for later.
  private Transaction beginQuestionInOrder(Request moved) {
    Transaction now = beginQuestion();
    long next = nextChange(moved.resident.key.stream(), moved.reach);
    if (next == 0 || next > now.counter()) return now;
    now.close();
    return begin(questionBounds(), new LogAddress(epoch(), next - 1)).forOneQuestion();
  }

  /// The log counter of the first change of a stream behind another one; 0 when there is none.
  private long nextChange(StreamId stream, long counter) {
    var found = new long[1];
    long from = nesting.firstBehind(stream, counter);
    streams()
        .scan(
            stream,
            from,
            streams().last(stream),
            entry -> {
              boolean changes = entry.kind() == Records.PUT || entry.kind() == Records.DELETE;
              if (changes) found[0] = entry.log().counter();
              return !changes;
            });
    return found[0];
  }

  /// It may wait for the calls of others, but not ask for ever.
  private Transaction.Bounds questionBounds() {
    long micros = callMicrosMax();
    long most = micros > Long.MAX_VALUE / 10 ? Long.MAX_VALUE : micros * 10;
    return new Transaction.Bounds(true, most, Integer.MAX_VALUE, 0);
  }

  /// Begins a transaction that reads the past.
  ///
  /// @throws IllegalArgumentException when the address lies in the future
  public Transaction begin(Transaction.Bounds bounds, LogAddress at) {
    checkOpen();
    checkUsable();
    intake.reach(at.counter());
    long now = nowMicros();
    Pins.Pin pin =
        retention.pin(() -> retention.pins().pin(at::counter, at::counter, bounds.micros()));
    try {
      checkIssued(at);
    } catch (RuntimeException never) {
      pin.close();
      throw never;
    }
    return new Transaction(this, at, now, bounds, mark(), pin);
  }

  /// What became of a transaction that an earlier process may have committed: its log address, or
  /// null when nothing of it was written.
  ///
  /// @throws stoa.TooOld when that is too long ago to be known
  public @Nullable LogAddress outcome(Transaction.Id id) {
    checkUsable();
    var found = new LogAddress[1];
    Resident resident = residents.pin(id.key());
    try {
      streams()
          .scan(
              id.key().stream(),
              id.tail() + 1,
              resident.tail(),
              entry -> {
                if (entry.kind() == Records.PUT || entry.kind() == Records.DELETE) {
                  var origin = Records.originOf(entry.payload());
                  if (origin != null
                      && origin.isTransaction()
                      && origin.caller().equals(id.mark())) {
                    found[0] = entry.log();
                  }
                }
                return found[0] == null;
              });
    } finally {
      resident.unpin();
    }
    // What was written may have been released. Whoever asks has waited for long.
    if (found[0] == null) retention.check(id.key(), id.tail() + 1);
    return found[0];
  }

  /// Appends what a transaction puts, and waits until all its keys have executed it.
  ///
  /// @return its log counter
  long commit(Transaction transaction) {
    Resident first = transaction.first();
    accept();
    Check.that(first.pin(), "%s stays in memory while it is used", first.key);
    Request request =
        Request.of(transaction, Request.Kind.COMMIT, first, null, null, transaction.isQuick());
    intake.add(request);
    if (threads.mayRunQuick()) {
      for (int spin = 0; spin < SPINS && !request.isDone(); spin++) {
        if (!intake.isEmpty()) lead(request);
        if (!runParts(transaction)) Thread.onSpinWait();
      }
    }
    park(request);
    return request.number();
  }

  /// Holds up everything that would be logged here, for transactions that this and other stores
  /// with the same order commit together. Waits for the batch under way.
  ///
  /// @throws Unavailable when that takes too long, or the log has failed
  public Held hold() {
    checkOpen();
    intake.hold();
    return new Held(this, intake);
  }

  /// A request to commit a transaction together with other stores.
  Request across(Transaction transaction) {
    Resident any = transaction.any();
    accept();
    Check.that(any.pin(), "%s stays in memory while it is used", any.key);
    return Request.of(transaction, Request.Kind.COMMIT, any, null, null, transaction.isQuick());
  }

  /// A request to append an entry, as [#append(Key, byte[])].
  Request noted(Key key, byte[] payload) {
    return Request.note(accepted(() -> residents.pin(key)), Records.NOTE, payload);
  }

  /// Executes what a committed transaction left to this thread.
  private boolean runParts(Transaction transaction) {
    boolean any = false;
    for (Request part : transaction.parts()) {
      if (part.isDone()) continue;
      if (part.quick) any |= part.resident.runQuickUntil(part);
      else if (threads.mayRunLong()) part.resident.runUntil(part);
    }
    return any;
  }

  /// Asks the state that is in memory, for a transaction.
  void askInTransaction(Request request) {
    begun();
    if (closed) request.fail(new Closed("the store is closed"));
    else if (!intake.refuses(request)) {
      Resident resident = request.resident;
      if (request.quick && threads.mayRunQuick()) {
        if (!resident.runAlone(request) && resident.enqueue(request)) {
          var _ = resident.runQuickUntil(request);
        }
      } else if (resident.enqueue(request)) {
        resident.dispatch();
      }
    }
    await(request);
  }

  void awaitPublished() {
    intake.awaitPublished();
  }

  /// The term under which this leads its log.
  long term() {
    return intake.term();
  }

  /// A number that nobody else has who has opened this log before, or will. The epoch need not be
  /// one: several stores with one order keep theirs when one of them is opened again.
  public long owner() {
    return intake.owner();
  }

  /// The epoch in which log addresses are issued.
  public long epoch() {
    return intake.epoch();
  }

  /// Whether the current thread is one for what takes long, or much stack.
  boolean mayRunLong() {
    return threads.mayRunLong();
  }

  /// How long a handler may run, in microseconds.
  long callMicrosMax() {
    return TimeUnit.MICROSECONDS.convert(config.callTimeMax());
  }

  Duration callTimeMax() {
    return config.callTimeMax();
  }

  /// How many ticks a time is that a question may take; 0 when the store's own limit holds.
  int ticks(Duration timeMax) {
    return timeMax.compareTo(config.callTimeMax()) >= 0 ? 0 : TakingBack.ticks(timeMax);
  }

  int nestingMax() {
    return config.nestingMax();
  }

  /// Makes keys known whose puts an earlier process left unfinished after they had put to other
  /// keys, so that they go on before anything else is asked; but for those that wait for other
  /// stores, which may wait for this one to be open.
  ///
  /// @param keys makes a key of its space and name
  public void resume(BiFunction<String, byte[], Key> keys) {
    resuming.begin(keys);
  }

  /// As [#position], without waiting.
  Request positionAsync(Key key) {
    Resident resident = accepted(() -> residents.pin(key));
    byte[] nothing = {};
    var kind = Request.Kind.POSITION;
    var request = new Request(kind, resident, nothing, null, null, null, 0, false);
    ask(request);
    return request;
  }

  /// Whether what a request waits for, waits for another store.
  boolean waitsAbroad(Request request) {
    var chain = new WaitChain();
    for (Request next = request; next != null && !next.isDone(); ) {
      Execution running = next.resident.running;
      if (running == null || chain.isCircle(running)) return false;
      if (running.visit != null) return true;
      next = running.waitingFor;
    }
    return false;
  }

  /// Waits until a committed transaction is executed; answers false when it waits for another store
  /// meanwhile.
  boolean awaitHere(Transaction transaction, Request request) {
    if (!hasNeighbors()) {
      park(request);
      return true;
    }
    request.waiter(Thread.currentThread());
    while (!request.isDone()) {
      if (!intake.isEmpty()) callWriter();
      if (transaction.parts().stream().anyMatch(this::waitsAbroad)) return false;
      threads.pause(LOOK_NANOS);
    }
    return true;
  }

  /// Waits until the nested answers of what was executed on a key are in its stream.
  void barrier(Key key) {
    Resident resident = residents.pin(key);
    try {
      while (resident.notesUnderWay() > 0) {
        if (!lead(null)) threads.pause();
      }
      if (resident.lacksAnswer()) {
        throw new Unavailable(
            "what "
                + key
                + " was told by another object could not be logged, so its past cannot be read;"
                + " make room and read again");
      }
    } finally {
      resident.unpin();
    }
  }

  /// The entries of a key's stream from one address to another, both inclusive.
  public List<Event> events(Key key, long from, long to) {
    checkOpen();
    checkUsable();
    retention.check(key, from);
    var events = new ArrayList<Event>();
    Resident resident = residents.pin(key);
    try {
      long end = Math.min(to, resident.tail());
      streams().scan(key.stream(), Math.max(1, from), end, entry -> events.add(Event.of(entry)));
    } finally {
      resident.unpin();
    }
    retention.check(key, from); // it may have been released just now
    return events;
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
      intake.progress().wake();
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
    runners.close();
    if (log != null) log.close();
    // What is logged stands. Its callers are told that they will not hear of it here.
    var cause = new UnknownOutcome("the store was closed while the call was under way");
    intake.end(cause);
    residents.end(cause);
  }

  // ---- what the other classes of the store use

  Streams streams() {
    return streams;
  }

  /// Whether this executes what another store leads.
  boolean follows() {
    return log == null;
  }

  Quarantine quarantine() {
    return quarantine;
  }

  /// Throws [stoa.Unavailable] when the log has failed, or this process need not show all that was
  /// acknowledged.
  public void checkUsable() {
    intake.confirm();
  }

  /// Throws [stoa.Unavailable] when the log has failed; asks nobody.
  void checkSound() {
    intake.checkUsable();
  }

  /// How far the log is committed.
  Progress progress() {
    return intake.progress();
  }

  /// Begins to append to users' streams. The caller has called [#accept] and pinned them.
  Request append(Appending appending) {
    Request request = Request.append(appending);
    intake.add(request);
    return request;
  }

  /// Waits until a request is settled that [#append(Appending)] has begun.
  void awaitAppended(Request request) {
    var _ = await(request);
  }

  /// Whether it is closed, or about to be.
  public boolean isClosed() {
    return closed;
  }

  /// Whether the log has failed: the store must be opened again.
  public boolean hasFailed() {
    return intake.hasFailed();
  }

  /// What the log failed with; null while it has not.
  public @Nullable RuntimeException failure() {
    return intake.failure();
  }

  void checkOpen() {
    if (closed) throw new Closed("the store is closed");
  }

  /// What was seen by the calls of this process.
  Observed observed() {
    return observed;
  }

  Versions versions() {
    return versions;
  }

  Nesting nesting() {
    return nesting;
  }

  TakingBack takingBack() {
    return takingBack;
  }

  Retention retention() {
    return retention;
  }

  Unfinished unfinished() {
    return intake.unfinished();
  }

  /// A request is accepted that no limit refuses, because others wait for it.
  void begun() {
    underWay.incrementAndGet();
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

  /// Whether puts on a key have a place in the order of several stores.
  boolean isOrdered(Key key) {
    if (key.isStream() || key.equals(Decision.KEY)) return true;
    HandlerFactory factory = factories.get(key.space());
    return factory != null && factory.isOrdered();
  }

  HandlerFactory factory(String space) {
    HandlerFactory factory = factories.get(space);
    if (factory == null) throw new IllegalStateException("nobody registered the space " + space);
    return factory;
  }

  /// The stream that lists the keys of a space; it stays in memory.
  Resident directory(String space) {
    Resident known = directories.get(space);
    if (known != null) return known;
    Resident pinned = residents.pin(Key.of("stoa/directory", space));
    Resident first = directories.putIfAbsent(space, pinned);
    if (first == null) return pinned;
    pinned.unpin();
    return first;
  }

  /// What is said of a key whose meant generation has ended.
  public static Gone gone(Key key) {
    return new Gone(key + " was deleted; ask the store for the key again to begin a new one");
  }

  void dispatch(Resident resident) {
    threads.workers().execute(resident);
  }

  /// Keeps a checkpoint.
  ///
  /// @throws Closed when this follows, and has ended meanwhile
  void checkpoint(Key key, long generation, long address, byte[] state) {
    if (follows()) {
      // Whoever leads from here next has this device to itself.
      synchronized (idle) {
        checkOpen();
        // What was accepted there stays, whatever is executed meanwhile.
        if (quarantine.isAccepted(key.stream(), address)) return;
        streams().checkpoint(key.stream(), address, state);
      }
      return;
    }
    try {
      streams().checkpoint(key.stream(), address, state);
    } catch (RuntimeException failure) {
      // Derived data: loading replays more. What is wrong shows at the next put.
      LOG.warn("no checkpoint of {} at {}: {}", key, address, failure.getMessage());
      return;
    }
    if (announcements != null) announcements.checkpoint(key, generation, address, state);
    retention.checkpointed(key, address);
  }

  /// Keeps a state that was accepted as the checkpoint at its address.
  void keepAccepted(StreamId stream, long address, byte[] state) {
    synchronized (idle) {
      Streams.At known = streams().lastCheckpoint(stream, address);
      boolean there =
          known != null && known.address() == address && Arrays.equals(known.data(), state);
      if (!there) streams().checkpoint(stream, address, state);
    }
  }

  /// Accepts what is settled later, by [#settled]: closing waits for it.
  ///
  /// @throws LimitExceeded when too much is under way
  /// @throws Closed when the store is closed
  void accept() {
    if (underWay.incrementAndGet() > config.queuedCallsMax()) {
      settled();
      throw new LimitExceeded(
          "more than "
              + config.queuedCallsMax()
              + " calls are under way (queuedCallsMax); wait for some, or raise the limit");
    }
    if (closed) {
      settled();
      checkOpen();
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

  /// A request, or what is accepted like one, is settled.
  void settled() {
    if (underWay.decrementAndGet() == 0 && closed) {
      synchronized (idle) {
        idle.notifyAll();
      }
    }
  }

  /// Fails a question when nobody can say that this process shows all that was acknowledged.
  private boolean isUnconfirmed(Request question) {
    try {
      intake.confirm();
      return false;
    } catch (Unavailable failed) {
      question.fail(failed);
      return true;
    }
  }

  /// Waits for the batch under way, if the key of a question is ordered among several stores; fails
  /// the question when that takes too long.
  private boolean isHeldUp(Request question) {
    try {
      if (question.resident.ordered) intake.awaitBatch();
      return false;
    } catch (Unavailable failed) {
      question.fail(failed);
      return true;
    }
  }

  /// Puts a question behind what waits for its key.
  void ask(Request request) {
    if (isUnconfirmed(request)) return;
    if (isHeldUp(request)) return;
    if (request.resident.enqueue(request)) request.resident.dispatch();
  }

  /// Leads a batch if nobody leads, and calls the writer for what is left.
  ///
  /// @param own a request whose key this thread runs itself if it is quick, or null
  boolean lead(@Nullable Request own) {
    Request mine = own != null && own.quick ? own : null;
    if (!intake.tryLead(mine)) return false;
    // First: what this thread runs may take longer than it should.
    if (!intake.isEmpty()) callWriter();
    if (mine == null) return true;
    if (mine.transaction != null && mine.kind == Request.Kind.COMMIT) {
      var _ = runParts(mine.transaction);
    } else {
      var _ = mine.resident.runQuickUntil(mine);
    }
    return true;
  }

  /// Leads what was begun on the calling thread, a [Gatherer], and runs what is brief of it; leaves
  /// it to the writer and the workers when that may take long. What is begun by several is led
  /// once.
  public void leadGathered() {
    Round round = rounds.mine();
    round.begin();
    try {
      var mine = new ArrayList<Resident>();
      round.run(mine); // what waits for no batch, and is not to wait for those that are led here
      if (!intake.isEmpty()) {
        round.end();
        round.begin();
      }
      boolean led = true;
      for (int turn = 0; led && turn < GATHERED_TURNS_MAX && mayLeadHere(); turn++) {
        mine.clear();
        try {
          led = intake.tryLead(null, mine); // otherwise who leads looks again
        } finally {
          round.run(mine);
        }
      }
    } finally {
      if (!intake.isEmpty()) wakeWriter();
      round.end();
    }
  }

  /// Whether a thread that must come back soon may lead what waits: batches are hardly longer than
  /// a hand-over to another thread, or nobody else could ask anything of this store before the end
  /// of this one that would not have to wait for it.
  private boolean mayLeadHere() {
    if (intake.isEmpty() || intake.asksElsewhere()) return false;
    return intake.takesLessThan(SWIFT_MICROS)
        || (underWay.get() == 1 && intake.takesLessThan(SOON_MICROS));
  }

  /// Has something done when the calling thread has run the brief requests that it runs one after
  /// the other; answers false when it runs none.
  public boolean afterRound(Runnable task) {
    Round round = rounds.current();
    return round != null && round.after(task);
  }

  /// Has a worker run the brief requests of some keys.
  void runBrief(List<Resident> scheduled) {
    threads
        .workers()
        .execute(() -> {
          Round round = rounds.mine();
          round.begin();
          try {
            round.run(scheduled);
          } finally {
            round.end();
          }
        });
  }

  /// Has something done by a thread that answers.
  void answerWith(Runnable task) {
    threads.answers().execute(task);
  }

  /// Has the writer lead what waits, unless the calling thread does so soon.
  void callWriter() {
    if (!isGathering()) wakeWriter();
  }

  private static boolean isGathering() {
    return Thread.currentThread() instanceof Gatherer gatherer && gatherer.isGathering();
  }

  private void wakeWriter() {
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
  void park(Request request) {
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

  /// Appends an entry to a resident's stream with the next batch, whoever leads it; does not wait.
  Request note(Resident resident, byte kind, byte[] payload) {
    Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
    begun();
    Request request = Request.note(resident, kind, payload);
    intake.add(request);
    return request;
  }

  /// As [#note], of what a handler was told.
  ///
  /// @param before what the handlers of the key were told before; this is logged only if that is,
  ///   so that with the last answer all are durable
  Request noteAnswer(Resident resident, byte[] payload, @Nullable Request before) {
    Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
    begun();
    Request request = Request.note(resident, Records.ANSWERED, payload);
    request.after = before;
    intake.add(request);
    return request;
  }

  /// Asks to log an announcement.
  ///
  /// @param reflected without which it is not to be logged
  void announce(
      Resident announcements, byte[] announced, Announcements.@Nullable Reflected reflected) {
    Check.that(announcements.pin(), "%s stays in memory while it is used", announcements.key);
    begun();
    Request request = Request.note(announcements, Records.NOTE, announced);
    request.reflected = reflected;
    intake.add(request);
  }

  /// The calling thread returns from a run that was taken back.
  void laneLost() {
    threads.back(Thread.currentThread());
  }
}

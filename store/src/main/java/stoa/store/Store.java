package stoa.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.Closed;
import stoa.Gone;
import stoa.Keep;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.base.StreamId;
import stoa.base.Trace;
import stoa.log.BatchLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.RunningCalls;
import stoa.store.calls.Checkpoint;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Neighbors;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.PriorOutcome;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.changes.LoggedChange;
import stoa.store.changes.LoggedChanges;
import stoa.store.divergence.Following;
import stoa.store.ordering.Addresses;
import stoa.store.past.LocalView;
import stoa.store.past.Past;
import stoa.store.past.Pins;
import stoa.store.past.Shipment;
import stoa.store.past.Shipping;
import stoa.store.records.DirectoryNames;
import stoa.store.records.Records;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.FollowerWork;
import stoa.store.replicas.KeyNames;
import stoa.store.running.DeleteRequest;
import stoa.store.running.Execution;
import stoa.store.running.GetRequest;
import stoa.store.running.HandlerFactory;
import stoa.store.running.PositionRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;
import stoa.store.streams.StoredStreams;
import stoa.store.threads.Threads;
import stoa.store.transactions.DeclaredIntents;
import stoa.store.transactions.Prepared;
import stoa.store.watching.WatchRegistration;
import stoa.store.watching.Watcher;

/// A key-value store whose values are handlers: a put is an append to the key's stream, and the
/// key's handler executes it where the key lives (CRESON, section III).
///
/// The store executes the puts on one key one at a time, in the order of its stream, and puts on
/// different keys in parallel. A put gets its answer after the put, and everything that the answer
/// reflects, is durable. Thread-safe.
public final class Store implements AutoCloseable {
  private final StoreParts engine;

  /// Opens a store on a log, which the store closes with itself. Seals the log for an epoch of its
  /// own.
  public Store(StoreConfig config, BatchLog log, Clock clock, Threads threads) {
    this(new StoreParts(config, log, log.streams(), null, null, clock, threads));
  }

  /// Opens one of several stores with one order, on a log of its own, which it closes with itself.
  /// The store waits for the answers of the order.
  ///
  /// @param order null for none: the store then gives addresses itself
  /// @param neighbors the other stores; null when handlers call no keys of other stores
  public Store(
      StoreConfig config,
      BatchLog log,
      @Nullable Addresses order,
      @Nullable Neighbors neighbors,
      Clock clock,
      Threads threads) {
    this(new StoreParts(config, log, log.streams(), order, neighbors, clock, threads));
  }

  /// Returns a store for [Following], on the streams of a replica that does not lead. It refuses
  /// all requests that it would have to log, and every question. It can register handlers, read
  /// streams and [#scan].
  public static Store following(StoreConfig config, Streams streams, Clock clock, Threads threads) {
    return new Store(new StoreParts(config, null, streams, null, null, clock, threads));
  }

  private Store(StoreParts engine) {
    this.engine = engine;
  }

  /// Returns the parts of the store, for the other classes of this package.
  StoreParts engine() {
    return engine;
  }

  // ---- puts and questions

  /// Notes runs in memory that outlives this process. When a call has ended the process twice, the
  /// store does not execute it again, and puts its key into quarantine. Call this before any
  /// handler runs.
  public void noteRuns(RunningCalls place) {
    engine.runners().noteIn(place);
  }

  /// Registers the factory of a space's handlers. Call this once for each space, before its keys
  /// are used.
  public void register(String space, HandlerFactory factory) {
    engine.spaces().register(space, factory);
  }

  /// Returns a target for requests to a key. It is cheap, and keeps nothing in memory by itself.
  public Target target(Key key) {
    return new Target(engine.residents(), key);
  }

  /// Puts a value and waits until the key has executed it.
  ///
  /// @return the settled request
  /// @throws LimitExceeded when too many requests are in progress
  /// @throws Closed when the store is closed
  public Request put(Target target, Put put, Terms terms) {
    PutRequest request = newPut(target, put, terms.at(terms.pace().awaited()));
    if (engine.waiting().joins(request)) return engine.writer().await(request);
    return engine.writer().log(request);
  }

  /// Puts a value without waiting. The store executes the puts of one thread in order.
  public Request putAsync(Target target, Put put, Terms terms) {
    PutRequest request = newPut(target, put, terms);
    if (!engine.waiting().joins(request)) engine.writer().logAsync(request);
    return request;
  }

  /// Returns how many calls wait for conditions of their keys.
  public int waitingCalls() {
    return engine.waiting().count();
  }

  /// Ends the calls of a client's session that wait for conditions, since the session has ended.
  public void endWaiting(long session) {
    engine
        .waiting()
        .endSession(
            session,
            new CallFailed(
                "the session of the caller ended while the call waited; it has changed nothing"));
  }

  /// Takes a call back that waits for a condition of its key, now or later, since its caller wants
  /// no answer. A call that goes on stands.
  public void endWaiting(Request call) {
    if (!(call instanceof PutRequest put)) return;
    engine
        .waiting()
        .end(put, new CallFailed("its caller canceled the call; it has changed nothing"));
  }

  private PutRequest newPut(Target target, Put put, Terms terms) {
    Resident resident = engine.admission().accepted(target::pin);
    var request = new PutRequest(resident, put, terms, Records.Origin.of(terms.id()), 0);
    request.trace(Trace.current());
    engine.limits().limit(request, terms.timeMax());
    request.waitTicksMax = engine.limits().waitTicks(terms.timeMax());
    request.arrived = terms.arrived();
    return request;
  }

  /// Ends a key's generation and waits until the key has executed that. Of the terms, only the
  /// [existence][Terms], the [timeMax][Terms] and the [id][Terms] matter.
  ///
  /// @return the generation that ended
  /// @throws Gone when the key has no generation to end
  /// @throws stoa.DeadlineExceeded when the time was over before the deletion was logged
  /// @throws stoa.UnknownOutcome when the time was over after that: the deletion waits for earlier
  ///   puts, and the key executes it
  public long delete(Target target, Terms terms) {
    return engine.writer().log(newDeletion(target, terms)).number();
  }

  /// Ends a generation, like [#delete], without waiting. The [number][Request#number()] of the
  /// request is the generation that ended.
  public Request deleteAsync(Target target, Terms terms) {
    DeleteRequest request = newDeletion(target, terms);
    engine.writer().logAsync(request);
    return request;
  }

  private DeleteRequest newDeletion(Target target, Terms terms) {
    Resident resident = engine.admission().accepted(target::pin);
    var request = new DeleteRequest(resident, terms.existence(), Records.Origin.of(terms.id()));
    request.trace(Trace.current());
    engine.limits().limit(request, terms.timeMax());
    return request;
  }

  /// Returns the outcome of a client's call on a key of an earlier process; null when that process
  /// did not log the call. Waits until the key has executed it.
  ///
  /// @param id the id of the call
  /// @param since a log counter in front of the call
  /// @throws stoa.TooOld when the store has released the entries that would tell
  public @Nullable PriorOutcome earlier(Key key, CallId id, long since) {
    engine.health().checkOpen();
    checkUsable();
    return engine.earlier().earlier(key, Objects.requireNonNull(Records.Origin.of(id)), since);
  }

  /// Returns the stream address of the first entry about a client's call on a key, which an earlier
  /// process logged; 0 when there is none. The [place][Terms#arrived()] of a call that waits again
  /// follows from it.
  ///
  /// @param id the id of the call
  /// @param since a log counter in front of the call
  public long arrived(Key key, CallId id, long since) {
    engine.health().checkOpen();
    return engine.earlier().arrived(key, Objects.requireNonNull(Records.Origin.of(id)), since);
  }

  /// Asks a key's handler and waits for the answer.
  ///
  /// @return the settled request
  public Request get(Target target, Object query, Terms terms) {
    return engine.writer().get(newGet(target, query, terms.at(terms.pace().awaited())));
  }

  /// Asks a key's handler without waiting, after the earlier puts and deletions of the key.
  public Request getAsync(Target target, Object query, Terms terms) {
    GetRequest request = newGet(target, query, terms);
    if (request.alone) request.asked = moment();
    engine.writer().askInTurn(request);
    return request;
  }

  private GetRequest newGet(Target target, Object query, Terms terms) {
    var request = new GetRequest(engine.admission().accepted(target::pin), query, terms, 0);
    request.trace(Trace.current());
    engine.limits().limit(request, terms.timeMax());
    return request;
  }

  /// Returns the stream address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    return engine.keyReads().generation(key);
  }

  /// Returns the [Target#generationHint()] of a key.
  public long generationHint(Key key) {
    return engine.residents().generationHint(key);
  }

  /// Returns the stream address of the last put or deletion that a key has executed, 0 when there
  /// was none.
  public long position(Key key) {
    return engine.keyReads().position(key);
  }

  /// Returns [#position(Key)] for a reader with a time limit.
  ///
  /// @throws stoa.DeadlineExceeded when calls on the key are in progress for longer
  public long position(Key key, Duration timeMax) {
    return engine.keyReads().position(key, engine.limits().endAfter(timeMax));
  }

  /// Returns the time of the last put that a key has executed, in microseconds since 1970. Where
  /// the store has released it, this is the time of the checkpoint that has taken its place.
  ///
  /// @param counts whether a put counts, by its value
  public long changedMicros(Key key, Predicate<byte[]> counts) {
    long last = position(key);
    StreamId stream = key.stream();
    long first = Math.max(1, engine.streams().firstKept(stream));
    for (long at = last; at >= first; at--) {
      StoredEntry entry = engine.streams().read(stream, at);
      if (entry == null || entry.kind() != Records.PUT) continue;
      if (counts.test(Records.put(entry.payload()).value())) return entry.nowMicros();
    }
    var micros = new long[1];
    engine
        .streams()
        .scan(
            stream,
            first,
            engine.streams().last(stream),
            entry -> {
              micros[0] = entry.nowMicros();
              return false;
            });
    return micros[0];
  }

  /// Returns the last address of a key's stream, including the entries about the puts that the key
  /// has executed.
  public long tail(Key key) {
    Resident resident = engine.residents().pin(key);
    try {
      engine.barrier().awaitNotes(resident);
      engine.health().checkOpen();
      checkUsable();
      return durableTail(resident);
    } finally {
      resident.unpin();
    }
  }

  /// Appends an entry that no handler executes, and waits until it is durable. The key serves only
  /// this purpose.
  ///
  /// @return the entry's stream address
  public long append(Key key, byte[] payload) {
    return engine.writer().append(key, payload);
  }

  /// Visits the entries that [#append] added to a key, in order.
  public void scan(Key key, Predicate<StoredEntry> visitor) {
    scan(key, 1, visitor);
  }

  /// Visits the entries from an address on, like [#scan(Key, Predicate)].
  public void scan(Key key, long from, Predicate<StoredEntry> visitor) {
    if (engine.health().follows()) {
      engine.streams().scan(key.stream(), from, engine.streams().last(key.stream()), visitor);
      return;
    }
    Resident resident = engine.residents().pin(key);
    try {
      engine.health().checkOpen();
      checkUsable();
      engine.streams().scan(key.stream(), from, durableTail(resident), visitor);
    } finally {
      resident.unpin();
    }
  }

  /// Returns the last address of a key's stream, when the stream is durable up to there.
  private long durableTail(Resident resident) {
    long tail = resident.tail();
    engine.gate().awaitAppended();
    return tail;
  }

  /// Returns the names of the existing keys of a space, in the order in which they began.
  public Iterator<byte[]> list(String space) {
    engine.health().checkOpen();
    checkUsable();
    Resident directory = engine.residents().directory(space);
    return new DirectoryNames(engine.streams(), directory.key.stream(), durableTail(directory));
  }

  /// Returns the log counter up to which everything is committed. A question from now on finds all
  /// puts up to there, and every [Watcher] has heard of all changes up to there, unless the store
  /// has failed. A watcher must not call this.
  public long moment() {
    return engine.moments().moment();
  }

  /// Returns the streams of the log, as far as its batches count, for reading only.
  public Streams streams() {
    return engine.streams();
  }

  /// Returns the log address of the present: that of no acknowledged call, of any group, is behind
  /// it, and every later one in this group is.
  ///
  /// @throws stoa.Unavailable when the coordinator does not answer
  public long present() {
    return engine.moments().present();
  }

  /// Makes the log complete up to an address: returns when this group has every entry up to there,
  /// and will give no entry an address at or below it.
  ///
  /// @throws IllegalArgumentException when no group has got that address yet
  public void reach(long address) {
    engine.moments().reach(address);
  }

  /// Tells a watcher of the changes of a key, in memory or not, until the registration is closed.
  /// Before this returns, it tells the watcher of the last change, if there was one. After that, it
  /// tells the watcher of each further change before [#moment] passes the change. It reports
  /// changes that are committed together once.
  ///
  /// A report says only that a put was made. The put may still be in progress, or a verdict may
  /// take it back: a question to the key waits for it.
  ///
  /// @throws LimitExceeded when there are too many watchers
  /// @throws Closed when the store is closed
  public WatchRegistration watch(Key key, Watcher watcher) {
    engine.health().checkOpen();
    Resident resident = engine.residents().pin(key);
    WatchRegistration watch = engine.watches().add(key, watcher);
    try {
      checkUsable();
      // A later change is told when it is durable.
      long last = Math.min(engine.moments().moment(), resident.change());
      if (last > 0) watch.tell(last);
      return watch;
    } catch (RuntimeException failure) {
      watch.close();
      throw failure;
    } finally {
      resident.unpin();
    }
  }

  /// Returns a key as of a place in the log. This reads nothing yet.
  ///
  /// @param counter the counter of the log address
  /// @throws IllegalArgumentException when the log is not committed up to that place
  public Past at(Key key, long counter) {
    return engine.playback().at(key, counter);
  }

  /// Returns the streams of users.
  public StoredStreams userStreams() {
    return new StoredStreams(engine.streamParts(), engine.streams());
  }

  /// Returns the reader of the changes of keys.
  ///
  /// @param names knows the keys
  public LoggedChanges changes(LoggedChange.Names names) {
    return new LoggedChanges(engine.changeParts(userStreams()), names);
  }

  /// Returns a key as it was after a stream address.
  ///
  /// @throws IllegalArgumentException when the stream has not reached that address
  public Past past(Key key, long address) {
    long made = engine.quarantine().lastMade(key);
    long position = made >= 0 ? made : position(key);
    checkVersion(key, address, position);
    engine.timeline().check(key, address);
    return engine.playback().after(key, address);
  }

  private static void checkVersion(Key key, long address, long position) {
    if (address < 0 || address > position) {
      throw new IllegalArgumentException(
          "version " + address + " of " + key + " is not between 0 and " + position);
    }
  }

  // ---- retention of the past

  /// Sets the retention policy from now on; until then, the store keeps everything. Call this after
  /// all necessary pins exist.
  public void keep(Keep policy) {
    engine.retention().keep(policy);
  }

  /// Returns the pins: the log counters at which readers read, and which stay readable.
  public Pins pins() {
    return engine.holds().pins();
  }

  /// Pins the present: everything that a reader sees now stays readable.
  public Pins.Pin pinNow() {
    return engine.transactions().pinNow();
  }

  /// Pins a place of the past.
  ///
  /// @throws IllegalArgumentException when the log is not committed up to there, or the address was
  ///   never issued
  public Pins.Pin pinAt(LogAddress address) {
    return engine.transactions().pinAt(address);
  }

  /// Returns the oldest version of a key that can be read; 0 when all versions can.
  public long oldest(Key key) {
    engine.health().checkOpen();
    return engine.timeline().oldest(key);
  }

  /// Releases the versions of a key in front of a given one, durably, except those that are held.
  ///
  /// @return the oldest version that can be read now
  /// @throws IllegalArgumentException when the version is negative or above [#position]
  public long trim(Key key, long before) {
    long position = position(key);
    checkVersion(key, before, position);
    engine.barrier().await(key);
    checkUsable();
    return engine.retention().trim(key, before);
  }

  /// Releases the entries that [#append] added to a key in front of an address.
  public void forgetNotes(Key key, long before) {
    engine.streams().trim(key.stream(), before);
  }

  /// Returns the last log counter of the entries that are at least so old; 0 when there are none.
  public long lastBefore(long micros) {
    return engine.holds().endBefore(micros);
  }

  /// Releases the versions up to the last one, like [#trim], for keys that the layer above manages
  /// itself. This waits for no other store, and may release less.
  public void forget(Key key) {
    long position = position(key);
    engine.barrier().await(key);
    engine.retention().forget(key, position);
  }

  /// Tells one of several stores with one order that no reader needs any of them in front of a log
  /// counter. A later reader there may get [stoa.TooOld].
  void raiseHorizon(long horizon) {
    engine.holds().raiseHorizon(horizon);
  }

  /// Returns the present state of a key, after every answer that any caller got before.
  ///
  /// @param unless the position for which this copies no state; -1 for none
  public Checkpoint fetch(Target target, long unless) {
    refuseDiverged(target.key());
    if (unless >= 0) {
      PositionRequest asked =
          engine.keyReads().position(() -> engine.admission().accepted(target::pin));
      if (asked.number() == unless) return new Checkpoint(unless, 0, asked.reach(), null);
    }
    return engine.keyReads().state(() -> engine.admission().accepted(target::pin));
  }

  private void refuseDiverged(Key key) {
    if (engine.quarantine().all().isEmpty()) return;
    RuntimeException diverged = engine.quarantine().refusal(key, generation(key));
    if (diverged != null) throw diverged;
  }

  /// Returns what brings a copy of a key in another process up to date, after every answer that any
  /// caller got before; null when only a whole state does.
  ///
  /// @param from where the copy goes on
  /// @param replays what the other process can execute
  public @Nullable Shipment ship(Target target, Shipment.From from, Shipment.Replays replays) {
    refuseDiverged(target.key());
    return new Shipping(engine.playback(), engine.keyReads(), engine.streams())
        .ship(target, from, replays);
  }

  /// Returns the checkpoint of a key at a version; null when the store has none.
  public byte @Nullable [] checkpoint(Key key, long version) {
    Streams.At found = engine.streams().lastCheckpoint(key.stream(), version);
    return found == null || found.address() != version ? null : found.data();
  }

  /// Returns a second state of a key, which follows the store's own by playback.
  public LocalView follow(Target target) {
    return new LocalView(engine.playback(), engine.keyReads(), target);
  }

  /// A put in the log.
  ///
  /// @param address its stream address
  /// @param value the bytes of the put
  @SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
  public record LoggedPut(long address, byte[] value) {}

  /// Returns the puts among the last entries of a key, oldest first.
  ///
  /// @param entries how many entries to look at
  public List<LoggedPut> lastPuts(Key key, int entries) {
    long position = engine.keyReads().position(key);
    var puts = new ArrayList<LoggedPut>();
    engine
        .streams()
        .scan(
            key.stream(),
            Math.max(engine.streams().firstKept(key.stream()), position - entries + 1),
            position,
            entry -> {
              if (entry.kind() == Records.PUT) {
                puts.add(new LoggedPut(entry.address(), Records.put(entry.payload()).value()));
              }
              return true;
            });
    return puts;
  }

  /// Executes a logged put again, within the time limit of a call, and returns its answer. Changes
  /// nothing.
  ///
  /// @param factory creates the handlers that execute the put, and the puts before it since the
  ///   last checkpoint
  /// @return null when a verdict took the put back, or when it found its key absent
  /// @throws stoa.TooOld when the store has released the entries in front of the put
  /// @throws stoa.Corrupt when a handler makes a call to which the log has no answer
  public @Nullable Answer replay(Key key, long address, HandlerFactory factory) {
    return engine.loader().replay(key, address, factory);
  }

  /// Runs code of a key on the calling thread, beside the key's state and within the time limit of
  /// a call.
  ///
  /// @throws stoa.DeadlineExceeded when the code took longer; this stops the code if it can
  public <T> T limited(Key key, Supplier<T> code) {
    Execution execution = Execution.beside(engine.runs(), key, 0, 0);
    return engine.runs().here(execution, 0, code);
  }

  // ---- the operator

  /// Puts a key whose replicas have diverged into quarantine: from now on its puts and questions
  /// fail with [stoa.Diverged]. The quarantine is logged, and lasts until the key is deleted, or
  /// [#accept]ed.
  ///
  /// @param evidence the report of a [Following]
  /// @return whether the key is in quarantine; false when it was deleted since, or an operator
  ///   accepted a later state
  public boolean quarantine(Divergence evidence) {
    engine.health().checkOpen();
    checkUsable();
    return engine.quarantineLog().put(evidence);
  }

  /// Returns the evidence against all keys in quarantine.
  public List<Divergence> diverged() {
    return engine.quarantine().all();
  }

  /// Ends the quarantine of a key. This logs the key's state here, and every replica continues with
  /// it. A replica may keep past versions of the key that differ from those of other replicas.
  ///
  /// @return false when the key was not in quarantine
  /// @throws LimitExceeded when the state is too large for the log; the key can be deleted
  public boolean accept(Key key) {
    engine.health().checkOpen();
    checkUsable();
    return engine.quarantineLog().accept(key);
  }

  /// Follows the log of another server, with a store that [#following] opened, and closes the store
  /// with itself.
  ///
  /// @param threads the threads that execute
  /// @param names the names that the layer above gives to keys
  /// @param warmBytesMax the bound on the encoded size of the states in memory
  /// @param told gets each divergence, on a worker's thread, repeatedly until the log has the key
  ///   in quarantine; it must pass the divergence to the leader
  public FollowerWork compare(
      Threads threads, KeyNames names, long warmBytesMax, Consumer<Divergence> told) {
    var parts =
        new Following.Store(
            engine.quarantine(), engine.loader(), engine.spaces(), engine.streams(), this::close);
    return new Following(parts, threads, names, warmBytesMax, told);
  }

  /// Returns at most `callsMax` of the running and waiting calls, the running ones first. Looks at
  /// every key in memory.
  public List<OngoingCall> calls(int callsMax) {
    return engine.callList().calls(callsMax);
  }

  /// Cancels a call: it fails with [CallFailed], which names the operator. A verdict takes a logged
  /// call back, also in every replay; the state of its key is as before the call. Puts that the
  /// call made to other keys stand.
  ///
  /// @param id the id of an [OngoingCall]
  /// @return false when the call is not in progress any more, when it is known to stand as part of
  ///   a committed transaction, or when it must run again and no thread began that within a second
  public boolean cancel(long id) {
    engine.health().checkOpen();
    return engine.callList().cancel(id);
  }

  // ---- the handlers of other stores

  /// Calls a key of this store for the handler of another one, see [Neighbors#visit].
  ///
  /// @throws Unavailable when the outcome is unknown now, or this process no longer leads the store
  public Visit.Reply visit(Visit visit, int ticks) {
    return engine.incomingCalls().visit(visit, ticks);
  }

  /// Returns whether a visit is in progress.
  public boolean hasVisit(Visit.Id id) {
    return engine.incomingCalls().has(id);
  }

  /// Returns the next call in the wait chain of a visit to this store, see [Neighbors#follow].
  public Visit.NextWait follow(Visit.Id id) {
    return engine.incomingCalls().follow(id);
  }

  /// Refuses a call in the wait chain of a visit to this store that waits for its turn, see
  /// [Neighbors#refuse].
  public void refuse(Visit.Id id, long waits, stoa.Deadlock why) {
    engine.incomingCalls().refuse(id, waits, why);
  }

  // ---- transactions

  /// Begins a transaction that reads the present.
  public StoreTransaction begin(StoreTransaction.Bounds bounds) {
    return engine.transactions().begin(bounds);
  }

  /// Begins a transaction that reads the past.
  ///
  /// @throws IllegalArgumentException when the address lies in the future
  public StoreTransaction begin(StoreTransaction.Bounds bounds, LogAddress at) {
    return engine.transactions().begin(bounds, at);
  }

  /// Returns the intents of transactions that have been aborted often.
  @SuppressWarnings("exports") // see the package
  public DeclaredIntents intents() {
    return engine.intents();
  }

  /// Begins the transaction of one question whose handler asks other keys. It shows all keys as of
  /// now.
  public StoreTransaction beginQuestion() {
    return engine.transactions().beginQuestion();
  }

  /// Begins the transaction for a question that the store gave up. It shows all keys as of a moment
  /// at which the question's own key was in the state in which the question found it.
  public StoreTransaction beginQuestion(Request moved) {
    return engine.transactions().beginQuestion(moved);
  }

  /// Returns the outcome of a transaction that an earlier process may have committed: its log
  /// address, or null when the log has nothing of it.
  ///
  /// @throws stoa.TooOld when the store has released the entries that would tell
  public @Nullable LogAddress outcome(StoreTransaction.Id id) {
    return engine.transactions().outcome(id);
  }

  /// Stops batches of this store until [#letGo], for a step of transactions that this and other
  /// stores with the same order commit together. Waits for the batch in progress.
  ///
  /// @throws Unavailable when that takes too long, or the log has failed
  void hold() {
    engine.health().checkOpen();
    engine.intake().hold();
  }

  /// Ends the hold that [#hold] began.
  void letGo() {
    engine.intake().letGo();
  }

  /// Returns a round of such transactions, for which the store has not voted yet.
  Prepared prepare() {
    return new Prepared(engine.writer(), engine.intake());
  }

  /// Logs the decisions that this store's log may lack, and begins a new epoch, during a hold.
  void adopt(Addresses.Adopted adopted) {
    engine.intake().adopt(adopted);
  }

  /// Returns the term under which this process leads its log.
  long term() {
    return engine.intake().term();
  }

  /// Returns a number that no other opening of this log has, earlier or later. The epoch may not be
  /// such a number: several stores with one order keep theirs when one of them is opened again.
  public long owner() {
    return engine.intake().owner();
  }

  /// Returns the epoch in which log addresses are issued.
  public long epoch() {
    return engine.intake().epoch();
  }

  /// Returns whether several processes keep the store, so that another one may lead it next.
  public boolean isReplicated() {
    return engine.isReplicated();
  }

  /// Resumes the puts that an earlier process left unfinished after they had put to other keys,
  /// before other requests. This waits for these puts, except for those that wait for other stores,
  /// which may in turn wait until this store is open.
  ///
  /// @param keys returns the key of a space and name
  public void resume(BiFunction<String, byte[], Key> keys) {
    engine.resuming().begin(keys);
  }

  /// Returns the entries of a key's stream from one address to another, both inclusive.
  public List<KeyEntry> events(Key key, long from, long to) {
    engine.health().checkOpen();
    checkUsable();
    engine.timeline().check(key, from);
    var events = new ArrayList<KeyEntry>();
    Resident resident = engine.residents().pin(key);
    try {
      long end = Math.min(to, durableTail(resident));
      engine
          .streams()
          .scan(
              key.stream(),
              Math.max(1, from),
              end,
              entry -> {
                boolean tells =
                    entry.kind() != Records.CHECKPOINT
                        && entry.kind() != Records.ARRIVED
                        && !Records.isFollowed(entry);
                if (tells) events.add(KeyEntry.of(entry));
                return true;
              });
    } finally {
      resident.unpin();
    }
    engine.timeline().check(key, from); // it may have been released just now
    return events;
  }

  /// Reports the measurements since the store was opened.
  public void measure(Measures out) {
    engine.tally().measure(out);
    out.gauge(
        "stoa.calls.waiting",
        Measures.NO_UNIT,
        "Calls that wait for conditions of their objects.",
        engine.waiting().count());
    out.gauge(
        "stoa.requests.under.way",
        Measures.NO_UNIT,
        "Requests that the store has accepted and not answered.",
        engine.admission().underWay());
    out.gauge(
        "stoa.requests.waiting",
        Measures.NO_UNIT,
        "Requests that wait for the next batch.",
        engine.intake().waiting());
    out.gauge("stoa.objects.resident", Measures.NO_UNIT, "Objects in memory.", residentKeys());
    out.gauge(
        "stoa.resident",
        Measures.BYTES,
        "Memory that the states of these objects take, about.",
        (double) engine.residents().bytes());
    out.gauge(
        "stoa.resident.limit",
        Measures.BYTES,
        "Memory that they may take before idle ones leave.",
        (double) engine.residents().bytesMax());
    out.gauge(
        "stoa.pins",
        Measures.NO_UNIT,
        "Readers, snapshots and transactions for which the past stays readable.",
        engine.holds().pins().count());
    out.gauge(
        "stoa.objects.quarantined",
        Measures.NO_UNIT,
        "Objects that take no calls, because their replicas differ or a call ended the process"
            + " twice.",
        engine.quarantine().all().size());
    out.gauge(
        "stoa.failed",
        Measures.NO_UNIT,
        "1 when the log has failed, so that the store must be opened again; otherwise 0.",
        hasFailed() ? 1 : 0);
  }

  /// Receives the keys in memory.
  public interface InMemory {
    /// Receives a key.
    ///
    /// @param tail the last address of its stream
    /// @param bytes about how many bytes it takes in memory
    void tell(Key key, long tail, long bytes);
  }

  /// Passes the keys in memory to a visitor, in no order.
  public void eachInMemory(InMemory visitor) {
    engine
        .residents()
        .visit(resident -> visitor.tell(resident.key, resident.tail(), resident.weight()));
  }

  /// Returns how many keys are in memory.
  public int residentKeys() {
    return engine.residents().size();
  }

  // ---- writing batches

  /// Writes the requests that the calling thread, a [Gatherer], has begun, and runs the brief ones.
  /// When that may take long, this leaves them to the writer thread and the workers. Requests of
  /// several calls share a batch.
  public void writeGathered() {
    engine.writer().writeGathered();
  }

  /// Runs a task when the calling thread has finished its turn of brief requests; returns false
  /// when the thread is in no turn.
  public boolean afterTurn(Runnable task) {
    return engine.writer().afterTurn(task);
  }

  // ---- its end

  /// Counts work of the layer above as in progress until [#release]; a close waits for it.
  ///
  /// @throws LimitExceeded when too many requests are in progress
  /// @throws Closed when the store is closed
  public void admit() {
    engine.admission().accept();
  }

  /// Ends what [#admit] began.
  public void release() {
    engine.admission().settled();
  }

  /// Throws [stoa.Unavailable] when the log has failed, or when this process may not show
  /// everything that was acknowledged.
  public void checkUsable() {
    engine.health().confirm();
  }

  /// Returns whether the store is closed or closing.
  public boolean isClosed() {
    return engine.health().isClosed();
  }

  /// Returns whether the log has failed: the store must be opened again.
  public boolean hasFailed() {
    return engine.health().hasFailed();
  }

  /// Returns the failure of the log; null while it has not failed.
  public @Nullable RuntimeException failure() {
    return engine.health().failure();
  }

  @Override
  public void close() {
    engine.close();
  }
}

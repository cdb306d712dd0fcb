package stoa.store;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
import stoa.log.ShardLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.RunningCalls;
import stoa.store.calls.Checkpoint;
import stoa.store.calls.Event;
import stoa.store.calls.Neighbors;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.PriorOutcome;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.divergence.Following;
import stoa.store.ordering.Addresses;
import stoa.store.past.LocalView;
import stoa.store.past.Past;
import stoa.store.past.Pins;
import stoa.store.records.Names;
import stoa.store.records.Records;
import stoa.store.replicas.Backup;
import stoa.store.replicas.Divergence;
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
import stoa.store.transactions.Prepared;
import stoa.store.watching.Watch;
import stoa.store.watching.Watcher;

/// A key-value store whose values are handlers: a put is an append to the key's stream, and the
/// key's handler executes it where it lives (CRESON, section III).
///
/// Puts on one key are executed one at a time, in the order of its stream; keys beside each other.
/// A put is answered after it, and everything that its answer reflects, is durable. Thread-safe.
public final class Store implements AutoCloseable {
  private final StoreParts engine;

  /// A store on a log, which it closes with itself. Seals the log for an epoch of its own.
  public Store(StoreConfig config, ShardLog log, Clock clock, Threads threads) {
    this(new StoreParts(config, log, log.streams(), null, null, clock, threads));
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
    this(new StoreParts(config, log, log.streams(), order, neighbors, clock, threads));
  }

  /// A store for [Following], on the streams of a replica that does not lead: it refuses whatever
  /// would have to be logged, and every question. Registering handlers, reading streams and [#scan]
  /// are what it is for.
  public static Store following(StoreConfig config, Streams streams, Clock clock, Threads threads) {
    return new Store(new StoreParts(config, null, streams, null, null, clock, threads));
  }

  private Store(StoreParts engine) {
    this.engine = engine;
  }

  /// Its parts, for what stands on it in this package.
  StoreParts engine() {
    return engine;
  }

  // ---- puts and questions

  /// Has it noted what runs, in memory that outlives this process: a call that has ended the
  /// process twice is not executed again, and its key is in quarantine. To be said before anything
  /// runs.
  public void noteRuns(RunningCalls place) {
    engine.runners().noteIn(place);
  }

  /// Says what makes the handlers of a space. Once for each space, before its keys are used.
  public void register(String space, HandlerFactory factory) {
    engine.spaces().register(space, factory);
  }

  /// A key, ready to be asked. Cheap to make; keeps nothing in memory by itself.
  public Target target(Key key) {
    return new Target(engine.residents(), key);
  }

  /// Puts a value and waits until it is executed.
  ///
  /// @return the settled request
  /// @throws LimitExceeded when too many requests are under way
  /// @throws Closed when the store is closed
  public Request put(Target target, Put put, Terms terms) {
    PutRequest request = newPut(target, put, terms.at(terms.pace().awaited()));
    return engine.leader().log(request);
  }

  /// Puts a value without waiting. What one thread asks in this way is executed in order.
  public Request putAsync(Target target, Put put, Terms terms) {
    PutRequest request = newPut(target, put, terms);
    engine.leader().logAsync(request);
    return request;
  }

  private PutRequest newPut(Target target, Put put, Terms terms) {
    Resident resident = engine.admission().accepted(target::pin);
    var request = new PutRequest(resident, put, terms, Records.Origin.of(terms.id()), 0);
    engine.limits().limit(request, terms.timeMax());
    return request;
  }

  /// Ends a key's generation and waits until that is executed. Only the [existence][Terms], the
  /// [timeMax][Terms] and the [id][Terms] of the terms matter.
  ///
  /// @return the generation that ended
  /// @throws Gone when there is nothing to end
  /// @throws stoa.DeadlineExceeded when the time was over before the deletion was logged
  /// @throws stoa.UnknownOutcome when the time was over after that: the deletion waits for earlier
  ///   puts, and is executed
  public long delete(Target target, Terms terms) {
    return engine.leader().log(newDeletion(target, terms)).number();
  }

  /// As [#delete], without waiting. The [number][Request#number()] of the request is the generation
  /// that ended.
  public Request deleteAsync(Target target, Terms terms) {
    DeleteRequest request = newDeletion(target, terms);
    engine.leader().logAsync(request);
    return request;
  }

  private DeleteRequest newDeletion(Target target, Terms terms) {
    Resident resident = engine.admission().accepted(target::pin);
    var request = new DeleteRequest(resident, terms.existence(), Records.Origin.of(terms.id()));
    engine.limits().limit(request, terms.timeMax());
    return request;
  }

  /// What became of a call that a client made of an earlier process, on a key; null when it was not
  /// logged. Waits until it is executed.
  ///
  /// @param id of the call
  /// @param since a log counter behind which it was logged, if it was
  /// @throws stoa.TooOld when that is too long ago to be known
  public @Nullable PriorOutcome earlier(Key key, CallId id, long since) {
    engine.health().checkOpen();
    checkUsable();
    return engine.earlier().earlier(key, Objects.requireNonNull(Records.Origin.of(id)), since);
  }

  /// Asks a key's handler and waits for the answer.
  ///
  /// @return the settled request
  public Request get(Target target, Object query, Terms terms) {
    return engine.leader().get(newGet(target, query, terms.at(terms.pace().awaited())));
  }

  /// Asks a key's handler without waiting, after the puts and deletions of the key that were asked
  /// before.
  public Request getAsync(Target target, Object query, Terms terms) {
    GetRequest request = newGet(target, query, terms);
    if (request.alone) request.asked = moment();
    engine.leader().askInTurn(request);
    return request;
  }

  private GetRequest newGet(Target target, Object query, Terms terms) {
    var request = new GetRequest(engine.admission().accepted(target::pin), query, terms, 0);
    engine.limits().limit(request, terms.timeMax());
    return request;
  }

  /// The stream address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    return engine.questions().generation(key);
  }

  /// As [Target#generationHint()], of a key.
  public long generationHint(Key key) {
    return engine.residents().generationHint(key);
  }

  /// The stream address of the last put or deletion that was executed on a key, 0 when there was
  /// none.
  public long position(Key key) {
    return engine.questions().position(key);
  }

  /// The last address of a key's stream, with what is logged about that which was executed on it.
  public long tail(Key key) {
    Resident resident = engine.residents().pin(key);
    try {
      engine.barrier().awaitNotes(resident);
      engine.health().checkOpen();
      checkUsable();
      return resident.tail();
    } finally {
      resident.unpin();
    }
  }

  /// Appends an entry that no handler executes, to a key that is used for nothing else, and waits
  /// until it is durable.
  ///
  /// @return its stream address
  public long append(Key key, byte[] payload) {
    return engine.leader().append(key, payload);
  }

  /// Visits the entries that [#append] added to a key, in order.
  public void scan(Key key, Predicate<StoredEntry> visitor) {
    scan(key, 1, visitor);
  }

  /// As [#scan(Key, Predicate)], from an address on.
  public void scan(Key key, long from, Predicate<StoredEntry> visitor) {
    if (engine.health().follows()) {
      engine.streams().scan(key.stream(), from, engine.streams().last(key.stream()), visitor);
      return;
    }
    Resident resident = engine.residents().pin(key);
    try {
      engine.health().checkOpen();
      checkUsable();
      engine.streams().scan(key.stream(), from, resident.tail(), visitor);
    } finally {
      resident.unpin();
    }
  }

  /// The names of the keys of a space that exist now, in the order in which they began.
  public Iterator<byte[]> list(String space) {
    engine.health().checkOpen();
    checkUsable();
    Resident directory = engine.residents().directory(space);
    return new Names(engine.streams(), directory.key.stream(), directory.tail());
  }

  /// The log counter up to which everything is committed: a question that is asked now finds what
  /// was put up to there, and every [Watcher] has been told of all changes up to there, unless the
  /// store has failed. Not to be asked by a watcher.
  public long moment() {
    return engine.moments().moment();
  }

  /// Has a watcher told of the changes of a key, whether that is in memory or not, until the
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
    engine.health().checkOpen();
    Resident resident = engine.residents().pin(key);
    Watch watch = engine.watches().add(key, watcher);
    try {
      engine.moments().awaitPublished();
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

  /// A key as of a place in the log. Nothing is read here.
  ///
  /// @param counter of the log address
  /// @throws IllegalArgumentException when nothing is committed there yet
  public Past at(Key key, long counter) {
    return engine.playback().at(key, counter);
  }

  /// The streams of the store.
  public StoredStreams userStreams() {
    return new StoredStreams(engine.streamParts(), engine.streams());
  }

  /// A key as it was after a stream address.
  ///
  /// @throws IllegalArgumentException when the stream is not there yet
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

  // ---- how much of the past there is

  /// Says how much of the past is to be kept from now on; until then, everything is. To be called
  /// when everything is held that must be.
  public void keep(Keep policy) {
    engine.retention().keep(policy);
  }

  /// The log counters at which readers read, and which are to stay readable.
  public Pins pins() {
    return engine.holds().pins();
  }

  /// Pins the present: what is seen now stays readable.
  public Pins.Pin pinNow() {
    return engine.transactions().pinNow();
  }

  /// Pins a place of the past.
  ///
  /// @throws IllegalArgumentException when nothing is committed there, or the address was never
  ///   issued
  public Pins.Pin pinAt(LogAddress address) {
    return engine.transactions().pinAt(address);
  }

  /// The oldest version of a key that can be read; 0 when all can.
  public long oldest(Key key) {
    engine.health().checkOpen();
    return engine.timeline().oldest(key);
  }

  /// Releases the versions of a key in front of one, but for what is held; durably.
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

  /// As [#trim] up to the last version, for what the layer above keeps by itself: waits for no
  /// other store, and may release less.
  public void forget(Key key) {
    long position = position(key);
    engine.barrier().await(key);
    engine.retention().forget(key, position);
  }

  /// Tells one of several stores with one order that no reader needs any of them in front of a log
  /// counter. A reader that comes nevertheless may be told [stoa.TooOld].
  void raiseHorizon(long horizon) {
    engine.holds().raiseHorizon(horizon);
  }

  /// The state of a key now, behind everything that was answered before.
  ///
  /// @param unless the position for which nothing is copied; -1 for none
  public Checkpoint fetch(Target target, long unless) {
    Key key = target.key();
    if (!engine.quarantine().all().isEmpty()) {
      RuntimeException diverged = engine.quarantine().refusal(key, generation(key));
      if (diverged != null) throw diverged;
    }
    if (unless >= 0) {
      PositionRequest asked =
          engine.questions().position(() -> engine.admission().accepted(target::pin));
      if (asked.number() == unless) return new Checkpoint(unless, 0, asked.reach(), null);
    }
    return engine.questions().state(() -> engine.admission().accepted(target::pin));
  }

  /// A state of a key that is kept beside the store's own, by playback.
  public LocalView follow(Target target) {
    return new LocalView(engine.playback(), engine.questions(), target);
  }

  /// A put in the log.
  ///
  /// @param address its stream address
  /// @param value what was put
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  public record LoggedPut(long address, byte[] value) {}

  /// The puts among the last entries of a key, oldest first.
  ///
  /// @param entries how many entries to look at
  public List<LoggedPut> lastPuts(Key key, int entries) {
    long position = engine.questions().position(key);
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

  /// Executes a logged put again, within the time of a call, and answers what it answers. Changes
  /// nothing.
  ///
  /// @param factory makes the handlers that execute it, and the puts since the last checkpoint in
  ///   front of it
  /// @return null when the put was taken back, or found its key absent
  /// @throws stoa.TooOld when what is in front of it was released
  /// @throws stoa.Corrupt when a handler asks other keys what the log has no answer to
  public @Nullable Answer replay(Key key, long address, HandlerFactory factory) {
    return engine.loader().replay(key, address, factory);
  }

  /// Runs code of a key on the calling thread, beside the state, within the time of a call.
  ///
  /// @throws stoa.DeadlineExceeded when it took longer; code that can be stopped is
  public <T> T limited(Key key, Supplier<T> code) {
    Execution execution = Execution.beside(engine.runs(), key, 0, 0);
    return engine.runs().here(execution, 0, code);
  }

  // ---- the operator

  /// Puts a key into quarantine whose replicas have diverged: from now on its puts and questions
  /// fail with [stoa.Diverged]. It is logged, and holds until the key is deleted, or [#accept]ed.
  ///
  /// @param evidence what a [Following] told
  /// @return whether it is in quarantine; false when the key was deleted since, or a later state
  ///   was accepted
  public boolean quarantine(Divergence evidence) {
    engine.health().checkOpen();
    checkUsable();
    return engine.quarantineLog().put(evidence);
  }

  /// The evidence against the keys that are in quarantine.
  public List<Divergence> diverged() {
    return engine.quarantine().all();
  }

  /// Ends the quarantine of a key: every replica goes on with the state that it has here, which is
  /// logged. It may have versions of its past that differ from those of other replicas.
  ///
  /// @return false when it was in none
  /// @throws LimitExceeded when the state is too large to be logged; it can be deleted
  public boolean accept(Key key) {
    engine.health().checkOpen();
    checkUsable();
    return engine.quarantineLog().accept(key);
  }

  /// Follows what another server leads, with a store that was opened by [#following], and closes
  /// the store with itself.
  ///
  /// @param threads where it executes
  /// @param names what the layer above knows of keys
  /// @param warmBytesMax encoded size of the states that are kept in memory
  /// @param told is told of each divergence, on a worker's thread, again and again until the log
  ///   says that the key is quarantined; to be passed to the leader
  public Backup compare(
      Threads threads, KeyNames names, long warmBytesMax, Consumer<Divergence> told) {
    var parts =
        new Following.Store(
            engine.quarantine(), engine.loader(), engine.spaces(), engine.streams(), this::close);
    return new Following(parts, threads, names, warmBytesMax, told);
  }

  /// The calls that run and wait, as many as are asked for, those that run first. Looks at every
  /// key in memory.
  public List<OngoingCall> calls(int callsMax) {
    return engine.callList().calls(callsMax);
  }

  /// Cancels a call: it fails with [stoa.CallFailed], which names the operator. A logged one is
  /// taken back by a verdict, so that it is in every replay; the state of its key is what it was
  /// before. What it had put to other keys stands.
  ///
  /// @param id of an [OngoingCall]
  /// @return false when it is not under way any more, is known to stand, as part of a committed
  ///   transaction, or is to be run again and no thread began that within a second
  public boolean cancel(long id) {
    engine.health().checkOpen();
    return engine.callList().cancel(id);
  }

  // ---- the handlers of other stores

  /// Calls a key of this store for the handler of another one, see [Neighbors#visit].
  ///
  /// @throws Unavailable when that is not known now, or this is not led here any more
  public Visit.Said visit(Visit visit, int ticks) {
    return engine.incomingCalls().visit(visit, ticks);
  }

  /// The next call in the wait chain of a visit to this store, see [Neighbors#follow].
  public Visit.NextWait follow(Visit.Id id) {
    return engine.incomingCalls().follow(id);
  }

  /// Refuses a call on the way of a visit to this store that waits for its turn, see
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

  /// Begins the transaction of one question whose handler asks other keys: all are seen as they are
  /// now.
  public StoreTransaction beginQuestion() {
    return engine.transactions().beginQuestion();
  }

  /// As [#beginQuestion()], for a question that was given up: all keys are seen as of a moment at
  /// which its own was as it was found then.
  public StoreTransaction beginQuestion(Request moved) {
    return engine.transactions().beginQuestion(moved);
  }

  /// What became of a transaction that an earlier process may have committed: its log address, or
  /// null when nothing of it was written.
  ///
  /// @throws stoa.TooOld when that is too long ago to be known
  public @Nullable LogAddress outcome(StoreTransaction.Id id) {
    return engine.transactions().outcome(id);
  }

  /// Holds up everything that would be logged here, for transactions that this and other stores
  /// with the same order commit together. Waits for the batch under way.
  ///
  /// @throws Unavailable when that takes too long, or the log has failed
  Prepared hold() {
    engine.health().checkOpen();
    engine.intake().hold();
    return new Prepared(engine.leader(), engine.intake());
  }

  /// The term under which this leads its log.
  long term() {
    return engine.intake().term();
  }

  /// A number that nobody else has who has opened this log before, or will. The epoch need not be
  /// one: several stores with one order keep theirs when one of them is opened again.
  public long owner() {
    return engine.intake().owner();
  }

  /// The epoch in which log addresses are issued.
  public long epoch() {
    return engine.intake().epoch();
  }

  /// Makes keys known whose puts an earlier process left unfinished after they had put to other
  /// keys, so that they go on before anything else is asked; but for those that wait for other
  /// stores, which may wait for this one to be open.
  ///
  /// @param keys makes a key of its space and name
  public void resume(BiFunction<String, byte[], Key> keys) {
    engine.resuming().begin(keys);
  }

  /// The entries of a key's stream from one address to another, both inclusive.
  public List<Event> events(Key key, long from, long to) {
    engine.health().checkOpen();
    checkUsable();
    engine.timeline().check(key, from);
    var events = new ArrayList<Event>();
    Resident resident = engine.residents().pin(key);
    try {
      long end = Math.min(to, resident.tail());
      engine
          .streams()
          .scan(
              key.stream(),
              Math.max(1, from),
              end,
              entry -> {
                if (entry.kind() != Records.CHECKPOINT) events.add(Event.of(entry));
                return true;
              });
    } finally {
      resident.unpin();
    }
    engine.timeline().check(key, from); // it may have been released just now
    return events;
  }

  /// Tells what the store has measured since it was opened.
  public void measure(Measures out) {
    engine.tally().measure(out);
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

  /// Is told of a key in memory.
  public interface InMemory {
    /// A key.
    ///
    /// @param tail the last address of its stream
    /// @param bytes about what it takes in memory
    void tell(Key key, long tail, long bytes);
  }

  /// Tells of the keys in memory, in no order.
  public void eachInMemory(InMemory visitor) {
    engine
        .residents()
        .visit(resident -> visitor.tell(resident.key, resident.tail(), resident.weight()));
  }

  /// How many keys are in memory.
  public int residentKeys() {
    return engine.residents().size();
  }

  // ---- leading

  /// Leads what was begun on the calling thread, a [Gatherer], and runs what is brief of it; leaves
  /// it to the writer and the workers when that may take long. What is begun by several is led
  /// once.
  public void leadGathered() {
    engine.leader().leadGathered();
  }

  /// Has something done when the calling thread has run the brief requests that it runs one after
  /// the other; answers false when it runs none.
  public boolean afterRound(Runnable task) {
    return engine.leader().afterRound(task);
  }

  // ---- its end

  /// Counts work of the layer above as under way until [#release], so that closing waits for it.
  ///
  /// @throws LimitExceeded when too much is under way
  /// @throws Closed when the store is closed
  public void admit() {
    engine.admission().accept();
  }

  /// Ends what [#admit] began.
  public void release() {
    engine.admission().settled();
  }

  /// Throws [stoa.Unavailable] when the log has failed, or this process need not show all that was
  /// acknowledged.
  public void checkUsable() {
    engine.health().confirm();
  }

  /// Whether it is closed, or about to be.
  public boolean isClosed() {
    return engine.health().isClosed();
  }

  /// Whether the log has failed: the store must be opened again.
  public boolean hasFailed() {
    return engine.health().hasFailed();
  }

  /// What the log failed with; null while it has not.
  public @Nullable RuntimeException failure() {
    return engine.health().failure();
  }

  @Override
  public void close() {
    engine.close();
  }
}

package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.Blob;
import stoa.Deadlock;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Reads;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamKey;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.base.StreamId;
import stoa.base.Trace;
import stoa.base.Tracer;
import stoa.front.CallMeters;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.Placing;
import stoa.front.Refusals;
import stoa.front.SharedBlob;
import stoa.front.SharedCall;
import stoa.front.marshal.Effort;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.storage.DeviceStats;
import stoa.store.Participant;
import stoa.store.Store;
import stoa.store.calls.Checkpoint;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Pace;
import stoa.store.calls.PriorOutcome;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.leading.Intents;
import stoa.store.ordering.Coordinator;
import stoa.store.past.Pins;
import stoa.store.past.Shipment;
import stoa.store.replicas.Divergence;
import stoa.store.running.Execution;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;
import stoa.store.streams.StoredStreams;
import stoa.store.watching.WatchRegistration;
import stoa.store.watching.Watcher;

/// The operations of a server on its store for its clients, in bytes: the marshaller encodes
/// arguments and answers, [Keys] encodes keys.
///
/// Thread-safe. A method marked quick waits for nothing but memory. Every other method may wait for
/// the disk or run users' code, and belongs on a thread that may wait.
public final class ObjectService implements Placing.Served, AutoCloseable {
  // The most time that a client's transaction may take: the store keeps the versions that it reads.
  private static final long TRANSACTION_MICROS_MAX = TimeUnit.HOURS.toMicros(24);

  private static final Key PROBED = Key.of("stoa/directory", "stoa/probe");

  private final LocalService stoa;
  private final Store store;
  private final Naming naming;
  private final ClassLoader classesOfKeys;
  private final Sessions sessions;
  private final KeyService keys;
  private final CodeService code;
  private final StreamService streams;
  private final ChangeService changes;

  private ObjectService(LocalService stoa, Predicate<Class<?>> admissible) {
    this.stoa = stoa;
    this.store = stoa.core();
    this.naming = new Naming(stoa.catalog(), admissible);
    this.sessions = new Sessions(store);
    this.classesOfKeys = naming.classesOfKeys();
    this.keys =
        new KeyService(stoa.keyValues(), stoa.catalog(), stoa.part(), naming, stoa.callBytesMax());
    this.code = new CodeService(stoa.catalog(), store);
    this.streams =
        new StreamService(stoa.stoa(), store.userStreams(), stoa.part(), stoa.callBytesMax());
    this.changes = new ChangeService(stoa.changes(), stoa.catalog(), store);
    stoa.serve();
  }

  /// Opens the store of a configuration in this process.
  ///
  /// @param admissible decides which classes clients may use as elements of collections, beside
  ///   those in the configuration and those that shared classes name
  public static ObjectService open(StoaConfig config, Predicate<Class<?>> admissible) {
    return of(new EmbeddedEngine().open(config), admissible);
  }

  /// Returns the service of a store that is open in this process. Closing the service closes the
  /// store.
  public static ObjectService of(Stoa stoa, Predicate<Class<?>> admissible) {
    return new ObjectService(LocalService.of(stoa), admissible);
  }

  @Override
  public void close() {
    stoa.close();
  }

  @Override
  public boolean hasFailed() {
    return store.hasFailed();
  }

  /// Returns whether the store is closed, or about to be.
  public boolean isClosed() {
    return store.isClosed();
  }

  /// Returns why the store takes no more calls until a process opens it again; null while it takes
  /// calls. A device that takes no more commits counts, even if no call has met the failure.
  public @Nullable Throwable failure() {
    return stoa.failure();
  }

  /// Quarantines an object whose replicas have diverged: its calls fail with [stoa.Diverged] from
  /// now on, at every replica, until an operator deletes or [#accept]s it. Logs, and therefore
  /// waits.
  ///
  /// @param evidence the divergence that a [Standby] reported
  /// @return whether the object is in quarantine; false when it was deleted meanwhile
  public boolean quarantine(Divergence evidence) {
    return store.quarantine(evidence);
  }

  /// Returns the evidence against the objects in quarantine.
  public List<Divergence> diverged() {
    return store.diverged();
  }

  /// Ends the quarantine of an object: every replica continues with the state of this replica.
  /// Logs, and therefore waits. Versions of its past may differ between replicas.
  ///
  /// @param object its name, see [Divergence#object]
  /// @return false when it is not in quarantine
  /// @throws LimitExceeded when the state is too large for a log entry; an operator can then delete
  ///   the object
  public boolean accept(String object) {
    for (Divergence evidence : store.diverged()) {
      if (evidence.object().equals(object)) {
        return store.accept(stoa.catalog().key(evidence.space(), evidence.name()));
      }
    }
    return false;
  }

  /// Answers a question of another group, see [Neighborhood]. May wait.
  ///
  /// @param tracer records calls that the other group records; null when nobody does
  public byte[] neighbor(byte[] question, @Nullable Tracer tracer) {
    Neighborhood neighborhood = stoa.neighborhood();
    if (neighborhood == null) throw new IllegalStateException("this store has one group");
    return neighborhood.answer(question, naming, tracer);
  }

  /// Returns the key of an object of any type, for messages.
  public Key keyOf(String type, byte[] key) {
    try {
      return key(type, key);
    } catch (RuntimeException unknown) {
      return new Key(type, key, type + "[" + new String(key, StandardCharsets.UTF_8) + "]");
    }
  }

  /// Returns the sessions of clients.
  public Sessions sessions() {
    return sessions;
  }

  /// Returns the URL of the store.
  public String place() {
    return stoa.url();
  }

  /// Returns the limits of calls.
  public stoa.Limits limits() {
    return stoa.limits();
  }

  /// Returns the service of keys and values.
  public KeyService keys() {
    return keys;
  }

  /// How much of the past the store keeps.
  public RetentionService retention() {
    return stoa.retention();
  }

  /// Returns the service of backups.
  public BackupService backups() {
    return new BackupService(store, stoa.shards());
  }

  /// Returns the service that shows objects to operators.
  public LookService look() {
    return new LookService(store, stoa.catalog(), stoa::calls);
  }

  /// Returns the service of code versions.
  public CodeService code() {
    return code;
  }

  /// Returns the names that clients and the store refer to by number.
  public Naming naming() {
    return naming;
  }

  /// Returns the log counter up to which the store has committed all calls and notified all
  /// watchers. Quick.
  public long moment() {
    return store.moment();
  }

  /// Writes the calls that the calling thread, a [stoa.store.threads.Gatherer], has begun. Quick.
  public void writeGathered() {
    store.writeGathered();
  }

  /// Schedules a task after the calling thread's present round of settling calls; returns false
  /// when the thread does no such rounds.
  public boolean afterRound(Runnable task) {
    return store.afterRound(task);
  }

  /// Returns the epoch of new log addresses.
  public long epoch() {
    return store.epoch();
  }

  /// Returns a number that no other process has that opens this store, before or after.
  public long owner() {
    return store.owner();
  }

  /// Returns the number of objects in memory.
  public int residentKeys() {
    return store.residentKeys();
  }

  // ---- the operator's commands

  /// Returns the statistics of the store's devices, by shard.
  public List<DeviceStats> devices() {
    return stoa.devices();
  }

  /// The room that a device takes, and the room that it may take.
  ///
  /// @param usedBytes the size of its segments and index
  /// @param freeBytes the room on its disk; [Long#MAX_VALUE] when nobody limits it
  /// @param quotaBytes the size that they may have; [Long#MAX_VALUE] without a quota
  /// @param fillableBytes the size at which it refuses changes for its quota: the quota without the
  ///   reserve for deletions; [Long#MAX_VALUE] without a quota
  public record Room(long usedBytes, long freeBytes, long quotaBytes, long fillableBytes) {}

  /// Returns the room of the store's devices, by shard. It may ask the disk.
  public List<Room> room() {
    return stoa.shards().stream()
        .map(device ->
            new Room(
                device.usedBytes(),
                device.roomBytes(),
                device.boundBytes(),
                device.fillableBytes()))
        .toList();
  }

  /// Asks the store for the end of a stream, as a read does.
  ///
  /// @throws stoa.StoaException when it cannot answer: its log or a device has failed, or other
  ///   servers do not confirm that it leads
  public void probe() {
    Throwable failed = failure();
    if (failed != null) throw new Unavailable(String.valueOf(failed.getMessage()), failed);
    var _ = store.tail(PROBED);
  }

  /// Tells what the store has measured since it was opened. It may ask the disk for its room.
  public void measure(Measures out) {
    stoa.measure(out);
  }

  /// Returns the meter of the call's method; null for a mere creation, or a call that cannot be
  /// read.
  public @Nullable Latency meter(Call call, CallMeters meters) {
    try {
      ObjectType.Called called = call.container().type().called(new Decoder(call.bytes()));
      return called == null ? null : meters.of(called.type().shared(), called.method());
    } catch (RuntimeException malformed) {
      return null; // the code that begins the call reports the reason
    }
  }

  /// Returns the group whose part of the store this is.
  public int group() {
    return stoa.part().group();
  }

  /// Adds to a trace of which call it is.
  ///
  /// @param withKey whether to add the key of the object, which may be personal data
  public void trace(Trace trace, Call call, boolean withKey) {
    trace.tag("stoa.type", call.container().type().shared().name());
    if (withKey) trace.tag("stoa.key", call.container().key().toString());
    try {
      ObjectType.Called called = call.container().type().called(new Decoder(call.bytes()));
      trace.tag("stoa.method", called == null ? "new" : called.method().id());
    } catch (RuntimeException malformed) {
      // The code that begins the call reports the reason.
      trace.tag("stoa.method", "unknown");
    }
  }

  /// Returns running and waiting calls, at most the given number, running calls first.
  public List<ObjectCall> calls(int callsMax) {
    return stoa.calls(callsMax);
  }

  /// Returns how many calls wait for conditions of their objects.
  public int waitingCalls() {
    return store.waitingCalls();
  }

  /// Returns how many timers this store has, and what they have done.
  public TimerCounts timers() {
    return stoa.alarms().status();
  }

  /// Returns how the listeners of objects are.
  public ListenerCounts listeners() {
    return stoa.deliveries().counts();
  }

  /// Cancels a call; returns whether the call was in progress and cancelable.
  public boolean cancel(long id) {
    return stoa.cancel(id);
  }

  // ---- objects

  /// An object that a client has open.
  public static final class Container {
    private final ActiveCode active;
    private final Target target;

    private Container(ActiveCode active, Target target) {
      this.active = active;
      this.target = target;
    }

    /// Returns its type in the code that executes its puts now. This code may change while the
    /// object is open.
    private ObjectType type() {
      return active.now().type();
    }

    /// Returns its key in the store.
    public Key key() {
      return target.key();
    }
  }

  /// Returns whether [#container] is quick for a type: a caller has used it since this process
  /// opened the store.
  public boolean isKnown(String type) {
    return stoa.catalog().isKnown(type);
  }

  /// Returns an object, whether it exists or not.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  /// @throws NotShareable when the store has no class of that type, or the key is invalid
  /// @throws IllegalArgumentException when another group has it, see [Part]
  public Container container(String type, byte[] key) {
    ActiveCode active = stoa.catalog().active(type);
    ObjectType known = active.now().type();
    Key target = known.key(decoded(known, key));
    if (known.shared().isPlaced()) stoa.part().requireFirst(type);
    else stoa.part().require(target);
    return new Container(active, store.target(target));
  }

  @Override
  public void checkUsable() {
    store.checkUsable();
  }

  @Override
  public Placing.Root placing(String domain) {
    return stoa.placing(domain);
  }

  @Override
  public PlacedObject placed(String type, byte[] key) {
    ObjectType known = stoa.catalog().typeNamed(type);
    return stoa.placed(known, known.key(decoded(known, key)), new Existence.Undeleted(null));
  }

  /// Returns whether calls on the object need [#callPlaced], because it is placed at clients.
  public boolean isPlaced(Container container) {
    return container.type().shared().isPlaced();
  }

  /// Makes a call on an object placed at clients, for a client that does not execute the call
  /// itself; durable on return. Waits for the object.
  ///
  /// @return the answer, with the generation that answered, 0 when the object was absent
  public PlacedAnswer callPlaced(Call call) {
    Container container = call.container();
    Read read = read(call);
    ObjectType.Called called = read.called();
    var object = stoa.placed(container.type(), container.key(), call.existence());
    Object answer = null;
    byte[] thrown = null;
    try {
      var placing = placing(object.domain());
      if (called == null) placing.create(object);
      else answer = placing.call(object, called.method(), read.arguments(), Reads.STRICT);
    } catch (stoa.StoaException ofTheStore) {
      throw ofTheStore;
    } catch (Throwable ofTheMethod) {
      thrown = thrown(ofTheMethod);
    }
    byte[] encoded =
        thrown == null ? new ObjectAnswer.Shared(answer, stoa.marshaller()).encoded() : thrown;
    return new PlacedAnswer(encoded, object.live().generation(), moment());
  }

  /// Deletes an object placed at clients; durable on return. Waits for the object.
  ///
  /// @return the ended generation
  /// @throws Gone when the object is absent
  public long deletePlaced(Container container, Existence existence, @Nullable CallId id) {
    var object = stoa.placed(container.type(), container.key(), existence);
    return placing(object.domain()).delete(object, id);
  }

  /// Enters a call on an object that migrates: while the object is in the store and stays there,
  /// the caller can begin the call as on other objects. Waits for nothing.
  ///
  /// @return run it once when the call has ended; null when the caller must use [#callPlaced]
  public @Nullable Runnable enter(Call call) {
    Container container = call.container();
    boolean isUpdate;
    try {
      ObjectType.Called called = container.type().called(new Decoder(call.bytes()));
      SharedMethod.Kind kind = called == null ? null : called.method().kind();
      isUpdate = kind == SharedMethod.Kind.MUTATOR || kind == SharedMethod.Kind.UPDATE;
    } catch (RuntimeException malformed) {
      return null; // callPlaced says why
    }
    return isUpdate && isQuick(call) ? stoa.enter(live(container)) : null;
  }

  /// Returns whether a settled request did nothing, since the object is lent. [#callPlaced] then
  /// makes the call.
  ///
  /// @throws RuntimeException when the store answers with it in place of the object
  public boolean isLent(Request settled) {
    return !settled.isMoved() && settled.answer() instanceof ObjectAnswer.Lent;
  }

  /// Returns whether an answer means that the call did nothing, since the object is lent.
  public boolean isLent(Answer answer) {
    return answer instanceof ObjectAnswer.Lent;
  }

  private SharedCall live(Container container) {
    return stoa.live(container.type(), container.key());
  }

  private static void refusePlaced(Container container) {
    if (container.type().shared().isPlaced()) throw Refusals.placed(container.key());
  }

  private Object decoded(ObjectType type, byte[] key) {
    Object name = Keys.decode(key, naming.classesOfKeys(type.code()));
    if (java.util.Arrays.equals(Keys.encode(name), key)) return name;
    throw new NotShareable(
        "a key of " + type.shared().name() + " is not encoded as it would be here");
  }

  /// A call as it arrived.
  ///
  /// @param container the object
  /// @param existence the expected existence of the object
  /// @param bytes the number of the method plus 1 and the arguments; or the byte 0 to create
  public record Call(Container container, Existence existence, byte[] bytes) {
    /// Returns a description; it does not contain the arguments.
    @Override
    public String toString() {
      return "a call on " + container.key();
    }
  }

  /// @param brief whether decoding took little time, so that a thread that others wait for may
  ///   decode it again
  private record Read(
      ObjectType.@Nullable Called called, @Nullable Object[] arguments, boolean brief) {
    SharedMethod.@Nullable Kind kind() {
      return called == null ? null : called.method().kind();
    }
  }

  /// Decodes a call, so that the store never logs an invalid one.
  private Read read(Call call) {
    return read(call, Decoding.WHOLE);
  }

  /// The effort that a thread may spend on decoding.
  private enum Decoding {
    /// Brief: others wait for the thread.
    BRIEF,
    /// As long as a call may take.
    WHOLE
  }

  private Read read(Call call, Decoding decoding) {
    byte[] opening = call.existence().opening();
    if (opening != null) {
      if (opening.length > stoa.callBytesMax()) {
        throw new LimitExceeded(
            "what "
                + call.container().key()
                + " is to be begun from takes "
                + opening.length
                + " bytes; callBytesMax is "
                + stoa.callBytesMax());
      }
      if (!(opening(call.container(), opening, decoding) instanceof Object[])) {
        throw new IllegalArgumentException(
            call.container().key() + " is not to be begun from arguments");
      }
    }
    byte[] bytes = call.bytes();
    if (bytes.length > stoa.callBytesMax()) {
      throw new LimitExceeded(
          call + " takes " + bytes.length + " bytes; callBytesMax is " + stoa.callBytesMax());
    }
    try {
      var in = new Decoder(bytes);
      ObjectType.Called called = call.container().type().called(in);
      if (called == null) {
        if (in.remaining() > 0)
          throw new IllegalArgumentException(call + " has bytes behind the 0");
        return new Read(null, new Object[0], true);
      }
      return arguments(call, called, in.position(), decoding);
    } catch (stoa.Corrupt | Decoder.MalformedException malformed) {
      throw new IllegalArgumentException(
          call + " cannot be read: " + malformed.getMessage(), malformed);
    }
  }

  private @Nullable Object opening(Container container, byte[] bytes, Decoding decoding) {
    Marshaller marshaller = container.type().marshaller();
    ClassLoader keys = naming.classesOfKeys(container.type().code());
    return decoding == Decoding.BRIEF
        ? marshaller.value(bytes, keys, Effort.brief())
        : store.limited(container.key(), () -> marshaller.value(bytes, keys, Effort.full()));
  }

  private Read arguments(Call call, ObjectType.Called called, int from, Decoding decoding) {
    SharedMethod method = called.method();
    byte[] bytes = call.bytes();
    if (Marshaller.isSimple(method)) {
      // Decoding takes no longer than the bytes did.
      var arguments =
          called
              .type()
              .marshaller()
              .arguments(
                  method, bytes, from, bytes.length, naming.classesOfKeys(called.type().code()));
      return new Read(called, arguments, true);
    }
    return decoding == Decoding.BRIEF
        ? arguments(called, bytes, from, called.type().briefReading(method))
        : store.limited(
            call.container().key(), () -> arguments(called, bytes, from, Effort.full()));
  }

  private Read arguments(ObjectType.Called called, byte[] bytes, int from, Effort effort) {
    SharedMethod method = called.method();
    ObjectType type = called.type();
    long began = type.beginReading();
    var arguments =
        type.marshaller()
            .arguments(
                method, bytes, from, bytes.length, naming.classesOfKeys(type.code()), effort);
    return new Read(called, arguments, type.endReading(method, began));
  }

  /// Returns whether a call reads its object only.
  ///
  /// @throws IllegalArgumentException when the call cannot be read
  public boolean isReading(Call call) {
    try {
      var called = call.container().type().called(new Decoder(call.bytes()));
      return called != null && called.method().kind().isReading();
    } catch (stoa.Corrupt | Decoder.MalformedException malformed) {
      throw new IllegalArgumentException(
          call + " cannot be read: " + malformed.getMessage(), malformed);
    }
  }

  /// Returns whether [#begin] is quick for a call: the call cannot create the object, so that no
  /// constructor runs.
  public boolean isQuick(Call call) {
    return call.existence() instanceof Existence.Generation
        || call.container().target.generationHint() != 0;
  }

  /// Begins a call; for an object that migrates only after [#enter]. Quick when [#isQuick] returns
  /// true.
  ///
  /// @param timeMax the most time that it may take from now on
  /// @param id the log has it with the call if the call changes something; null for none
  /// @return the request; when it is settled, [#encoded] returns its answer
  /// @throws Throwable the exception of the object's constructor, if the call would create the
  ///   object
  public Request begin(Call call, Duration timeMax, @Nullable CallId id) throws Throwable {
    return begin(call, read(call), timeMax, id, Terms.NEW);
  }

  /// Begins a call like [#begin] that waited at an earlier process.
  ///
  /// @param arrived the result of [#arrived]
  public Request beginAgain(Call call, Duration timeMax, CallId id, long arrived) throws Throwable {
    return begin(call, read(call), timeMax, id, arrived);
  }

  /// Returns the place of a repeated call among those that wait for conditions of its object, see
  /// [Terms#arrived()].
  ///
  /// @param since a log counter in front of the call
  public long arrived(Call call, CallId id, long since) {
    ObjectType.Called called = read(call).called();
    if (called == null || !called.method().awaits()) return Terms.NEW;
    long first = store.arrived(call.container().key(), id, since);
    return first == 0 ? Terms.NEW : first;
  }

  /// Begins a call like [#begin], on a thread that others wait for.
  ///
  /// @throws NotBrief when that may take long: it has done nothing, and another thread must call
  ///   [#begin]
  public Request beginBriefly(Call call, Duration timeMax, @Nullable CallId id) throws Throwable {
    return begin(call, read(call, Decoding.BRIEF), timeMax, id, Terms.NEW);
  }

  private Request begin(Call call, Read read, Duration timeMax, @Nullable CallId id, long arrived)
      throws Throwable {
    Request begun = begun(call, read, timeMax, id, arrived);
    return id == null ? begun : begun.askedBy(id.session());
  }

  private Request begun(Call call, Read read, Duration timeMax, @Nullable CallId id, long arrived)
      throws Throwable {
    ObjectType.Called called = read.called();
    Target target = call.container().target;
    if (called == null) {
      tryToBegin(call);
      return store.putAsync(
          target,
          Put.of(call.bytes()),
          Terms.expecting(call.existence()).at(Pace.SHORT).within(timeMax).of(id));
    }
    Pace pace = read.brief() ? called.type().pace(called.method()) : Pace.LONG;
    return switch (called.method().kind()) {
      case ACCESSOR ->
          isApart(call)
              ? store.getAsync(
                  target,
                  question(read, called),
                  Terms.expecting(call.existence()).at(pace).within(timeMax))
              : store.getAsync(
                  target,
                  question(read, called),
                  Terms.expecting(call.existence()).at(pace).within(timeMax).alone());
      case MUTATOR, UPDATE -> {
        tryToBegin(call);
        yield store.putAsync(
            target,
            Put.of(call.bytes()).on(footprint(call, read, called)),
            Terms.expecting(call.existence()).at(pace).within(timeMax).of(id).since(arrived));
      }
      case TRANSACTION, READING_TRANSACTION ->
          throw new IllegalArgumentException(
              called.method() + " is a transaction; it is called in one");
    };
  }

  private static Footprint footprint(Call call, Read read, ObjectType.Called called) {
    return called.type().footprint(call.container().active, called.method(), read.arguments());
  }

  /// Returns whether the object shares no order with others.
  private static boolean isApart(Call call) {
    return call.container().type().shared().order() == LogOrder.STREAM;
  }

  /// The answer to a question.
  ///
  /// @param encoded the answer
  /// @param generation the generation that answered, 0 when the object was absent
  /// @param reach the log counter up to which it reaches
  public record PlacedAnswer(byte[] encoded, long generation, long reach) {}

  /// Repeats a question after a settled request that [Request#isMoved]: the accessor asks other
  /// objects, and sees all of them as of one moment.
  ///
  /// @throws PlacedObjects.LentToClients when the object is lent
  public PlacedAnswer askWhole(Call call, Request moved) {
    try {
      return askWhole(call, store.beginQuestion(moved));
    } catch (TooOld released) {
      return askWhole(call, store.beginQuestion());
    }
  }

  private PlacedAnswer askWhole(Call call, StoreTransaction moment) {
    try (moment) {
      Read read = read(call);
      ObjectType.Called called = java.util.Objects.requireNonNull(read.called());
      called.type().sawAskOthers(called.method());
      Container container = call.container();
      Answer answer =
          moment.get(container.target, question(read, called), call.existence(), Pace.LONG);
      if (isLent(answer)) throw new PlacedObjects.LentToClients();
      long counter = moment.at().counter();
      return new PlacedAnswer(
          answer.encoded(), store.at(container.key(), counter).generation(), counter);
    }
  }

  private static ObjectHandler.Question question(Read read, ObjectType.Called called) {
    return new ObjectHandler.Question(called.type(), called.method(), read.arguments());
  }

  private void tryToBegin(Call call) throws Throwable {
    if (isQuick(call) || call.container().target.generationHint() != 0) return;
    if (store.generation(call.container().key()) == 0) construct(call);
  }

  private void construct(Call call) throws Throwable {
    Existence existence = call.existence();
    if (existence instanceof Existence.Generation) return;
    Container container = call.container();
    stoa.construct(container.type(), container.key(), existence);
  }

  /// Returns the answer of a settled request, encoded. Quick.
  ///
  /// @throws RuntimeException when the store answers with it in place of the object
  public byte[] encoded(Request settled) {
    return settled.answer().encoded();
  }

  /// Returns the outcome of a call or deletion that an earlier process logged; null when none did.
  public @Nullable PriorOutcome earlier(Container container, CallId id, long since) {
    return store.earlier(container.key(), id, since);
  }

  /// Returns a call in the form in which the client of a network sends it, for simulated clients.
  public Call call(Container container, SharedMethod method, @Nullable Object... arguments) {
    return new Call(container, new Existence.Any(null), container.type().call(method, arguments));
  }

  /// Returns what an [encoded] answer says to the caller, for simulated clients.
  ///
  /// @throws Throwable what the method threw
  public @Nullable Object value(byte[] encoded) throws Throwable {
    return ObjectAnswer.get(encoded, stoa.marshaller());
  }

  /// Returns a throwable as an encoded answer.
  public byte[] thrown(Throwable thrown) {
    return new ObjectAnswer.Travelling(ObjectAnswer.THREW, stoa.marshaller().thrown(thrown))
        .encoded();
  }

  /// Returns a throwable in the marshaller's encoding.
  public byte[] throwable(Throwable thrown) {
    return stoa.marshaller().thrown(thrown);
  }

  /// Begins to delete an object. Quick.
  ///
  /// @param timeMax the most time that it may take from now on
  /// @return the request, whose number is the ended generation
  public Request delete(
      Container container, Existence existence, Duration timeMax, @Nullable CallId id) {
    Check.that(!isPlaced(container), "%s is at clients", container.key());
    Terms terms = Terms.expecting(existence).of(id);
    // Where clients may have the object, the store must tell them of the deletion.
    return store.deleteAsync(
        container.target, mayBeLent(container) ? terms : terms.within(timeMax));
  }

  /// Returns whether [#deleted] may have work. Quick.
  public boolean mayBeLent(Container container) {
    return stoa.mayBeLent(live(container));
  }

  /// Finishes a deletion: on return, no client calls the object at its own place any more.
  public void deleted(Container container) {
    stoa.deleted(live(container));
  }

  /// Returns the generation of an object, 0 when it is absent.
  public long generation(Container container) {
    return store.generation(container.key());
  }

  // ---- transactions

  /// A transaction. One thread at a time uses it; every method may take long.
  public final class Transacting implements AutoCloseable {
    private final StoreTransaction transaction;

    private final boolean past;

    private Transacting(StoreTransaction transaction, boolean past) {
      this.transaction = transaction;
      this.past = past;
    }

    /// Returns the log address at which it reads.
    public LogAddress at() {
      return transaction.at();
    }

    /// Makes a call as part of it.
    ///
    /// @param callers the objects whose methods wait for it, outermost first; empty for a call by
    ///   the body
    /// @param answers the answers to its first errands
    public Errand.Reply call(Call call, List<Key> callers, List<Errand.Answer> answers)
        throws Throwable {
      Neighborhood others = stoa.neighborhood();
      if (others == null) return new Errand.Reply(call(call, true), null);
      try {
        List<byte[]> known =
            answers.stream().map(said -> others.translated(said, classesOfKeys)).toList();
        return new Errand.Reply(
            transaction.leaving(callers, known, () -> called(call, callers)), null);
      } catch (Execution.Leaving left) {
        return new Errand.Reply(null, others.errand(left));
      }
    }

    private byte[] called(Call call, List<Key> callers) throws Throwable {
      if (callers.isEmpty()) return call(call, true);
      try {
        return call(call, false);
      } catch (Gone | AlreadyExists | Deadlock told) {
        // For the calling method.
        byte[] thrown = stoa.marshaller().thrown(told);
        return new ObjectAnswer.Travelling(ObjectAnswer.THREW, thrown).encoded();
      }
    }

    /// Declares the intent to run it again, once it was aborted.
    ///
    /// @param settled called when the store has decided; it must not wait
    /// @return gives the number of the intent, 0 when there is none, and may wait for a batch. Null
    ///   when the store gives no intent, and calls nothing
    public @Nullable LongSupplier intend(long micros, long waitMicros, Runnable settled) {
      Intents.Intent intent = store.intents().declare(transaction, micros, waitMicros, settled);
      if (intent == null) return null;
      return () -> store.intents().awaitBefore(intent) == null ? 0 : intent.id();
    }

    /// Returns how many objects it has read and written.
    public int objects() {
      return transaction.keys();
    }

    /// Returns how many bytes it would log.
    public long bytes() {
      return transaction.bytes();
    }

    /// @param tries whether it throws a constructor's exception, and creates nothing
    private byte[] call(Call call, boolean tries) throws Throwable {
      byte[] answer = made(call, tries);
      if (answer[0] == ObjectAnswer.LENT) throw stoa.metLent(live(call.container()));
      return answer;
    }

    private ObjectHandler.Question asked(Call call, Read read, ObjectType.Called called) {
      var question = question(read, called).in(call.container().active);
      return past ? question.ofStore() : question;
    }

    private byte[] made(Call call, boolean tries) throws Throwable {
      Container container = call.container();
      Refusals.stream(container.type().shared());
      refusePlaced(container);
      Read read = read(call);
      ObjectType.Called called = read.called();
      Target target = container.target;
      Pace pace = called == null ? Pace.SHORT : called.type().pace(called.method());
      return switch (read.kind()) {
        case null -> put(call, Footprint.ALL, Pace.SHORT, tries);
        case MUTATOR, UPDATE ->
            put(call, footprint(call, read, java.util.Objects.requireNonNull(called)), pace, tries);
        case ACCESSOR ->
            transaction
                .get(
                    target,
                    asked(call, read, java.util.Objects.requireNonNull(called)),
                    call.existence(),
                    pace)
                .encoded();
        case TRANSACTION, READING_TRANSACTION ->
            nested(call, read, java.util.Objects.requireNonNull(called));
      };
    }

    private byte[] put(Call call, Footprint footprint, Pace pace, boolean tries) throws Throwable {
      if (tries && !transaction.isReadOnly() && transaction.generation(call.container().key()) == 0)
        construct(call);
      Answer answer =
          transaction.put(
              call.container().target, Put.of(call.bytes()).on(footprint), call.existence(), pace);
      return answer.encoded();
    }

    private byte[] nested(Call call, Read read, ObjectType.Called called) {
      if (called.method().kind() == SharedMethod.Kind.READING_TRANSACTION)
        transaction.enterToRead();
      else transaction.enter();
      boolean kept = false;
      try {
        byte[] answer =
            transaction
                .run(call.container().target, asked(call, read, called), call.existence())
                .encoded();
        kept = answer[0] == ObjectAnswer.RETURNED;
        return answer;
      } finally {
        if (kept) transaction.keep();
        else transaction.drop();
      }
    }

    /// Deletes an object.
    ///
    /// @return the ended generation, 0 when this transaction created the object
    public long delete(Container container, Existence existence) {
      Refusals.stream(container.type().shared());
      refusePlaced(container);
      if (stoa.isLent(transaction, container.target, existence))
        throw stoa.metLent(live(container));
      long ended = transaction.delete(container.target, existence);
      return ended;
    }

    /// Appends an entry to a user's stream when it commits.
    ///
    /// @throws IllegalArgumentException as [StreamService#require], and when the stream belongs to
    ///   an object, or to the store itself
    public void append(StreamKey stream, byte[] data) {
      streams.checkBytes(data.length);
      transaction.append(StoredStreams.keyOf(streams.require(stream)), data);
    }

    /// Returns the generation of an object, 0 when it is absent.
    public long generation(Container container) {
      return transaction.generation(container.key());
    }

    /// Begins a nested transaction.
    public void enter() {
      transaction.enter();
    }

    /// Begins a nested transaction that only reads.
    public void enterToRead() {
      transaction.enterToRead();
    }

    /// Ends the innermost nested transaction, and keeps its changes.
    public void keep() {
      transaction.keep();
    }

    /// Ends the innermost nested transaction, and drops its changes.
    public void drop() {
      transaction.drop();
    }

    /// Returns the identity by which a client finds its outcome; null while it has changed nothing.
    public StoreTransaction.@Nullable Id id() {
      return transaction.identity();
    }

    /// Commits it.
    ///
    /// @throws stoa.Aborted when another call has changed an object that it read or wrote
    /// @throws stoa.UnknownOutcome when the store failed
    public LogAddress commit() {
      return transaction.commit();
    }

    @Override
    public void close() {
      transaction.close();
    }
  }

  /// Returns this store as a participant of the transactions that a [Coordinator] commits.
  ///
  /// @param open finds a transaction that is open here
  public Participant participant(Function<Coordinator.Part, @Nullable Transacting> open) {
    return new Participant(
        store,
        part -> {
          Transacting transacting = open.apply(part);
          return transacting == null ? null : transacting.transaction;
        });
  }

  /// Begins a coordinator that runs at this store. The store was opened with its order.
  ///
  /// @param here the participant of this store
  public void coordinate(Coordinator coordinator, Participant here) {
    coordinator.begin(here);
  }

  /// Begins a transaction.
  ///
  /// @param mode the permitted operations
  /// @param asked the client's limits; the store's own limits apply where they are lower
  /// @param at the log address at which it reads; null for the present
  /// @param session the client's
  ///
  /// @param intent the number of the intent under which it runs; 0 for none
  public Transacting transact(
      TransactionMode mode,
      TransactionLimits asked,
      @Nullable LogAddress at,
      long session,
      long intent) {
    var limits = stoa.limits();
    long micros = less(asked.micros, TRANSACTION_MICROS_MAX);
    int objects = (int) less(asked.objectsMax, limits.transactionObjectsMax());
    long bytes = less(asked.bytesMax, limits.transactionBytesMax());
    var names =
        new StoreTransaction.LimitNames(
            whose(micros == asked.micros) + "timeMax, or what was left of totalTimeMax",
            whose(objects == asked.objectsMax) + "transactionObjectsMax",
            whose(bytes == asked.bytesMax) + "transactionBytesMax");
    var access =
        mode == TransactionMode.READING
            ? StoreTransaction.Access.READS
            : StoreTransaction.Access.WRITES;
    var bounds = new StoreTransaction.Bounds(access, micros, objects, bytes, names);
    StoreTransaction begun = at == null ? store.begin(bounds) : store.begin(bounds, at);
    begun.under(store.intents().find(intent)).askedBy(session);
    return new Transacting(begun, at != null);
  }

  private static long less(long asked, long own) {
    return asked <= 0 ? own : Math.min(asked, own);
  }

  private static String whose(boolean ofClient) {
    return ofClient ? "the client's " : "the server's ";
  }

  /// A client's limits of a transaction; 0 each for the store's own limit.
  ///
  /// @param micros the most time that it may take
  /// @param objectsMax the most objects that it may read and write
  /// @param bytesMax the encoded size of its calls that are not accessors
  public record TransactionLimits(long micros, int objectsMax, long bytesMax) {}

  /// The permitted operations of a transaction.
  public enum TransactionMode {
    /// Read and change.
    CHANGING,
    /// Read.
    READING
  }

  /// Returns the outcome of a transaction; null when the store has written nothing of it.
  public @Nullable LogAddress outcome(StoreTransaction.Id id) {
    return store.outcome(id);
  }

  // ---- blobs and streams

  /// Returns a blob.
  ///
  /// @param key its encoded key
  /// @param generation the required generation, 0 for any
  public SharedBlob blob(byte[] key, long generation) {
    stoa.part().requireFirst("blobs");
    Object decoded = Keys.decode(key, classesOfKeys);
    return new SharedBlob(stoa.stoa(), stoa.blobs().at(decoded, generation));
  }

  /// Returns the changes of its objects.
  public ChangeService changes() {
    return changes;
  }

  /// Returns the service of streams.
  public StreamService streams() {
    return streams;
  }

  // ---- views

  /// The state of an object.
  ///
  /// @param version the address of its last change
  /// @param generation 0 when it is absent
  /// @param from the first log counter at which a reader sees it
  /// @param checkpoint the state in the form of the active code; null when the object is absent or
  ///   has the version that the asker has
  public record State(long version, long generation, long from, byte @Nullable [] checkpoint) {}

  /// Returns the present state of an object: it includes all calls answered before.
  ///
  /// @param unless the version for which to copy nothing; -1 for none
  public State fetch(Container container, long unless) {
    Checkpoint found = store.fetch(container.target, unless);
    byte[] state = found.state();
    if (state != null)
      state = ObjectHandler.told(stoa.catalog(), store, container.type(), container.key(), state);
    return new State(found.position(), found.generation(), found.from(), state);
  }

  /// Returns what brings a copy of an object at a client up to date; null when only a whole state
  /// does, see [#fetch].
  ///
  /// @param code the version of the code that the client has; null for classes of Stoa
  /// @param from where the copy goes on
  /// @param sees whether the client may see answers of objects of a type, by its stored name
  public @Nullable Shipment ship(
      Container container, @Nullable StreamId code, Shipment.From from, Predicate<String> sees) {
    return store.ship(
        container.target, from, new ClientCode(stoa.catalog(), container.type(), code, sees));
  }

  /// The name of a state in the form in which a client encodes it.
  ///
  /// @param form the form, see [Marshaller#form]
  /// @param digest the hash of the state
  public record Digest(long form, StreamId digest) {}

  /// Returns the digest of the checkpoint of an object at a version; null when there is none.
  public @Nullable Digest digest(Container container, long version) {
    byte[] checkpoint = store.checkpoint(container.key(), version);
    if (checkpoint == null) return null;
    ObjectType type = container.type();
    long form = type.marshaller().form(type.shared());
    byte[] state = ObjectHandler.plain(checkpoint);
    return state == null ? null : new Digest(form, StreamId.of(state));
  }

  /// Returns the number of the code that made a checkpoint; 0 when it has none.
  public static int code(byte[] checkpoint) {
    return ObjectHandler.code(checkpoint);
  }

  /// Returns the checkpoint with which a shipment begins, in the form that clients read.
  public static byte[] told(byte[] checkpoint) {
    byte[] state =
        Objects.requireNonNull(ObjectHandler.plain(checkpoint), "the object is an ordinary one");
    return new Encoder(checkpoint.length).u8(0).raw(state).toBytes();
  }

  /// Notifies a watcher of the changes of an object.
  public WatchRegistration watch(Container container, Watcher watcher) {
    return store.watch(container.key(), watcher);
  }

  // ---- the past

  /// Asks an accessor as of a log address.
  public byte[] ask(Call call, LogAddress at) {
    Refusals.stream(call.container().type().shared());
    return ask(call, store.at(call.container().key(), at.counter()));
  }

  /// Asks an accessor as of a version of the object.
  public byte[] ask(Call call, long version) {
    return ask(call, store.past(call.container().key(), version));
  }

  private byte[] ask(Call call, stoa.store.past.Past past) {
    Read read = read(call);
    ObjectType.Called called = read.called();
    if (called == null || called.method().kind() != SharedMethod.Kind.ACCESSOR) {
      throw new UnsupportedOperationException(
          call + " is not of an @Accessor; the past can only be read");
    }
    Pace pace = called.type().pace(called.method());
    return past.get(question(read, called).ofStore(), call.existence(), pace).encoded();
  }

  /// Keeps the versions that are readable now, or at an address.
  public Pins.Pin pin(@Nullable LogAddress at) {
    return at == null ? store.pinNow() : store.pinAt(at);
  }

  /// Returns the oldest readable version of an object.
  public long oldest(Container container) {
    return store.oldest(container.key());
  }

  /// Returns the newest version of an object.
  public long position(Container container) {
    return store.position(container.key());
  }

  /// Returns the entries of an object's stream.
  public List<KeyEntry> events(Container container, long from, long to) {
    return store.events(container.key(), from, to);
  }

  /// Releases versions of an object.
  public long trim(Container container, long before) {
    return store.trim(container.key(), before);
  }

  /// Takes a snapshot with a name.
  public Snapshot takeSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().snapshot(name);
  }

  /// Returns the snapshot of a name, or null.
  public @Nullable Snapshot findSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().findSnapshot(name).orElse(null);
  }

  /// Returns all snapshots with names.
  public List<Snapshot> snapshots() {
    requireSnapshots();
    return stoa.stoa().snapshots();
  }

  /// Deletes the snapshot of a name; returns whether there was one.
  public boolean deleteSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().deleteSnapshot(name);
  }

  private void requireSnapshots() {
    stoa.part().requireFirst("snapshots with names");
  }

  /// Returns the encoded keys of the existing objects of a type, oldest first.
  public java.util.Iterator<byte[]> list(String type) {
    if (type.equals(Blob.class.getName())) return store.list(type);
    return store.list(stoa.catalog().typeNamed(type).shared().name());
  }

  /// Returns a key of a stored type.
  ///
  /// @throws Gone when the store has no such type
  public Key key(String type, byte[] key) {
    return container(type, key).key();
  }
}

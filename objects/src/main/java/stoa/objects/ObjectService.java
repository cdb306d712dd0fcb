package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Gone;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Reads;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Latency;
import stoa.base.Measures;
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
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.PriorOutcome;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;

/// The operations of a server on its store for its clients, in bytes: the marshaller encodes
/// arguments and answers, [Keys] encodes keys.
///
/// Thread-safe. A method marked quick waits for nothing but memory. Every other method may wait for
/// the disk or run users' code, and belongs on a thread that may wait.
public final class ObjectService implements Placing.Served, AutoCloseable {
  private final LocalService stoa;
  private final Store store;
  private final Naming naming;
  private final ClassLoader classesOfKeys;
  private final Sessions sessions;
  private final KeyService keys;
  private final CodeService code;
  private final OperatorService operator;
  private final StreamService streams;
  private final ChangeService changes;
  private final CallReader reader;
  private final TransactionService transactions;
  private final ViewService views;
  private final PastService past;

  private ObjectService(LocalService stoa, Predicate<Class<?>> admissible) {
    this.stoa = stoa;
    this.store = stoa.core();
    this.naming = new Naming(stoa.catalog(), admissible);
    this.sessions = new Sessions(store);
    this.classesOfKeys = naming.classesOfKeys();
    this.keys =
        new KeyService(stoa.keyValues(), stoa.catalog(), stoa.part(), naming, stoa.callBytesMax());
    this.code = new CodeService(stoa.catalog(), store);
    this.operator = new OperatorService(stoa);
    this.streams =
        new StreamService(stoa.stoa(), store.userStreams(), stoa.part(), stoa.callBytesMax());
    this.changes = new ChangeService(stoa.changes(), stoa.catalog(), store);
    this.reader = new CallReader(store, naming, stoa.callBytesMax());
    this.transactions = new TransactionService(this, stoa, reader, classesOfKeys, streams);
    this.views = new ViewService(store, stoa.catalog());
    this.past = new PastService(stoa, reader);
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

  /// Answers a question of another group, see [Neighborhood]. May wait.
  ///
  /// @param tracer records calls that the other group records; null when none does
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

  /// Returns the service of operators.
  public OperatorService operator() {
    return operator;
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
  public boolean afterTurn(Runnable task) {
    return store.afterTurn(task);
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

  // ---- measures

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
    ObjectType type() {
      return active.now().type();
    }

    ActiveCode active() {
      return active;
    }

    Target target() {
      return target;
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
    CallReader.Decoded read = reader.whole(call);
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

  SharedCall live(Container container) {
    return stoa.live(container.type(), container.key());
  }

  static void refusePlaced(Container container) {
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
    return begin(call, reader.whole(call), timeMax, id, Terms.NEW);
  }

  /// Begins a call like [#begin] that waited at an earlier process.
  ///
  /// @param arrived the result of [#arrived]
  public Request beginAgain(Call call, Duration timeMax, CallId id, long arrived) throws Throwable {
    return begin(call, reader.whole(call), timeMax, id, arrived);
  }

  /// Returns the place of a repeated call among those that wait for conditions of its object, see
  /// [Terms#arrived()].
  ///
  /// @param since a log counter in front of the call
  public long arrived(Call call, CallId id, long since) {
    ObjectType.Called called = reader.whole(call).called();
    if (called == null || !called.method().awaits()) return Terms.NEW;
    long first = store.arrived(call.container().key(), id, since);
    return first == 0 ? Terms.NEW : first;
  }

  /// Begins a call like [#begin], on a thread that others wait for.
  ///
  /// @throws NotBrief when that may take long: it has done nothing, and another thread must call
  ///   [#begin]
  public Request beginBriefly(Call call, Duration timeMax, @Nullable CallId id) throws Throwable {
    return begin(call, reader.briefly(call), timeMax, id, Terms.NEW);
  }

  private Request begin(
      Call call, CallReader.Decoded read, Duration timeMax, @Nullable CallId id, long arrived)
      throws Throwable {
    Request begun = begun(call, read, timeMax, id, arrived);
    return id == null ? begun : begun.askedBy(id.session());
  }

  private Request begun(
      Call call, CallReader.Decoded read, Duration timeMax, @Nullable CallId id, long arrived)
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
                  read.question(),
                  Terms.expecting(call.existence()).at(pace).within(timeMax))
              : store.getAsync(
                  target,
                  read.question(),
                  Terms.expecting(call.existence()).at(pace).within(timeMax).alone());
      case MUTATOR, UPDATE -> {
        tryToBegin(call);
        yield store.putAsync(
            target,
            Put.of(call.bytes()).on(read.footprint(call.container())),
            Terms.expecting(call.existence()).at(pace).within(timeMax).of(id).since(arrived));
      }
      case TRANSACTION, READING_TRANSACTION ->
          throw new IllegalArgumentException(
              called.method() + " is a transaction; it is called in one");
    };
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
      CallReader.Decoded read = reader.whole(call);
      ObjectType.Called called = read.method();
      called.type().sawAskOthers(called.method());
      Container container = call.container();
      Answer answer = moment.get(container.target, read.question(), call.existence(), Pace.LONG);
      if (isLent(answer)) throw new PlacedObjects.LentToClients();
      long counter = moment.at().counter();
      return new PlacedAnswer(
          answer.encoded(), store.at(container.key(), counter).generation(), counter);
    }
  }

  private void tryToBegin(Call call) throws Throwable {
    if (isQuick(call) || call.container().target.generationHint() != 0) return;
    if (store.generation(call.container().key()) == 0) construct(call);
  }

  /// Runs the constructor of the object of a call, if the call would create it.
  void construct(Call call) throws Throwable {
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

  // ---- the services of topics

  /// Returns the service of transactions.
  public TransactionService transactions() {
    return transactions;
  }

  /// Returns the service of states for clients.
  public ViewService views() {
    return views;
  }

  /// Returns the service of the past.
  public PastService past() {
    return past;
  }

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

package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
import stoa.StreamStore;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Key;
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
import stoa.store.Checkpoint;
import stoa.store.Event;
import stoa.store.Execution;
import stoa.store.Pace;
import stoa.store.Participant;
import stoa.store.Pins;
import stoa.store.PriorOutcome;
import stoa.store.Put;
import stoa.store.Request;
import stoa.store.Store;
import stoa.store.Target;
import stoa.store.Terms;
import stoa.store.Transaction;
import stoa.store.ordering.Coordinator;
import stoa.store.replicas.Divergence;
import stoa.store.watching.Watch;
import stoa.store.watching.Watcher;

/// What a server does with its store for its clients, in bytes: arguments and answers are encoded
/// as the marshaller writes them, keys as [Keys] does.
///
/// Thread-safe. What is said to be quick waits for nothing but memory; everything else may wait for
/// the disk or run users' code, and belongs on a thread that may.
public final class ObjectService implements Placing.Served, AutoCloseable {
  /// How long a transaction of a client may take at most: what it reads is kept for it.
  private static final long TRANSACTION_MICROS_MAX = TimeUnit.HOURS.toMicros(24);

  private final LocalService stoa;
  private final Store store;
  private final Naming naming;
  private final ClassLoader classesOfKeys;
  private final Sessions sessions;
  private final KeyService keys;
  private final CodeService code;

  private ObjectService(LocalService stoa, Predicate<Class<?>> admissible) {
    this.stoa = stoa;
    this.store = stoa.core();
    this.naming = new Naming(stoa, admissible);
    this.sessions = new Sessions(store);
    this.classesOfKeys = naming.classesOfKeys();
    this.keys = new KeyService(stoa, classesOfKeys);
    this.code = new CodeService(stoa);
    stoa.serve();
  }

  /// Opens the store of a configuration in this process.
  ///
  /// @param admissible which classes clients may make elements of collections, beside those that
  ///   the configuration lists and those that shared classes name
  public static ObjectService open(StoaConfig config, Predicate<Class<?>> admissible) {
    return of(new EmbeddedEngine().open(config), admissible);
  }

  /// That of a store which is open in this process; closed with it.
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

  /// Why the store takes no more calls until it is opened again; null while it takes them. A device
  /// that takes no more commits counts, whether a call has met that or not.
  public @Nullable Throwable failure() {
    return stoa.failure();
  }

  /// Puts an object into quarantine whose replicas have diverged: its calls fail with
  /// [stoa.Diverged] from now on, at every replica, until it is deleted or [#accept]ed. Logged, so
  /// that this waits.
  ///
  /// @param evidence what a [Standby] told
  /// @return whether it is in quarantine; false when it was deleted since
  public boolean quarantine(Divergence evidence) {
    return store.quarantine(evidence);
  }

  /// The evidence against the objects that are in quarantine.
  public List<Divergence> diverged() {
    return store.diverged();
  }

  /// Ends the quarantine of an object: every replica goes on with the state that it has here.
  /// Logged, so that this waits. Versions of its past may differ between replicas.
  ///
  /// @param object what [Divergence#object] calls it
  /// @return false when it is in none
  /// @throws LimitExceeded when the state is too large to be logged; then it can be deleted
  public boolean accept(String object) {
    for (Divergence evidence : store.diverged()) {
      if (evidence.object().equals(object)) {
        return store.accept(stoa.key(evidence.space(), evidence.name()));
      }
    }
    return false;
  }

  /// Answers a question of another group, see [Neighborhood]. May wait.
  public byte[] neighbor(byte[] question) {
    Neighborhood neighborhood = stoa.neighborhood();
    if (neighborhood == null) throw new IllegalStateException("this store has one group");
    return neighborhood.answer(question, naming);
  }

  /// The key of an object, for messages, of whatever type.
  public Key keyOf(String type, byte[] key) {
    try {
      return key(type, key);
    } catch (RuntimeException unknown) {
      return new Key(type, key, type + "[" + new String(key, StandardCharsets.UTF_8) + "]");
    }
  }

  /// The sessions of clients.
  public Sessions sessions() {
    return sessions;
  }

  /// Where the store is.
  public String place() {
    return stoa.url();
  }

  /// The limits of the store.
  public stoa.Limits limits() {
    return stoa.limits();
  }

  /// The listenable key-value store.
  public KeyService keys() {
    return keys;
  }

  /// How much of the past the store keeps.
  public RetentionService retention() {
    return stoa.retention();
  }

  /// What an operator sees of the objects.
  public LookService look() {
    return new LookService(stoa);
  }

  /// The code of shared types.
  public CodeService code() {
    return code;
  }

  /// The names that clients and the store speak of by number.
  public Naming naming() {
    return naming;
  }

  /// The log counter up to which everything is committed, and all that watch have been told. Quick.
  public long moment() {
    return store.moment();
  }

  /// Leads what the calling thread, a [stoa.store.threads.Gatherer], has begun. Quick.
  public void leadGathered() {
    store.leadGathered();
  }

  /// Has something done soon, when the calling thread has settled what it settles one after the
  /// other; answers false when it does no such thing.
  public boolean afterRound(Runnable task) {
    return store.afterRound(task);
  }

  /// The epoch in which log addresses are issued.
  public long epoch() {
    return store.epoch();
  }

  /// A number that no other process has that has opened this store, or will.
  public long owner() {
    return store.owner();
  }

  /// How many objects are in memory.
  public int residentKeys() {
    return store.residentKeys();
  }

  // ---- what an operator does

  /// What the devices of the store have done and hold, by shard.
  public List<DeviceStats> devices() {
    return stoa.devices();
  }

  /// The calls that run and wait, as many as are asked for, those that run first.
  public List<ObjectCall> calls(int callsMax) {
    return stoa.calls(callsMax);
  }

  /// Cancels a call; answers whether it was under way and could be.
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

    /// Its type in the code that executes its puts now, which changes while it is open.
    private ObjectType type() {
      return active.now().type();
    }

    /// Its key in the store.
    public Key key() {
      return target.key();
    }
  }

  /// Whether [#container] is quick for a type: it was used since the store was opened.
  public boolean isKnown(String type) {
    return stoa.isKnown(type);
  }

  /// An object, whether it exists or not.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  /// @throws NotShareable when the store has no class of that type, or no such key can be
  /// @throws IllegalArgumentException when another group has it, see [Part]
  public Container container(String type, byte[] key) {
    ActiveCode active = stoa.active(type);
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
    ObjectType known = stoa.typeNamed(type);
    return stoa.placed(known, known.key(decoded(known, key)), new Existence.Undeleted(null));
  }

  /// Whether the calls on an object do not execute here as others do: [#callPlaced] makes them.
  public boolean isPlaced(Container container) {
    return container.type().shared().isPlaced();
  }

  /// Makes a call on an object that is at clients for one that does not make it there; durable when
  /// this returns. Waits for the object.
  ///
  /// @return the answer; its generation is the one that was met, 0 when the object was absent
  public Asked callPlaced(Call call) {
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
    return new Asked(encoded, object.live().generation(), moment());
  }

  /// Deletes an object that is at clients; durable when this returns. Waits for the object.
  ///
  /// @return the generation that ended
  /// @throws Gone when there is none
  public long deletePlaced(Container container, Existence existence, @Nullable CallId id) {
    var object = stoa.placed(container.type(), container.key(), existence);
    return placing(object.domain()).delete(object, id);
  }

  /// Whether a call on an object that migrates can be begun as on others, since the object is in
  /// the store and stays there meanwhile. Waits for nothing.
  ///
  /// @return is to be run once when the call has ended; null when [#callPlaced] is to make it
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

  /// Whether a settled request did nothing, since the object is lent: [#callPlaced] makes the call.
  ///
  /// @throws RuntimeException what the store answers in place of the object
  public boolean isLent(Request settled) {
    return !settled.isMoved() && settled.answer() instanceof ObjectAnswer.Lent;
  }

  /// Whether an answer says that nothing was done, since the object is lent.
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
  /// @param existence what is expected of it
  /// @param bytes the number of the method plus 1 and the arguments; or the byte 0 to create
  public record Call(Container container, Existence existence, byte[] bytes) {
    /// Its arguments are not compared.
    @Override
    public String toString() {
      return "a call on " + container.key();
    }
  }

  /// @param brief whether it took little to decode, so that it may be decoded again by a thread
  ///   that others wait for
  private record Read(
      ObjectType.@Nullable Called called, @Nullable Object[] arguments, boolean brief) {
    SharedMethod.@Nullable Kind kind() {
      return called == null ? null : called.method().kind();
    }
  }

  /// Decodes a call, so that what cannot be called is never logged.
  private Read read(Call call) {
    return read(call, Decoding.WHOLE);
  }

  /// How much a thread decodes.
  private enum Decoding {
    /// What is brief: others wait for the thread.
    BRIEF,
    /// What a call may take, within the time of a call.
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
      // They take no longer than their bytes do.
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

  /// Whether [#begin] is quick for a call: it cannot begin the object, whose constructor would have
  /// to be tried.
  public boolean isQuick(Call call) {
    return call.existence() instanceof Existence.Generation
        || call.container().target.generationHint() != 0;
  }

  /// Begins a call, on an object that migrates only after [#enter]. Quick when [#isQuick] says so.
  ///
  /// @param timeMax how long it may take from now on
  /// @param id logged with the call if it changes something; null for none
  /// @return the request, which is told when it is settled, with an answer for [#encoded]
  /// @throws Throwable what the object's constructor throws, if it would be begun
  public Request begin(Call call, Duration timeMax, @Nullable CallId id) throws Throwable {
    return begin(call, read(call), timeMax, id);
  }

  /// As [#begin], on a thread that others wait for.
  ///
  /// @throws NotBrief when that may take long: nothing was done, and another thread is to [#begin]
  ///   it
  public Request beginBriefly(Call call, Duration timeMax, @Nullable CallId id) throws Throwable {
    return begin(call, read(call, Decoding.BRIEF), timeMax, id);
  }

  private Request begin(Call call, Read read, Duration timeMax, @Nullable CallId id)
      throws Throwable {
    Request begun = begun(call, read, timeMax, id);
    return id == null ? begun : begun.askedBy(id.session());
  }

  private Request begun(Call call, Read read, Duration timeMax, @Nullable CallId id)
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
            Put.of(call.bytes()),
            Terms.expecting(call.existence()).at(pace).within(timeMax).of(id));
      }
      case TRANSACTION, READING_TRANSACTION ->
          throw new IllegalArgumentException(
              called.method() + " is a transaction; it is called in one");
    };
  }

  /// Whether the object shares no order with others.
  private static boolean isApart(Call call) {
    return call.container().type().shared().order() == LogOrder.STREAM;
  }

  /// An answer that took a question.
  ///
  /// @param encoded the answer
  /// @param generation the one that answered, 0 when the object was absent
  /// @param reach the log counter up to which it reaches
  public record Asked(byte[] encoded, long generation, long reach) {}

  /// Asks once more, after a settled request that [Request#isMoved]: the accessor asks other
  /// objects, and sees all of them as of one moment.
  ///
  /// @throws PlacedObjects.Elsewhere when the object is lent
  public Asked askWhole(Call call, Request moved) {
    try {
      return askWhole(call, store.beginQuestion(moved));
    } catch (TooOld released) {
      return askWhole(call, store.beginQuestion());
    }
  }

  private Asked askWhole(Call call, Transaction moment) {
    try (moment) {
      Read read = read(call);
      ObjectType.Called called = java.util.Objects.requireNonNull(read.called());
      called.type().sawAskOthers(called.method());
      Container container = call.container();
      Answer answer =
          moment.get(container.target, question(read, called), call.existence(), Pace.LONG);
      if (isLent(answer)) throw new PlacedObjects.Elsewhere();
      long counter = moment.at().counter();
      return new Asked(answer.encoded(), store.at(container.key(), counter).generation(), counter);
    }
  }

  private static ObjectHandler.Question question(Read read, ObjectType.Called called) {
    return new ObjectHandler.Question(called.type(), called.method(), read.arguments());
  }

  private void tryToBegin(Call call) throws Throwable {
    if (isQuick(call)) return;
    if (store.generation(call.container().key()) == 0) construct(call);
  }

  private void construct(Call call) throws Throwable {
    Existence existence = call.existence();
    if (existence instanceof Existence.Generation) return;
    Container container = call.container();
    stoa.construct(container.type(), container.key(), existence);
  }

  /// The answer of a settled request, encoded. Quick.
  ///
  /// @throws RuntimeException what the store answers in place of the object
  public byte[] encoded(Request settled) {
    return settled.answer().encoded();
  }

  /// What became of a call, or deletion, that an earlier process logged; null when it did not.
  public @Nullable PriorOutcome earlier(Container container, CallId id, long since) {
    return store.earlier(container.key(), id, since);
  }

  /// What a throwable is as an answer.
  public byte[] thrown(Throwable thrown) {
    return new ObjectAnswer.Travelling(ObjectAnswer.THREW, stoa.marshaller().thrown(thrown))
        .encoded();
  }

  /// A throwable as the marshaller writes it.
  public byte[] throwable(Throwable thrown) {
    return stoa.marshaller().thrown(thrown);
  }

  /// Begins to delete an object. Quick.
  ///
  /// @param timeMax how long it may take from now on
  /// @return the request, whose number is the generation that ended
  public Request delete(
      Container container, Existence existence, Duration timeMax, @Nullable CallId id) {
    Check.that(!isPlaced(container), "%s is at clients", container.key());
    Terms terms = Terms.expecting(existence).of(id);
    // Where clients may have it, they must be told when it is deleted.
    return store.deleteAsync(
        container.target, mayBeLent(container) ? terms : terms.within(timeMax));
  }

  /// Whether [#deleted] may have something to do. Quick.
  public boolean mayBeLent(Container container) {
    return stoa.mayBeLent(live(container));
  }

  /// An object was deleted: nobody calls it at clients any more when this returns.
  public void deleted(Container container) {
    stoa.deleted(live(container));
  }

  /// The generation of an object, 0 when it is absent.
  public long generation(Container container) {
    return store.generation(container.key());
  }

  // ---- transactions

  /// A transaction. One thread at a time uses it; everything about it may take long.
  public final class Transacting implements AutoCloseable {
    private final Transaction transaction;

    private final boolean past;

    private Transacting(Transaction transaction, boolean past) {
      this.transaction = transaction;
      this.past = past;
    }

    /// The log address as of which it reads.
    public LogAddress at() {
      return transaction.at();
    }

    /// Makes a call as part of it.
    ///
    /// @param callers the objects whose methods wait for it, outermost first; none when it is made
    ///   by the body
    /// @param answers what its first errands were answered with
    public Errand.Said call(Call call, List<Key> callers, List<Errand.Answer> answers)
        throws Throwable {
      Neighborhood others = stoa.neighborhood();
      if (others == null) return new Errand.Said(call(call, true), null);
      try {
        List<byte[]> known =
            answers.stream().map(said -> others.translated(said, classesOfKeys)).toList();
        return new Errand.Said(
            transaction.leaving(callers, known, () -> called(call, callers)), null);
      } catch (Execution.Leaving left) {
        return new Errand.Said(null, others.errand(left));
      }
    }

    private byte[] called(Call call, List<Key> callers) throws Throwable {
      if (callers.isEmpty()) return call(call, true);
      try {
        return call(call, false);
      } catch (Gone | AlreadyExists | Deadlock told) {
        // For the method that calls.
        byte[] thrown = stoa.marshaller().thrown(told);
        return new ObjectAnswer.Travelling(ObjectAnswer.THREW, thrown).encoded();
      }
    }

    /// How many objects it has read and written.
    public int objects() {
      return transaction.keys();
    }

    /// How many bytes it would log.
    public long bytes() {
      return transaction.bytes();
    }

    /// @param tries whether what a constructor throws is thrown, and nothing is begun
    private byte[] call(Call call, boolean tries) throws Throwable {
      byte[] answer = made(call, tries);
      if (answer[0] == ObjectAnswer.LENT) throw stoa.metLent(live(call.container()));
      return answer;
    }

    private ObjectHandler.Question asked(Read read, ObjectType.Called called) {
      var question = question(read, called);
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
        case null -> put(call, Pace.SHORT, tries);
        case MUTATOR, UPDATE -> put(call, pace, tries);
        case ACCESSOR ->
            transaction
                .get(
                    target,
                    asked(read, java.util.Objects.requireNonNull(called)),
                    call.existence(),
                    pace)
                .encoded();
        case TRANSACTION, READING_TRANSACTION ->
            nested(call, read, java.util.Objects.requireNonNull(called));
      };
    }

    private byte[] put(Call call, Pace pace, boolean tries) throws Throwable {
      if (tries && !transaction.isReadOnly() && transaction.generation(call.container().key()) == 0)
        construct(call);
      Answer answer =
          transaction.put(call.container().target, call.bytes(), call.existence(), pace);
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
                .run(call.container().target, asked(read, called), call.existence())
                .encoded();
        kept = answer[0] == ObjectAnswer.RETURNED;
        return answer;
      } finally {
        transaction.leave(kept);
      }
    }

    /// Deletes an object.
    ///
    /// @return the generation that ended, 0 when this transaction began it
    public long delete(Container container, Existence existence) {
      Refusals.stream(container.type().shared());
      refusePlaced(container);
      if (stoa.isLent(transaction, container.target, existence))
        throw stoa.metLent(live(container));
      long ended = transaction.delete(container.target, existence);
      return ended;
    }

    /// The generation of an object, 0 when it is absent.
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

    /// Ends the nested transaction that began last, and keeps what it did.
    public void keep() {
      transaction.leave(true);
    }

    /// Ends the nested transaction that began last, and drops what it did.
    public void drop() {
      transaction.leave(false);
    }

    /// The identity by which its outcome is found again; null while it has changed nothing.
    public Transaction.@Nullable Id id() {
      return transaction.identity();
    }

    /// Commits it.
    ///
    /// @throws stoa.Aborted when what it read or wrote has changed
    /// @throws stoa.UnknownOutcome when the store failed
    public LogAddress commit() {
      return transaction.commit();
    }

    @Override
    public void close() {
      transaction.close();
    }
  }

  /// What this store is among those that a [Coordinator] commits transactions over.
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

  /// Begins a coordinator whose home this store is. It was opened with its order.
  ///
  /// @param here of this store
  public void coordinate(Coordinator coordinator, Participant here) {
    coordinator.begin(here);
  }

  /// Begins a transaction.
  ///
  /// @param mode what it may do
  /// @param asked what the client bounds it to; the store's own limits win where they are less
  /// @param at where it reads; null for the present
  /// @param session the client's
  public Transacting transact(
      TransactionMode mode, TransactionLimits asked, @Nullable LogAddress at, long session) {
    var limits = stoa.limits();
    long micros = less(asked.micros, TRANSACTION_MICROS_MAX);
    int objects = (int) less(asked.objectsMax, limits.transactionObjectsMax());
    long bytes = less(asked.bytesMax, limits.transactionBytesMax());
    var names =
        new Transaction.LimitNames(
            whose(micros == asked.micros) + "timeMax, or what was left of totalTimeMax",
            whose(objects == asked.objectsMax) + "transactionObjectsMax",
            whose(bytes == asked.bytesMax) + "transactionBytesMax");
    var bounds =
        new Transaction.Bounds(mode == TransactionMode.READING, micros, objects, bytes, names);
    Transaction begun = at == null ? store.begin(bounds) : store.begin(bounds, at);
    begun.askedBy(session);
    return new Transacting(begun, at != null);
  }

  private static long less(long asked, long own) {
    return asked <= 0 ? own : Math.min(asked, own);
  }

  private static String whose(boolean ofClient) {
    return ofClient ? "the client's " : "the server's ";
  }

  /// What a client bounds a transaction to; 0 each for the store's own limit.
  ///
  /// @param micros how long it may take
  /// @param objectsMax how many objects it may read and write
  /// @param bytesMax the encoded size of its calls that are not accessors
  public record TransactionLimits(long micros, int objectsMax, long bytesMax) {}

  /// What a transaction may do.
  public enum TransactionMode {
    /// Read and change.
    CHANGING,
    /// Read.
    READING
  }

  /// What became of a transaction; null when nothing of it was written.
  public @Nullable LogAddress outcome(Transaction.Id id) {
    return store.outcome(id);
  }

  // ---- blobs and streams

  /// A blob.
  ///
  /// @param key its encoded key
  /// @param generation the one that is meant, 0 for whichever there is
  public SharedBlob blob(byte[] key, long generation) {
    stoa.part().requireFirst("blobs");
    Object decoded = Keys.decode(key, classesOfKeys);
    return new SharedBlob(stoa.stoa(), stoa.blobs().at(decoded, generation));
  }

  /// The streams of the store.
  public StreamStore streams() {
    stoa.part().requireFirst("users' streams");
    return stoa.stoa().streams();
  }

  // ---- views

  /// The state of an object.
  ///
  /// @param version the address of its last change
  /// @param generation 0 when it is absent
  /// @param from the log counter from which on it is seen
  /// @param checkpoint the state in the form of the code that executes what is called now; null
  ///   when the object is absent or has the version that the asker has
  public record State(long version, long generation, long from, byte @Nullable [] checkpoint) {}

  /// The state of an object as it is now: all that was answered before is seen.
  ///
  /// @param unless the version for which nothing is to be copied; -1 for none
  public State fetch(Container container, long unless) {
    Checkpoint found = store.fetch(container.target, unless);
    byte[] state = found.state();
    if (state != null) state = ObjectHandler.told(stoa, container.type(), container.key(), state);
    return new State(found.position(), found.generation(), found.from(), state);
  }

  /// Has somebody told of the changes of an object.
  public Watch watch(Container container, Watcher watcher) {
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

  private byte[] ask(Call call, stoa.store.Past past) {
    Read read = read(call);
    ObjectType.Called called = read.called();
    if (called == null || called.method().kind() != SharedMethod.Kind.ACCESSOR) {
      throw new UnsupportedOperationException(
          call + " is not of an @Accessor; the past can only be read");
    }
    Pace pace = called.type().pace(called.method());
    return past.get(question(read, called).ofStore(), call.existence(), pace).encoded();
  }

  /// Keeps what can be read now; or at an address.
  public Pins.Pin pin(@Nullable LogAddress at) {
    return at == null ? store.pinNow() : store.pinAt(at);
  }

  /// The oldest version of an object that can be read.
  public long oldest(Container container) {
    return store.oldest(container.key());
  }

  /// The newest version of an object.
  public long position(Container container) {
    return store.position(container.key());
  }

  /// What is in an object's stream.
  public List<Event> events(Container container, long from, long to) {
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

  /// The snapshot of a name, or null.
  public @Nullable Snapshot findSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().findSnapshot(name).orElse(null);
  }

  /// All snapshots with names.
  public List<Snapshot> snapshots() {
    requireSnapshots();
    return stoa.stoa().snapshots();
  }

  /// Deletes the snapshot of a name; answers whether there was one.
  public boolean deleteSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().deleteSnapshot(name);
  }

  private void requireSnapshots() {
    stoa.part().requireFirst("snapshots with names");
  }

  /// The encoded keys of the objects of a type that exist now, in the order in which they began.
  public java.util.Iterator<byte[]> list(String type) {
    if (type.equals(Blob.class.getName())) return store.list(type);
    return store.list(stoa.typeNamed(type).shared().name());
  }

  /// A key of a stored type.
  ///
  /// @throws Gone when the store has no such type
  public Key key(String type, byte[] key) {
    return container(type, key).key();
  }
}

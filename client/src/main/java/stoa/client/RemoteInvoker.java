package stoa.client;

import stoa.front.Refusals;
import stoa.front.CallNumbers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.Reads;
import stoa.TxOptions;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.PlacedObject;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.migration.Member;
import stoa.spi.CallContext;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Request;

/// Where the calls on an ordinary proxy go: to the object in the server.
///
/// Thread-safe. From the first call that finds the object alive on, it means that generation of it.
final class RemoteInvoker implements RemoteRoute {
  /// Whence a proxy comes.
  enum Source {
    /// Asked of the store by type and key: a call may begin the object, also anew.
    ASKED,
    /// Read from a value or a listing: a call may begin the object, but not one that was deleted.
    REFERENCE
  }

  private final Parts parts;
  private final int group;
  private final SharedType shared;
  private final Key key;
  private final @Nullable Object[] constructorArguments;
  private final Source source;

  /// How long a call may take, 0 when nothing is said.
  private final int timeMillis;

  private volatile long generation;
  private volatile @Nullable Container known;

  /// Null until the object's part is needed, when that is not the one which has told of the object.
  private volatile @Nullable RemoteType type;

  /// One of an object of the part that knows its type.
  RemoteInvoker(
      RemoteType type,
      Key key,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation) {
    this(
        type.stoa().parts(),
        type.stoa().group(),
        type.shared(),
        type,
        key,
        constructorArguments,
        source,
        generation,
        0);
  }

  /// One that another part has told of; its own need not be open.
  RemoteInvoker(
      Parts parts,
      int group,
      SharedType shared,
      Key key,
      @Nullable Object[] constructorArguments,
      long generation) {
    this(parts, group, shared, null, key, constructorArguments, Source.REFERENCE, generation, 0);
  }

  private RemoteInvoker(
      Parts parts,
      int group,
      SharedType shared,
      @Nullable RemoteType type,
      Key key,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation,
      int timeMillis) {
    this.timeMillis = timeMillis;
    this.parts = parts;
    this.group = group;
    this.shared = shared;
    this.type = type;
    this.key = key;
    this.constructorArguments = constructorArguments;
    this.source = source;
    this.generation = generation;
  }

  @Override
  public RemoteInvoker live() {
    return this;
  }

  /// The same, with a time for each call.
  RemoteInvoker within(Duration timeMax) {
    int millis = Math.clamp(timeMax.toMillis(), 1, Integer.MAX_VALUE);
    return new RemoteInvoker(
        parts, group, shared, type, key, constructorArguments, source, generation, millis);
  }

  /// How long a call may take, 0 for the server's own limit.
  ///
  /// @param most of any call
  int timeMillis(int most) {
    if (timeMillis == 0) return most;
    return most == 0 ? timeMillis : Math.min(timeMillis, most);
  }

  /// The store.
  Parts parts() {
    return parts;
  }

  /// The group that keeps the object.
  int group() {
    return group;
  }

  SharedType shared() {
    return shared;
  }

  /// The object's part of the store, opened if need be.
  RemoteStoa stoa() {
    return type().stoa();
  }

  /// The type as the object's part knows it, which is opened if need be.
  RemoteType type() {
    RemoteType found = type;
    if (found == null) {
      found = parts.part(group).types().of(shared.face());
      type = found;
    }
    return found;
  }

  Key key() {
    return key;
  }

  long generation() {
    return generation;
  }

  /// From now on a generation is meant, unless one is already or it is 0.
  void bind(long begun) {
    if (generation == 0) generation = begun;
  }

  /// The object's container, in use.
  Container container() {
    Container before = known;
    Container now = stoa().conversation().containers().use(key, before);
    if (now != before) known = now;
    return now;
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    leaveReading();
    if (!isHere()) return invokeThere(method, arguments);
    var object = placed();
    return member().call(object, method, arguments, Reads.STRICT);
  }

  /// Whether it migrates to this process.
  boolean isHere() {
    return RemotePlaced.is(this) && parts.migrating().isHere();
  }

  /// What calls in the tree go through.
  private Member member() {
    return parts.migrating().member(shared.domain());
  }

  /// Makes a call at the server.
  @Nullable Object invokeThere(SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    RemoteTransaction transaction = RemoteTransaction.current(parts);
    if (transaction != null) return transaction.call(this, method, arguments);
    if (method.kind().isTransaction()) return transact(method, arguments);
    Outgoing outgoing = live(method, arguments);
    return answer(stoa().conversation().ask(outgoing));
  }

  /// An accessor that runs on a state that is kept here asks no other object.
  private static void leaveReading() {
    if (CallContext.CURRENT.isBound()
        && CallContext.CURRENT.get() instanceof Replica.Reading reading) {
      throw reading.elsewhere();
    }
  }

  /// The object, for who executes its calls.
  ///
  /// @throws UnsupportedOperationException where it takes no part
  RemotePlaced placed() {
    boolean inside = RemoteTransaction.current(parts) != null;
    if (inside && RemotePlaced.is(this)) throw Refusals.placed(key);
    return new RemotePlaced(this);
  }

  /// Arguments of the constructor that nobody else can change.
  @Nullable Object[] arguments() {
    byte[] opening = opening();
    if (opening == null) return new @Nullable Object[0];
    return (@Nullable Object[])
        java.util.Objects.requireNonNull(stoa().marshaller().value(opening));
  }

  private Outgoing live(SharedMethod method, @Nullable Object[] arguments) {
    return stoa()
        .requests()
        .call(this, type().call(method, arguments), existence(), method.kind().isReading());
  }

  /// Makes a call without waiting for it.
  void begin(
      SharedMethod method,
      @Nullable Object[] arguments,
      java.util.function.Consumer<Outgoing> settled) {
    if (RemoteTransaction.current(parts) != null || method.kind().isTransaction()) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + method + " directly");
    }
    stoa().conversation().begin(live(method, arguments), settled);
  }

  /// What an answer to a call says.
  @Nullable Object answer(Answer answer) throws Throwable {
    Requests requests = stoa().requests();
    var answered = requests.answered(answer, known);
    bind(answered.getGeneration());
    return requests.value(answered);
  }

  /// Runs a method of the object as a transaction of its own.
  private @Nullable Object transact(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean reading = method.kind() == SharedMethod.Kind.READING_TRANSACTION;
    TxOptions options = reading ? TxOptions.reading() : TxOptions.STANDARD;
    var answer = new @Nullable Object[1];
    parts
        .first()
        .transact(
            timeMillis == 0 ? options : options.withTotalTimeMax(Duration.ofMillis(timeMillis)),
            () -> {
              answer[0] = taking(method, arguments);
              return answer;
            });
    return answer[0];
  }

  /// Runs a method of the object as a transaction that only reads, whatever is around it.
  @Nullable Object read(TxOptions options, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var answer = new @Nullable Object[1];
    try (RemoteTransaction transaction = parts.first().open(options)) {
      transaction.run(() -> {
        answer[0] = taking(method, arguments);
        return answer;
      });
    }
    return answer[0];
  }

  private @Nullable Object taking(SharedMethod method, @Nullable Object[] arguments)
      throws Exception {
    var transaction = java.util.Objects.requireNonNull(RemoteTransaction.current(parts));
    try {
      return transaction.callAsOwn(this, method, arguments.clone());
    } catch (Exception | Error passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /// Creates the object.
  void create() throws Throwable {
    if (isHere()) {
      member().create(placed());
      return;
    }
    var existence = new Existence.Absent(opening());
    RemoteTransaction transaction = RemoteTransaction.current(parts);
    if (transaction != null) {
      transaction.create(this, existence);
      return;
    }
    byte[] creation = CallNumbers.creation();
    RemoteStoa stoa = stoa();
    var _ = answer(stoa.conversation().ask(stoa.requests().call(this, creation, existence, false)));
  }

  private byte @Nullable [] opening() {
    return constructorArguments.length == 0
        ? null
        : stoa().marshaller().value(constructorArguments);
  }

  /// Deletes the object.
  ///
  /// @throws stoa.Gone when there is none
  void delete() {
    if (RemotePlaced.is(this)) Member.refuseInside("delete " + key);
    Container container = container();
    Request.Builder request = stoa().requests().delete(container, ending());
    var _ = stoa().ask(Outgoing.on(container, request, Outgoing.Recovery.LOOKED_UP, 16));
    if (RemotePlaced.is(this)) parts.migrating().deleted(placed());
  }

  /// What a deletion expects.
  Existence ending() {
    long meant = generation;
    return meant == 0 ? new Existence.Any(null) : new Existence.Generation(meant);
  }

  /// See [stoa.front.PlacedObject#meet].
  void meet(long life, boolean exists) {
    if (!isMeant(life, exists)) throw Refusals.gone(key);
    if (exists) bind(life);
  }

  /// See [stoa.front.PlacedObject#isMeant].
  boolean isMeant(long life, boolean exists) {
    long meant = generation;
    boolean deleted = !exists && life > PlacedObject.FIRST_LIFE;
    return meant == 0 ? !deleted || source == Source.ASKED : meant == life;
  }

  /// As [#existence()], at a moment that may lie before the generation began.
  Existence existenceThen() {
    long meant = generation;
    if (meant == 0) return existence();
    return new Existence.Generation(meant, source == Source.ASKED ? opening() : null);
  }

  Existence existence() {
    long meant = generation;
    if (meant != 0) return new Existence.Generation(meant);
    byte[] opening = opening();
    return source == Source.ASKED ? new Existence.Any(opening) : new Existence.Undeleted(opening);
  }
}

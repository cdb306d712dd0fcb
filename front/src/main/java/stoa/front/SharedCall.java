package stoa.front;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Placement;
import stoa.Reads;
import stoa.Ref;
import stoa.TxOptions;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Latency;
import stoa.base.Trace;
import stoa.front.marshal.Marshaller;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.CallContext;

/// The route of calls on an ordinary proxy: to the object in the store, from outside, from the body
/// of a transaction, or from the method of another object.
///
/// Thread-safe. The first call that finds the object alive binds the proxy to that generation of
/// it.
public final class SharedCall implements LiveRoute {
  /// The origin of a proxy.
  public enum Source {
    /// The program asked the store for it by type and key: a call may create the object, also after
    /// a deletion.
    ASKED,
    /// The proxy came from a value or a listing: a call may create the object, but not after a
    /// deletion.
    REFERENCE
  }

  static final Object[] NOTHING = {};

  private final SharedStoa stoa;
  private final Service.Target target;
  private final @Nullable Object[] constructorArguments;
  private final Source source;
  private final @Nullable Duration timeMax;
  private volatile long generation;

  // The constructor's arguments in encoded form, null until a call needs them.
  private volatile byte @Nullable [] opening;

  /// @param generation the generation to bind to, 0 for any
  public SharedCall(
      SharedStoa stoa,
      Service.Target target,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation) {
    this(stoa, target, constructorArguments, source, generation, null);
  }

  private SharedCall(
      SharedStoa stoa,
      Service.Target target,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation,
      @Nullable Duration timeMax) {
    this.stoa = stoa;
    this.target = target;
    this.constructorArguments = constructorArguments;
    this.source = source;
    this.generation = generation;
    this.timeMax = timeMax;
  }

  /// Returns the route of calls on an object known by reference.
  public static SharedCall reference(SharedStoa stoa, Service.Target target) {
    return new SharedCall(stoa, target, NOTHING, Source.REFERENCE, 0);
  }

  /// Returns the route of calls with an expectation of the object.
  public static SharedCall of(SharedStoa stoa, Service.Target target, Existence existence) {
    boolean asked = existence instanceof Existence.Any || existence instanceof Existence.Absent;
    long generation = existence instanceof Existence.Generation(long meant, _) ? meant : 0;
    return new SharedCall(
        stoa,
        target,
        arguments(target.marshaller(), existence.opening()),
        asked ? Source.ASKED : Source.REFERENCE,
        generation);
  }

  /// Returns the same route with a time limit for each call.
  SharedCall within(Duration limit) {
    return new SharedCall(stoa, target, constructorArguments, source, generation, limit);
  }

  /// Returns the route to the same object, unbound.
  SharedCall anyGeneration(@Nullable Object[] arguments) {
    return new SharedCall(stoa, target, arguments, Source.ASKED, 0);
  }

  @Override
  public SharedCall live() {
    return this;
  }

  /// Returns the store of the object.
  public SharedStoa stoa() {
    return stoa;
  }

  /// Returns the object.
  public Service.Target target() {
    return target;
  }

  /// Returns its key in the store.
  public Key key() {
    return target.key();
  }

  /// Returns its class.
  public SharedType shared() {
    return target.shared();
  }

  /// Returns the origin of the proxy.
  public Source source() {
    return source;
  }

  /// Returns the time limit of a call; null for the default.
  public @Nullable Duration timeMax() {
    return timeMax;
  }

  /// Returns the generation that it is bound to, 0 for any.
  public long generation() {
    return generation;
  }

  /// Returns the constructor's arguments.
  public @Nullable Object[] constructorArguments() {
    return constructorArguments;
  }

  /// Returns whether its calls execute at clients.
  public boolean isPlaced() {
    return target.shared().isPlaced();
  }

  // ---- calls

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    return invoke(method, arguments);
  }

  /// Makes a call.
  ///
  /// @throws Throwable what the method throws
  public @Nullable Object invoke(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    try {
      return invoke(method, arguments, isPlaced() && stoa.service().tree().isHere());
    } catch (PlacedObjects.LentToClients lent) {
      return atClients(method, arguments);
    }
  }

  /// Makes a call at the store.
  ///
  /// @throws PlacedObjects.LentToClients in the process of the store, when the object is lent to
  ///   clients
  /// @throws Throwable what the method throws
  public @Nullable Object invokeThere(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    return invoke(method, arguments, false);
  }

  private @Nullable Object invoke(SharedMethod method, @Nullable Object[] arguments, boolean inTree)
      throws Throwable {
    MethodRun running = runningHere();
    SharedTransaction transaction = SharedTransaction.current(stoa);
    Route route =
        Route.of(
            Route.Way.LIVE,
            method.kind(),
            running != null,
            transaction != null,
            isPlaced(),
            inTree);
    return switch (route) {
      case IN_METHOD -> Objects.requireNonNull(running).call(this, method, arguments);
      case IN_TRANSACTION -> Objects.requireNonNull(transaction).call(this, method, arguments);
      case OWN_TRANSACTION -> transact(method, arguments);
      case AT_CLIENTS -> atClients(method, arguments);
      case REFUSED_PLACED -> throw Refusals.placed(key());
      case DIRECT -> direct(method, arguments);
      default -> throw new IllegalStateException(route + " is no route of an ordinary proxy");
    };
  }

  private @Nullable Object direct(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Trace trace = stoa.tracing(this, method.id());
    return trace == null
        ? measured(method, arguments)
        : SharedStoa.answered(trace, () -> measured(method, arguments));
  }

  private @Nullable Object measured(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Latency latency = stoa.calls().last(method);
    if (latency == null) latency = stoa.calls().of(shared(), method);
    int weight = latency.begin();
    return weight == 0
        ? target.call(this, method, arguments)
        : timed(latency, weight, method, arguments);
  }

  private @Nullable Object timed(
      Latency latency, int weight, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    long began = stoa.service().nanoTime();
    try {
      return target.call(this, method, arguments);
    } finally {
      latency.end(weight, stoa.service().nanoTime() - began);
    }
  }

  /// Returns the run of a method that makes the calls on this object, or null.
  @Nullable MethodRun runningHere() {
    if (!CallContext.CURRENT.isBound()) return null;
    CallContext context = CallContext.CURRENT.get();
    if (context instanceof MethodRun running) return running.takes(stoa) ? running : null;
    context.refuseOutside("call " + key());
    return null;
  }

  /// Returns the transaction in which a call takes part here; null when it takes part in none, or a
  /// method of the store makes it.
  @Nullable SharedTransaction transactionHere() {
    return runningHere() == null ? SharedTransaction.current(stoa) : null;
  }

  /// Makes a call at the present place of an object that migrates or is lent.
  ///
  /// @throws Throwable what the method throws
  public @Nullable Object atClients(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    PlacedObject object = placed(); // may refuse, before anything can fail
    return placing().call(object, method, arguments, Reads.STRICT);
  }

  /// Returns the execution of calls in the tree.
  public Placing placing() {
    return stoa.service().tree().at(shared().domain());
  }

  /// Returns the object, for the process that executes its calls.
  ///
  /// @throws UnsupportedOperationException in a transaction or method, where it takes no part
  public SharedPlaced placed() {
    if (isPlaced() && isInside()) throw Refusals.placed(key());
    return new SharedPlaced(this);
  }

  /// Returns whether a method of the store or the body of a transaction over it makes calls here.
  boolean isInside() {
    return MethodRun.current() != null || SharedTransaction.current(stoa) != null;
  }

  /// Makes a call without waiting for it.
  ///
  /// @param settled receives the answer when it is over
  /// @return see [Service.Target#begin]
  Runnable begin(SharedMethod method, @Nullable Object[] arguments, CallRecorder.Settled settled)
      throws Throwable {
    MethodRun.refuse("call asynchronously; call " + method + " directly");
    if (SharedTransaction.current(stoa) != null || method.kind().isTransaction()) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + method + " directly");
    }
    Trace trace = stoa.tracing(this, method.id());
    if (trace == null) return beginMeasured(method, arguments, settled);
    try {
      return trace.run(() ->
          beginMeasured(method, arguments, reading -> settled.answer(() -> read(reading, trace))));
    } catch (Throwable refused) {
      trace.end(refused);
      throw refused;
    }
  }

  private static @Nullable Object read(CallRecorder.Reading reading, Trace trace) throws Throwable {
    Throwable failure = null;
    try {
      return reading.get();
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      trace.end(failure);
    }
  }

  private Runnable beginMeasured(
      SharedMethod method, @Nullable Object[] arguments, CallRecorder.Settled settled)
      throws Throwable {
    Latency latency = stoa.calls().of(shared(), method);
    int weight = latency.begin();
    if (weight == 0) return target.begin(this, method, arguments, settled);
    long began = stoa.service().nanoTime();
    return target.begin(
        this,
        method,
        arguments,
        reading -> {
          latency.end(weight, stoa.service().nanoTime() - began);
          settled.answer(reading);
        });
  }

  /// Creates the object.
  ///
  /// @throws Throwable what the constructor throws
  void create() throws Throwable {
    SharedTransaction transaction = SharedTransaction.current(stoa);
    if (isPlaced() && (transaction != null || stoa.service().tree().isHere())) {
      PlacedObject object = placed(); // may refuse, before the creation begins
      placing().create(object);
    } else if (transaction != null) {
      transaction.create(this);
    } else {
      target.create(this);
    }
  }

  // ---- a method that is a transaction

  /// Runs a method of the object here, as a transaction of its own.
  private @Nullable Object transact(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean reading = method.kind() == SharedMethod.Kind.READING_TRANSACTION;
    TxOptions options = reading ? TxOptions.reading() : TxOptions.STANDARD;
    Duration limit = timeMax;
    if (limit != null && limit.compareTo(options.totalTimeMax()) < 0) {
      options = options.withTotalTimeMax(limit);
    }
    var answer = new @Nullable Object[1];
    Latency latency = stoa.calls().of(shared(), method);
    int weight = latency.begin();
    long began = stoa.service().nanoTime();
    try {
      stoa.transact(
          options,
          () -> {
            answer[0] = taking(method, arguments);
            return answer;
          });
    } finally {
      if (weight > 0) latency.end(weight, stoa.service().nanoTime() - began);
    }
    return answer[0];
  }

  /// Runs a method of the object here, as a transaction that only reads, whatever transaction
  /// surrounds it.
  @Nullable Object read(TxOptions options, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var answer = new @Nullable Object[1];
    try (SharedTransaction transaction = stoa.open(options, null)) {
      transaction.run(() -> {
        answer[0] = taking(method, arguments);
        return answer;
      });
    }
    return answer[0];
  }

  private @Nullable Object taking(SharedMethod method, @Nullable Object[] arguments)
      throws Exception {
    var transaction = Objects.requireNonNull(SharedTransaction.current(stoa));
    try {
      return transaction.callAsOwn(this, method, arguments.clone());
    } catch (Exception | Error passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  // ---- the expected existence of the object

  /// Binds the proxy to a generation, unless it is bound already or the generation is 0.
  public void bind(long begun) {
    if (generation == 0) generation = begun;
  }

  /// Returns the existence that a call expects.
  public Existence existence() {
    long meant = generation;
    if (meant != 0) return new Existence.Generation(meant);
    byte[] opening = opening();
    return source == Source.ASKED ? new Existence.Any(opening) : new Existence.Undeleted(opening);
  }

  /// Returns the expected existence like [#existence()], at a moment that may lie before the
  /// generation began.
  public Existence existenceThen() {
    long meant = generation;
    if (meant == 0) return existence();
    return new Existence.Generation(meant, source == Source.ASKED ? opening() : null);
  }

  /// Returns the existence that a creation expects.
  public Existence absence() {
    return new Existence.Absent(opening());
  }

  /// Returns the existence that a deletion expects.
  public Existence ending() {
    long meant = generation;
    return meant == 0 ? new Existence.Any(null) : new Existence.Generation(meant);
  }

  /// Returns the constructor's arguments in encoded form, null when there are none.
  private byte @Nullable [] opening() {
    if (constructorArguments.length == 0) return null;
    byte[] known = opening;
    if (known == null) {
      known = target.marshaller().value(constructorArguments);
      opening = known;
    }
    return known;
  }

  /// Decodes a constructor's arguments.
  public static @Nullable Object[] arguments(Marshaller marshaller, byte @Nullable [] opening) {
    return opening == null
        ? NOTHING
        : (@Nullable Object[]) Objects.requireNonNull(marshaller.value(opening));
  }

  /// Returns a new instance in its first state, from arguments that no other code can change.
  ///
  /// @throws Throwable what the constructor throws
  public Object construct() throws Throwable {
    return shared()
        .instantiate(((Ref<?>) key().label()).key(), arguments(target.marshaller(), opening()));
  }

  /// Returns arguments that no other code can change.
  public @Nullable Object[] own(@Nullable Object[] arguments) {
    Marshaller marshaller = target.marshaller();
    @Nullable Object[] own = arguments;
    boolean cloned = false;
    for (int i = 0; i < arguments.length; i++) {
      if (marshaller.isValue(arguments[i])) continue;
      if (!cloned) own = arguments.clone();
      cloned = true;
      own[i] = marshaller.copy(arguments[i]);
    }
    return own;
  }

  /// Binds the proxy, see [PlacedObject#meet].
  void meet(long life, boolean exists) {
    if (!isMeant(life, exists)) throw Refusals.gone(key());
    if (exists) bind(life);
  }

  /// Returns whether a call may meet a life, see [PlacedObject#isMeant].
  boolean isMeant(long life, boolean exists) {
    long meant = generation;
    boolean deleted = !exists && life > PlacedObject.FIRST_LIFE;
    return meant == 0 ? !deleted || source == Source.ASKED : meant == life;
  }

  /// Returns whether its callers may have seen changes that are not in the store yet.
  boolean isAuto() {
    return shared().placement() == Placement.AUTO;
  }
}

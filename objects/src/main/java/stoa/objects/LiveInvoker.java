package stoa.objects;

import stoa.front.CallNumbers;
import stoa.front.Refusals;
import stoa.store.Target;
import stoa.store.Terms;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Order;
import stoa.Reads;
import stoa.TooOld;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.Placing;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.spi.Cancellation;
import stoa.store.Execution;
import stoa.store.Pace;
import stoa.store.Put;
import stoa.store.Request;
import stoa.store.Store;
import stoa.store.Visit;

/// Where the calls on an ordinary proxy go: to the object in the store, from outside or from the
/// method of another object.
///
/// Thread-safe. From the first call that finds the object alive on, it means that generation of it.
final class LiveInvoker implements LiveRoute {
  /// Whence a proxy comes.
  enum Source {
    /// Asked of the store by type and key: a call may begin the object, also anew.
    ASKED,
    /// Read from a value or a listing: a call may begin the object, but not one that was deleted.
    REFERENCE
  }

  private final EmbeddedStoa stoa;
  private final ObjectType type;
  private final Target target;
  private final @Nullable Object[] constructorArguments;
  private final Source source;
  private final Duration timeMax;
  private volatile long generation;

  LiveInvoker(
      EmbeddedStoa stoa,
      ObjectType type,
      Target target,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation) {
    this(stoa, type, target, constructorArguments, source, generation, stoa.callTimeMax());
  }

  private LiveInvoker(
      EmbeddedStoa stoa,
      ObjectType type,
      Target target,
      @Nullable Object[] constructorArguments,
      Source source,
      long generation,
      Duration timeMax) {
    this.stoa = stoa;
    this.type = type;
    this.target = target;
    this.constructorArguments = constructorArguments;
    this.source = source;
    this.generation = generation;
    this.timeMax = timeMax;
  }

  /// The same, whose calls take no longer than a time each.
  LiveInvoker within(Duration limit) {
    return new LiveInvoker(stoa, type, target, constructorArguments, source, generation, limit);
  }

  /// How long a call may take.
  Duration timeMax() {
    return timeMax;
  }

  /// The way of a call that expects something of the object.
  static LiveInvoker of(
      EmbeddedStoa stoa, ObjectType type, Target target, Existence existence) {
    boolean asked = existence instanceof Existence.Any || existence instanceof Existence.Absent;
    long generation = existence instanceof Existence.Generation(long meant, _) ? meant : 0;
    return new LiveInvoker(
        stoa,
        type,
        target,
        stoa.opening(existence.opening()),
        asked ? Source.ASKED : Source.REFERENCE,
        generation);
  }

  @Override
  public LiveInvoker live() {
    return this;
  }

  EmbeddedStoa stoa() {
    return stoa;
  }

  ObjectType type() {
    return type;
  }

  Target target() {
    return target;
  }

  long generation() {
    return generation;
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (isPlaced()) return atClients(method, arguments);
    try {
      return invokeHere(method, arguments);
    } catch (PlacedObjects.Elsewhere lent) {
      return atClients(method, arguments);
    }
  }

  /// Makes a call where the object is, which migrates or is lent.
  private @Nullable Object atClients(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    LivePlaced placed = placed(); // which refuses, before anything can fail
    return placing().call(placed, method, arguments, Reads.STRICT);
  }

  /// Where calls go that are made in the tree.
  Placing.Root placing() {
    return stoa.placing(type.shared().domain());
  }

  /// Makes a call where the store is.
  ///
  /// @throws PlacedObjects.Elsewhere when the object is lent to clients
  /// @throws Throwable what the method throws
  @Nullable Object invokeHere(SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    ObjectContext context = ObjectContext.current();
    if (context != null && context.stoa() == stoa) return unlessLent(context, method, arguments);
    EmbeddedStoa.leaveTrial();
    requireHere();
    ObjectTransaction transaction = ObjectTransaction.current(stoa);
    if (transaction != null) return transaction.call(this, method, arguments);
    if (method.kind().isTransaction()) return transact(method, arguments);
    Request request;
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      if (type.asksOthers(method)) {
        return askWhole(stoa.core().beginQuestion(), method, arguments);
      }
      var question = question(method, arguments);
      Pace pace = type.pace(method);
      if (isApart()) {
        request = stoa.core().get(target, question, Terms.expecting(existence()).at(pace).within(timeMax));
      } else {
        request = stoa.core().get(target, question, Terms.expecting(existence()).at(pace).within(timeMax).alone());
        if (request.isMoved()) {
          type.sawAskOthers(method);
          return askWhole(stoa.core().beginQuestion(), method, arguments);
        }
      }
    } else {
      Put call = put(method, arguments);
      Existence existence = existence();
      check(existence);
      request = stoa.core().put(target, call, Terms.expecting(existence).at(type.pace(method)).within(timeMax));
    }
    return answer(request);
  }

  /// Refuses an object that another group keeps.
  private void requireHere() {
    if (isPlaced()) stoa.part().requireFirst("objects that are placed at clients");
    else stoa.part().require(target.key());
  }

  /// Refuses an object that cannot be at clients.
  void requireTree() {
    boolean inOrder = !isApart() || stoa.part().addresses() == null;
    if (isPlaced() || (stoa.part().group() == 0 && inOrder)) return;
    if (!inOrder) {
      throw new UnsupportedOperationException(
          target.key()
              + " is of Order.STREAM in a store whose groups have one order, and cannot be lent to"
              + " clients; make it Order.GLOBAL");
    }
    throw new UnsupportedOperationException(
        target.key()
            + " is kept by group "
            + stoa.part().group()
            + ", and only objects of group 0 can be lent to clients; place its class at CLIENT");
  }

  /// Whether calls execute at clients.
  boolean isPlaced() {
    return type.shared().isPlaced();
  }

  /// The object, for who executes its calls.
  ///
  /// @throws UnsupportedOperationException where it takes no part
  LivePlaced placed() {
    boolean inside = ObjectContext.current() != null || ObjectTransaction.current(stoa) != null;
    if (inside) refusePlaced();
    return new LivePlaced(this);
  }

  /// Refuses what an object that is placed at clients takes no part in.
  void refusePlaced() {
    if (isPlaced()) throw Refusals.placed(target.key());
  }

  /// Refuses a view in the calling process where calls must be those of the store.
  void refuseInside() {
    if (ObjectContext.current() != null || ObjectTransaction.current(stoa) != null) {
      throw new UnsupportedOperationException(
          target.key()
              + " is seen by a View.Client, which takes no part in transactions and in calls of"
              + " other objects; use an ordinary proxy");
    }
  }

  /// What a call meets that needs the object to be at the server, and is refused.
  UnsupportedOperationException metLent() {
    if (!stoa.part().isAbroad(target.key())) stoa.met(this); // its own group has met it, too
    return new UnsupportedOperationException(
        target.key()
            + " is lent to clients, which have a View.Client of it, and takes no part in"
            + " transactions and in calls of other objects; call again when these views are gone");
  }

  @Nullable Object[] constructorArguments() {
    return constructorArguments;
  }

  /// Whether the object shares no order with others.
  private boolean isApart() {
    return type.shared().order() == Order.STREAM;
  }

  /// Asks an accessor that asks other objects: all as of one moment.
  private @Nullable Object askWhole(
      stoa.store.Transaction moment, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    return ((ObjectAnswer) saidWhole(moment, method, arguments)).get(stoa.marshaller());
  }

  private Answer saidWhole(
      stoa.store.Transaction moment, SharedMethod method, @Nullable Object[] arguments) {
    try (moment) {
      Answer answer = moment.get(target, question(method, arguments), existenceThen(), Pace.LONG);
      if (generation == 0) {
        bind(stoa.core().at(target.key(), moment.at().counter()).generation());
      }
      return answer;
    }
  }

  /// What comes of a request that [#begin] made.
  @Nullable Object end(Request settled, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    try {
      if (!settled.isMoved()) return answer(settled);
      type.sawAskOthers(method);
      return ((ObjectAnswer) saidWhole(settled, method, arguments)).get(stoa.marshaller());
    } catch (PlacedObjects.Elsewhere lent) {
      return atClients(method, arguments);
    }
  }

  private Answer saidWhole(Request moved, SharedMethod method, @Nullable Object[] arguments) {
    try {
      return saidWhole(stoa.core().beginQuestion(moved), method, arguments);
    } catch (TooOld released) {
      return saidWhole(stoa.core().beginQuestion(), method, arguments);
    }
  }

  /// Runs a method of the object here, as a transaction of its own.
  private @Nullable Object transact(SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean reading = method.kind() == SharedMethod.Kind.READING_TRANSACTION;
    TxOptions options = reading ? TxOptions.reading() : TxOptions.STANDARD;
    boolean hasty =
        timeMax.compareTo(stoa.callTimeMax()) < 0 && timeMax.compareTo(options.timeMax()) < 0;
    return transact(hasty ? options.withTotalTimeMax(timeMax) : options, method, arguments);
  }

  private @Nullable Object transact(
      TxOptions options, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    var answer = new @Nullable Object[1];
    stoa.transact(
        options,
        () -> {
          answer[0] = taking(method, arguments);
          return answer;
        });
    return answer[0];
  }

  /// Runs a method of the object here, as a transaction that only reads, whatever is around it.
  @Nullable Object read(TxOptions options, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var answer = new @Nullable Object[1];
    try (ObjectTransaction transaction = stoa.open(options)) {
      transaction.run(() -> {
        answer[0] = taking(method, arguments);
        return answer;
      });
    }
    return answer[0];
  }

  private @Nullable Object taking(SharedMethod method, @Nullable Object[] arguments)
      throws Exception {
    var transaction = Objects.requireNonNull(ObjectTransaction.current(stoa));
    try {
      return transaction.call(this, method, arguments.clone());
    } catch (Exception | Error passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /// The answer of a settled request.
  @Nullable Object answer(Request request) throws Throwable {
    return answer(request.answer(), request.generation());
  }

  /// What an answer of the object says.
  ///
  /// @param seen the generation that answered, 0 when it was absent
  @Nullable Object answer(Answer answer, long seen) throws Throwable {
    if (generation == 0) generation = seen;
    return ((ObjectAnswer) answer).get(stoa.marshaller());
  }

  /// Makes a call without waiting for it.
  Request begin(SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    EmbeddedStoa.leaveTrial();
    requireHere();
    if (ObjectContext.current() != null) {
      throw new IllegalStateException(
          "a method of a shared object cannot call asynchronously; call " + method + " directly");
    }
    if (ObjectTransaction.current(stoa) != null || method.kind().isTransaction()) {
      throw new IllegalStateException(
          "a transaction cannot call asynchronously; call " + method + " directly");
    }
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      Pace pace = type.pace(method);
      var question = question(method, arguments);
      return isApart()
          ? stoa.core().getAsync(target, question, Terms.expecting(existence()).at(pace).within(timeMax))
          : stoa.core().getAsync(target, question, Terms.expecting(existence()).at(pace).within(timeMax).alone());
    }
    Put call = put(method, arguments);
    Existence existence = existence();
    check(existence);
    return stoa.core().putAsync(target, call, Terms.expecting(existence).at(type.pace(method)).within(timeMax));
  }

  /// Creates the object.
  void create() throws Throwable {
    requireHere();
    if (isPlaced()) {
      placing().create(placed());
      return;
    }
    byte[] opening = stoa.opening(constructorArguments);
    var existence = new Existence.Absent(opening);
    ObjectTransaction transaction = ObjectTransaction.current(stoa);
    if (transaction != null) {
      transaction.create(this, existence);
      return;
    }
    check(existence);
    Request request = stoa.core().put(target, Put.of(CallNumbers.creation()), Terms.expecting(existence).at(Pace.SHORT));
    var _ = answer(request);
  }

  private @Nullable Object unlessLent(
      ObjectContext context, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    try {
      return nested(context, method, arguments);
    } catch (PlacedObjects.Elsewhere lent) {
      throw metLent();
    }
  }

  private @Nullable Object nested(
      ObjectContext context, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    if (stoa.part().isAbroad(target.key())) return abroad(context, method, arguments);
    Execution execution = context.execution();
    var around = execution.transaction();
    boolean asks = method.kind() == SharedMethod.Kind.ACCESSOR;
    if (asks && isApart() && around != null && around.isOneQuestion()) {
      return askApart(execution, method, arguments);
    }
    if (around != null || execution.isPast()) Refusals.stream(type.shared());
    if (around != null && method.kind().isTransaction()) {
      // What it does in other groups is dropped with it.
      if (stoa.neighborhood() != null && !execution.isReading()) {
        return nestedAcross(execution, method, arguments);
      }
      return ObjectTransaction.nested(
          around,
          method,
          () -> execution.run(target, question(method, arguments), existence()),
          said -> ObjectAnswer.get(said, stoa.marshaller()));
    }
    byte[] answer =
        switch (method.kind()) {
          case ACCESSOR ->
              isApart()
                  ? execution.getApart(
                      target.key(), asked(execution, method, arguments), existence())
                  : execution.get(target.key(), asked(execution, method, arguments), existence());
          case TRANSACTION, READING_TRANSACTION ->
              execution.run(target, question(method, arguments), existence());
          case MUTATOR, UPDATE ->
              execution.put(
                  target.key(), put(method, arguments), existence(), this::refusalToBegin);
        };
    return ObjectAnswer.get(answer, stoa.marshaller());
  }

  /// Calls this object, which another group has, for a method that runs here.
  private @Nullable Object abroad(
      ObjectContext context, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    Execution execution = context.execution();
    var around = execution.transaction();
    boolean asks = method.kind() == SharedMethod.Kind.ACCESSOR;
    boolean oneQuestion = around != null && around.isOneQuestion();
    boolean apart = asks && isApart() && (around == null || oneQuestion);
    if (!(apart && oneQuestion) && (around != null || execution.isPast())) {
      Refusals.stream(type.shared());
    }
    if (method.kind().isTransaction()) {
      if (around != null && !execution.isReading()) {
        return nestedAcross(execution, method, arguments);
      }
      byte[] said = execution.run(target, question(method, arguments), existence());
      return ObjectAnswer.get(said, stoa.marshaller());
    }
    byte[] answer =
        execution.visit(
            asks ? Visit.Kind.GET : Visit.Kind.PUT,
            apart,
            target.key(),
            question(method, arguments),
            existence());
    return ObjectAnswer.get(answer, stoa.marshaller());
  }

  /// Has whoever runs the transaction run a method of the object as a transaction within it.
  private @Nullable Object nestedAcross(
      Execution execution, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    byte[] answer =
        execution.leave(
            Visit.Kind.PUT, target.key(), question(method, arguments), existence(), true);
    return ObjectAnswer.get(answer, stoa.marshaller());
  }

  /// Asks this object, which shares no order with others, for an accessor of another one that sees
  /// those that do at one moment.
  private @Nullable Object askApart(
      Execution execution, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    execution.leaveLive(); // it must not hold up its own object, which this one may ask
    var question = question(method, arguments);
    Request request;
    Answer said;
    try {
      request = stoa.core().get(target, question, Terms.expecting(existence()).at(type.pace(method)));
      said = request.answer();
    } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
      throw execution.suspend(ofTheStore);
    }
    return answer(said, request.generation());
  }

  /// Why this object cannot be begun, as an answer for the method that calls it; null when it can.
  private byte @Nullable [] refusalToBegin() {
    try {
      construct();
      return null;
    } catch (VirtualMachineError | Execution.Unwinding | Cancellation.Stopped passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, stoa.marshaller().thrown(thrown))
          .encoded();
    }
  }

  private Put put(SharedMethod method, @Nullable Object[] arguments) {
    return type.put(method, call(method, arguments));
  }

  byte[] call(SharedMethod method, @Nullable Object[] arguments) {
    byte[] call = type.call(method, arguments);
    if (call.length > stoa.callBytesMax()) {
      throw new LimitExceeded(
          "the arguments of "
              + method
              + " take "
              + call.length
              + " bytes; callBytesMax is "
              + stoa.callBytesMax());
    }
    return call;
  }

  ObjectHandler.Question question(SharedMethod method, @Nullable Object[] arguments) {
    @Nullable Object[] own = arguments;
    boolean cloned = false;
    for (int i = 0; i < arguments.length; i++) {
      if (stoa.marshaller().isValue(arguments[i])) continue;
      if (!cloned) own = arguments.clone();
      cloned = true;
      own[i] = stoa.marshaller().copy(arguments[i]);
    }
    return new ObjectHandler.Question(type, method, own);
  }

  private ObjectHandler.Question asked(
      Execution execution, SharedMethod method, @Nullable Object[] arguments) {
    var question = question(method, arguments);
    // A transaction, or one question, of the present also sees others as of a moment.
    boolean past = execution.isPast() && execution.transaction() == null;
    return past ? question.ofStore() : question;
  }

  /// What a deletion expects.
  Existence ending() {
    long known = generation;
    return known == 0 ? new Existence.Any(null) : new Existence.Generation(known);
  }

  /// See [PlacedObject#meet].
  void meet(long life, boolean exists) {
    if (!isMeant(life, exists)) throw Refusals.gone(target.key());
    if (exists) bind(life);
  }

  /// See [PlacedObject#isMeant].
  boolean isMeant(long life, boolean exists) {
    long known = generation;
    boolean deleted = !exists && life > PlacedObject.FIRST_LIFE;
    return known == 0 ? !deleted || source == Source.ASKED : known == life;
  }

  /// From now on a generation is meant, unless one is already or it is 0.
  void bind(long begun) {
    if (generation == 0) generation = begun;
  }

  /// As [#existence()], at a moment that may lie before the generation began.
  Existence existenceThen() {
    long known = generation;
    if (known == 0) return existence();
    return new Existence.Generation(
        known, source == Source.ASKED ? stoa.opening(constructorArguments) : null);
  }

  Existence existence() {
    long known = generation;
    if (known != 0) return new Existence.Generation(known);
    byte[] opening = stoa.opening(constructorArguments);
    return source == Source.ASKED ? new Existence.Any(opening) : new Existence.Undeleted(opening);
  }

  /// Before a call that would begin the object: constructs one here, so that what its constructor
  /// throws reaches the caller and nothing is logged.
  private void check(Existence existence) throws Throwable {
    if (existence instanceof Existence.Generation || target.generationHint() != 0)
      return;
    if (stoa.core().generation(target.key()) != 0) return;
    construct();
  }

  /// Constructs an object that nobody keeps, to see what its constructor throws.
  void construct() throws Throwable {
    if (source == Source.ASKED) stoa.construct(type, target.key(), constructorArguments);
    else stoa.constructReferred(type, target.key(), constructorArguments);
  }
}

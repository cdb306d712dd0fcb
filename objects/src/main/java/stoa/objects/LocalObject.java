package stoa.objects;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.History;
import stoa.LogAddress;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.base.Unwinding;
import stoa.front.CallNumbers;
import stoa.front.CallRecorder;
import stoa.front.CopyMoment;
import stoa.front.ObjectAnswer;
import stoa.front.Place;
import stoa.front.PlacedObjects;
import stoa.front.PlacedState;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.Cancellation;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.past.LocalView;
import stoa.store.past.Past;
import stoa.store.running.Execution;
import stoa.store.running.Request;
import stoa.store.running.Target;

/// An object in the store of this process, as the target of calls. Thread-safe.
///
/// @param type its class as the store knows it
/// @param at its place in the store
record LocalObject(LocalService service, ObjectType type, Target at) implements ObjectTarget {
  @Override
  public SharedType shared() {
    return type.shared();
  }

  @Override
  public Key key() {
    return at.key();
  }

  @Override
  public Marshaller marshaller() {
    return type.marshaller();
  }

  private Store core() {
    return service.core();
  }

  /// Returns the terms of a call from outside.
  private Terms terms(SharedCall to, Existence existence, SharedMethod method) {
    Terms terms = Terms.expecting(existence).at(type.pace(method));
    Duration limit = to.timeMax();
    return limit == null ? terms : terms.within(limit);
  }

  private Duration timeMax(SharedCall to) {
    Duration limit = to.timeMax();
    return limit == null ? service.callTimeMax() : limit;
  }

  /// Refuses an object that another group keeps.
  void requireHere() {
    if (shared().isPlaced()) service.part().requireFirst("objects that are placed at clients");
    else service.part().require(key());
  }

  /// Returns whether the object shares no order with others.
  private boolean isApart() {
    return shared().order() == LogOrder.STREAM;
  }

  @Override
  public void requireTree() {
    boolean inOrder = !isApart() || service.part().addresses() == null;
    if (shared().isPlaced() || (service.part().group() == 0 && inOrder)) return;
    if (inOrder) throw Refusals.group(key(), service.part().group());
    throw new UnsupportedOperationException(
        key()
            + " is of LogOrder.STREAM in a store whose groups have one order, and cannot be lent to"
            + " clients; make it LogOrder.GLOBAL");
  }

  // ---- calls from outside

  @Override
  public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    requireHere();
    Request request;
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      if (type.asksOthers(method)) {
        return askWhole(to, core().beginQuestion(), method, arguments);
      }
      var question = question(to, method, arguments);
      Terms terms = terms(to, to.existence(), method);
      if (isApart()) {
        request = core().get(at, question, terms);
      } else {
        request = core().get(at, question, terms.alone());
        if (request.isMoved()) {
          type.sawAskOthers(method);
          return askWhole(to, core().beginQuestion(), method, arguments);
        }
      }
    } else {
      Put call = checked(method, arguments);
      Existence existence = to.existence();
      check(to, existence);
      request = core().put(at, call, terms(to, existence, method));
    }
    return answer(to, request);
  }

  /// Calls an accessor that asks other objects: it sees all of them as of one moment.
  private @Nullable Object askWhole(
      SharedCall to,
      stoa.store.running.StoreTransaction moment,
      SharedMethod method,
      @Nullable Object[] arguments)
      throws Throwable {
    return ((ObjectAnswer) saidWhole(to, moment, method, arguments)).get(marshaller());
  }

  private Answer saidWhole(
      SharedCall to,
      stoa.store.running.StoreTransaction moment,
      SharedMethod method,
      @Nullable Object[] arguments) {
    try (moment) {
      Answer answer =
          moment.get(at, question(to, method, arguments), to.existenceThen(), Pace.LONG);
      if (to.generation() == 0) {
        to.bind(core().at(key(), moment.at().counter()).generation());
      }
      return answer;
    }
  }

  private @Nullable Object answer(SharedCall to, Request request) throws Throwable {
    return answer(to, request.answer(), request.generation());
  }

  /// Returns or throws the content of an object's answer.
  ///
  /// @param seen the generation that answered, 0 when the object was absent
  private @Nullable Object answer(SharedCall to, Answer answer, long seen) throws Throwable {
    to.bind(seen);
    return ((ObjectAnswer) answer).get(marshaller());
  }

  @Override
  public Runnable begin(
      SharedCall to,
      SharedMethod method,
      @Nullable Object[] arguments,
      CallRecorder.Settled settled)
      throws Throwable {
    requireHere();
    // The caller may change the arguments, and so may a run that the store gives up.
    var kept = to.own(arguments);
    Request request = begun(to, method, arguments);
    request.whenDone(done -> settled.answer(() -> end(to, done, method, kept)));
    return () -> core().endWaiting(request);
  }

  private Request begun(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (method.kind() == SharedMethod.Kind.ACCESSOR) {
      var question = question(to, method, arguments);
      Terms terms = terms(to, to.existence(), method);
      return core().getAsync(at, question, isApart() ? terms : terms.alone());
    }
    Put call = checked(method, arguments);
    Existence existence = to.existence();
    check(to, existence);
    return core().putAsync(at, call, terms(to, existence, method));
  }

  private @Nullable Object end(
      SharedCall to, Request settled, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    try {
      if (!settled.isMoved()) return answer(to, settled);
      type.sawAskOthers(method);
      return ((ObjectAnswer) saidMoved(to, settled, method, arguments)).get(marshaller());
    } catch (PlacedObjects.LentToClients lent) {
      return to.atClients(method, arguments);
    }
  }

  private Answer saidMoved(
      SharedCall to, Request moved, SharedMethod method, @Nullable Object[] arguments) {
    try {
      return saidWhole(to, core().beginQuestion(moved), method, arguments);
    } catch (TooOld released) {
      return saidWhole(to, core().beginQuestion(), method, arguments);
    }
  }

  @Override
  public void create(SharedCall to) throws Throwable {
    requireHere();
    Existence existence = to.absence();
    check(to, existence);
    var _ =
        answer(
            to,
            core()
                .put(
                    at, Put.of(CallNumbers.creation()), Terms.expecting(existence).at(Pace.SHORT)));
  }

  @Override
  public void delete(SharedCall to) {
    if (shared().isPlaced()) {
      var _ = service.placing(shared().domain()).delete(to.placed(), null);
    } else {
      Terms terms = Terms.expecting(to.ending());
      // Where clients may have the object, the store must tell them of the deletion.
      core().delete(at, service.mayBeLent(to) ? terms : terms.within(timeMax(to)));
      service.deleted(to);
    }
  }

  @Override
  public long generation() {
    return core().generation(key());
  }

  /// Constructs an object before a call that would create it, so that the caller gets the
  /// constructor's exception and the store logs nothing.
  private void check(SharedCall to, Existence existence) throws Throwable {
    if (existence instanceof Existence.Generation || at.generationHint() != 0) return;
    if (core().generation(key()) != 0) return;
    construct(to);
  }

  /// Constructs an object and drops it, to get the constructor's exception.
  void construct(SharedCall to) throws Throwable {
    @Nullable Object[] arguments = to.constructorArguments();
    if (to.source() == SharedCall.Source.ASKED) service.construct(type, key(), arguments);
    else service.constructReferred(type, key(), arguments);
  }

  // ---- calls in the log, and their execution

  private Put put(SharedMethod method, @Nullable Object[] arguments) {
    return type.put(method, call(method, arguments)).on(footprint(method, arguments));
  }

  /// Returns a call from outside, after checking that the active code can execute it.
  private Put checked(SharedMethod method, @Nullable Object[] arguments) {
    byte[] call = call(method, arguments);
    ActiveCode active = service.catalog().active(shared().name());
    ObjectType now = active.now().type();
    if (!now.code().equals(type.code())) return now.put(call);
    return type.put(method, call).on(type.footprint(active, method, arguments));
  }

  /// Returns a call from a transaction.
  Put tentative(SharedMethod method, @Nullable Object[] arguments) {
    return Put.of(call(method, arguments)).on(footprint(method, arguments));
  }

  @Override
  public Footprint footprint(SharedMethod method, @Nullable Object[] arguments) {
    return method.hasParts()
        ? type.footprint(service.catalog().active(shared().name()), method, arguments)
        : Footprint.ALL;
  }

  /// Returns a question with its footprint, for a transaction.
  ObjectHandler.Question inTransaction(ObjectHandler.Question question) {
    return question.method().hasParts()
        ? question.in(service.catalog().active(shared().name()))
        : question;
  }

  byte[] call(SharedMethod method, @Nullable Object[] arguments) {
    byte[] call = type.call(method, arguments);
    if (call.length > service.callBytesMax())
      throw Refusals.call(method, call.length, service.callBytesMax());
    return call;
  }

  ObjectHandler.Question question(
      SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    return new ObjectHandler.Question(type, method, to.own(arguments));
  }

  /// Returns a question about the past, where the store has the state even of an object that is
  /// lent now.
  ObjectHandler.Question durableQuestion(
      SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    return new ObjectHandler.Question(type, method, to.own(arguments), true, Footprint.ALL);
  }

  // ---- calls of methods

  @Override
  public @Nullable Object nested(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Trace around = execution.trace();
    if (around == null) return nestedHere(execution, to, method, arguments);
    Trace trace = around.child(shared().name() + "/" + method.id());
    trace.tag("stoa.type", shared().name());
    trace.tag("stoa.method", method.id());
    Throwable failure = null;
    execution.trace(trace);
    try {
      return nestedHere(execution, to, method, arguments);
    } catch (Throwable thrown) {
      // A run that stops here is no failure of the called method.
      if (!(thrown instanceof Unwinding)) failure = thrown;
      throw thrown;
    } finally {
      execution.trace(around);
      trace.end(failure);
    }
  }

  private @Nullable Object nestedHere(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    try {
      return service.part().isInOtherGroup(key())
          ? callInOtherGroup(execution, to, method, arguments)
          : here(execution, to, method, arguments);
    } catch (PlacedObjects.LentToClients lent) {
      throw service.metLent(to);
    }
  }

  private @Nullable Object here(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var around = execution.transaction();
    boolean asks = method.kind() == SharedMethod.Kind.ACCESSOR;
    if (asks && isApart() && around != null && around.isOneQuestion()) {
      return askApart(execution, to, method, arguments);
    }
    if (around != null || execution.isPast()) Refusals.stream(shared());
    if (around != null && method.kind().isTransaction()) {
      // The transaction drops its changes in other groups too.
      if (service.neighborhood() != null && !execution.isReading()) {
        return nestedAcross(execution, to, method, arguments);
      }
      return LocalWork.nested(
          around,
          method,
          () -> execution.run(at, question(to, method, arguments), to.existence()),
          said -> ObjectAnswer.get(said, marshaller()));
    }
    byte[] answer =
        switch (method.kind()) {
          case ACCESSOR ->
              isApart()
                  ? execution.getApart(
                      key(), asked(execution, to, method, arguments), to.existence())
                  : execution.get(key(), asked(execution, to, method, arguments), to.existence());
          case TRANSACTION, READING_TRANSACTION ->
              execution.run(at, question(to, method, arguments), to.existence());
          case MUTATOR, UPDATE -> {
            Put call = put(method, arguments);
            yield execution.put(
                key(),
                call,
                to.existence(),
                new Execution.Beginning() {
                  @Override
                  public byte @Nullable [] refusal() {
                    return refusalToBegin(to);
                  }

                  @Override
                  public byte @Nullable [] unfit() {
                    return LocalObject.this.unfit(call.value());
                  }
                });
          }
        };
    return ObjectAnswer.get(answer, marshaller());
  }

  /// Calls this object, which another group has, for a method that runs here.
  private @Nullable Object callInOtherGroup(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var around = execution.transaction();
    boolean asks = method.kind() == SharedMethod.Kind.ACCESSOR;
    boolean oneQuestion = around != null && around.isOneQuestion();
    boolean apart = asks && isApart() && (around == null || oneQuestion);
    if (!(apart && oneQuestion) && (around != null || execution.isPast())) {
      Refusals.stream(shared());
    }
    if (method.kind().isTransaction()) {
      if (around != null && !execution.isReading()) {
        return nestedAcross(execution, to, method, arguments);
      }
      byte[] said = execution.run(at, question(to, method, arguments), to.existence());
      return ObjectAnswer.get(said, marshaller());
    }
    var kind = asks ? Visit.Kind.GET : Visit.Kind.PUT;
    ObjectHandler.Question question = question(to, method, arguments);
    byte[] answer =
        apart
            ? execution.visitApart(kind, key(), question, to.existence())
            : execution.visit(kind, key(), question, to.existence());
    return ObjectAnswer.get(answer, marshaller());
  }

  /// Lets the client or server that runs the transaction run a method of the object as a nested
  /// transaction.
  private @Nullable Object nestedAcross(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    byte[] answer =
        execution.leaveToTransact(key(), question(to, method, arguments), to.existence());
    return ObjectAnswer.get(answer, marshaller());
  }

  /// Asks this object, which shares no order with others, for an accessor of another object that
  /// sees the ordered objects at one moment.
  private @Nullable Object askApart(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    execution.leaveLive(); // it must not hold up its own object, which this one may ask
    var question = question(to, method, arguments);
    Request request;
    Answer said;
    try {
      request = core().get(at, question, Terms.expecting(to.existence()).at(type.pace(method)));
      said = request.answer();
    } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
      throw execution.suspend(ofTheStore);
    }
    return answer(to, said, request.generation());
  }

  /// Returns why the active code cannot execute a call of a method, as an answer; null when it can.
  /// A replay does not ask.
  private byte @Nullable [] unfit(byte[] call) {
    ObjectType active = service.catalog().typeNamed(shared().name());
    if (active.code().equals(type.code())) return null;
    try {
      var _ = active.put(call);
      return null;
    } catch (NotShareable unfit) {
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, marshaller().thrown(unfit)).encoded();
    }
  }

  /// Returns why the store cannot create this object, as an answer for the calling method; null
  /// when it can.
  private byte @Nullable [] refusalToBegin(SharedCall to) {
    try {
      construct(to);
      return null;
    } catch (VirtualMachineError | Execution.Unwinding | Cancellation.Stopped passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, marshaller().thrown(thrown)).encoded();
    }
  }

  private ObjectHandler.Question asked(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    var question = question(to, method, arguments);
    // A transaction or question of the present also sees other objects as of one moment.
    boolean past = execution.isPast() && execution.transaction() == null;
    if (past) return question.ofStore();
    return execution.transaction() == null ? question : inTransaction(question);
  }

  // ---- views

  @Override
  public Service.Copy follow() {
    return new Followed(core().follow(at));
  }

  /// A copy of the state that follows the log.
  private record Followed(LocalView follower) implements Service.Copy {
    @Override
    public @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, Freshness freshness)
        throws Throwable {
      LocalObject object = (LocalObject) to.target();
      var question = object.durableQuestion(to, method, arguments);
      CopyMoment moment = CopyMoment.current(object.service.stoa());
      LocalView.Window window = moment == null ? (_, _) -> {} : moment::saw;
      LocalView.Read read =
          switch (freshness) {
            case NOW -> follower.now(question, to.existence(), object.timeMax(to), window);
            case SEEN -> follower.seen(question, to.existence(), object.timeMax(to), window);
          };
      return object.answer(to, read.answer(), read.generation());
    }
  }

  @Override
  public Service.Past at(LogAddress address) {
    return new Then(core().at(key(), address.counter()));
  }

  @Override
  public Service.Past past(long version) {
    return new Then(core().past(key(), version));
  }

  /// A past state of an object.
  private record Then(Past past) implements Service.Past {
    @Override
    public Service.Past within(Duration timeMax) {
      return new Then(past.within(timeMax));
    }

    @Override
    public @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, @Nullable Place place)
        throws Throwable {
      LocalObject object = (LocalObject) to.target();
      var question = object.durableQuestion(to, method, arguments);
      Pace pace = object.type.pace(method);
      var answer = (ObjectAnswer) past.get(question, to.existenceThen(), pace);
      return place == null ? answer.get(object.marshaller()) : place.seen(answer);
    }
  }

  // ---- history

  @Override
  public long version() {
    return core().position(key());
  }

  @Override
  public long oldest() {
    long oldest = core().oldest(key());
    return oldest > 0 ? oldest : Math.min(1, version());
  }

  @Override
  public long trim(long before) {
    return core().trim(key(), before);
  }

  @Override
  public List<History.Entry> entries(long from, long to) {
    return core().events(key(), from, to).stream().map(this::entry).toList();
  }

  private History.Entry entry(stoa.store.calls.KeyEntry event) {
    var entry = event.entry();
    Instant time = Instant.EPOCH.plus(entry.nowMicros(), ChronoUnit.MICROS);
    return new History.Entry(entry.address(), entry.log(), time, what(event.event()));
  }

  private History.Event what(stoa.store.calls.KeyEntry.What what) {
    return switch (what) {
      case stoa.store.calls.KeyEntry.What.Put(byte[] value, int code) -> called(value, code);
      case stoa.store.calls.KeyEntry.What.Answered(long call, String space, byte[] name) ->
          new History.Event.Answered(call, new Ref<>(space, Keys.decode(name, service.loader())));
      case stoa.store.calls.KeyEntry.What.TakenBack(long call, String reason) ->
          new History.Event.Cancelled(call, reason);
      case stoa.store.calls.KeyEntry.What.Stood(long call) -> new History.Event.Completed(call);
      case stoa.store.calls.KeyEntry.What.Deleted() -> new History.Event.Deleted();
    };
  }

  @Override
  public History.Event called(byte[] value, int code) {
    ObjectType then = service.catalog().typeAt(shared().name(), code);
    try {
      return called(value, then);
    } catch (NotShareable refused) {
      // The call arrived as this code became active, and its caller had earlier code.
      for (Codes.Activation earlier : service.catalog().codes().of(shared().name()).reversed()) {
        if (earlier.number() >= code) continue;
        try {
          return called(value, service.catalog().typeAt(shared().name(), earlier.number()));
        } catch (NotShareable another) {
          refused.addSuppressed(another);
        }
      }
      throw refused;
    }
  }

  private History.Event called(byte[] value, ObjectType then) {
    var in = new Decoder(value);
    ObjectType.Called called = then.called(in);
    if (called == null) return PlacedState.event(value);
    SharedMethod method = called.method();
    @Nullable Object[] arguments =
        then.marshaller().arguments(method, value, in.position(), value.length);
    if (!then.code().equals(type.code())) {
      for (int i = 0; i < arguments.length; i++) arguments[i] = today(then, arguments[i]);
    }
    return new History.Event.Called(method.id(), Arrays.asList(arguments));
  }

  @Override
  public @Nullable Object today(ObjectType then, @Nullable Object argument) {
    if (then.code().mayShare(argument)) return argument;
    try {
      return marshaller().value(then.marshaller().value(argument));
    } catch (StoaException noRule) {
      return argument;
    }
  }
}

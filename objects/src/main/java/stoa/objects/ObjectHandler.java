package stoa.objects;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.ThrowableText;
import stoa.front.CallNumbers;
import stoa.front.MethodRun;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.SharedCall;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Lifetime;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.CallContext;
import stoa.spi.Cancellation;
import stoa.spi.Collections;
import stoa.spi.Entered;
import stoa.spi.Forkable;
import stoa.spi.Noticed;
import stoa.spi.Timed;
import stoa.store.Store;
import stoa.store.calls.HandlerQuery;
import stoa.store.calls.Pace;
import stoa.store.calls.Unblocked;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The object handler (CRESON, section III-D): holds the object of one reference and calls it.
///
/// OPEN is the put with the constructor's arguments, INV any put, PER the checkpoint; CLOSE puts
/// nothing. The answering side has the session handlers: see docs/decisions/listenable-store.md.
///
/// ```
/// checkpoint:  0 u8, the state as the marshaller writes it         the object
///              1 u8, the throwable as the marshaller writes it     it could not be constructed
///              2 u8, a placed state                                the object, made at a client
///              3 u8, a placed state                                the object, which is lent to clients
///              4 more: the object has left its indexes
///              8 more: behind the number of the code varint
/// ```
///
/// The code that was active when the leader logged a put executes the put. The first put of another
/// code converts the state: the old code encodes it, and the new code decodes it by its rules.
///
/// While an object is lent, calls answer [ObjectAnswer.Lent] and change nothing. The loan is part
/// of its state, so that all replicas and the next leader refuse the same calls. The run of the key
/// uses it, one thread at a time.
final class ObjectHandler implements Handler {
  /// A question: an accessor with its arguments.
  ///
  /// @param type the caller's type
  /// @param method the accessor
  /// @param arguments no other code may change them
  /// @param durable whether the question is about the state in the store, even when the object is
  ///   lent
  /// @param footprint the part of the object that the accessor reads
  record Question(
      ObjectType type,
      SharedMethod method,
      @Nullable Object[] arguments,
      boolean durable,
      Footprint footprint)
      implements HandlerQuery {
    /// Creates a question about the present object, wherever it is.
    Question(ObjectType type, SharedMethod method, @Nullable Object[] arguments) {
      this(type, method, arguments, false, Footprint.ALL);
    }

    /// Returns the same question with its footprint, for a transaction.
    Question in(ActiveCode active) {
      Footprint known = type.footprint(active, method, arguments);
      return known.isAll() ? this : new Question(type, method, arguments, durable, known);
    }

    @Override
    public int number() {
      return method.id().hashCode();
    }

    /// Returns the same question about the state in the store.
    Question ofStore() {
      return new Question(type, method, arguments, true, footprint);
    }
  }

  /// A question: what a judge returns for the object.
  ///
  /// @param members what the judge reads, in the code of the one who asks
  record JudgeQuestion(Members members, MethodRun.Judge judge) implements HandlerQuery {
    @Override
    public int number() {
      return 0;
    }

    @Override
    public Pace pace() {
      return Pace.SHORT;
    }
  }

  /// A question: whether the object is lent to clients, as a Boolean.
  record LentQuestion() {}

  /// A question: how long the object lives, as a [Life].
  record LifeQuestion() {}

  /// The answer to a [LifeQuestion].
  ///
  /// @param lifetime how long it lives, by the code of its last call; null when it stays
  /// @param isLent whether it is lent to clients
  /// @param hasIndexes whether it must leave indexes before it is deleted
  /// @param hasLeft whether it has left them
  record Life(@Nullable Lifetime lifetime, boolean isLent, boolean hasIndexes, boolean hasLeft) {}

  /// A question: the whole state, as a [PlacedState].
  record StateQuestion() {}

  /// A question: the state, as an operator sees it, in an [ObjectAnswer.Shared] that stays here.
  record ShowQuestion(Shown.Bounds bounds) {}

  /// The answer to a [ShowQuestion].
  ///
  /// @param state the tree; of an object whose constructor threw, what it threw
  /// @param thrown whether its constructor threw
  /// @param lent whether the object is lent to clients
  /// @param bytes how long the encoded state is
  record Seeing(Shown state, boolean thrown, boolean lent, int bytes) {}

  /// The parts of a store that the handlers of all types use.
  ///
  /// @param environment the parts that running methods use
  /// @param indexChanges makes the changes of indexes that need no answer
  /// @param alarms fires the timers
  /// @param deliveries tells the listeners of objects
  /// @param callBytesMax the most bytes of an answer
  record Parts(
      Environment environment,
      IndexChanges indexChanges,
      Alarms alarms,
      Deliveries deliveries,
      int callBytesMax) {
    Catalog catalog() {
      return environment.catalog();
    }
  }

  /// Creates the handlers of one type.
  static final class Factory implements HandlerFactory {
    private final Parts parts;
    private final String name;
    private final ActiveCode active;

    private final @Nullable Rerun rerun;

    // The last answer to form.
    private volatile @Nullable Form form;

    private record Form(ObjectType type, long number) {}

    /// @param name the stored name of the type
    /// @param active the code that executes its puts
    Factory(Parts parts, String name, ActiveCode active) {
      this(parts, name, active, null);
    }

    private Factory(Parts parts, String name, ActiveCode active, @Nullable Rerun rerun) {
      this.parts = parts;
      this.name = name;
      this.active = active;
      this.rerun = rerun;
    }

    /// Returns the same factory, except that other code executes one put.
    Factory trying(Rerun other) {
      return new Factory(parts, name, active, other);
    }

    private ObjectType type() {
      return active.now().type();
    }

    @Override
    public int code() {
      return active.now().number();
    }

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      Rerun trying = rerun != null && rerun.executes(execution) ? rerun : null;
      int code = trying == null ? execution.code() : TRIED;
      ObjectType type = trying == null ? parts.catalog().typeAt(name, code) : trying.type();
      Object name = parts.catalog().nameIn(type, key);
      var context =
          new ObjectContext(
              parts.environment(), execution, parts.catalog().refOf(key), type.code(), null, null);
      @Nullable Object[] arguments;
      try {
        arguments = SharedCall.arguments(type.marshaller(), opening);
      } catch (NotShareable unfit) {
        if (Marshaller.lacksClass(unfit)) throw lacking(unfit, execution);
        byte[] encoded = execution.once(() -> type.marshaller().thrown(unfit));
        return shown(new ObjectHandler(parts, type, code, null, encoded));
      }
      try {
        Object instance =
            ScopedValue.where(CallContext.CURRENT, context)
                .call(() -> type.shared().instantiate(name, arguments));
        return shown(new ObjectHandler(parts, type, code, instance, null));
      } catch (VirtualMachineError
          | Execution.Unwinding
          | Cancellation.Stopped beyondTheConstructor) {
        throw beyondTheConstructor;
      } catch (Throwable thrown) {
        byte[] encoded = execution.once(() -> type.marshaller().thrown(thrown));
        return shown(new ObjectHandler(parts, type, code, null, encoded));
      }
    }

    private ObjectHandler shown(ObjectHandler handler) {
      if (rerun != null) rerun.show(handler);
      return handler;
    }

    @Override
    public boolean awaits(Key key, byte[] value) {
      if (!CallNumbers.isMethod((int) new Decoder(value).varint())) return false;
      try {
        ObjectType.Called called = type().called(new Decoder(value));
        return called != null && called.method().awaits();
      } catch (StoaException unfit) {
        return false;
      }
    }

    @Override
    public @Nullable Supplier<byte[]> left(Key key, byte[] value) {
      if (!CallNumbers.isMethod((int) new Decoder(value).varint())) return null;
      try {
        var in = new Decoder(value);
        ObjectType.Called called = type().called(in);
        SharedMethod left = called == null ? null : called.method().left();
        if (left == null) return null;
        byte[] arguments = Arrays.copyOfRange(value, in.position(), value.length);
        return () -> Objects.requireNonNull(called).type().call(left, arguments);
      } catch (StoaException unfit) {
        return null;
      }
    }

    @Override
    public String method(Key key, byte[] value) {
      return parts.catalog().methodOf(key, value);
    }

    @Override
    public long form(Key key) {
      ObjectType type = type();
      Form known = form;
      if (known == null || !known.type().equals(type)) {
        known = new Form(type, type.marshaller().form(type.shared()));
        form = known;
      }
      return known.number();
    }

    @Override
    public boolean changesOthers(byte[] value) {
      SharedType shared = type().shared();
      return !shared.indexes().isEmpty() || shared.lifetime() != null;
    }

    @Override
    public boolean isOrdered() {
      return type().shared().order() == LogOrder.GLOBAL;
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var in = new Decoder(checkpoint);
      int kind = in.u8();
      int code = kind < CODED ? 0 : (int) in.varint();
      ObjectType type = parts.catalog().typeAt(name, code);
      int from = in.position();
      ObjectHandler restored =
          switch (kind & CONTENT) {
            case STATE -> {
              Object instance =
                  type.marshaller().state(type.shared(), checkpoint, from, checkpoint.length);
              yield shown(new ObjectHandler(parts, type, code, instance, null));
            }
            case THROWN ->
                new ObjectHandler(
                    parts,
                    type,
                    code,
                    null,
                    Arrays.copyOfRange(checkpoint, from, checkpoint.length));
            case PLACED, LENT -> {
              var handler = new ObjectHandler(parts, type, code, null, null);
              handler.replace(PlacedState.decode(checkpoint, from));
              handler.lent = (kind & CONTENT) == LENT;
              yield handler;
            }
            default -> throw new Corrupt("a checkpoint of kind " + kind);
          };
      restored.left = (kind & LEFT) != 0;
      return restored;
    }

    @Override
    public Handler fork(Key key, Handler handler) {
      if (handler instanceof ObjectHandler live && live.instance instanceof Forkable<?> forkable) {
        var fork = new ObjectHandler(parts, live.type, live.code, forkable.fork(), null);
        fork.placed = live.placed;
        fork.lent = live.lent;
        fork.left = live.left;
        return fork;
      }
      return restore(key, handler.checkpoint());
    }

    @Override
    public boolean forksCheaply(Handler handler) {
      return handler instanceof ObjectHandler live && live.instance instanceof Forkable;
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new ObjectAnswer.Travelling(
          ObjectAnswer.THREW, parts.catalog().marshaller().thrown(cause));
    }
  }

  private static final int STATE = 0;
  private static final int THROWN = 1;
  private static final int PLACED = 2;
  private static final int LENT = 3;
  private static final int CODED = 8;
  private static final int LEFT = 4;

  /// The bits of a checkpoint's kind that say what it contains.
  static final int CONTENT = 3;

  private static final int CAUSES_MAX = 16;

  // The number of code that a check tries.
  private static final int TRIED = -1;

  /// Executes one put of the log again, with its own code or with other code. One thread uses it,
  /// once.
  static final class Rerun {
    private final long address;
    private final @Nullable ObjectType by;
    private @Nullable ObjectHandler handler;

    /// @param address the put's stream address
    /// @param by the code that executes it; null for the original code
    Rerun(long address, @Nullable ObjectType by) {
      this.address = address;
      this.by = by;
    }

    private boolean executes(Execution execution) {
      return by != null && execution.address() == address;
    }

    private ObjectType type() {
      return java.util.Objects.requireNonNull(by);
    }

    private void show(ObjectHandler made) {
      handler = made;
      made.rerun = this;
    }

    /// Returns the state after the put, in the form of a type; null when there is none here.
    byte @Nullable [] state(ObjectType as) {
      ObjectHandler made = handler;
      Object left = made == null ? null : made.instance;
      return left == null || made == null ? null : converted(as, made.type.state(left));
    }

    /// Returns the type in the code that has executed it.
    ObjectType executed() {
      return java.util.Objects.requireNonNull(handler).type;
    }
  }

  private final Parts parts;
  private ObjectType type;
  private int code;

  // Replaced by states that clients made, and when other code takes over.
  private @Nullable Object instance;

  // The state in the form of other code that asks; null when no other code asked since the last
  // put.
  private @Nullable Converted lastConverted;

  private record Converted(LoadedCode code, Object instance) {}

  // The values in indexes, when the last put has found them out; null otherwise.
  private Indexing.@Nullable Values lastIndexed;

  // The run that this handler serves; null for a handler of the store.
  private @Nullable Rerun rerun;

  private byte @Nullable [] thrownByConstructor;
  // The version of the last state from clients, without the state; null before the first.
  private @Nullable PlacedState placed;
  private boolean lent;
  // Whether the object has left its indexes, and nothing was put since.
  private boolean left;

  private ObjectHandler(
      Parts parts,
      ObjectType type,
      int code,
      @Nullable Object instance,
      byte @Nullable [] thrownByConstructor) {
    this.parts = parts;
    this.type = type;
    this.code = code;
    this.instance = instance;
    this.thrownByConstructor = thrownByConstructor;
  }

  @Override
  public Answer put(byte[] value, Execution execution) {
    lastConverted = null;
    // The values in indexes, which the object entered when its last put ended.
    boolean begins = execution.generation() == execution.address();
    Indexing.Values before = begins || left ? Indexing.Values.NONE : indexed();
    Old old = new Old(type, code, instance);
    ObjectType next = type;
    int number = execution.code();
    Rerun trying = rerun;
    if (trying != null && trying.executes(execution)) {
      next = trying.type();
      number = TRIED;
    } else if (number != code) {
      next = parts.catalog().typeAt(type.shared().name(), number);
    }
    try {
      become(next, number);
    } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
      throw ofTheStore;
    } catch (StoaException unfit) {
      throwLocal(unfit, execution);
      // The same everywhere: the object stays as it is, in the code that it has.
      return new ObjectAnswer.Travelling(
          ObjectAnswer.THREW, parts.catalog().marshaller().thrown(unfit));
    }
    // A run that a check tries changes no index.
    boolean apart = number == TRIED;
    Answer unkept = apart ? null : keepLifetime(begins, old, execution);
    if (unkept != null) return unkept;
    List<String> dropped =
        begins && !apart ? parts.catalog().droppedIndexes(type, number) : List.of();
    boolean isIndexed =
        !type.shared().indexes().isEmpty() || !before.members().isEmpty() || !dropped.isEmpty();
    if (!apart && instance instanceof Entered object) return entered(object, value, execution);
    if (apart || !isIndexed) return act(value, execution);
    return indexed(new Indexing.Prior(before, begins, dropped), old, value, execution);
  }

  /// Tells the keeper of timers when the object ends, if that is its first put under its code. The
  /// keeper then looks at the object's last change by itself.
  ///
  /// @return the answer to the put when the keeper refuses; otherwise null
  private @Nullable Answer keepLifetime(boolean begins, Old old, Execution execution) {
    Lifetime lifetime = type.shared().lifetime();
    if (lifetime == null || (!begins && old.code == code)) return null;
    Key key = execution.key();
    var context =
        new ObjectContext(
            parts.environment(), execution, parts.catalog().refOf(key), type.code(), null, null);
    var target = new UUID(key.stream().high(), key.stream().low());
    long end = execution.nowMicros() + lifetime.micros();
    long generation = execution.generation();
    try {
      ScopedValue.where(CallContext.CURRENT, context)
          .run(() ->
              Collections.installed()
                  .timers()
                  .end(context::get, target, key.space(), key.name(), generation, end));
      return null;
    } catch (StoaException refused) {
      if (!begins) {
        ObjectType refusing = type;
        restore(old);
        return threw(refused, refusing, context);
      }
      thrownByConstructor = execution.once(() -> type.marshaller().thrown(refused));
      instance = null;
      return constructed();
    }
  }

  /// The object with the code that it had.
  private record Old(ObjectType type, int code, @Nullable Object instance) {}

  /// Leaves the object in the code that it had. The indexes of the code of a put refuse what the
  /// object has, so each later put of that code tries again to enter it.
  private void restore(Old old) {
    if (!old.type.code().equals(type.code())) instance = old.instance;
    type = old.type;
    code = old.code;
  }

  /// Returns the values that the object has in indexes.
  private Indexing.Values indexed() {
    if (type.shared().indexes().isEmpty()) return Indexing.Values.NONE;
    Indexing.Values last = lastIndexed;
    return last != null ? last : Indexing.Values.entered(type, instance);
  }

  /// Executes a put and brings the indexes up to date. When an index refuses that, the object is as
  /// before.
  ///
  /// @param old what the object was before the code of the put took it over
  private Answer indexed(Indexing.Prior prior, Old old, byte[] value, Execution execution) {
    lastIndexed = null;
    Object known = instance;
    byte[] state = null;
    boolean mayRefuse = Indexing.mayRefuse(prior, type, execution);
    if (known instanceof Forkable<?> forkable) instance = forkable.fork();
    else if (known != null && mayRefuse) state = type.state(known);
    boolean leaves = CallNumbers.isLeaving(value);
    Answer answer = leaves ? constructed() : act(value, execution);
    var indexing = new Indexing(parts.environment(), parts.indexChanges(), execution, type);
    try {
      Indexing.Values after =
          leaves ? Indexing.Values.NONE : indexing.values(instance, prior.values());
      indexing.apply(prior, after);
      lastIndexed = leaves ? null : after;
      left = leaves;
      return answer;
    } catch (StoaException refused) {
      if (!mayRefuse) throw execution.suspend(refused);
      instance = state == null ? known : type.state(state);
      // A constructor may have set values, too, and other code may have other indexes.
      try {
        indexing.apply(prior, indexing.values(instance, Indexing.Values.NONE));
        left = false;
      } catch (StoaException again) {
        if (prior.begins()) {
          thrownByConstructor = execution.once(() -> type.marshaller().thrown(again));
          instance = null;
        }
        ObjectType refusing = type;
        if (!prior.begins()) restore(old);
        return threw(refused, refusing, indexing.context());
      }
      return threw(refused, type, indexing.context());
    }
  }

  /// Executes a put of an object that keeps entries in indexes, and brings these up to date. When
  /// an index refuses that, the object is as before.
  private Answer entered(Entered object, byte[] value, Execution execution) {
    object.beginChanges();
    Answer answer = act(value, execution);
    Entered.Changes changes = object.endChanges();
    if (changes.isEmpty()) return answer;
    Ref<?> ref = parts.catalog().refOf(execution.key());
    var context = new ObjectContext(parts.environment(), execution, ref, type.code(), null, null);
    try {
      new Entering(
              parts.environment().stoa(),
              parts.indexChanges(),
              execution,
              context,
              object.owner(ref.key()))
          .apply(changes);
      object.keepChanges();
      return answer;
    } catch (StoaException refused) {
      object.undoChanges();
      return threw(refused, type, context);
    }
  }

  /// Executes a put by the code that the object has now.
  private Answer act(byte[] value, Execution execution) {
    var in = new Decoder(value);
    if (PlacedState.isIn(value)) {
      var state = PlacedState.decode(value, PlacedState.PREFIX);
      // For a class that lives at the server, a state that is not newer comes too late: the object
      // is back already. For other classes, the state is from the time when clients kept the class.
      if (lent || type.shared().isPlaced() || state.isNewerThan(placed)) replace(state);
      return new ObjectAnswer.Shared(null, parts.catalog().marshaller());
    }
    if (PlacedState.isSide(value, true)) return lend();
    if (PlacedState.isSide(value, false)) {
      lent = false;
      return new ObjectAnswer.Shared(null, parts.catalog().marshaller());
    }
    if (lent) return new ObjectAnswer.Lent();
    ObjectType.Called called;
    @Nullable Object[] arguments;
    try {
      called = type.called(in);
      if (called == null || thrownByConstructor != null) return constructed();
      arguments = arguments(called.method(), value, in.position(), execution);
    } catch (NotShareable unfit) {
      throwLocal(unfit, execution);
      if (code == 0) throw unfit; // the code that executed it had the method
      // The call arrived just as this code became active; the same on every replica.
      return new ObjectAnswer.Travelling(
          ObjectAnswer.THREW, parts.catalog().marshaller().thrown(unfit));
    }
    if (called.method().awaits() && execution.isPutFromOutside()) {
      return awaiting(called, arguments, execution);
    }
    Object target = java.util.Objects.requireNonNull(instance);
    Answer answer = run(target, called.type(), called.method(), arguments, execution, null);
    if (target instanceof Timed timed) parts.alarms().changed(execution.key(), timed);
    if (target instanceof Noticed noticed) {
      parts.deliveries().changed(execution.key(), noticed.position());
    }
    return answer;
  }

  /// Runs a method that may wait; when it does, the object is as before.
  private Answer awaiting(
      ObjectType.Called called, @Nullable Object[] arguments, Execution execution) {
    Object before = java.util.Objects.requireNonNull(instance);
    byte[] state = null;
    Object target = before;
    if (before instanceof Forkable<?> forkable) target = forkable.fork();
    else state = type.state(before);
    instance = target;
    var awaiting = new Awaiting(Awaiting.Purpose.CALL, execution);
    Answer answer = run(target, called.type(), called.method(), arguments, execution, awaiting);
    if (!awaiting.waits()) return answer;
    instance = state == null ? before : type.state(state);
    return new ObjectAnswer.Waits(awaiting.isTimed());
  }

  /// Finds the first of some waiting calls that goes on, and those that go on with it.
  private Unblocked.First first(List<byte[]> puts, Execution execution) {
    Object known = instance;
    if (known == null || lent) return new Unblocked.First(List.of(0), false, false);
    boolean isTimed = false;
    for (int i = 0; i < puts.size(); i++) {
      var awaiting = new Awaiting(Awaiting.Purpose.TRIAL, execution);
      Tried tried = tried(known, puts.get(i), execution, awaiting);
      if (tried.goesOn()) {
        List<Integer> released =
            i == 0
                ? front(puts, tried.after(), awaiting, execution)
                : passing(puts, i, tried.after(), execution);
        return new Unblocked.First(released, isTimed, false);
      }
      isTimed |= awaiting.isTimed();
      if (awaiting.holdsOthers()) return new Unblocked.First(List.of(), isTimed, true);
    }
    return new Unblocked.First(List.of(), isTimed, false);
  }

  /// Returns the front call and those behind it that go on, each after those in front of it. It
  /// ends at one that waits, and at one that others must not overtake.
  ///
  /// @param after the object after the front call; null when that is unknown
  private List<Integer> front(
      List<byte[]> puts, @Nullable Object after, Awaiting first, Execution execution) {
    Object state = after;
    Awaiting last = first;
    var released = new ArrayList<>(List.of(0));
    while (state != null && !last.holdsOthers() && released.size() < puts.size()) {
      last = new Awaiting(Awaiting.Purpose.TRIAL, execution);
      Tried tried = tried(state, puts.get(released.size()), execution, last);
      if (!tried.goesOn() || last.holdsOthers()) break;
      state = tried.after();
      released.add(released.size());
    }
    return released;
  }

  /// Returns a call that passes waiting ones, and the front one if that goes on after it. A put for
  /// which a take waits is such a call. Those between them go on only when their turn comes.
  ///
  /// @param after the object after the passing call; null when that is unknown
  private List<Integer> passing(
      List<byte[]> puts, int passing, @Nullable Object after, Execution execution) {
    if (after == null) return List.of(passing);
    var awaiting = new Awaiting(Awaiting.Purpose.TRIAL, execution);
    boolean releases = tried(after, puts.getFirst(), execution, awaiting).goesOn();
    return releases ? List.of(passing, 0) : List.of(passing);
  }

  /// A trial of a waiting call.
  ///
  /// @param after the object after the call; null when that is unknown
  private record Tried(boolean goesOn, @Nullable Object after) {
    static final Tried UNKNOWN = new Tried(true, null);
  }

  private Tried tried(Object known, byte[] put, Execution execution, Awaiting awaiting) {
    var in = new Decoder(put);
    try {
      ObjectType.Called called = type.called(in);
      if (called == null) return Tried.UNKNOWN;
      SharedMethod method = called.method();
      if (method.holdsOthers()) awaiting.holdOthers();
      @Nullable Object[] arguments =
          type.marshaller().arguments(method, put, in.position(), put.length);
      Object copy =
          known instanceof Forkable<?> forkable ? forkable.fork() : type.state(type.state(known));
      var _ = run(copy, called.type(), method, arguments, execution, awaiting);
      boolean goesOn = !awaiting.waits();
      return new Tried(goesOn, goesOn && !awaiting.isPast() ? copy : null);
    } catch (StoaException unfit) {
      return Tried.UNKNOWN; // the execution says why
    }
  }

  private @Nullable Object[] arguments(
      SharedMethod method, byte[] call, int from, Execution execution) {
    var read = (ObjectType.ReadArguments) execution.takeRead();
    return read != null && read.code().equals(type.code())
        ? read.arguments()
        : type.marshaller().arguments(method, call, from, call.length);
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    if (query instanceof StateQuestion) {
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, state().encoded());
    }
    if (query instanceof ShowQuestion(Shown.Bounds bounds)) {
      return new ObjectAnswer.Shared(seeing(bounds), parts.catalog().marshaller());
    }
    if (query instanceof JudgeQuestion(Members members, MethodRun.Judge judge)) {
      boolean exists = execution.generation() > 0 && thrownByConstructor == null;
      String judged = exists ? Indexing.judged(members, asBy(members.type()), judge) : null;
      return new ObjectAnswer.Shared(judged, parts.catalog().marshaller());
    }
    if (query instanceof LifeQuestion) {
      SharedType shared = type.shared();
      var life = new Life(shared.lifetime(), lent, !shared.indexes().isEmpty(), left);
      return new ObjectAnswer.Shared(life, parts.catalog().marshaller());
    }
    if (query instanceof LentQuestion)
      return new ObjectAnswer.Shared(lent, parts.catalog().marshaller());
    if (query instanceof Unblocked(List<byte[]> puts)) return first(puts, execution);
    if (!(query instanceof Question question)) {
      throw new IllegalStateException("an object is asked by its accessors, not by " + query);
    }
    if (lent && !question.durable()) return new ObjectAnswer.Lent();
    if (thrownByConstructor != null) return constructed();
    ObjectType asked = question.type();
    SharedMethod method = question.method();
    Object target = asBy(asked);
    if (target instanceof Forkable<?> forkable) {
      // The method may change only a fork.
      return run(forkable.fork(), asked, method, question.arguments(), execution, null);
    }
    if (asked.isQuick(method))
      return run(target, asked, method, question.arguments(), execution, null);
    // Not yet proven: a change that the bytecode check cannot see shows in the state.
    byte[] before = asked.state(target);
    Answer answer = run(target, asked, method, question.arguments(), execution, null);
    if (!Arrays.equals(before, asked.state(target))) {
      throw new NotShareable(
          method.kind().isTransaction()
              ? method
                  + " is @Transactional and changed its object itself; have it call a method that"
                  + " does, without the annotation"
              : method + " is an @Accessor and changed its object; take the annotation away");
    }
    return answer;
  }

  /// Converts the state to the code of a number.
  ///
  /// @throws StoaException when the new code has no rule for the state
  private void become(ObjectType next, int number) {
    if (number == code) return;
    Object known = instance;
    if (known != null && !next.code().equals(type.code())) instance = next.state(type.state(known));
    type = next;
    code = number;
  }

  /// Throws on what failed for want of memory or stack, by a fault of the JVM, or because this
  /// process lacks the class of a value: that is no answer of the object's, since another replica
  /// may not lack it. The engine treats it as it does when a method fails so.
  private static void throwLocal(Throwable failure, Execution execution) {
    Throwable cause = failure;
    for (int i = 0; cause != null && i < CAUSES_MAX; i++) {
      if (cause instanceof VirtualMachineError local) throw local;
      if (cause instanceof NotShareable refusal && Marshaller.lacksClass(refusal)) {
        throw lacking(refusal, execution);
      }
      cause = ThrowableText.cause(cause);
    }
  }

  /// Returns what a put throws that needs a class which this process lacks. The leader, which has
  /// just logged the put, takes it back, as it does with a method that fails with an error. A later
  /// process finds no such verdict: then the put was executed, and the object waits for the class.
  private static RuntimeException lacking(NotShareable refusal, Execution execution) {
    if (execution.request == null) return refusal;
    var error = new NoClassDefFoundError(refusal.getMessage());
    var _ = error.initCause(refusal);
    throw error;
  }

  /// The state as the code of a type sees it.
  private Object asBy(ObjectType asked) {
    Object known = java.util.Objects.requireNonNull(instance);
    if (asked.code().equals(type.code())) return known;
    Converted before = lastConverted;
    if (before != null && before.code().equals(asked.code())) return before.instance();
    Object converted = asked.state(type.state(known));
    lastConverted = new Converted(asked.code(), converted);
    return converted;
  }

  /// Copies that clients have from an earlier loan are older than this.
  private Answer lend() {
    if (!lent && thrownByConstructor == null) {
      var known = placed;
      placed =
          known == null
              ? new PlacedState(0, 1, new byte[0])
              : new PlacedState(known.generation(), known.number() + 1, new byte[0]);
      lent = true;
    }
    return constructed();
  }

  private void replace(PlacedState state) {
    instance = type.state(state.bytes());
    thrownByConstructor = null;
    placed = new PlacedState(state.generation(), state.number(), new byte[0]);
  }

  private PlacedState state() {
    Object target = instance;
    byte[] bytes = target == null ? new byte[0] : type.state(target);
    PlacedState known = placed;
    return known == null
        ? new PlacedState(0, 0, bytes)
        : new PlacedState(known.generation(), known.number(), bytes);
  }

  private Seeing seeing(Shown.Bounds bounds) {
    var showing = new Showing(bounds);
    byte[] thrown = thrownByConstructor;
    if (thrown != null) {
      return new Seeing(showing.show("", type.marshaller().thrown(thrown)), true, lent, 0);
    }
    Object target = instance; // null while clients have made no state yet
    int bytes = target == null ? 0 : type.state(target).length;
    return new Seeing(showing.show("", target), false, lent, bytes);
  }

  private Answer constructed() {
    byte[] thrown = thrownByConstructor;
    return thrown == null
        ? new ObjectAnswer.Shared(null, parts.catalog().marshaller())
        : new ObjectAnswer.Travelling(ObjectAnswer.THREW, thrown);
  }

  private Answer run(
      Object target,
      ObjectType asked,
      SharedMethod method,
      @Nullable Object[] arguments,
      Execution execution,
      @Nullable Awaiting awaiting) {
    Ref<?> ref = parts.catalog().refOf(execution.key());
    var context =
        new ObjectContext(parts.environment(), execution, ref, asked.code(), target, awaiting);
    Marshaller marshaller = asked.marshaller();
    long began = asked.begin(method);
    boolean stopped = false;
    try {
      return ScopedValue.where(CallContext.CURRENT, context)
          .call(() -> {
            Object result = method.invoke(target, arguments);
            return asked.code().mayShare(result)
                ? new ObjectAnswer.Shared(result, marshaller)
                : travelling(marshaller.value(result), method);
          });
    } catch (Cancellation.Stopped stop) {
      stopped = true;
      throw stop;
    } catch (Awaiting.Stopped waits) {
      return new ObjectAnswer.Waits(awaiting != null && awaiting.isTimed());
    } catch (VirtualMachineError | Execution.Unwinding beyondTheMethod) {
      throw beyondTheMethod;
    } catch (Throwable thrown) {
      // Of any class: the store's own failures leave through Execution.suspend.
      return threw(thrown, asked, context);
    } finally {
      asked.end(method, began, stopped || execution.hasCalled());
    }
  }

  private static Answer threw(Throwable thrown, ObjectType asked, ObjectContext context) {
    return ScopedValue.where(CallContext.CURRENT, context)
        .call(() ->
            new ObjectAnswer.Travelling(ObjectAnswer.THREW, asked.marshaller().thrown(thrown)));
  }

  @Override
  public byte[] checkpoint() {
    byte[] thrown = thrownByConstructor;
    if (thrown != null) return checkpoint(THROWN, thrown);
    if (placed != null) return checkpoint(lent ? LENT : PLACED, state().encoded());
    return checkpoint(STATE, type.state(java.util.Objects.requireNonNull(instance)));
  }

  /// Returns the encoded state in a checkpoint; null when it is none of an ordinary object.
  static byte @Nullable [] plain(byte[] checkpoint) {
    var in = new Decoder(checkpoint);
    int kind = in.u8();
    if (kind >= CODED) in.varint();
    return (kind & CONTENT) == STATE ? in.raw(in.remaining()) : null;
  }

  /// Returns the encoded state in a checkpoint of an object that was at clients; null when it is
  /// none, or has no state yet.
  static byte @Nullable [] placed(byte[] checkpoint) {
    int kind = checkpoint[0] & CONTENT;
    if (kind != PLACED && kind != LENT) return null;
    byte[] state = PlacedState.inCheckpoint(checkpoint).bytes();
    return state.length == 0 ? null : state;
  }

  /// Returns the number of the code of a checkpoint, 0 when it has none.
  static int code(byte[] checkpoint) {
    var in = new Decoder(checkpoint);
    return in.u8() < CODED ? 0 : (int) in.varint();
  }

  /// Returns a checkpoint in the form that clients read: without the number of its code, and in the
  /// form of other code.
  ///
  /// @param by the type in the code whose form it gets
  /// @throws StoaException when that code has no rule for the state
  static byte[] told(Catalog catalog, Store store, ObjectType by, Key key, byte[] checkpoint) {
    var in = new Decoder(checkpoint);
    int kind = in.u8();
    if (kind == (kind & CONTENT)) return checkpoint;
    int number = kind < CODED ? 0 : (int) in.varint();
    ObjectType type = catalog.typeAt(by.shared().name(), number);
    byte[] rest = Arrays.copyOfRange(checkpoint, in.position(), checkpoint.length);
    int plain = kind & CONTENT;
    if (plain != THROWN && !type.code().equals(by.code())) {
      byte[] before = rest;
      rest =
          store.limited(
              key,
              () ->
                  plain == STATE
                      ? converted(by, before)
                      : converted(by, PlacedState.decode(before, 0)));
    }
    return new Encoder(rest.length + 1).u8(plain).raw(rest).toBytes();
  }

  private static byte[] converted(ObjectType by, byte[] state) {
    return by.state(by.state(state));
  }

  private static byte[] converted(ObjectType by, PlacedState state) {
    if (state.bytes().length == 0) return state.encoded();
    byte[] bytes = converted(by, state.bytes());
    return new PlacedState(state.generation(), state.number(), bytes).encoded();
  }

  /// Returns an encoded answer, or a refusal when it is too large.
  private ObjectAnswer travelling(byte[] value, SharedMethod method) {
    int bytesMax = parts.callBytesMax();
    if (value.length <= bytesMax) {
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, value);
    }
    var refusal =
        new LimitExceeded(
            "the answer of "
                + method
                + " takes "
                + value.length
                + " bytes; callBytesMax is "
                + bytesMax);
    return new ObjectAnswer.Travelling(
        ObjectAnswer.THREW, parts.catalog().marshaller().thrown(refusal));
  }

  private byte[] checkpoint(int kind, byte[] bytes) {
    var out = new Encoder(11);
    int whole = kind + (left ? LEFT : 0);
    if (code == 0) out.u8(whole);
    else out.u8(whole + CODED).varint(code);
    return out.followedBy(bytes);
  }
}

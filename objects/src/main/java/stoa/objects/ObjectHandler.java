package stoa.objects;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Ref;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.marshal.Marshaller;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.Cancellation;
import stoa.spi.Forkable;
import stoa.store.Execution;
import stoa.store.Handler;
import stoa.store.HandlerFactory;
import stoa.store.Query;

/// The object handler (CRESON, section III-D): holds the object of one reference and calls it.
///
/// OPEN is the put that brings the constructor's arguments, INV any put, PER the checkpoint; CLOSE
/// puts nothing. Session handlers are with who answers: see docs/decisions/listenable-store.md.
///
/// ```
/// checkpoint:  0 u8, the state as the marshaller writes it         the object
///              1 u8, the throwable as the marshaller writes it     it could not be constructed
///              2 u8, a placed state                                the object, made at a client
///              3 u8, a placed state                                the object, which is lent to clients
/// ```
///
/// While an object is lent, calls answer [ObjectAnswer.Lent] and change nothing. That it is lent is
/// part of its state, so that all replicas, and whoever leads next, refuse the same calls.
final class ObjectHandler implements Handler {
  /// A question: an accessor with its arguments.
  ///
  /// @param type by which it is asked
  /// @param method the accessor
  /// @param arguments not shared with anybody who may change them
  /// @param durable whether what is in the store is asked for, also when the object is lent
  record Question(
      ObjectType type, SharedMethod method, @Nullable Object[] arguments, boolean durable)
      implements Query {
    /// One about the object as it is now, wherever that is.
    Question(ObjectType type, SharedMethod method, @Nullable Object[] arguments) {
      this(type, method, arguments, false);
    }

    @Override
    public int number() {
      return method.id().hashCode();
    }

    /// The same about what is in the store.
    Question ofStore() {
      return new Question(type, method, arguments, true);
    }
  }

  /// A question: whether the object is lent to clients, as a Boolean.
  record LentQuestion() {}

  /// A question: the whole state, as a [PlacedState].
  record StateQuestion() {}

  /// Makes the handlers of one type.
  static final class Factory implements HandlerFactory {
    private final LocalService stoa;
    private final ObjectType type;

    /// 0 when it was not asked for.
    private volatile long form;

    Factory(LocalService stoa, ObjectType type) {
      this.stoa = stoa;
      this.type = type;
    }

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      Object name = stoa.nameOf(key);
      @Nullable Object[] arguments = stoa.opening(opening);
      var context = new ObjectContext(stoa, execution, stoa.refOf(key), null);
      try {
        Object instance =
            ScopedValue.where(CallContext.CURRENT, context)
                .call(() -> type.shared().instantiate(name, arguments));
        return new ObjectHandler(stoa, type, instance, null);
      } catch (VirtualMachineError
          | Execution.Unwinding
          | Cancellation.Stopped beyondTheConstructor) {
        throw beyondTheConstructor;
      } catch (Throwable thrown) {
        byte[] encoded = execution.once(() -> stoa.marshaller().thrown(thrown));
        return new ObjectHandler(stoa, type, null, encoded);
      }
    }

    @Override
    public String method(Key key, byte[] value) {
      return stoa.methodOf(key, value);
    }

    @Override
    public long form(Key key) {
      long known = form;
      if (known == 0) form = known = stoa.marshaller().form(type.shared());
      return known;
    }

    @Override
    public boolean isOrdered() {
      return type.shared().order() == LogOrder.GLOBAL;
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      Marshaller marshaller = stoa.marshaller();
      if (checkpoint[0] == 1) {
        byte[] thrown = Arrays.copyOfRange(checkpoint, 1, checkpoint.length);
        return new ObjectHandler(stoa, type, null, thrown);
      }
      if (checkpoint[0] >= 2) {
        var handler = new ObjectHandler(stoa, type, null, null);
        handler.replace(PlacedState.decode(checkpoint, 1));
        handler.lent = checkpoint[0] == 3;
        return handler;
      }
      Object instance = marshaller.state(type.shared(), checkpoint, 1, checkpoint.length);
      return new ObjectHandler(stoa, type, instance, null);
    }

    @Override
    public Handler fork(Key key, Handler handler) {
      if (handler instanceof ObjectHandler live && live.instance instanceof Forkable<?> forkable) {
        var fork = new ObjectHandler(stoa, type, forkable.fork(), null);
        fork.placed = live.placed;
        fork.lent = live.lent;
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
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, stoa.marshaller().thrown(cause));
    }
  }

  private final LocalService stoa;
  private final ObjectType type;
  /* Replaced by states that were made at clients. */
  private @Nullable Object instance;
  private byte @Nullable [] thrownByConstructor;
  /* The version of the last of these, without the state; null before the first. */
  private @Nullable PlacedState placed;
  private boolean lent;

  private ObjectHandler(
      LocalService stoa,
      ObjectType type,
      @Nullable Object instance,
      byte @Nullable [] thrownByConstructor) {
    this.stoa = stoa;
    this.type = type;
    this.instance = instance;
    this.thrownByConstructor = thrownByConstructor;
  }

  @Override
  public Answer put(byte[] value, Execution execution) {
    var in = new Decoder(value);
    if (PlacedState.isIn(value)) {
      var state = PlacedState.decode(value, PlacedState.PREFIX);
      // Of a class that is at the server, one that is no newer comes too late: the object is back
      // already. Others are from the time when its class was placed at clients.
      if (lent || type.shared().isPlaced() || state.isNewerThan(placed)) replace(state);
      return new ObjectAnswer.Shared(null, stoa.marshaller());
    }
    if (PlacedState.isSide(value, true)) return lend();
    if (PlacedState.isSide(value, false)) {
      lent = false;
      return new ObjectAnswer.Shared(null, stoa.marshaller());
    }
    if (lent) return new ObjectAnswer.Lent();
    ObjectType.Called called = type.called(in);
    if (called == null || thrownByConstructor != null) return constructed();
    var read = (@Nullable Object[]) execution.takeRead();
    @Nullable Object[] arguments =
        read != null
            ? read
            : stoa.marshaller().arguments(called.method(), value, in.position(), value.length);
    return run(called.type(), called.method(), arguments, execution);
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    if (query instanceof StateQuestion) {
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, state().encoded());
    }
    if (query instanceof LentQuestion) return new ObjectAnswer.Shared(lent, stoa.marshaller());
    if (!(query instanceof Question question)) {
      throw new IllegalStateException("an object is asked by its accessors, not by " + query);
    }
    if (lent && !question.durable()) return new ObjectAnswer.Lent();
    if (thrownByConstructor != null) return constructed();
    ObjectType asked = question.type();
    SharedMethod method = question.method();
    if (instance instanceof Forkable<?> forkable) {
      // A fork is what it may change at most.
      return run(forkable.fork(), asked, method, question.arguments(), execution);
    }
    if (asked.isQuick(method)) return run(asked, method, question.arguments(), execution);
    // Not yet proven: what the check of the bytecode cannot see shows in the state.
    byte[] before = checkpoint();
    Answer answer = run(asked, method, question.arguments(), execution);
    if (!Arrays.equals(before, checkpoint())) {
      throw new NotShareable(
          method.kind().isTransaction()
              ? method
                  + " is @Transactional and changed its object itself; have it call a method that"
                  + " does, without the annotation"
              : method + " is an @Accessor and changed its object; take the annotation away");
    }
    return answer;
  }

  /* Copies that clients have from when it was lent before are older than this. */
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
    instance = stoa.marshaller().state(type.shared(), state.bytes());
    thrownByConstructor = null;
    placed = new PlacedState(state.generation(), state.number(), new byte[0]);
  }

  private PlacedState state() {
    Object target = instance;
    byte[] bytes = target == null ? new byte[0] : stoa.marshaller().state(type.shared(), target);
    PlacedState known = placed;
    return known == null
        ? new PlacedState(0, 0, bytes)
        : new PlacedState(known.generation(), known.number(), bytes);
  }

  private Answer constructed() {
    byte[] thrown = thrownByConstructor;
    return thrown == null
        ? new ObjectAnswer.Shared(null, stoa.marshaller())
        : new ObjectAnswer.Travelling(ObjectAnswer.THREW, thrown);
  }

  private Answer run(
      ObjectType asked, SharedMethod method, @Nullable Object[] arguments, Execution execution) {
    Object target = java.util.Objects.requireNonNull(instance);
    return run(target, asked, method, arguments, execution);
  }

  private Answer run(
      Object target,
      ObjectType asked,
      SharedMethod method,
      @Nullable Object[] arguments,
      Execution execution) {
    Ref<?> ref = stoa.refOf(execution.key());
    var context = new ObjectContext(stoa, execution, ref, target);
    Marshaller marshaller = stoa.marshaller();
    long began = asked.begin(method);
    boolean stopped = false;
    try {
      return ScopedValue.where(CallContext.CURRENT, context)
          .call(() -> {
            Object result = method.invoke(target, arguments);
            return marshaller.isValue(result)
                ? new ObjectAnswer.Shared(result, marshaller)
                : stoa.travelling(marshaller.value(result), method);
          });
    } catch (Cancellation.Stopped stop) {
      stopped = true;
      throw stop;
    } catch (VirtualMachineError | Execution.Unwinding beyondTheMethod) {
      throw beyondTheMethod;
    } catch (Throwable thrown) {
      // Of whatever class: what fails in the store does so by Execution.suspend.
      return threw(thrown, context);
    } finally {
      asked.end(method, began, stopped || execution.hasCalled());
    }
  }

  private Answer threw(Throwable thrown, ObjectContext context) {
    return ScopedValue.where(CallContext.CURRENT, context)
        .call(() ->
            new ObjectAnswer.Travelling(ObjectAnswer.THREW, stoa.marshaller().thrown(thrown)));
  }

  @Override
  public byte[] checkpoint() {
    byte[] thrown = thrownByConstructor;
    if (thrown != null) return new Encoder(thrown.length + 1).u8(1).raw(thrown).toBytes();
    if (placed != null) return new Encoder(64).u8(lent ? 3 : 2).raw(state().encoded()).toBytes();
    byte[] state =
        stoa.marshaller().state(type.shared(), java.util.Objects.requireNonNull(instance));
    return new Encoder(state.length + 1).u8(0).raw(state).toBytes();
  }
}

package stoa.objects;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Ref;
import stoa.Stoa;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.CallNumbers;
import stoa.front.MethodRun;
import stoa.front.ObjectAnswer;
import stoa.front.Refusals;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.marshal.Reference;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.TimerCall;
import stoa.store.calls.Put;
import stoa.store.running.Execution;

/// The context of a running method: the values that it may read, and the calls of the proxies that
/// it uses.
///
/// Used by the thread that runs the method.
final class ObjectContext implements MethodRun {
  private final Environment environment;
  private final Execution execution;
  private final Ref<?> ref;
  private final LoadedCode code;
  private final @Nullable Object instance;
  private final @Nullable Awaiting awaiting;
  private @Nullable RandomGenerator random;

  /// @param code the code of the method
  /// @param instance the object of the running method, or null during construction
  /// @param awaiting the conditions of the method; null when it cannot wait for any
  ObjectContext(
      Environment environment,
      Execution execution,
      Ref<?> ref,
      LoadedCode code,
      @Nullable Object instance,
      @Nullable Awaiting awaiting) {
    this.environment = environment;
    this.execution = execution;
    this.ref = ref;
    this.code = code;
    this.instance = instance;
    this.awaiting = awaiting;
  }

  /// Returns the context of the current thread, or null when the thread runs no object of the
  /// store.
  static @Nullable ObjectContext current() {
    return CallContext.CURRENT.isBound()
            && CallContext.CURRENT.get() instanceof ObjectContext context
        ? context
        : null;
  }

  /// Throws a failure of the store so that a running method on the current thread cannot catch it:
  /// the failure is not the method's own.
  ///
  /// @return the failure, when no method runs
  static RuntimeException failing(RuntimeException ofTheStore) {
    ObjectContext context = current();
    if (context == null) return ofTheStore;
    throw context.execution.suspend(ofTheStore);
  }

  @Override
  public boolean takes(SharedStoa stoa) {
    return stoa == environment.stoa();
  }

  @Override
  public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (awaiting != null) awaiting.checkCalls();
    if (to.isPlaced()) throw Refusals.placed(to.key());
    return ((ObjectTarget) to.target()).nested(execution, to, method, arguments);
  }

  Execution execution() {
    return execution;
  }

  @Override
  public void index(String type, byte[] key, Indexed indexed) {
    Catalog catalog = environment.catalog();
    ObjectType known = catalog.typeNamed(type);
    ObjectTarget object = catalog.object(known, Keys.decode(key, known.code().loader()));
    var transaction = execution.transaction();
    if (transaction == null) {
      throw new IllegalStateException("a transaction changes what indexes have of " + object.key());
    }
    long generation;
    try {
      generation = transaction.generation(object.key());
    } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
      throw execution.suspend(ofTheStore);
    }
    if (generation == 0) return;
    byte[] put = indexed == Indexed.LEFT ? CallNumbers.leaving() : CallNumbers.creation();
    byte[] answer =
        execution.put(object.key(), Put.of(put), new Existence.Generation(generation), () -> null);
    try {
      var _ = ObjectAnswer.get(answer, known.marshaller());
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }

  @Override
  public List<@Nullable String> judged(
      String type, List<byte[]> keys, List<String> members, Judge judge) {
    var read = new Members(environment.catalog().typeNamed(type));
    for (String member : members) {
      var _ = read.get(member);
    }
    var question = new ObjectHandler.JudgeQuestion(read, judge);
    String name = read.type().shared().name();
    ClassLoader keyClasses = read.type().code().loader();
    var judged = new ArrayList<@Nullable String>(keys.size());
    for (byte[] each : keys) {
      var key = new Key(name, each, new Ref<>(name, Keys.decode(each, keyClasses)));
      judged.add(Indexing.judgment(judged(key, question), () -> environment.catalog().refOf(key)));
    }
    return judged;
  }

  private @Nullable String judged(Key key, ObjectHandler.JudgeQuestion question) {
    byte[] answer = execution.get(key, question, new Existence.Undeleted(null));
    try {
      return (String) ObjectAnswer.get(answer, environment.catalog().marshaller());
    } catch (VirtualMachineError | Execution.Unwinding passedOn) {
      throw passedOn;
    } catch (Throwable absent) {
      return null; // it is gone
    }
  }

  @Override
  public byte[] key() {
    return execution.key().name();
  }

  @Override
  public int group(String type, byte[] key) {
    return environment.part().groupOf(new Key(type, key, key));
  }

  @Override
  public List<String> indexes(String type) {
    return environment.catalog().typeNamed(type).shared().indexes().stream()
        .map(IndexedMember::id)
        .toList();
  }

  /// Returns the code of the running method.
  LoadedCode code() {
    return code;
  }

  /// Returns the object whose method runs.
  Ref<?> ref() {
    return ref;
  }

  /// Returns the reference of an object, if it is the one whose method runs.
  @SuppressWarnings("ReferenceEquality") // Justification: this very instance, not an equal one
  @Override
  public @Nullable Reference referenceOf(Object object) {
    return object == instance ? new Reference(ref, execution.generation()) : null;
  }

  @Override
  public void await(BooleanSupplier condition) {
    if (awaiting == null) MethodRun.super.await(condition);
    else awaiting.await(condition);
  }

  @Override
  public Instant now() {
    if (awaiting != null) awaiting.sawTime();
    return Instant.EPOCH.plus(execution.nowMicros(), ChronoUnit.MICROS);
  }

  @Override
  public RandomGenerator random() {
    RandomGenerator generator = random;
    if (generator == null) {
      generator = new SplittableRandom(execution.seed());
      random = generator;
    }
    return generator;
  }

  @Override
  public long version() {
    return execution.version();
  }

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return environment.stoa().get(type, key, args);
  }

  @Override
  public void stand() {
    execution.stand();
  }

  @Override
  public boolean make(TimerCall timed) throws Throwable {
    if (awaiting != null) awaiting.checkCalls();
    return TimedCalls.make(environment, execution, timed);
  }

  @Override
  public <T> T collection(Function<Stoa, T> opening) {
    if (awaiting != null) awaiting.checkCalls();
    return environment.stoa().collection(this, code, opening);
  }
}

package stoa.objects;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.Ref;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.StreamId;
import stoa.front.CallNumbers;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObjects;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.types.SharedMethod;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.leading.Intents;
import stoa.store.running.StoreTransaction;

/// A transaction of the store of this process. One thread at a time uses it.
///
/// @param past whether it reads an address of the past
record LocalWork(LocalService service, StoreTransaction transaction, boolean past)
    implements Service.Work {
  @Override
  public LogAddress at() {
    return transaction.at();
  }

  @Override
  public boolean isEnded() {
    return transaction.isEnded();
  }

  @Override
  public boolean isLate() {
    return transaction.isLate();
  }

  @Override
  public stoa.Transaction.Outcome commit() {
    try {
      return new stoa.Transaction.Outcome.Committed(transaction.commit());
    } catch (Aborted aborted) {
      return new stoa.Transaction.Outcome.Aborted(aborted);
    } catch (UnknownOutcome unknown) {
      return new stoa.Transaction.Outcome.Unknown(id());
    }
  }

  @Override
  public void close() {
    transaction.close();
  }

  /// An intent that the store of this process has.
  private record Declared(Intents.Intent intent) implements Service.Intent {}

  @Override
  public Service.@Nullable Intent intend(Duration hold, Duration waitMax) {
    Intents.Intent intent =
        service
            .core()
            .intents()
            .declareAndWait(
                transaction,
                TimeUnit.MICROSECONDS.convert(hold),
                TimeUnit.MICROSECONDS.convert(waitMax));
    return intent == null ? null : new Declared(intent);
  }

  /// Returns what the store knows as an intent.
  static Intents.@Nullable Intent declared(Service.@Nullable Intent intent) {
    return intent == null ? null : ((Declared) intent).intent;
  }

  /// Returns the identity by which [stoa.Stoa#outcome] finds its outcome.
  stoa.Transaction.Id id() {
    var id = transaction.id();
    var mark = new UUID(id.mark().high(), id.mark().low());
    return new stoa.Transaction.Id((Ref<?>) id.key().label(), id.tail(), mark);
  }

  static StreamId mark(UUID mark) {
    return new StreamId(mark.getMostSignificantBits(), mark.getLeastSignificantBits());
  }

  @Override
  public void enter(boolean readOnly) {
    enter(transaction, readOnly);
  }

  private static void enter(StoreTransaction transaction, boolean readOnly) {
    if (readOnly) transaction.enterToRead();
    else transaction.enter();
  }

  @Override
  public void leave(boolean keep) {
    if (keep) transaction.keep();
    else transaction.drop();
  }

  // ---- calls

  @Override
  public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    LocalObject object = (LocalObject) to.target();
    object.requireHere();
    try {
      return make(object, to, method, arguments);
    } catch (PlacedObjects.LentToClients lent) {
      throw service.metLent(to);
    }
  }

  private @Nullable Object make(
      LocalObject object, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (method.kind().isTransaction()) {
      return nested(
          transaction,
          method,
          () ->
              transaction.run(
                  object.at(), question(object, to, method, arguments), to.existenceThen()),
          answer -> ((ObjectAnswer) answer).get(object.marshaller()));
    }
    Existence existence = to.existenceThen();
    Pace pace = object.type().pace(method);
    Answer answer =
        switch (method.kind()) {
          case ACCESSOR ->
              transaction.get(
                  object.at(), question(object, to, method, arguments), existence, pace);
          case TRANSACTION, READING_TRANSACTION ->
              throw new IllegalStateException(method + " is nested");
          case UPDATE, MUTATOR -> {
            Put call = object.tentative(method, arguments);
            tryToBegin(object, to);
            yield transaction.put(object.at(), call, existence, pace);
          }
        };
    return ((ObjectAnswer) answer).get(object.marshaller());
  }

  private ObjectHandler.Question question(
      LocalObject object, SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    return past
        ? object.durableQuestion(to, method, arguments)
        : object.inTransaction(object.question(to, method, arguments));
  }

  /// Decodes an answer for the caller.
  interface Reading<A> {
    @Nullable Object of(A answer) throws Throwable;
  }

  /// Runs a method as a nested transaction: when the method throws, the transaction drops its
  /// changes.
  static <A> @Nullable Object nested(
      StoreTransaction around,
      SharedMethod method,
      java.util.function.Supplier<A> run,
      Reading<A> reading)
      throws Throwable {
    enter(around, method.kind() == SharedMethod.Kind.READING_TRANSACTION);
    boolean kept = false;
    try {
      Object result = reading.of(run.get());
      kept = true;
      return result;
    } finally {
      if (kept) around.keep();
      else around.drop();
    }
  }

  @Override
  public void create(SharedCall to) throws Throwable {
    LocalObject object = (LocalObject) to.target();
    object.requireHere();
    Existence existence = to.absence();
    tryToBegin(object, to);
    var answer = transaction.put(object.at(), CallNumbers.creation(), existence, Pace.SHORT);
    var _ = ((ObjectAnswer) answer).get(object.marshaller());
  }

  @Override
  public void delete(SharedCall to) {
    LocalObject object = (LocalObject) to.target();
    Existence existence = to.ending();
    if (service.isLent(transaction, object.at(), existence)) throw service.metLent(to);
    to.bind(transaction.delete(object.at(), existence));
  }

  @Override
  public long generation(SharedCall of) {
    return transaction.generation(of.key());
  }

  /// Gives the constructor's exception to the caller, and creates nothing.
  private void tryToBegin(LocalObject object, SharedCall to) throws Throwable {
    if (to.generation() != 0 || transaction.isReadOnly()) return;
    if (transaction.generation(object.key()) == 0) object.construct(to);
  }
}

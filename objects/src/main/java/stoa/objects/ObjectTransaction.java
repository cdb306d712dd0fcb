package stoa.objects;

import stoa.front.CallNumbers;
import stoa.front.Refusals;
import stoa.store.Pace;
import java.lang.ref.Cleaner;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.Order;
import stoa.Ref;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.StreamId;
import stoa.front.Attempts;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObjects;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// A transaction over shared objects. One thread at a time uses it.
final class ObjectTransaction implements Attempts.Attempt {
  /// The transaction in whose body the current thread is.
  private static final ScopedValue<ObjectTransaction> CURRENT = ScopedValue.newInstance();

  private static final Cleaner CLEANER = Cleaner.create();

  private final EmbeddedStoa stoa;
  private final stoa.store.Transaction transaction;
  private final boolean past;

  /// The transaction in whose body this one was begun, over another store; null when there is none.
  private final @Nullable ObjectTransaction around;

  /// The thread that runs the body.
  private @Nullable Thread runner;

  /// @param past whether it reads an address of the past
  ObjectTransaction(EmbeddedStoa stoa, stoa.store.Transaction transaction, boolean past) {
    this.past = past;
    this.stoa = stoa;
    this.transaction = transaction;
    this.around = CURRENT.isBound() ? CURRENT.get() : null;
  }

  /// The transaction over a store in whose body the current thread is, or null.
  static @Nullable ObjectTransaction current(EmbeddedStoa stoa) {
    if (!CURRENT.isBound()) return null;
    for (@Nullable ObjectTransaction next = CURRENT.get(); next != null; next = next.around) {
      if (next.stoa == stoa && !next.transaction.isEnded()) {
        // A thread of a structured task inherits the binding, and is not in the transaction.
        return Thread.currentThread().equals(next.runner) ? next : null;
      }
    }
    return null;
  }

  @Override
  public boolean isLate() {
    return transaction.isLate();
  }

  @Override
  public <R extends @Nullable Object, X extends Exception> R run(stoa.Body<R, X> body) throws X {
    runner = Thread.currentThread();
    return ScopedValue.where(CURRENT, this).call(body::run);
  }

  /// Gives it up when nobody can reach it any more: what it reads is kept for it until then.
  void closeWhenForgotten() {
    var _ = CLEANER.register(this, transaction::close);
  }

  stoa.store.Transaction transaction() {
    return transaction;
  }

  // ---- what programs call

  @Override
  public LogAddress at() {
    return transaction.at();
  }

  @Override
  public <T> T on(T shared) {
    // Calls take part wherever they are made.
    return Sharing.through(
        shared, proxy -> Proxies.redirect(proxy, new Taking(this, stoa.own(proxy))));
  }

  @Override
  public Outcome commit() {
    try {
      return new Outcome.Committed(transaction.commit());
    } catch (Aborted aborted) {
      return new Outcome.Aborted(aborted);
    } catch (UnknownOutcome unknown) {
      return new Outcome.Unknown(id());
    }
  }

  @Override
  public void close() {
    transaction.close();
  }

  /// The identity by which [stoa.Stoa#outcome] finds what became of it.
  Id id() {
    var id = transaction.id();
    var mark = new UUID(id.mark().high(), id.mark().low());
    return new Id((Ref<?>) id.key().label(), id.tail(), mark);
  }

  // ---- calls

  /// Makes a call as part of the transaction.
  @Nullable Object call(LiveInvoker live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    live.refusePlaced();
    Refusals.stream(live.type().shared());
    try {
      return make(live, method, arguments);
    } catch (PlacedObjects.Elsewhere lent) {
      throw live.metLent();
    }
  }

  private @Nullable Object make(LiveInvoker live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (method.kind().isTransaction()) {
      return nested(
          transaction,
          method,
          () ->
              transaction.run(
                  live.target(), question(live, method, arguments), live.existenceThen()),
          answer -> ((ObjectAnswer) answer).get(stoa.marshaller()));
    }
    var target = live.target();
    Existence existence = live.existenceThen();
    Pace pace = live.type().pace(method);
    Answer answer =
        switch (method.kind()) {
          case ACCESSOR ->
              transaction.get(target, question(live, method, arguments), existence, pace);
          case TRANSACTION, READING_TRANSACTION ->
              throw new IllegalStateException(method + " is nested");
          case UPDATE, MUTATOR -> {
            byte[] call = live.call(method, arguments);
            tryToBegin(live);
            yield transaction.put(target, call, existence, pace);
          }
        };
    return ((ObjectAnswer) answer).get(stoa.marshaller());
  }

  private ObjectHandler.Question question(
      LiveInvoker live, SharedMethod method, @Nullable Object[] arguments) {
    var question = live.question(method, arguments);
    return past ? question.ofStore() : question;
  }

  /// What an answer says to the caller.
  interface Reading<A> {
    @Nullable Object of(A answer) throws Throwable;
  }

  /// Runs a method that is a transaction within another one: what it throws drops its changes.
  static <A> @Nullable Object nested(
      stoa.store.Transaction around,
      SharedMethod method,
      java.util.function.Supplier<A> run,
      Reading<A> reading)
      throws Throwable {
    if (method.kind() == SharedMethod.Kind.READING_TRANSACTION) around.enterToRead();
    else around.enter();
    boolean kept = false;
    try {
      Object result = reading.of(run.get());
      kept = true;
      return result;
    } finally {
      around.leave(kept);
    }
  }

  void create(LiveInvoker live, Existence existence) throws Throwable {
    Refusals.stream(live.type().shared());
    tryToBegin(live);
    var answer = transaction.put(live.target(), CallNumbers.creation(), existence, Pace.SHORT);
    var _ = ((ObjectAnswer) answer).get(stoa.marshaller());
  }

  void delete(LiveInvoker live, Existence existence) {
    Refusals.stream(live.type().shared());
    if (live.stoa().isLent(transaction, live.target(), existence)) throw live.metLent();
    live.bind(transaction.delete(live.target(), existence));
  }

  /// What a constructor throws reaches the caller, and nothing is begun.
  private void tryToBegin(LiveInvoker live) throws Throwable {
    if (live.generation() != 0 || transaction.isReadOnly()) return;
    if (transaction.generation(live.target().key()) == 0) live.construct();
  }

  static StreamId mark(UUID mark) {
    return new StreamId(mark.getMostSignificantBits(), mark.getLeastSignificantBits());
  }

  /// Where the calls on a proxy of [#on] go.
  private record Taking(ObjectTransaction transaction, LiveInvoker live) implements LiveRoute {
    @Override
    public @Nullable Object invoke(
        Proxied proxied, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return transaction.call(live, method, arguments);
    }
  }
}

package stoa.front;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.TransactionBody;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// A transaction over shared objects. One thread at a time uses it.
public final class SharedTransaction implements Attempts.Attempt {
  // The transaction whose body runs on the current thread.
  private static final ScopedValue<SharedTransaction> CURRENT = ScopedValue.newInstance();

  private static final Cleaner CLEANER = Cleaner.create();

  private final SharedStoa stoa;
  private final Service.Work work;

  // The transaction over another store whose body began this one; null when there is none.
  private final @Nullable SharedTransaction around;

  // The thread that runs the body.
  private @Nullable Thread runner;

  SharedTransaction(SharedStoa stoa, Service.Work work) {
    this.stoa = stoa;
    this.work = work;
    this.around = CURRENT.isBound() ? CURRENT.get() : null;
  }

  /// Returns the transaction over a store whose body runs on the current thread, or null.
  public static @Nullable SharedTransaction current(SharedStoa stoa) {
    if (!CURRENT.isBound()) return null;
    for (@Nullable SharedTransaction next = CURRENT.get(); next != null; next = next.around) {
      if (next.stoa == stoa && !next.work.isEnded()) {
        // A thread of a structured task inherits the binding, but is not part of the transaction.
        return Thread.currentThread().equals(next.runner) ? next : null;
      }
    }
    return null;
  }

  @Override
  public <R extends @Nullable Object, X extends Exception> R run(TransactionBody<R, X> body)
      throws X {
    runner = Thread.currentThread();
    return ScopedValue.where(CURRENT, this).call(body::run);
  }

  @Override
  public boolean isLost() {
    return work.isLost();
  }

  @Override
  public Service.@Nullable Intent intend(Duration hold, Duration waitMax) {
    return work.intend(hold, waitMax);
  }

  @Override
  public boolean isLate() {
    return work.isLate();
  }

  /// Closes the transaction when it becomes unreachable: until then the store keeps the versions
  /// that it reads.
  void closeWhenForgotten() {
    var _ = CLEANER.register(this, work::close);
  }

  /// Returns the store's side of the transaction.
  public Service.Work work() {
    return work;
  }

  // ---- what programs call

  @Override
  public LogAddress at() {
    return work.at();
  }

  @Override
  public <T> T on(T shared) {
    // Calls take part wherever the program makes them.
    return Sharing.through(
        shared, proxy -> Proxies.redirect(proxy, new Taking(this, stoa.own(proxy))));
  }

  @Override
  public Outcome commit() {
    return stoa.recorded("commit", work::commit);
  }

  @Override
  public void close() {
    work.close();
  }

  // ---- calls

  /// Makes a call as part of the transaction.
  @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    checkPart(to);
    return SharedStoa.answered(
        stoa.tracing(to, method.id()), () -> work.call(to, method, arguments));
  }

  /// Makes a call like [#call]; an exception of the method ends the transaction.
  @Nullable Object callAsOwn(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    checkPart(to);
    return SharedStoa.answered(
        stoa.tracing(to, method.id()), () -> work.callAsOwn(to, method, arguments));
  }

  /// Makes several calls on different objects like [#call].
  List<@Nullable Object> callAll(List<Service.WorkCall> calls) throws Throwable {
    calls.forEach(call -> checkPart(call.to()));
    return stoa.recorded("calls", () -> work.callAll(calls));
  }

  /// Deletes several objects.
  void deleteAll(List<SharedCall> objects) {
    objects.forEach(SharedTransaction::checkPart);
    stoa.recorded(
        "deletions",
        () -> {
          work.deleteAll(objects);
          return objects;
        });
  }

  void create(SharedCall to) throws Throwable {
    checkPart(to);
    work.create(to);
  }

  void delete(SharedCall to) {
    checkPart(to);
    work.delete(to);
  }

  /// Refuses an object that takes no part in transactions.
  private static void checkPart(SharedCall to) {
    if (to.isPlaced()) throw Refusals.placed(to.key());
    Refusals.stream(to.shared());
  }

  /// Runs a body as a nested transaction.
  <R extends @Nullable Object, X extends Exception> R nested(
      boolean readOnly, TransactionBody<R, X> body) throws X {
    work.enter(readOnly);
    boolean kept = false;
    try {
      R result = body.run();
      kept = true;
      return result;
    } finally {
      work.leave(kept);
    }
  }

  /// The route of calls on a proxy of [#on].
  record Taking(SharedTransaction transaction, SharedCall live) implements LiveRoute {
    @Override
    public @Nullable Object invoke(
        Proxied proxied, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return transaction.call(live, method, arguments);
    }
  }
}

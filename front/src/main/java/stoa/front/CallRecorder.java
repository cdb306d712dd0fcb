package stoa.front;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.Closed;
import stoa.NotShareable;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// Records the one call of an asynchronous call, see [stoa.Stoa#async]. The calling thread uses it.
///
/// @param <R> the result of the call
public final class CallRecorder<R extends @Nullable Object> implements Invoker {
  /// Begins a call without waiting for it.
  public interface Calling {
    /// Begins the call.
    ///
    /// @param settled receives the answer when the call is over
    void begin(SharedMethod method, @Nullable Object[] arguments, Settled settled) throws Throwable;
  }

  /// Receives the answer when a call is over.
  public interface Settled {
    /// Accepts the answer.
    ///
    /// @param reading decodes the answer, on a thread that may take its time; throws what the call
    ///   threw
    void answer(Reading reading);
  }

  /// Decodes an answer.
  public interface Reading {
    /// Returns the answer.
    ///
    /// @throws Throwable what the call threw
    @Nullable Object get() throws Throwable;
  }

  private static final String ONE_ACCESSOR =
      "a query names one accessor, as in Order::customer or order -> order.isLate(today)";

  private final Calling calling;
  private final Executor answers;
  private @Nullable CompletableFuture<R> future;

  // The return value of the call while there is no answer.
  private @Nullable Object placeholder;

  private CallRecorder(Calling calling, Executor answers) {
    this.calling = calling;
    this.answers = answers;
  }

  /// Makes the one call.
  ///
  /// @param shared a proxy, or a facade
  /// @param calling begins a call on the proxy
  /// @param answers runs the decoding of answers
  public static <T, R extends @Nullable Object> CompletableFuture<R> record(
      T shared, Call1<T, R> call, Calling calling, Executor answers) {
    var recorder = new CallRecorder<R>(calling, answers);
    T recording = Sharing.through(shared, proxy -> Proxies.redirect(proxy, recorder));
    Callable<R> made = () -> call.on(recording);
    Object answered;
    try {
      answered = made.call();
    } catch (Exception thrown) {
      return CompletableFuture.failedFuture(thrown);
    }
    CompletableFuture<R> future = recorder.future();
    if (Objects.equals(answered, recorder.placeholder)) return future;
    return CompletableFuture.failedFuture(
        new IllegalArgumentException(
            "an asynchronous call answers what its one call answers; the call is made, do more with"
                + " its answer in thenApply"));
  }

  /// The method that a call calls.
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Named(SharedMethod method, @Nullable Object[] arguments) {}

  /// Returns the one method that a call calls.
  ///
  /// @param shared a proxy
  static <T> Named named(T shared, Call1<T, ?> call) {
    var named = new @Nullable Named[1];
    T naming =
        Proxies.redirect(
            shared,
            (_, method, arguments) -> {
              if (named[0] != null) throw new IllegalArgumentException(ONE_ACCESSOR);
              named[0] = new Named(method, arguments);
              return placeholder(method);
            });
    try {
      var _ = call.on(naming);
    } catch (IllegalArgumentException | NotShareable refused) {
      throw refused;
    } catch (Exception other) {
      if (named[0] == null) throw new IllegalArgumentException("the call names no accessor", other);
    }
    Named found = named[0];
    if (found != null) return found;
    throw new IllegalArgumentException(ONE_ACCESSOR);
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (future != null) {
      throw new IllegalArgumentException("an asynchronous call makes one call, not two");
    }
    var made = new CompletableFuture<R>();
    future = made;
    calling.begin(method, arguments, reading -> hand(answers, reading, made));
    placeholder = placeholder(method);
    return placeholder;
  }

  /// Returns what a call returns while there is no answer: null, 0 or false.
  static @Nullable Object placeholder(SharedMethod method) {
    return java.lang.reflect.Array.get(
        java.lang.reflect.Array.newInstance(
            method.returnType() == void.class ? Object.class : method.returnType(), 1),
        0);
  }

  /// Decodes an answer on a thread that may take its time.
  ///
  /// @param made the future that it completes
  static <R extends @Nullable Object> void hand(
      Executor answers, Reading reading, CompletableFuture<R> made) {
    try {
      answers.execute(() -> {
        try {
          @SuppressWarnings("unchecked") // Justification: the call's type says R
          R answer = (R) reading.get();
          made.complete(answer);
        } catch (Throwable thrown) {
          made.completeExceptionally(thrown);
        }
      });
    } catch (RejectedExecutionException closed) {
      made.completeExceptionally(new Closed("the store was closed before the answer was read"));
    }
  }

  private CompletableFuture<R> future() {
    CompletableFuture<R> made = future;
    if (made == null) {
      throw new IllegalArgumentException("an asynchronous call makes one call, not none");
    }
    return made;
  }
}

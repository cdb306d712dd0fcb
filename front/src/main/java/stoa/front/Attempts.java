package stoa.front;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Transaction;
import stoa.TransactionBody;
import stoa.TxOptions;
import stoa.UnknownOutcome;
import stoa.base.Trace;

/// Runs the bodies of transactions, and runs them again when other transactions won. Thread-safe.
public final class Attempts {
  // After so many aborts a transaction runs apart from all others that have lost as often, if its
  // turn comes soon. It does not wait for long, since the body of another may be waiting for this
  // one.
  private static final int ALONE_AFTER = 4;

  private static final long ALONE_MILLIS = 20;

  // After so many aborts, or after this part of its time, a transaction asks the store to hold back
  // what would abort it again.
  private static final int INTENT_AFTER = 8;

  private static final int INTENT_TIME_PART = 4;

  // The time of the next attempt beyond twice the longest one so far.
  private static final long SLACK_NANOS = 50_000_000;

  /// A transaction whose body [Attempts] can run.
  public interface Attempt extends Transaction {
    /// Runs a body. Calls on proxies take part in the transaction.
    <R extends @Nullable Object, X extends Exception> R run(TransactionBody<R, X> body) throws X;

    /// Returns whether the transaction was lost with its server before the store wrote any of its
    /// changes. Then the body may run again, whatever exception it threw.
    default boolean isLost() {
      return false;
    }

    /// Returns whether the transaction refused something because its time was over.
    default boolean isLate() {
      return false;
    }

    /// Declares the intent to run the aborted body again, see [Service.Work#intend].
    default Service.@Nullable Intent intend(Duration hold, Duration waitMax) {
      return null;
    }
  }

  private final BiFunction<TxOptions, Service.@Nullable Intent, Attempt> opening;
  private final LongSupplier clockNanos;
  private final LongAdder lost = new LongAdder();

  // Fair, so that long transactions finish beside short ones that lose as often.
  private final ReentrantLock alone = new ReentrantLock(true);

  /// @param opening opens a transaction, perhaps under an intent; the caller always closes it
  /// @param clockNanos returns the elapsed time in nanoseconds
  public Attempts(
      BiFunction<TxOptions, Service.@Nullable Intent, Attempt> opening, LongSupplier clockNanos) {
    this.opening = opening;
    this.clockNanos = clockNanos;
  }

  /// How many attempts wrote nothing, because another call had changed an object.
  long lost() {
    return lost.sum();
  }

  /// Runs a body as a transaction, see [stoa.Stoa#transact(TxOptions, TransactionBody)].
  public <R extends @Nullable Object, X extends Exception> R run(
      TxOptions options, TransactionBody<R, X> body) throws X {
    var limits = new Limits(options, clockNanos.getAsLong());
    Conflicts conflicts = null;
    Service.Intent intent = null;
    boolean locked = false;
    try {
      for (int attempt = 1; ; attempt++) {
        TxOptions next = limits.ofNext(attempt - 1);
        long began = attempt == 1 ? limits.began : clockNanos.getAsLong();
        try (Attempt transaction = opening.apply(next, intent)) {
          intent = null;
          R result;
          Transaction.Outcome outcome;
          try {
            var ended = attempt(transaction, body, attempt);
            result = ended.result;
            outcome = ended.outcome;
          } catch (RuntimeException thrown) {
            if (transaction.isLost() && !limits.reached(attempt)) continue;
            boolean isRestOver = transaction.isLate() && !next.equals(options);
            if (isRestOver && conflicts != null) {
              throw conflicts.told(options, attempt, limits.passed());
            }
            throw thrown;
          }
          switch (outcome) {
            case Transaction.Outcome.Committed _ -> {
              return result;
            }
            case Transaction.Outcome.Aborted(Aborted cause) -> {
              if (conflicts == null) conflicts = new Conflicts();
              conflicts.add(cause);
              lost.increment();
              limits.took(clockNanos.getAsLong() - began);
              if (limits.reached(attempt)) throw conflicts.told(options, attempt, limits.passed());
              if (limits.loses(attempt)) {
                intent = transaction.intend(limits.nextTakes(), limits.rest());
              }
            }
            case Transaction.Outcome.Unknown(Transaction.Id id) ->
                throw new UnknownOutcome(
                    "the store failed while a transaction was being written; open it again and ask"
                        + " for the outcome of "
                        + id);
            case Transaction.Outcome.NotCommitted _ ->
                throw new IllegalStateException("a commit knows why it wrote nothing");
          }
        }
        if (!locked && attempt >= ALONE_AFTER) {
          locked = tryAlone();
        }
      }
    } finally {
      if (locked) alone.unlock();
    }
  }

  /// An attempt that has come to its commit.
  private record Ended<R extends @Nullable Object>(R result, Transaction.Outcome outcome) {}

  /// Runs a body once, and records it if its transaction is recorded.
  private static <R extends @Nullable Object, X extends Exception> Ended<R> attempt(
      Attempt transaction, TransactionBody<R, X> body, int number) throws X {
    Trace around = Trace.current();
    if (around == null) return new Ended<>(transaction.run(body), transaction.commit());
    Trace trace = around.child("attempt");
    trace.tag("stoa.attempt", number);
    Throwable failure = null;
    try {
      Ended<R> ended = trace.run(() -> new Ended<>(transaction.run(body), transaction.commit()));
      if (ended.outcome instanceof Transaction.Outcome.Aborted(Aborted cause)) failure = cause;
      return ended;
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      trace.end(failure);
    }
  }

  /// The limits of all attempts together.
  private final class Limits {
    private final TxOptions options;
    private final long began;
    private final long nanosMax;
    private long longest;

    private Limits(TxOptions options, long now) {
      this.options = options;
      began = now;
      nanosMax = TimeUnit.NANOSECONDS.convert(options.totalTimeMax());
    }

    private long passed() {
      return clockNanos.getAsLong() - began;
    }

    /// Returns whether no further attempt may follow.
    private boolean reached(int attempts) {
      return attempts >= options.attemptsMax() || passed() >= nanosMax;
    }

    /// Notes how long an aborted attempt has taken.
    private void took(long nanos) {
      longest = Math.max(longest, nanos);
    }

    /// Returns whether so many attempts were aborted that the next one needs an intent.
    private boolean loses(int attempts) {
      return attempts >= INTENT_AFTER || passed() >= nanosMax / INTENT_TIME_PART;
    }

    /// Returns how long the next attempt will take at most, as far as that is known.
    private Duration nextTakes() {
      return Duration.ofNanos(2 * longest + SLACK_NANOS);
    }

    /// Returns how long the further attempts may take together.
    private Duration rest() {
      return Duration.ofNanos(Math.max(1_000, nanosMax - passed()));
    }

    /// Returns the options of the next attempt, which takes no longer than the remaining time.
    ///
    /// @param attempts the number of attempts so far
    private TxOptions ofNext(int attempts) {
      Duration rest = attempts == 0 ? options.totalTimeMax() : rest();
      return rest.compareTo(options.timeMax()) < 0 ? options.withTimeMax(rest) : options;
    }
  }

  private boolean tryAlone() {
    try {
      return alone.tryLock(ALONE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

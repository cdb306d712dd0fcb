package stoa.spring;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Stoa;
import stoa.StoaException;
import stoa.TransactionAction;
import stoa.TransactionBody;
import stoa.TxOptions;

/// Runs transactions of a store, within the limits of the application.
///
/// A body may run more than once: see [Stoa#transact]. It must change nothing but shared objects.
/// An exception of the body rolls the transaction back and reaches the caller as it is. Exceptions
/// of Stoa reach the caller as those of Spring, see [StoaExceptionTranslator]. A template inside
/// the body of another takes part in that one's transaction. Immutable and thread-safe.
public final class StoaTransactionTemplate {
  private static final Logger LOG = LoggerFactory.getLogger(StoaTransactionTemplate.class);
  private static final StoaExceptionTranslator TRANSLATOR = new StoaExceptionTranslator();

  private final Stoa stoa;
  private final TxOptions options;
  private final List<TransactionListener> listeners;

  /// Creates a template without listeners.
  public StoaTransactionTemplate(Stoa stoa, TxOptions options) {
    this(stoa, options, List.of());
  }

  /// Creates a template.
  ///
  /// @param options of its transactions
  /// @param listeners hear of each transaction
  public StoaTransactionTemplate(
      Stoa stoa, TxOptions options, List<TransactionListener> listeners) {
    this.stoa = Objects.requireNonNull(stoa, "stoa");
    this.options = Objects.requireNonNull(options, "options");
    this.listeners = List.copyOf(listeners);
  }

  /// Returns the store.
  public Stoa stoa() {
    return stoa;
  }

  /// Returns the options of its transactions.
  public TxOptions options() {
    return options;
  }

  /// Returns a template with other options.
  public StoaTransactionTemplate with(TxOptions value) {
    return new StoaTransactionTemplate(stoa, value, listeners);
  }

  /// Returns a template whose transactions may take a time, all attempts together.
  public StoaTransactionTemplate within(Duration totalTimeMax) {
    return with(options.withTotalTimeMax(totalTimeMax));
  }

  /// Returns a template whose transactions only read, and so never conflict.
  public StoaTransactionTemplate reading() {
    return with(
        new TxOptions(
            true, null, options.attemptsMax(), options.timeMax(), options.totalTimeMax()));
  }

  /// Runs a body as a transaction.
  ///
  /// @return the result of the body
  /// @throws org.springframework.dao.OptimisticLockingFailureException when other calls always won
  /// @throws org.springframework.dao.QueryTimeoutException when its time was over; it wrote nothing
  /// @throws UnknownOutcomeException when the store failed while it wrote the transaction
  public <R extends @Nullable Object, X extends Exception> R transact(TransactionBody<R, X> body)
      throws X {
    Objects.requireNonNull(body, "body");
    int[] attempts = {0};
    long began = System.nanoTime();
    Throwable thrown = null;
    try {
      return stoa.transact(
          options,
          () -> {
            attempts[0]++;
            return body.run();
          });
    } catch (StoaException own) {
      thrown = own;
      throw TRANSLATOR.translate(own);
    } catch (Throwable passedOn) {
      thrown = passedOn;
      throw passedOn;
    } finally {
      var time = Duration.ofNanos(System.nanoTime() - began);
      tell(attempts[0], time, thrown);
    }
  }

  /// A listener that fails changes nothing for the caller, whose transaction has ended.
  private void tell(int attempts, Duration time, @Nullable Throwable thrown) {
    for (TransactionListener listener : listeners) {
      try {
        listener.ended(options, attempts, time, thrown);
      } catch (RuntimeException failed) {
        LOG.warn("a listener of transactions failed", failed);
      }
    }
  }

  /// Runs a transaction as [#transact(TransactionBody)], for a body without a result.
  public <X extends Exception> void transact(TransactionAction<X> body) throws X {
    Objects.requireNonNull(body, "body");
    var nothing = new Object();
    Object _ =
        transact(() -> {
          body.run();
          return nothing;
        });
  }
}

package stoa.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.TxOptions;

/// Hears of each transaction that a [StoaTransactionTemplate] has run. The template logs an
/// exception of a listener, and the caller does not see it. Thread-safe.
@FunctionalInterface
public interface TransactionListener {
  /// Called on the thread of the transaction when it has ended.
  ///
  /// @param options its options
  /// @param attempts how often its body ran
  /// @param time how long all attempts took together
  /// @param thrown what its caller gets, before any translation; null after a commit
  void ended(TxOptions options, int attempts, Duration time, @Nullable Throwable thrown);
}

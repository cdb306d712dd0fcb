package stoa.spring;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.DeadlineExceeded;
import stoa.StoaException;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;

/// Measures the transactions of [StoaTransactionTemplate]s: the timer `stoa.template.transactions`,
/// and the summary `stoa.template.attempts`, which tells how often bodies ran. Both have the tags
/// `kind` (`read`, `write`) and `outcome`. Thread-safe.
public final class TransactionMetrics implements TransactionListener {
  private final MeterRegistry registry;

  /// Creates the meters on first use in a registry.
  public TransactionMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void ended(TxOptions options, int attempts, Duration time, @Nullable Throwable thrown) {
    String kind = options.readOnly() ? "read" : "write";
    String outcome = outcome(thrown);
    Timer.builder("stoa.template.transactions")
        .description("Transactions, all attempts of each together")
        .tag("kind", kind)
        .tag("outcome", outcome)
        .register(registry)
        .record(time);
    DistributionSummary.builder("stoa.template.attempts")
        .description("How often the body of a transaction ran")
        .baseUnit("attempts")
        .tag("kind", kind)
        .tag("outcome", outcome)
        .register(registry)
        .record(attempts);
  }

  private static String outcome(@Nullable Throwable thrown) {
    return switch (thrown) {
      case null -> "committed";
      case Aborted _ -> "aborted";
      case DeadlineExceeded _ -> "deadline";
      case Unavailable _ -> "unavailable";
      case UnknownOutcome _ -> "unknown";
      case StoaException _ -> "refused";
      default -> "rolled-back";
    };
  }
}

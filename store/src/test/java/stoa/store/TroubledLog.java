package stoa.store;

import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;

/// A log in front of which something may happen to a batch.
final class TroubledLog extends ForwardingBatchLog {
  private final Function<Batch, @Nullable BatchOutcome> trouble;

  /// @param log that it stands for
  /// @param trouble may wait, and answers what becomes of a batch that is not appended; null for
  ///   nothing
  TroubledLog(BatchLog log, Function<Batch, @Nullable BatchOutcome> trouble) {
    super(log);
    this.trouble = trouble;
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    BatchOutcome outcome = trouble.apply(batch);
    if (outcome == null) super.append(batch, done);
    else done.accept(outcome);
  }
}

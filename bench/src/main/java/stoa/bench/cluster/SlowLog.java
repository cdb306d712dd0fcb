package stoa.bench.cluster;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;

/// A log in memory whose appends take as long as replicated ones.
final class SlowLog extends ForwardingBatchLog {
  private final Duration time;
  private final Consumer<Batch> logged;

  /// @param time the time of each append
  /// @param logged gets each batch
  SlowLog(BatchLog log, Duration time, Consumer<Batch> logged) {
    super(log);
    this.time = time;
    this.logged = logged;
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    logged.accept(batch);
    long end = System.nanoTime() + time.toNanos();
    super.append(
        batch,
        outcome -> {
          for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
          }
          done.accept(outcome);
        });
  }
}

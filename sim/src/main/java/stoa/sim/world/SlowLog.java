package stoa.sim.world;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import stoa.LimitExceeded;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;
import stoa.sim.Chance;

/// A slow log, for a simulation whose threads wait. One owner.
public final class SlowLog extends ForwardingBatchLog {
  private static final int SOON_MICROS = 2_000;
  private static final int LATE_MICROS = 2_000_000;

  private final Fibers fibers;
  private final Chance chance;
  private final BooleanSupplier calm;
  private final int refused;

  /// @param calm whether nothing is slow any more, and nothing is refused
  /// @param refused how often it is full, in hundredths
  public SlowLog(BatchLog log, Fibers fibers, Chance chance, BooleanSupplier calm, int refused) {
    super(log);
    this.fibers = fibers;
    this.chance = chance;
    this.calm = calm;
    this.refused = refused;
  }

  private void pause() {
    boolean late = !calm.getAsBoolean() && chance.percent(2);
    fibers.pause(chance.between(1, late ? LATE_MICROS : SOON_MICROS));
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    pause();
    if (!calm.getAsBoolean() && chance.percent(refused)) {
      done.accept(new BatchOutcome.Refused(new LimitExceeded("the log is full")));
      return;
    }
    var outcome = new BatchOutcome[1];
    super.append(batch, told -> outcome[0] = told);
    pause();
    done.accept(outcome[0]);
  }

  @Override
  public void seal(long epoch) {
    pause();
    super.seal(epoch);
    pause();
  }

  @Override
  public void confirm() {
    pause();
    super.confirm();
    pause();
  }
}

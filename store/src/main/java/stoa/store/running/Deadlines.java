package stoa.store.running;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.DeadlineExceeded;
import stoa.UnknownOutcome;
import stoa.base.Repeats;
import stoa.store.threads.Threads;

/// Ends calls that exceed their time limit. Thread-safe.
public final class Deadlines {
  private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

  private final Repeats repeats = new Repeats();
  private final TimeLimits limits;
  private final Runners runners;
  private final Verdicts verdicts;

  public Deadlines(TimeLimits limits, Runners runners, Verdicts verdicts) {
    this.limits = limits;
    this.runners = runners;
    this.verdicts = verdicts;
  }

  /// Notes a tick and takes back overdue calls.
  public void watch() {
    try {
      runners.tick(limits.ticksMax(), this::overdue);
      limits.visitLate(this::late);
    } catch (RuntimeException failure) {
      repeats.tell(
          "the watch over calls goes on after a failure: " + failure,
          line -> LOG.error(line, failure));
    }
  }

  private void late(Request request) {
    if (!request.isWaiting()) return;
    if (!(request instanceof DeleteRequest deletion)) {
      var _ = verdicts.takeBack(request, lateWaiting(request));
    } else if (!deletion.isLeft()) {
      deletion.leave(lateDeletion(deletion));
    }
  }

  private static DeadlineExceeded lateWaiting(Request request) {
    return new DeadlineExceeded(
        "a call on "
            + request.resident.key
            + " waited for others for longer than its time, "
            + TimeLimits.millis(request)
            + " ms; it was not executed");
  }

  private static UnknownOutcome lateDeletion(DeleteRequest deletion) {
    return new UnknownOutcome(
        "the deletion of "
            + deletion.resident.key
            + " is logged, and waited for earlier calls for longer than its time, "
            + TimeLimits.millis(deletion)
            + " ms; it is executed after them: look whether the object is there before you delete"
            + " it again");
  }

  private void overdue(Execution execution) {
    var failure =
        new DeadlineExceeded(
            "a call on "
                + execution.key()
                + " ran for more than "
                + limit(execution)
                + "; what it had changed there was taken back");
    var _ = verdicts.stop(execution, failure);
  }

  /// Returns the name and value of the limit that a run has exceeded.
  private String limit(Execution execution) {
    Request request = execution.request;
    if (request != null && request.isLate(runners.now())) {
      return "its time, " + TimeLimits.millis(request) + " ms";
    }
    int own = execution.ticksMax;
    return own > 0
        ? "its time, " + (long) own * Threads.TICK_MILLIS + " ms"
        : limits.callTimeMax().toMillis() + " ms (callTimeMax)";
  }
}

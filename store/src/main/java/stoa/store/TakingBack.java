package stoa.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.UnknownOutcome;
import stoa.base.Check;

/// Takes back runs that last too long, or that fail in a way that leaves their state in doubt, by a
/// verdict in the key's stream. Thread-safe.
final class TakingBack {
  private static final Logger LOG = LoggerFactory.getLogger(TakingBack.class);
  private static final int LONG_TICKS = 1;

  private final Store store;
  private final Threads threads;
  private final Duration callTimeMax;
  private final int ticksMax;

  TakingBack(Store store, Threads threads, Duration callTimeMax) {
    this.store = store;
    this.threads = threads;
    this.callTimeMax = callTimeMax;
    ticksMax = (int) Math.max(1, callTimeMax.toMillis() / Threads.TICK_MILLIS);
  }

  /// A tick has passed: takes back what is overdue.
  void watch() {
    try {
      store.runners().tick(ticksMax, this::overdue);
    } catch (RuntimeException failure) {
      LOG.error("the watch over calls goes on after a failure", failure);
    }
  }

  /// Whether a run lasted so long that another, on a busier machine or under a lower limit, might
  /// be taken back.
  boolean lastedLong(Execution execution) {
    return store.runners().lasted(execution) > Math.min(LONG_TICKS, ticksMax / 4);
  }

  private void overdue(Execution execution) {
    if (execution.resident == null || execution.isKnownToStand()) return;
    Thread thread = execution.thread;
    // Before it is taken back: its thread may return, and be told back, at any time from then on.
    if (thread != null) threads.lost(thread);
    if (!execution.takeBack()) {
      if (thread != null && !execution.isTakenBack()) threads.back(thread);
      return;
    }
    var failure =
        new DeadlineExceeded(
            "a call on "
                + execution.key()
                + " ran for more than "
                + callTimeMax.toMillis()
                + " ms (callTimeMax); what it had changed there was taken back");
    settleTakenBack(
        execution,
        failure,
        () ->
            recover(execution, new UnknownOutcome("the call is logged and ran too long", failure)));
    // The runs that waited for this one on its thread cannot go on there: they begin again
    // elsewhere, and find in the log what they had called.
    for (Execution waiting = execution.below; waiting != null; waiting = waiting.below) {
      Resident resident = waiting.resident;
      if (resident != null && waiting.takeBack()) resident.recover(null);
    }
  }

  /// A run failed with an error that leaves the state in doubt: it is taken back.
  void takeBack(Execution execution, Error error) {
    if (!execution.takeBack()) return;
    LOG.warn("a call on {} failed and is taken back", execution.key(), error);
    var failure =
        new CallFailed(
            "a call on " + execution.key() + " failed and was taken back: " + error, error);
    settleTakenBack(
        execution,
        failure,
        () -> recover(execution, new UnknownOutcome("the call is logged and failed", error)));
  }

  private void settleTakenBack(Execution execution, RuntimeException failure, Runnable notLogged) {
    if (execution.isReading()) {
      recover(execution, failure);
      return;
    }
    Resident resident = Objects.requireNonNull(execution.resident);
    var verdict =
        new Records.Verdict(
            execution.address(),
            failure instanceof DeadlineExceeded,
            String.valueOf(failure.getMessage()));
    store
        .note(resident, Records.VERDICT, Records.verdict(verdict))
        .whenDone(note -> {
          if (note.failed()) {
            notLogged.run();
          } else {
            store.unfinished().ends(execution.key(), execution.address(), null);
            recover(execution, failure);
          }
        });
    store.callWriter();
  }

  private void recover(Execution execution, RuntimeException failure) {
    Resident resident = Objects.requireNonNull(execution.resident);
    Request request = execution.request;
    if (request != null) {
      Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
      resident.recover(request);
      request.fail(failure);
      resident.unpin();
    } else {
      resident.recover(null);
    }
  }

  /// Why a put was taken back.
  RuntimeException reason(Key key, long address) {
    var verdicts = new ArrayList<Records.Verdict>();
    store
        .streams()
        .scan(
            key.stream(),
            address + 1,
            store.streams().last(key.stream()),
            entry -> {
              if (entry.kind() == Records.VERDICT) {
                Records.Verdict verdict = Records.verdict(entry.payload());
                if (verdict.call() == address) verdicts.add(verdict);
              }
              return verdicts.isEmpty();
            });
    if (verdicts.isEmpty()) return Store.gone(key);
    Records.Verdict verdict = verdicts.getFirst();
    return verdict.late()
        ? new DeadlineExceeded(verdict.reason())
        : new CallFailed(verdict.reason());
  }
}

package stoa.store.running;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Deadlock;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.store.leading.Health;
import stoa.store.leading.Tally;
import stoa.store.records.Records;
import stoa.store.records.Refusal;
import stoa.store.threads.Threads;

/// Takes calls back: calls that exceed their time limit, that an operator cancels, that close a
/// circle, or that fail and leave the state of their key in doubt. A verdict in the key's stream
/// takes a logged call back. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Verdicts {
  private static final Logger LOG = LoggerFactory.getLogger(Verdicts.class);

  private final Journal journal;
  private final WaitGraph waits;
  private final Unfinished unfinished;
  private final Health health;
  private final Tally tally;
  private final Threads threads;

  public Verdicts(
      Journal journal,
      WaitGraph waits,
      Unfinished unfinished,
      Health health,
      Tally tally,
      Threads threads) {
    this.journal = journal;
    this.waits = waits;
    this.unfinished = unfinished;
    this.health = health;
    this.tally = tally;
    this.threads = threads;
  }

  // ---- requests that wait

  /// Takes back a request that waits for its turn; returns whether it did.
  boolean takeBack(Request request, RuntimeException failure) {
    PutRequest put = request instanceof PutRequest one ? one : null;
    if (put == null && !isDroppable(request)) return false;
    Resident resident = request.resident;
    if (!resident.pin()) return false; // until its turn, see Resident.passes
    if (!request.takeBack()) {
      resident.unpin();
      return false;
    }
    if (put == null) {
      request.fail(failure);
      return true;
    }
    NoteRequest verdict = note(resident, put.address, failure);
    put.verdict(verdict);
    verdict.whenDone(note -> {
      if (!note.failed()) put.fail(failure);
      // If the log has failed, it may have the verdict.
      else if (!health.hasFailed() && put.dropVerdict()) resident.unpin();
    });
    journal.callWriterThread();
    return true;
  }

  /// Returns whether a request may fail without a trace in the log: the store logs nothing for it,
  /// and only its caller uses its answer.
  private static boolean isDroppable(Request request) {
    return switch (request) {
      case GetRequest _ -> true;
      case ForkRequest fork -> fork.ticksMax > 0;
      case PositionRequest position ->
          position.ticksMax > 0 && position.asker == null && position.behind == 0;
      case GenerationRequest _, ChangeRequest _, NoteRequest _, AppendRequest _, CommitRequest _ ->
          false;
    };
  }

  /// Waits until the log has the verdict over a request, or it has failed. The caller executes the
  /// mailbox and has come to the request.
  ///
  /// @return the settled verdict; null when the request is not taken back any more, since the store
  ///   could not log the verdict
  @Nullable NoteRequest awaitVerdict(PutRequest request) {
    while (true) {
      NoteRequest verdict = request.verdict();
      if (verdict != null && verdict.isDone()) return verdict;
      if (!request.isTakenBack()) return null;
      if (!journal.writeBatch(null)) threads.pause();
    }
  }

  // ---- runs

  /// Takes a run back and stops it; returns false when the run has ended, or is known to stand.
  boolean stop(Execution execution, RuntimeException failure) {
    if (execution.resident == null) {
      // A replay ends like its first run. Where that is not certain, no caller waits for the
      // replay, and this may stop it. A replay for a reader stops when the reader's time is over:
      // the reader drops its state.
      boolean replays = execution.mode() == Execution.Mode.REPLAYED;
      boolean stands = replays && !health.follows() && execution.ticksMax == 0;
      return !stands && execution.stop(failure);
    }
    if (execution.isKnownToStand()) return false;
    Thread thread = execution.thread();
    // This comes before the run is taken back: from then on its thread may return at any time.
    if (thread != null) threads.lost(thread);
    if (!execution.stop(failure)) {
      if (thread != null && !execution.isTakenBack()) threads.back(thread);
      return false;
    }
    settleTakenBack(
        execution,
        failure,
        () -> recover(execution, new UnknownOutcome("the call is logged and was to end", failure)));
    // The runs that waited on the same thread for this run cannot continue there: they begin again
    // on other threads, and find their calls in the log.
    for (Execution waiting = execution.below; waiting != null; waiting = waiting.below) {
      Resident resident = waiting.resident;
      if (resident != null && waiting.takeBack()) resident.recover(null);
    }
    return true;
  }

  /// Takes back a run that failed with an error that leaves the state in doubt.
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

  /// Refuses a request that waits for a run, if possible; that run does not wait for the request.
  public void refuse(Request request, Execution running, Deadlock why) {
    if (takeBack(request, why)) return;
    Execution asker = request.asker;
    switch (request) {
      case PutRequest put -> {
        // The batch writer has not given this put an address yet. To refuse the put, the batch
        // writer must not log it, or must log it with a verdict.
        boolean logged = put.address != 0;
        if (running.request == null && logged) takeBackBehind(running, put, put.address, why);
      }
      case GetRequest _ -> {
        if (running.request == null) takeBackBehind(running, request, 0, why);
      }
      case PositionRequest position -> {
        if (position.behind > 0) takeBackBehind(running, position, position.behind, why);
        else if (asker != null) waits.refuse(asker, why);
      }
      default -> {} // waits for something else
    }
  }

  /// Takes back a request behind a run that resumes a put of an earlier process. The run begins
  /// again without that request.
  ///
  /// @param address the address of the logged put to take back; 0 for none
  private void takeBackBehind(Execution running, Request request, long address, Deadlock why) {
    Resident resident = request.resident;
    Check.that(resident.pin(), "%s stays in memory while it runs", resident.key);
    if (!running.takeBack()) {
      resident.unpin();
    } else if (address == 0) {
      refused(request, address, why);
    } else {
      note(resident, address, why)
          .whenDone(note -> {
            if (!note.failed()) {
              refused(request, address, why);
            } else {
              resident.recover(null);
              resident.unpin();
            }
          });
      journal.callWriterThread();
    }
  }

  private static void refused(Request request, long address, Deadlock why) {
    Resident resident = request.resident;
    resident.skip(address);
    if (request instanceof PositionRequest position) {
      resident.recover(null);
      position.passed = why;
      position.wake();
    } else {
      resident.recover(request);
      request.fail(why);
    }
    resident.unpin();
  }

  private void settleTakenBack(Execution execution, RuntimeException failure, Runnable notLogged) {
    if (execution.isReading()) {
      recover(execution, failure);
      return;
    }
    note(Objects.requireNonNull(execution.resident), execution.address(), failure)
        .whenDone(note -> {
          if (note.failed()) {
            notLogged.run();
          } else {
            unfinished.ends(execution.key(), execution.address(), null);
            recover(execution, failure);
          }
        });
    journal.callWriterThread();
  }

  private NoteRequest note(Resident resident, long address, RuntimeException failure) {
    var verdict = new Records.Verdict(address, Refusal.of(failure));
    tally.takenBack();
    return journal.note(resident, Records.VERDICT, Records.verdict(verdict));
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
}

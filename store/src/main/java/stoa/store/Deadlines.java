package stoa.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.Repeats;
import stoa.store.records.Records;
import stoa.store.records.Refusal;
import stoa.store.records.Refusals;
import stoa.store.threads.Threads;

/// Ends calls that take too long, that an operator cancels, or that fail in a way which leaves the
/// state of their key in doubt. A logged call is taken back by a verdict in the key's stream.
/// Thread-safe.
final class Deadlines {
  private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

  private final Repeats repeats = new Repeats();
  private static final int LONG_TICKS = 1;

  /// For how long an operator waits for the next run of a call to begin.
  private static final int BETWEEN_TICKS = 1_000 / Threads.TICK_MILLIS;

  private final Engine engine;
  private final Threads threads;
  private final Duration callTimeMax;
  private final int ticksMax;
  private final AtomicLong ids = new AtomicLong();

  /// The requests with a time limit of their own.
  private final Set<Request> limited = ConcurrentHashMap.newKeySet();

  Deadlines(Engine engine, Threads threads, Duration callTimeMax) {
    this.engine = engine;
    this.threads = threads;
    this.callTimeMax = callTimeMax;
    ticksMax = (int) Math.max(1, callTimeMax.toMillis() / Threads.TICK_MILLIS);
  }

  /// A tick has passed: takes back what is overdue.
  void watch() {
    try {
      engine.runners().tick(ticksMax, this::overdue);
      int now = engine.runners().now();
      for (Request request : limited) {
        if (!request.isLate(now) || !request.isWaiting()) continue;
        if (!(request instanceof DeleteRequest deletion)) takeBack(request, lateWaiting(request));
        else if (!deletion.isLeft()) deletion.leave(lateDeletion(deletion));
      }
    } catch (RuntimeException failure) {
      repeats.tell(
          "the watch over calls goes on after a failure: " + failure,
          line -> LOG.error(line, failure));
    }
  }

  /// Whether a run lasted so long that another, on a busier machine or under a lower limit, might
  /// be taken back.
  boolean lastedLong(Execution execution) {
    return engine.runners().lasted(execution) > Math.min(LONG_TICKS, ticksMax / 4);
  }

  // ---- limits of single requests

  /// Limits the time that a request may take, from when it was asked.
  void limit(Request request, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) < 0) begin(request, timeMax);
  }

  /// Limits the time that a deletion may take, unless that is more than the store's limit. Its
  /// caller is let go when the time is over and the deletion is logged: the store does not take it
  /// back, and executes it.
  void limit(DeleteRequest deletion, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) <= 0) begin(deletion, timeMax);
  }

  private void begin(Request request, Duration timeMax) {
    request.ticksMax = ticks(timeMax);
    if (!timeMax.isPositive()) request.since -= 1 + request.ticksMax; // it is over already
    begun(request);
  }

  /// Why a reader is refused whose time is over before the state is there that it asks for.
  DeadlineExceeded lateReading(Key key) {
    return new DeadlineExceeded(
        "the state of " + key + " could not be made within the time of the call that asks for it");
  }

  /// Refuses a reader whose time is over.
  ///
  /// @param end the tick at which it is; 0 for none
  void checkTime(Key key, int end) {
    if (end != 0 && end - engine.runners().now() <= 0) throw lateReading(key);
  }

  /// The tick at which a time is over; 0 for none.
  ///
  /// @param ticks how many it has; 0 when it has no limit
  int end(int ticks) {
    if (ticks == 0) return 0;
    int end = engine.runners().now() + ticks;
    return end == 0 ? 1 : end;
  }

  /// How many ticks a time is, at least one.
  static int ticks(Duration timeMax) {
    long tick = Threads.TICK_MILLIS;
    return (int)
        Math.min(Integer.MAX_VALUE / 2, Math.max(1, (timeMax.toMillis() + tick - 1) / tick));
  }

  /// A request with a time limit begins.
  void begun(Request request) {
    limited.add(request);
  }

  /// A request with a time limit is settled.
  void settled(Request request) {
    limited.remove(request);
  }

  /// Why a request is refused before it is logged; null when its time is not over.
  @Nullable RuntimeException late(Request request) {
    if (!request.isLate(engine.runners().now())) return null;
    return new DeadlineExceeded(
        "the time of a call on "
            + request.resident.key
            + ", "
            + millis(request)
            + " ms, was over before it was logged; nothing was written");
  }

  private static DeadlineExceeded lateWaiting(Request request) {
    return new DeadlineExceeded(
        "a call on "
            + request.resident.key
            + " waited for others for longer than its time, "
            + millis(request)
            + " ms; it was not executed");
  }

  private static UnknownOutcome lateDeletion(DeleteRequest deletion) {
    return new UnknownOutcome(
        "the deletion of "
            + deletion.resident.key
            + " is logged, and waited for earlier calls for longer than its time, "
            + millis(deletion)
            + " ms; it is executed after them: look whether the object is there before you delete"
            + " it again");
  }

  private static long millis(Request request) {
    return (long) request.ticksMax * Threads.TICK_MILLIS;
  }

  /// By what a request is known while it is under way.
  long id(Request request) {
    return request.id(ids);
  }

  /// Takes a request back that waits for its turn. Answers whether it did.
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
      else if (!engine.health().hasFailed() && put.dropVerdict()) resident.unpin();
    });
    engine.leader().callWriter();
    return true;
  }

  /// Whether a request may fail without a trace in the log: nothing is logged for it, and nothing
  /// goes by its answer but its caller.
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

  /// Waits until it is known whether the verdict over a request is durable, whose turn it is.
  ///
  /// @return the settled verdict; null when the request is not taken back any more, since that
  ///   could not be logged
  @Nullable NoteRequest awaitVerdict(PutRequest request) {
    while (true) {
      NoteRequest verdict = request.verdict();
      if (verdict != null && verdict.isDone()) return verdict;
      if (!request.isTakenBack()) return null;
      if (!engine.leader().lead(null)) threads.pause();
    }
  }

  // ---- what an operator does

  /// The calls that run and wait, as many as are asked for, those that run first.
  List<OngoingCall> calls(int callsMax) {
    var calls = new ArrayList<OngoingCall>();
    int now = engine.runners().now();
    engine
        .runners()
        .visit(run -> {
          if (calls.size() < callsMax && isCall(run)) calls.add(call(run, now));
        });
    engine
        .residents()
        .visit(resident -> {
          if (calls.size() >= callsMax || !resident.isBusy()) return;
          resident.visitRequests(request -> {
            boolean waits = isHandled(request) && request.isWaiting();
            if (calls.size() < callsMax && waits) calls.add(call(request, now));
          });
        });
    return calls;
  }

  private static boolean isHandled(Request request) {
    return request instanceof PutRequest || request instanceof GetRequest;
  }

  private static boolean isCall(Execution run) {
    return run.mode() != Execution.Mode.REPLAYED;
  }

  private OngoingCall call(Execution run, int now) {
    Request request = run.request;
    Request awaited = run.waitingFor;
    Visit visit = run.visit;
    Key calls = awaited != null ? awaited.resident.key : visit != null ? visit.target() : null;
    return new OngoingCall(
        run.id(ids),
        run.key(),
        value(request),
        query(request),
        run.address(),
        calls == null ? OngoingCall.Progress.RUNNING : OngoingCall.Progress.CALLING,
        calls,
        run.depth(),
        session(run),
        age(now - (request != null ? request.since : run.startTick)));
  }

  private OngoingCall call(Request request, int now) {
    return new OngoingCall(
        request.id(ids),
        request.resident.key,
        value(request),
        query(request),
        request instanceof PutRequest put ? put.address : 0,
        OngoingCall.Progress.WAITING,
        null,
        request.depth,
        request.session(),
        age(now - request.since));
  }

  /// Of the client whose call it is, or led to it.
  private static long session(Execution run) {
    for (@Nullable Execution next = run; next != null; next = next.caller) {
      Request request = next.request;
      if (request != null && request.session() != 0) return request.session();
    }
    return 0;
  }

  private static byte @Nullable [] value(@Nullable Request request) {
    return request instanceof PutRequest put ? put.value : null;
  }

  private static @Nullable Object query(@Nullable Request request) {
    return request instanceof GetRequest question ? question.query : null;
  }

  private static Duration age(int ticks) {
    return Duration.ofMillis((long) Threads.TICK_MILLIS * Math.max(0, ticks));
  }

  /// Cancels the call of an id; answers whether there was one that could be. Waits for a moment
  /// where one run of it was given up and the next has not begun, which a worker does.
  boolean cancel(long id) {
    int since = engine.runners().now();
    while (true) {
      Found found = cancelFound(id);
      boolean again = found == Found.BETWEEN && engine.runners().now() - since < BETWEEN_TICKS;
      if (!again) return found == Found.CANCELLED;
      threads.pause();
    }
  }

  /// What became of a call that was to be cancelled.
  private enum Found {
    /// There is none, or it can't be cancelled.
    NONE,
    /// Neither a run of it can be taken back nor does it wait: its next run is about to begin.
    BETWEEN,
    /// It is cancelled.
    CANCELLED
  }

  private Found cancelFound(long id) {
    var found = new Found[] {Found.NONE};
    var stands = new boolean[1];
    engine
        .runners()
        .visit(run -> {
          if (found[0] == Found.CANCELLED || !isCall(run) || run.id(ids) != id) return;
          if (cancel(run)) found[0] = Found.CANCELLED;
          else if (!run.isTakenBack()) stands[0] = true;
        });
    engine
        .residents()
        .visit(resident -> {
          if (found[0] == Found.CANCELLED || !resident.isBusy()) return;
          resident.visitRequests(request -> {
            if (!isHandled(request) || request.id(ids) != id) return;
            if (takeBack(request, byOperator(resident.key, "; it was not executed"))) {
              found[0] = Found.CANCELLED;
            } else if (request.isBegun() && !request.isDone() && !stands[0]) {
              found[0] = Found.BETWEEN;
            }
          });
        });
    return found[0];
  }

  private boolean cancel(Execution run) {
    return stop(run, byOperator(run.key(), "; what it had changed there was taken back"));
  }

  private static CallFailed byOperator(Key key, String rest) {
    return new CallFailed("an operator cancelled a call on " + key + rest);
  }

  // ---- runs

  /// Runs a handler for the calling thread beside the state of the engine, within a time limit.
  ///
  /// @param ticks how many it may take; 0 when the store's limit holds
  <T> T here(Execution execution, int ticks, Supplier<T> handler) {
    execution.ticksMax = ticks;
    engine.runners().enter(execution);
    try {
      T answer = handler.get();
      if (execution.finish()) {
        engine.runners().passed(execution);
        return answer;
      }
    } catch (RuntimeException | Error thrown) {
      if (execution.finish()) throw thrown;
    } finally {
      engine.runners().exit(execution);
    }
    throw execution.stopReason();
  }

  private void overdue(Execution execution) {
    var failure =
        new DeadlineExceeded(
            "a call on "
                + execution.key()
                + " ran for more than "
                + limit(execution)
                + "; what it had changed there was taken back");
    var _ = stop(execution, failure);
  }

  /// The limit that a run has passed.
  private String limit(Execution execution) {
    Request request = execution.request;
    if (request != null && request.isLate(engine.runners().now())) {
      return "its time, " + millis(request) + " ms";
    }
    int own = execution.ticksMax;
    return own > 0
        ? "its time, " + (long) own * Threads.TICK_MILLIS + " ms"
        : callTimeMax.toMillis() + " ms (callTimeMax)";
  }

  /// Takes a run back and stops it; answers false when it has ended, or is known to stand.
  private boolean stop(Execution execution, RuntimeException failure) {
    if (execution.resident == null) {
      // A replay ends as its first run did; where that is not sure, nobody waits for it. One for a
      // reader is stopped when the reader's time is over: what it makes is dropped.
      boolean replays = execution.mode() == Execution.Mode.REPLAYED;
      boolean stands = replays && !engine.health().follows() && execution.ticksMax == 0;
      return !stands && execution.stop(failure);
    }
    if (execution.isKnownToStand()) return false;
    Thread thread = execution.thread();
    // Before it is taken back: its thread may return, and be told back, at any time from then on.
    if (thread != null) threads.lost(thread);
    if (!execution.stop(failure)) {
      if (thread != null && !execution.isTakenBack()) threads.back(thread);
      return false;
    }
    settleTakenBack(
        execution,
        failure,
        () -> recover(execution, new UnknownOutcome("the call is logged and was to end", failure)));
    // The runs that waited for this one on its thread cannot go on there: they begin again
    // elsewhere, and find in the log what they had called.
    for (Execution waiting = execution.below; waiting != null; waiting = waiting.below) {
      Resident resident = waiting.resident;
      if (resident != null && waiting.takeBack()) resident.recover(null);
    }
    return true;
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

  /// Refuses a request that waits for a run which does not wait for it, if it can be.
  void refuse(Request request, Execution running, Deadlock why) {
    if (takeBack(request, why)) return;
    Execution asker = request.asker;
    switch (request) {
      case PutRequest put -> {
        // One that has no address will have one: to be refused it must not be logged, or with a
        // verdict.
        boolean logged = put.address != 0;
        if (running.request == null && logged) takeBackBehind(running, put, put.address, why);
      }
      case GetRequest _ -> {
        if (running.request == null) takeBackBehind(running, request, 0, why);
      }
      case PositionRequest position -> {
        if (position.behind > 0) takeBackBehind(running, position, position.behind, why);
        else if (asker != null) engine.nesting().refuse(asker, why);
      }
      default -> {} // waits for something else
    }
  }

  /// Takes back what is behind a run that goes on since an earlier process: that is begun again,
  /// without the other.
  ///
  /// @param address of the logged put that is taken back; 0 for none
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
      engine.leader().callWriter();
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
            engine.unfinished().ends(execution.key(), execution.address(), null);
            recover(execution, failure);
          }
        });
    engine.leader().callWriter();
  }

  private NoteRequest note(Resident resident, long address, RuntimeException failure) {
    var verdict = new Records.Verdict(address, Refusal.of(failure));
    engine.tally().takenBack();
    return engine.leader().note(resident, Records.VERDICT, Records.verdict(verdict));
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
    engine
        .streams()
        .scan(
            key.stream(),
            address + 1,
            engine.streams().last(key.stream()),
            entry -> {
              if (entry.kind() == Records.VERDICT) {
                Records.Verdict verdict = Records.verdict(entry.payload());
                if (verdict.call() == address) verdicts.add(verdict);
              }
              return verdicts.isEmpty();
            });
    return verdicts.isEmpty() ? Refusals.gone(key) : verdicts.getFirst().why().exception();
  }
}

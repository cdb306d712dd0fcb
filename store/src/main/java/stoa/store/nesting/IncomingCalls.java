package stoa.store.nesting;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.Trace;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.leading.Health;
import stoa.store.past.Holds;
import stoa.store.past.Playback;
import stoa.store.records.Records;
import stoa.store.running.CallList;
import stoa.store.running.Execution;
import stoa.store.running.GetRequest;
import stoa.store.running.Loader;
import stoa.store.running.PositionRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.StoreTransaction;
import stoa.store.running.TimeLimits;
import stoa.store.running.Timeline;
import stoa.store.running.Verdicts;
import stoa.store.running.WaitChain;
import stoa.store.threads.Threads;
import stoa.store.transactions.Transactions;

/// Executes the calls of other stores' handlers on keys here. Thread-safe.
public final class IncomingCalls {
  /*
   * A put is made once, however often a store asks for it, and whichever servers lead the two
   * stores: the stream of the key has the put, or its refusal, under its origin. A visit first
   * looks there, behind the put whose handler calls, since every entry about the visit has a higher
   * log counter (Intake.above). The first request for a visit looks and puts, and the others wait
   * for it (under); an owner that another one has replaced can log nothing. So among all requests,
   * including late ones, one is logged, and all get its outcome.
   *
   * Questions log nothing, and may be asked twice.
   */
  private static final int ANSWER_BYTES_MAX = 4 << 20;
  private static final int TICKS_UNTIL_IT_WAITS = 2;

  /*
   * The first pause before a waiting thread checks whether a worker runs its call; each is twice as
   * long.
   */
  private static final long PAUSE_FIRST_NANOS = 1_000_000;
  private static final long PAUSE_NANOS_MAX = 32_000_000;

  private final BatchWriter writer;
  private final Residents residents;
  private final TimeLimits limits;
  private final Verdicts verdicts;
  private final CallList callList;
  private final Log log;
  private final Health health;
  private final Threads threads;
  private final Map<Visit.Id, IncomingCall> under = new ConcurrentHashMap<>();

  /// The parts that execute incoming calls.
  ///
  /// @param writer logs the calls and waits for their execution
  /// @param residents the keys that are called
  /// @param limits the times of the calls
  /// @param verdicts refuses calls that close a circle
  /// @param callList gives ids to calls
  public record Parts(
      BatchWriter writer,
      Residents residents,
      TimeLimits limits,
      Verdicts verdicts,
      CallList callList,
      Health health,
      Threads threads) {}

  /// The parts that find the answers to incoming calls.
  ///
  /// @param streams the log
  /// @param timeline finds the log's counters in streams
  /// @param holds keeps entries of the log for incoming calls
  /// @param loader finds answers in the log
  /// @param playback shows keys as they were
  /// @param transactions shows several keys at one moment
  public record Log(
      Streams streams,
      Timeline timeline,
      Holds holds,
      Loader loader,
      Playback playback,
      Transactions transactions) {}

  public IncomingCalls(Parts parts, Log log) {
    this.writer = parts.writer;
    this.residents = parts.residents;
    this.limits = parts.limits;
    this.verdicts = parts.verdicts;
    this.callList = parts.callList;
    this.health = parts.health;
    this.threads = parts.threads;
    this.log = log;
  }

  /// Begins a visit, or waits for the same visit in progress; see [Neighbors#visit].
  public Visit.Reply visit(Visit visit, int ticks) {
    health.checkOpen();
    health.confirm();
    var mine = new IncomingCall(visit);
    IncomingCall known = under.putIfAbsent(visit.id(), mine);
    if (known != null) return known.await(ticks);
    try {
      threads.serve(mine);
    } catch (RejectedExecutionException full) {
      var many = "more than " + Threads.VISITORS_MAX + " calls of other groups are under way";
      mine.end(null, new Unavailable(many, full));
    }
    return mine.await(ticks);
  }

  /// Returns whether a visit is in progress.
  public boolean has(Visit.Id id) {
    return under.containsKey(id);
  }

  /// Passes a tick to the visits in progress.
  public void tick() {
    for (IncomingCall incoming : under.values()) incoming.tick();
  }

  // ---- the calls that they wait for

  /// Returns the next call in the wait chain of a visit, see [Neighbors#follow].
  public Visit.NextWait follow(Visit.Id id) {
    IncomingCall incoming = under.get(id);
    if (incoming == null) return Visit.NextWait.NONE;
    var keys = new ArrayList<Key>();
    var chain = new WaitChain();
    long waits = 0;
    for (Request next = incoming.waitsFor; next != null && !next.isOver(); ) {
      keys.add(next.resident.key);
      Execution running = next.resident.running;
      if (running == null || chain.isCircle(running)) return Visit.NextWait.NONE;
      if (waits == 0 && !running.executes(next)) waits = callList.id(next);
      Visit visit = running.visit;
      if (visit != null) return new Visit.NextWait(keys, waits, visit.id(), visit.target());
      next = running.waitingFor;
    }
    return Visit.NextWait.NONE;
  }

  /// Refuses a call that a visit waits for, see [Neighbors#refuse].
  public void refuse(Visit.Id id, long waits, Deadlock why) {
    IncomingCall incoming = under.get(id);
    if (incoming == null) return;
    var chain = new WaitChain();
    for (Request next = incoming.waitsFor; next != null && !next.isOver(); ) {
      Execution running = next.resident.running;
      if (running == null || chain.isCircle(running)) return;
      if (!running.executes(next)) {
        if (callList.id(next) == waits) verdicts.refuse(next, running, why);
        return;
      }
      next = running.waitingFor;
    }
  }

  // ---- one visit

  private final class IncomingCall implements Runnable {
    private final Visit visit;
    private final @Nullable Trace trace = Trace.current();
    private final ConcurrentLinkedQueue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Request waitsFor;
    private volatile boolean over;

    // Whether a server asked to be told when this waits for a call of another store.
    private volatile boolean asked;

    private Visit.@Nullable Reply said;
    private @Nullable RuntimeException failure;

    IncomingCall(Visit visit) {
      this.visit = visit;
    }

    @Override
    public void run() {
      try {
        end(done(), null);
      } catch (RuntimeException trouble) {
        end(null, new Unavailable("the call of another group: " + trouble.getMessage(), trouble));
      } catch (Execution.Unwinding stopped) {
        end(null, new Unavailable("the call of another group could not go on", stopped));
      } catch (Error broken) {
        end(null, new Unavailable("the call of another group failed: " + broken, broken));
        throw broken;
      }
    }

    private Visit.Reply done() {
      return switch (visit.kind()) {
        case PUT -> put();
        case GET -> get();
        case PAST, MOMENT -> past();
      };
    }

    /// Encodes a refusal as an answer. An exception from here is no answer: the outcome of a put is
    /// then unknown.
    private Visit.Reply told(RuntimeException refusal, long reach) {
      return said(log.loader.runs.factory(visit.target()).failure(refusal), reach);
    }

    /// Returns an answer that the caller can log. Its length is the same in every run of the put.
    private Visit.Reply said(Answer answer, long reach) {
      byte[] encoded = answer.encoded();
      if (encoded.length <= ANSWER_BYTES_MAX) return new Visit.Reply(encoded, reach);
      return told(
          new LimitExceeded(
              "a call of "
                  + visit.target()
                  + " answers "
                  + encoded.length
                  + " bytes to an object of another group; "
                  + ANSWER_BYTES_MAX
                  + " is the most"),
          reach);
    }

    private Visit.Reply past() {
      long counter = visit.counter();
      try {
        return said(
            visit.kind() == Visit.Kind.PAST
                ? log.playback
                    .at(visit.target(), counter)
                    .get(visit.call(), visit.existence(), visit.callers())
                : ofOneQuestion(counter),
            counter);
      } catch (Gone | Deadlock | TooOld | UnsupportedOperationException refusal) {
        return told(refusal, counter);
      }
    }

    private Answer ofOneQuestion(long counter) {
      try (StoreTransaction moment = log.transactions.beginQuestion(counter, visit.callers())) {
        return moment.get(visit.target(), visit.call(), visit.existence(), visit.callers().size());
      }
    }

    private Visit.Reply put() {
      Visit.Id id = visit.id();
      var origin = new Records.Origin(id.caller(), id.call(), Math.toIntExact(id.number()));
      writer.moments().above(visit.counter());
      Visit.Reply earlier;
      try {
        earlier = earlier(origin);
      } catch (TooOld released) {
        // Every later request gets the same answer: released entries do not come back.
        return told(unknown(released), 0);
      }
      if (earlier != null) return earlier;
      var put = Put.of((byte[]) visit.call());
      var request = new PutRequest(pinned(), put, terms(), origin, visit.callers().size());
      request.visits = true;
      visits(request);
      waitsFor = request;
      writer.add(request);
      return awaited(request);
    }

    private CallFailed unknown(TooOld released) {
      return new CallFailed(
          "no log has any more whether "
              + visit.target()
              + " was called by "
              + visit.callers().getLast()
              + ", whose group could not ask for more than an hour: "
              + released.getMessage()
              + "; look at the object, and call it again if that is needed",
          released);
    }

    private Visit.Reply get() {
      var request = new GetRequest(pinned(), visit.call(), terms(), visit.callers().size());
      visits(request);
      waitsFor = request;
      writer.ask(request);
      return awaited(request);
    }

    private Terms terms() {
      return Terms.expecting(visit.existence());
    }

    private Resident pinned() {
      return residents.pinBegun(visit.target());
    }

    /// Notes the handlers of other stores that wait for a request, and the time limit of the visit.
    private void visits(Request request) {
      request.callers = visit.callers();
      request.trace(trace);
      if (visit.millisMax() > 0) {
        limits.limit(request, Duration.ofMillis(visit.millisMax()));
      }
    }

    private Visit.Reply awaited(Request request) {
      awaitDone(request);
      RuntimeException failure = request.failure();
      return switch (failure) {
        case null -> said(request.answer(), request.reach());
        // Such an outcome is logged, or it is the outcome of a question.
        case Gone _,
            AlreadyExists _,
            Deadlock _,
            Diverged _,
            DeadlineExceeded _,
            CallFailed _,
            UnsupportedOperationException _ ->
            told(failure, 0);
        default -> throw failure;
      };
    }

    private void awaitDone(Request request) {
      request.isAwaited();
      boolean runs = threads.mayRunLong();
      long pause = 0;
      while (!request.isOver()) {
        if (!writer.isIdle()) writer.callWriterThread();
        tellIfItWaits();
        // This thread does not execute the requests in front: one of them may wait for this call's
        // answer.
        if (runs && pause > 0 && request.resident.isScheduled()) request.resident.help(request);
        if (request.isOver()) return;
        if (pause == 0) threads.rest(request);
        else threads.pause(pause); // or until the request is over
        pause = Math.clamp(2 * pause, PAUSE_FIRST_NANOS, PAUSE_NANOS_MAX);
      }
    }

    /// Returns the outcome of the put if the stream has it; null otherwise.
    private Visit.@Nullable Reply earlier(Records.Origin origin) {
      Key key = visit.target();
      StreamId stream = key.stream();
      long last = log.streams.last(stream);
      long low = log.timeline.firstBehind(stream, visit.counter());
      var found = new StoredEntry[2];
      log.streams.scan(stream, low, last, entry -> look(origin, entry, found));
      health.confirm();
      StoredEntry entry = found[0];
      if (entry == null) {
        boolean whole = log.holds.keepsVisits(visit.counter());
        if (!whole && low > 1 && log.streams.read(stream, low - 1) == null) {
          log.timeline.check(key, low - 1);
        }
        return null;
      }
      long reach = entry.log().counter();
      if (entry.kind() == Records.REFUSED) {
        return told(Records.refused(entry.payload()).why().exception(), reach);
      }
      StoredEntry verdict = found[1];
      if (verdict != null) {
        return told(Records.verdict(verdict.payload()).why().exception(), reach);
      }
      Deadlock passed = awaitExecuted(entry.address());
      if (passed != null) return told(passed, reach);
      // With other stores, the stream of an executed put has all its answers, see Execution.gate.
      return said(log.loader.answerInLog(key, entry.address()), reach);
    }

    private static boolean look(Records.Origin origin, StoredEntry entry, StoredEntry[] found) {
      StoredEntry known = found[0];
      switch (entry.kind()) {
        case Records.PUT -> {
          if (origin.equals(Records.originOf(entry.payload()))) found[0] = entry;
        }
        case Records.REFUSED -> {
          if (known == null && origin.equals(Records.refused(entry.payload()).origin())) {
            found[0] = entry;
          }
        }
        case Records.VERDICT -> {
          if (known != null && Records.verdict(entry.payload()).call() == known.address()) {
            found[1] = entry;
          }
        }
        default -> {}
      }
      return found[1] == null;
    }

    /// Waits until a put is executed; returns the reason when it is taken back instead.
    private @Nullable Deadlock awaitExecuted(long address) {
      var position = new PositionRequest(pinned(), Pace.LONG, visit.callers().size());
      visits(position);
      if (position.resident.hasExecuted(address)) {
        position.complete(null);
        return null;
      }
      position.behind = address;
      waitsFor = position;
      writer.ask(position);
      awaitDone(position);
      Deadlock passed = position.passed;
      if (passed == null && position.isDone()) position.check();
      return passed;
    }

    // ---- the servers that wait for it

    void end(Visit.@Nullable Reply answer, @Nullable RuntimeException trouble) {
      if (trace != null) trace.end(trouble);
      said = answer;
      failure = trouble;
      over = true;
      under.remove(visit.id(), this);
      for (Waiter waiter; (waiter = waiters.poll()) != null; ) tell(waiter);
    }

    private void tell(Waiter waiter) {
      RuntimeException trouble = failure;
      if (trouble != null) waiter.told.completeExceptionally(trouble);
      else waiter.told.complete(java.util.Objects.requireNonNull(said));
    }

    /// Tells the servers that asked for it when this waits for a call that waits for another store.
    private void tellIfItWaits() {
      if (asked && follow(visit.id()).next() != null) {
        asked = false;
        waiters.removeIf(waiter -> waiter.asks && waiter.told.complete(Visit.Reply.GOES_ON));
      }
    }

    void tick() {
      waiters.removeIf(waiter -> --waiter.ticks <= 0 && waiter.told.complete(Visit.Reply.GOES_ON));
    }

    Visit.Reply await(int ticks) {
      var waiter = new Waiter(ticks);
      waiters.add(waiter);
      if (waiter.asks) asked = true;
      if (over) tell(waiter);
      else tellIfItWaits();
      try {
        return waiter.told.join();
      } catch (java.util.concurrent.CompletionException failed) {
        if (failed.getCause() instanceof RuntimeException cause) throw cause;
        throw failed;
      }
    }
  }

  /// A server that has asked, and how long it waits. The watch counts the ticks.
  private static final class Waiter {
    private final CompletableFuture<Visit.Reply> told = new CompletableFuture<>();
    private final boolean asks;
    private int ticks;

    Waiter(int ticks) {
      asks = ticks == Neighbors.UNTIL_IT_WAITS;
      this.ticks = asks ? TICKS_UNTIL_IT_WAITS : ticks;
    }
  }
}

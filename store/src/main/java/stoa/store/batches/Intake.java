package stoa.store.batches;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.log.Batch;
import stoa.log.Entry;
import stoa.log.Outcome;
import stoa.log.Sequencer;
import stoa.log.ShardLog;
import stoa.log.Token;
import stoa.store.calls.Pace;
import stoa.store.leading.Health;
import stoa.store.leading.Leadership;
import stoa.store.leading.LogClock;
import stoa.store.leading.Moments;
import stoa.store.leading.Tally;
import stoa.store.ordering.Addresses;
import stoa.store.records.Draft;
import stoa.store.records.StreamEnd;
import stoa.store.running.AppendRequest;
import stoa.store.running.Appending;
import stoa.store.running.Bans;
import stoa.store.running.ChangeRequest;
import stoa.store.running.CheckpointRequest;
import stoa.store.running.CommitRequest;
import stoa.store.running.DeleteRequest;
import stoa.store.running.ForkRequest;
import stoa.store.running.GenerationRequest;
import stoa.store.running.GetRequest;
import stoa.store.running.NoteRequest;
import stoa.store.running.PartRequest;
import stoa.store.running.PositionRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.Spaces;
import stoa.store.running.TimeLimits;
import stoa.store.running.Unfinished;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;
import stoa.store.watching.Watches;

/// Gathers the requests that must be logged, gives them addresses, makes them durable batch by
/// batch, and puts them into the mailboxes of their keys.
///
/// The first thread that finds no leader becomes the leader for one batch: a caller, so that a lone
/// caller needs no other thread, or the writer, which goes on while there is more. No leader waits
/// to fill a batch; batches grow while the one before is synced.
public final class Intake {
  /*
   * Draft decides a batch, Leadership who makes it, Moments what can be read. This class queues and leads.
   *
   * Invariants:
   * (1) The leader alone touches the draft, the sequencer and the batch under way. One batch is under way at a
   *     time.
   * (2) A thread that adds to the queue finds nobody leading, or the leader looks at the queue after letting go:
   *     nothing is left behind.
   * (3) Mailboxes are filled in log order, before any later batch is begun.
   */
  private static final int BATCH_ENTRIES_MAX = 8_192;
  private static final int BATCH_BYTES_MAX = 8 << 20;
  private static final int APPENDS_AVERAGED = 16;

  /// So many addresses are reserved at a time from an order of several stores; more than a batch
  /// takes. What is left serves batches that need no place in that order.
  private static final int RESERVED = 1 << 20;

  /// How long a batch waits for a coordinator that gives addresses.
  private static final long ORDER_MICROS_MAX = 10_000_000;

  /// A pause of the whole process says nothing of the log.
  private static final long APPEND_MICROS_COUNTED_MAX = 4_000;

  private final @Nullable ShardLog log;
  private final @Nullable Addresses order;
  private final LogClock clock;
  private final TimeLimits limits;
  private final Spaces spaces;
  private final Bans bans;
  private final Watches watches;
  private final Health health;
  private final Leadership leadership;
  private final Moments moments;
  private final Unfinished unfinished;
  private final Tally tally;
  private final ConcurrentLinkedQueue<Request> queue = new ConcurrentLinkedQueue<>();
  private final Progress progress;
  private final long term;

  /// The log counter with which the epoch began.
  private final long firstCounter;

  // The leader's.
  private final Draft draft;
  private Sequencer sequencer;
  private long reservedTo;
  private final ArrayList<Request> taken = new ArrayList<>();
  private final ArrayList<Request> scheduled = new ArrayList<>();
  private final ArrayList<Resident> brief = new ArrayList<>();
  private @Nullable List<Resident> gathered;
  private long sequence;

  /// How long a batch took lately, in microseconds.
  private volatile double appendMicros = APPEND_MICROS_COUNTED_MAX;

  private volatile long epoch;
  private @Nullable Help help;

  /// What helps the thread that leads a batch.
  interface Help {
    /// Has the writer lead what waits, unless the calling thread does so soon.
    void callWriter();

    /// Has a worker run the brief requests of some keys.
    void runBrief(List<Resident> scheduled);
  }

  /// The log that is led.
  ///
  /// @param log null when another store leads: then everything is refused
  /// @param order null when the store is alone: then it orders its log itself
  /// @param clock the time of the log
  /// @param unfinished what is noted with each batch
  /// @param health whether the log can be used
  /// @param tally counts batches
  public record Led(
      @Nullable ShardLog log,
      @Nullable Addresses order,
      LogClock clock,
      Unfinished unfinished,
      Health health,
      Tally tally) {}

  /// Begins an epoch of the log.
  public Intake(
      Led led,
      Residents residents,
      TimeLimits limits,
      Spaces spaces,
      Bans bans,
      Watches watches,
      Threads threads) {
    this.log = led.log;
    this.order = led.order;
    this.clock = led.clock;
    this.health = led.health;
    this.unfinished = led.unfinished;
    this.tally = led.tally;
    this.limits = limits;
    this.spaces = spaces;
    this.bans = bans;
    this.watches = watches;
    this.draft = new Draft(residents::directory);
    this.leadership = new Leadership(clock::machineMicros, threads);
    ShardLog.Tail tail = log == null ? ShardLog.Tail.EMPTY : log.tail();
    term = log == null ? 0 : log.term();
    Addresses.Adopted adopted =
        log == null || order == null
            ? new Addresses.Adopted(tail.epoch() + 1, tail.counter(), List.of())
            : order.adopt(term, tail);
    if (log != null) {
      adopted.decided().forEach(decided -> restore(decided, log));
      log.seal(adopted.epoch());
    }
    ShardLog.Tail sealed = log == null ? tail : log.tail();
    epoch = sealed.epoch();
    sequencer = new Sequencer(epoch, sealed.counter());
    sequencer.skip(adopted.counter());
    progress = new Progress(sealed.counter());
    moments = new Moments(health, leadership, threads, order, sealed.counter());
    firstCounter = sealed.counter();
  }

  /// Says who helps the thread that leads. Once, before anything is added.
  void ledBy(Help newHelp) {
    help = newHelp;
  }

  private Help help() {
    return Objects.requireNonNull(help, "a helper");
  }

  /// How far the log is committed.
  public Progress progress() {
    return progress;
  }

  /// The log counter with which the epoch began.
  long firstCounter() {
    return firstCounter;
  }

  /// The epoch in which addresses are issued.
  public long epoch() {
    return epoch;
  }

  /// The term under which the log is led from here.
  public long term() {
    return term;
  }

  /// A number that no other opening of this log has.
  public long owner() {
    return order == null ? epoch : term;
  }

  /// Whether the leader of a batch waits for another process first.
  boolean asksElsewhere() {
    return order != null && !order.isBeside();
  }

  /// The log counters that can be read.
  public Moments moments() {
    return moments;
  }

  /// Adds a request to the queue, or fails it when the log has failed.
  void add(Request request) {
    if (refuses(request)) return;
    request.goesAhead();
    queue.add(request);
  }

  /// Fails a request if the log has failed. What the streams show since then need not be durable,
  /// so that questions are refused too. To be asked when the request has pinned its key: a key that
  /// was pinned before shows nothing that is not durable.
  boolean refuses(Request request) {
    Unavailable refusal = health.refusal();
    if (refusal != null) request.fail(refusal);
    return refusal != null;
  }

  /// Fails what has not been logged, when the store is closed.
  public void end(RuntimeException cause) {
    for (Request request; (request = queue.poll()) != null; ) request.fail(cause);
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /// Returns how many requests wait for their batch, by counting them.
  public int waiting() {
    return queue.size();
  }

  /// Refuses when the log has failed.
  ///
  /// @throws Unavailable when it has
  public void checkSound() {
    health.checkSound();
  }

  /// Whether batches take less than a time, as far as was seen lately.
  boolean takesLessThan(long micros) {
    return appendMicros < micros;
  }

  /// Leads one batch if no thread leads; answers whether it did.
  ///
  /// @param own the request of the calling thread: its key is left for that thread to run
  boolean tryLead(@Nullable Request own) {
    return tryLead(own, null);
  }

  /// As [#tryLead(Request)], for a thread that runs what is brief.
  ///
  /// @param mine the keys whose requests are brief are added; null leaves them to a worker
  boolean tryLead(@Nullable Request own, @Nullable List<Resident> mine) {
    if (!leadership.tryBegin()) return false;
    gathered = mine;
    try {
      lead(own);
    } finally {
      leadership.end();
    }
    if (health.hasFailed()) progress.wake();
    return true;
  }

  private void lead(@Nullable Request own) {
    taken.clear();
    gather();
    admit();
    if (taken.isEmpty() || !reserve()) return;
    begin();
    for (Request request : taken) {
      try {
        resolve(request);
      } catch (RuntimeException | Error broken) {
        // A directory cannot be read, say: the batch and what it changed are in doubt.
        var cause = new IllegalStateException("a batch could not be made: " + broken, broken);
        health.fail(cause);
        fail(Health.unavailable(cause));
        return;
      }
    }
    if (draft.isEmpty()) publish(own);
    else append(sequencer.grant(draft.addresses()), own);
  }

  // ---- transactions over several stores

  /// Begins no batch any more until [#letGo], and waits for the one under way.
  ///
  /// @throws Unavailable when that takes too long, or the log has failed
  public void hold() {
    leadership.hold();
    gathered = null;
    if (health.hasFailed()) {
      letGo();
      health.checkSound();
    }
  }

  /// Ends what [#hold] began.
  public void letGo() {
    leadership.letGo();
    if (health.hasFailed()) progress.wake();
    if (!queue.isEmpty()) help().callWriter();
  }

  /// What a transaction would log now, while all is held up; nothing is kept of it.
  ///
  /// @throws RuntimeException when it cannot be committed
  public List<Entry> sketch(CommitRequest commit) {
    taken.clear();
    begin();
    RuntimeException full = commit.isSparing() ? null : refusal(commit.keptBytes());
    if (full != null) throw full;
    try {
      RuntimeException refusal = draft.commit(commit.transaction.changes());
      if (refusal != null) throw refusal;
      return draft.entries();
    } finally {
      draft.rollBack();
    }
  }

  /// Commits transactions, while all is held up.
  ///
  /// @param token their addresses
  /// @param commits by the offset in the token; each was sketched since all is held up
  /// @param note what is logged with them at the first address; null for nothing
  public void commit(
      Token token, SortedMap<Integer, CommitRequest> commits, @Nullable NoteRequest note) {
    taken.clear();
    sequencer.skip(token.first().counter() - 1);
    begin();
    try {
      if (note != null) take(note, 0);
      commits.forEach((offset, commit) -> take(commit, offset));
    } catch (RuntimeException broken) {
      health.fail(broken);
      throw broken;
    }
    Token own = sequencer.grant(token.count());
    Check.that(own.equals(token), "%s and %s are the same", own, token);
    if (draft.isEmpty()) publish(null);
    else append(token, null);
    // With a note it is decided by this; without, it was before: nothing may be logged in its
    // place.
    boolean lacks = note == null && commits.values().stream().anyMatch(Request::failed);
    if (lacks && !health.hasFailed()) {
      health.fail(new Unavailable("what was decided could not be logged"));
    }
  }

  private void take(Request request, int offset) {
    taken.add(request);
    draft.goTo(offset);
    resolve(request);
    RuntimeException refusal = request.refusal;
    if (refusal != null) throw new IllegalStateException("what is held up has changed", refusal);
  }

  /// Logs what was decided and is not in the log, and the epoch in which addresses are given now,
  /// while all is held up. If something was missing, the log has failed: what is in memory is not
  /// what is logged, and the store is to be opened again.
  public void adopt(Addresses.Adopted adopted) {
    ShardLog own = Objects.requireNonNull(log);
    boolean missing = false;
    try {
      for (Addresses.Decided decided : adopted.decided()) missing |= restore(decided, own);
      own.seal(adopted.epoch());
    } catch (RuntimeException unknown) {
      health.fail(unknown);
      throw unknown;
    }
    if (missing) {
      health.fail(new Unavailable("it has logged what was decided while it was cut off"));
    }
    ShardLog.Tail sealed = own.tail();
    long last = Math.max(sequencer.last(), adopted.counter());
    sequencer = new Sequencer(sealed.epoch(), sealed.counter());
    sequencer.skip(last);
    reservedTo = 0;
    epoch = sealed.epoch();
  }

  /// Logs what is decided, unless it is in the log; answers whether it did. Whoever has not logged
  /// it has logged nothing since then.
  private boolean restore(Addresses.Decided decided, ShardLog to) {
    Entry first = decided.entries().getFirst();
    if (to.streams().last(first.stream()) >= first.address()) return false;
    ShardLog.Tail tail = to.tail();
    long micros = Math.max(tail.nowMicros(), decided.nowMicros());
    var batch =
        new Batch(decided.token(), term, ++sequence, micros, decided.entries(), tail.note());
    to.append(
        batch,
        outcome -> {
          if (outcome instanceof Outcome.Committed) return;
          throw new Unavailable("what was decided could not be logged: " + outcome);
        });
    return true;
  }

  // ---- a batch

  private void begin() {
    draft.begin(epoch, sequencer.last(), clock.nowMicros());
  }

  /// Takes what has arrived, as much as a batch may be.
  private void gather() {
    long bytes = 0;
    Request request;
    while (taken.size() < BATCH_ENTRIES_MAX
        && bytes < BATCH_BYTES_MAX
        && (request = queue.poll()) != null) {
      RuntimeException failed = health.failure();
      if (failed != null) {
        request.fail(Health.unavailable(failed));
      } else {
        taken.add(request);
        bytes += request.bytes();
      }
    }
  }

  /// Refuses what there is no room for; what gives up something has room.
  private void admit() {
    long bytes = 0;
    for (Request request : taken) bytes += request.keptBytes();
    if (bytes == 0 || refusal(bytes) == null) return;
    taken.removeIf(request -> {
      RuntimeException full = request.isSparing() ? null : refusal(request.keptBytes());
      if (full != null) request.fail(full);
      return full != null;
    });
  }

  private @Nullable RuntimeException refusal(long bytes) {
    try {
      Objects.requireNonNull(log).makeRoom(bytes);
      return null;
    } catch (RuntimeException full) {
      return new Unavailable("nothing was logged: " + full.getMessage(), full);
    }
  }

  /// Gets addresses for what was taken, of several stores with one order. Waits for somebody who
  /// gives them.
  private boolean reserve() {
    Addresses common = order;
    if (common == null) return true;
    boolean ordered = false;
    for (Request request : taken) ordered |= request.isOrdered();
    long last = sequencer.last();
    if (!ordered && last >= moments.wanted() && last + RESERVED / 2 < reservedTo) return true;
    long end = clock.machineMicros() + ORDER_MICROS_MAX;
    while (true) {
      try {
        skip(common.reserve(term, RESERVED));
        return true;
      } catch (RuntimeException refusal) {
        boolean later = refusal instanceof Unavailable && clock.machineMicros() < end;
        if (later && !health.isClosed() && stepAside()) continue;
        RuntimeException failed = health.failure();
        RuntimeException cause = failed != null ? failed : refusal;
        fail(new Unavailable("nothing was logged: " + cause.getMessage(), cause));
        return false;
      }
    }
  }

  /// Waits a little for a new coordinator, which may have to hold all up here before it gives
  /// addresses. What was taken keeps its place. Answers whether the log has not failed meanwhile.
  private boolean stepAside() {
    var waiting = List.copyOf(taken);
    List<Resident> mine = gathered;
    leadership.stepAside();
    gathered = mine;
    taken.clear();
    taken.addAll(waiting);
    return !health.hasFailed();
  }

  private void skip(long to) {
    sequencer.skip(to);
    reservedTo = to + RESERVED;
  }

  private void append(Token token, @Nullable Request own) {
    long batchMicros = draft.nowMicros();
    clock.reached(batchMicros);
    var batch = new Batch(token, term, ++sequence, batchMicros, draft.entries(), unfinished.note());
    int weight = tally.batch();
    Objects.requireNonNull(log)
        .append(
            batch,
            outcome -> {
              long micros = clock.machineMicros() - batchMicros;
              if (outcome instanceof Outcome.Committed) {
                tally.durable(weight, micros, batch.entries());
              }
              long took = Math.clamp(micros, 0L, APPEND_MICROS_COUNTED_MAX);
              double before = appendMicros;
              appendMicros = before + (took - before) / APPENDS_AVERAGED;
              settle(outcome, token, own);
            });
  }

  /// Gives a request its place in the batch under way, or refuses it. A refusal may reflect the
  /// batch itself, so its caller is told after the batch is settled.
  private void resolve(Request request) {
    request.refusal =
        switch (request) {
          case PutRequest put -> put(put);
          case DeleteRequest deletion -> delete(deletion);
          case NoteRequest note -> note(note);
          case CheckpointRequest checkpoint -> checkpoint(checkpoint);
          case AppendRequest append -> append(append.appending);
          case CommitRequest commit -> commit(commit);
          // Not logged: it keeps its place behind the puts that were asked before.
          case GetRequest question -> limits.late(question);
          case GenerationRequest _, PositionRequest _, ForkRequest _, PartRequest _ ->
              throw new IllegalStateException(request + " goes to the mailbox");
        };
  }

  private @Nullable RuntimeException put(PutRequest put) {
    Resident resident = put.resident;
    RuntimeException refusal = refusal(put);
    boolean alive = resident.nextGeneration != 0;
    put.code = spaces.code(resident.key);
    if (refusal == null) {
      refusal = draft.put(resident, put.existence, put.origin, put.code, put.value);
    }
    if (refusal == null) {
      placed(put);
      put.begins = !alive;
      if (put.begins) put.opening = put.existence.opening();
    } else if (put.visits) {
      draft.refused(resident, Objects.requireNonNull(put.origin), refusal);
    }
    return refusal;
  }

  /// Why a put is refused, whatever it expects of its key.
  private @Nullable RuntimeException refusal(PutRequest put) {
    RuntimeException late = limits.late(put);
    if (late != null) return late;
    if (put.lacksAnswer()) return new Unavailable("what the call reflects could not be logged");
    return bans.refusal(put.resident.key, put.resident.nextGeneration);
  }

  private @Nullable RuntimeException delete(DeleteRequest deletion) {
    RuntimeException refusal = limits.late(deletion);
    if (refusal != null) return refusal;
    refusal = draft.delete(deletion.resident, deletion.existence, deletion.origin);
    if (refusal == null) placed(deletion);
    return refusal;
  }

  private static void placed(ChangeRequest change) {
    change.address = change.resident.nextTail;
    change.counter = change.resident.nextChange;
  }

  private @Nullable RuntimeException commit(CommitRequest commit) {
    RuntimeException refusal = draft.commit(commit.transaction.changes());
    if (refusal == null) commit.counter = draft.counter();
    return refusal;
  }

  private @Nullable RuntimeException note(NoteRequest note) {
    if (note.lacksAnswer()) {
      return new Unavailable("an answer that was told before this one could not be logged");
    }
    NoteRequest.Reflected reflected = note.reflected;
    if (reflected != null && reflected.isLost()) {
      return new Unavailable("what is announced could not be logged");
    }
    draft.note(note.resident, note.kind, note.payload);
    note.number = note.resident.nextTail;
    return null;
  }

  private @Nullable RuntimeException checkpoint(CheckpointRequest checkpoint) {
    draft.checkpoint(checkpoint.resident);
    checkpoint.address = checkpoint.resident.nextTail;
    checkpoint.counter = checkpoint.resident.nextCheckpoint;
    return null;
  }

  private @Nullable RuntimeException append(Appending appending) {
    appending.given().log =
        draft.append(appending.residents(), appending.data(), appending.addresses());
    return null;
  }

  private void settle(Outcome outcome, Token token, @Nullable Request own) {
    switch (outcome) {
      case Outcome.Committed() -> publish(own);
      case Outcome.Refused(RuntimeException cause) -> {
        draft.rollBack();
        sequencer.takeBack(token);
        fail(
            cause instanceof LimitExceeded
                ? cause
                : new Unavailable("nothing was logged: " + cause.getMessage(), cause));
      }
      case Outcome.Unknown(RuntimeException cause) -> {
        health.fail(cause);
        fail(new UnknownOutcome("the log failed: " + cause.getMessage(), cause));
      }
      case Outcome.Fenced(long epoch) -> {
        var cause = new IllegalStateException("the log was sealed by epoch " + epoch);
        health.fail(cause);
        fail(Health.unavailable(cause));
      }
    }
  }

  /// The batch is durable: fills the mailboxes, and settles what nothing is executed for.
  private void publish(@Nullable Request own) {
    scheduled.clear();
    brief.clear();
    moments.beginPublishing();
    try {
      fillMailboxes(own);
    } catch (RuntimeException | Error broken) {
      // What is committed need not be in the mailboxes: reopening finds it.
      health.fail(new IllegalStateException("a batch could not be published: " + broken, broken));
      throw broken;
    } finally {
      moments.endPublishing(sequencer.last());
    }
    progress.reach(sequencer.last());
    // Whoever is told may ask the store again, on this thread.
    for (Request request : scheduled) {
      // A handler that waits for it runs it at once; all workers may be waiting so.
      if (request.depth > 0) request.wake();
      request.resident.dispatch();
    }
    List<Resident> mine = gathered;
    if (mine != null) mine.addAll(brief);
    else if (!brief.isEmpty()) help().runBrief(List.copyOf(brief));
    for (Request request : List.copyOf(taken)) {
      RuntimeException refusal = request.refusal;
      if (refusal != null) request.fail(refusal);
      else if (isNote(request)) request.complete(null);
    }
  }

  /// Whether nothing is executed for it.
  private static boolean isNote(Request request) {
    return request instanceof NoteRequest || request instanceof AppendRequest;
  }

  private void fillMailboxes(@Nullable Request own) {
    for (StreamEnd end : draft.touched()) end.publish();
    for (Request request : taken) {
      if (request.refusal != null || isNote(request)) continue;
      if (request instanceof CommitRequest commit) {
        boolean mine = commit.equals(own);
        for (PartRequest part : commit.transaction.parts(commit)) enqueue(part, mine);
      } else {
        if (request instanceof ChangeRequest change) change.nowMicros = clock.last();
        enqueue(request, isWith(own, request));
      }
    }
    if (watches.isEmpty()) return;
    for (StreamEnd end : draft.touched()) {
      if (end.hasChanged()) watches.changed(end.key, end.nextChange);
    }
  }

  /// Whether the thread that leads the batch for a request of its own runs another one with it. Of
  /// a transaction it runs its parts alone, and none when it is refused.
  private static boolean isWith(@Nullable Request own, Request request) {
    return own != null && !(own instanceof CommitRequest) && own.resident.equals(request.resident);
  }

  private void enqueue(Request request, boolean mine) {
    if (!request.resident.enqueue(request) || mine) return;
    if (request.pace == Pace.BRIEF) brief.add(request.resident);
    else scheduled.add(request);
  }

  private void fail(RuntimeException cause) {
    taken.forEach(request -> request.fail(cause));
  }
}

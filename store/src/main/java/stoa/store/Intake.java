package stoa.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.log.Batch;
import stoa.log.Entry;
import stoa.log.Outcome;
import stoa.log.Sequencer;
import stoa.log.ShardLog;
import stoa.log.Token;

/// Gathers the requests that must be logged, gives them addresses, makes them durable batch by
/// batch, and puts them into the mailboxes of their keys.
///
/// Whoever finds nobody leading leads one batch of what has arrived: the asking thread, so that a
/// lone caller needs no other thread, or the writer, which goes on while there is more. Nobody
/// waits to fill a batch; batches grow while the one before is synced.
final class Intake {
  /*
   * Invariants:
   * (1) The holder of leading alone touches the sequencer, the batch under way and the next… fields
   *     of residents. One batch is under way at a time.
   * (2) Whoever adds to the queue finds leading free, or its holder looks at the queue after letting
   *     go: nothing is left behind.
   * (3) Mailboxes are filled in log order, before any later batch is begun. So a question that is
   *     asked after the answer to one put was seen stands behind every put with a lower log address.
   */
  private static final int BATCH_ENTRIES_MAX = 8_192;
  private static final int BATCH_BYTES_MAX = 8 << 20;

  private final Store store;
  private final ShardLog log;
  private final Clock clock;
  private final Sequencer sequencer;
  private final Unfinished unfinished;
  private final ConcurrentLinkedQueue<Request> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean leading = new AtomicBoolean();
  private final Progress progress;
  private final long term;

  // Guarded by leading.
  private final ArrayList<Request> taken = new ArrayList<>();
  private final ArrayList<Resident> touched = new ArrayList<>();
  private ArrayList<Entry> entries = new ArrayList<>();
  private int bytes;
  private int addresses;
  private long batchMicros;
  private long sequence;

  private volatile long nowMicros;
  private volatile @Nullable RuntimeException failed;

  Intake(Store store, ShardLog log, Clock clock) {
    this.store = store;
    this.log = log;
    this.clock = clock;
    ShardLog.Tail tail = log.tail();
    nowMicros = tail.nowMicros();
    unfinished = new Unfinished(tail.note());
    log.seal(tail.epoch() + 1);
    ShardLog.Tail sealed = log.tail();
    term = log.term();
    sequencer = new Sequencer(sealed.epoch(), sealed.counter());
    progress = new Progress(sealed.counter());
  }

  /// The puts that are to be noted as unfinished.
  Unfinished unfinished() {
    return unfinished;
  }

  /// How far the log is committed.
  Progress progress() {
    return progress;
  }

  /// The epoch in which addresses are issued.
  long epoch() {
    return sequencer.epoch();
  }

  /// The time now, never before that of a logged put.
  long nowMicros() {
    return Math.max(nowMicros, clock.nowMicros());
  }

  void add(Request request) {
    if (!refuses(request)) queue.add(request);
  }

  /// Fails a request if the log has failed. What the streams show since then need not be durable,
  /// so that questions are refused too. To be asked when the request has pinned its key: a key that
  /// was pinned before shows nothing that is not durable.
  boolean refuses(Request request) {
    RuntimeException cause = failed;
    if (cause != null) request.fail(unavailable(cause));
    return cause != null;
  }

  /// Refuses when the log has failed: its streams may show what is not durable.
  void checkUsable() {
    RuntimeException cause = failed;
    if (cause != null) throw unavailable(cause);
  }

  /// Whether the log has failed.
  boolean hasFailed() {
    return failed != null;
  }

  /// Fails what has not been logged, when the store is closed.
  void end(RuntimeException cause) {
    for (Request request; (request = queue.poll()) != null; ) request.fail(cause);
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /// Leads one batch if nobody leads; answers whether it did.
  ///
  /// @param own the request of the calling thread: its key is left for that thread to run
  boolean tryLead(@Nullable Request own) {
    if (leading.get() || !leading.compareAndSet(false, true)) return false;
    try {
      lead(own);
    } finally {
      leading.set(false);
    }
    if (failed != null) progress.wake();
    return true;
  }

  private void lead(@Nullable Request own) {
    taken.clear();
    touched.clear();
    entries = new ArrayList<>();
    bytes = 0;
    addresses = 0;
    batchMicros = nowMicros();
    Request request;
    while (entries.size() < BATCH_ENTRIES_MAX
        && bytes < BATCH_BYTES_MAX
        && (request = queue.poll()) != null) {
      if (failed != null) {
        request.fail(unavailable(failed));
      } else {
        taken.add(request);
        try {
          resolve(request);
        } catch (RuntimeException | Error broken) {
          // A directory cannot be read, say: the batch and what it changed are in doubt.
          var cause = new IllegalStateException("a batch could not be made: " + broken, broken);
          failed = cause;
          fail(unavailable(cause));
          return;
        }
      }
    }
    if (!entries.isEmpty()) {
      nowMicros = batchMicros;
      Token token = sequencer.grant(addresses);
      var batch = new Batch(token, term, ++sequence, nowMicros, entries, unfinished.note());
      log.append(batch, outcome -> settle(outcome, token, own));
    } else if (!taken.isEmpty()) {
      commit(own);
    }
  }

  /// Gives a request its place in the batch under way, or refuses it. A refusal may reflect the
  /// batch itself, and so is told with its outcome.
  private void resolve(Request request) {
    Resident resident = request.resident;
    request.refusal =
        switch (request.kind) {
          case PUT -> put(request, resident);
          case DELETE -> delete(request, resident);
          case NOTE -> note(request, resident);
          case APPEND -> append(Objects.requireNonNull(request.appending));
          // Not logged: it keeps its place behind the puts that were asked before.
          case GET, GENERATION, POSITION -> null;
        };
  }

  private @Nullable RuntimeException put(Request request, Resident resident) {
    Request before = request.after;
    if (before != null && before.failed()) {
      return new Unavailable("what the call reflects could not be logged");
    }
    boolean alive = resident.nextGeneration != 0;
    switch (request.existence) {
      case Existence.Any(byte[] opening) -> {
        if (!alive) begin(request, resident, opening);
      }
      case Existence.Undeleted(byte[] opening) -> {
        if (!alive && resident.everDeleted) return Store.gone(resident.key);
        if (!alive) begin(request, resident, opening);
      }
      case Existence.Absent(byte[] opening) -> {
        if (alive) return new AlreadyExists(resident.key + " exists already");
        begin(request, resident, opening);
      }
      case Existence.Generation(long generation) -> {
        if (resident.nextGeneration != generation) return Store.gone(resident.key);
      }
      case null -> throw new IllegalStateException("a put says what it expects");
    }
    if (!request.begins) {
      request.address =
          add(resident, Records.PUT, Records.put(request.origin, request.value), null);
    }
    return null;
  }

  private void begin(Request request, Resident resident, byte @Nullable [] opening) {
    Resident directory = store.directory(resident.key.space());
    long listed = add(directory, Records.LISTED, resident.key.name(), null);
    byte[] payload = Records.beginningPut(request.origin, listed, opening, request.value);
    request.address = add(resident, Records.PUT, payload, Records.beginMark(listed));
    request.begins = true;
    request.opening = opening;
    resident.nextGeneration = request.address;
    resident.nextListed = listed;
  }

  private @Nullable RuntimeException delete(Request request, Resident resident) {
    boolean alive =
        request.existence instanceof Existence.Generation(long generation)
            ? resident.nextGeneration == generation
            : resident.nextGeneration != 0;
    if (!alive) return Store.gone(resident.key);
    byte[] payload = Records.delete(request.origin, resident.nextListed);
    request.address = add(resident, Records.DELETE, payload, Records.endMark());
    end(resident);
    return null;
  }

  private @Nullable RuntimeException note(Request request, Resident resident) {
    byte[] mark = null;
    if (request.noteKind == Records.VERDICT) {
      long call = Records.verdict(request.value).call();
      // The taken back put began the generation: it ends with it.
      if (resident.nextGeneration == call) mark = Records.endMark();
    }
    request.number = add(resident, request.noteKind, request.value, mark);
    if (mark != null) end(resident);
    return null;
  }

  /// Appends to users' streams, at one log address.
  private @Nullable RuntimeException append(Appending appending) {
    int offset = addresses++;
    appending.given().log = new LogAddress(sequencer.epoch(), sequencer.last() + 1 + offset);
    Resident[] residents = appending.residents();
    for (int i = 0; i < residents.length; i++) {
      byte[] data = appending.data()[i];
      appending.addresses()[i] = add(residents[i], Records.DATA, data, null, offset);
    }
    return null;
  }

  private void end(Resident resident) {
    Resident directory = store.directory(resident.key.space());
    add(directory, Records.UNLISTED, Records.unlisted(resident.nextListed), null);
    resident.nextGeneration = 0;
    resident.nextListed = 0;
    resident.everDeleted = true;
  }

  private long add(Resident resident, byte kind, byte[] payload, byte @Nullable [] mark) {
    return add(resident, kind, payload, mark, addresses++);
  }

  private long add(
      Resident resident, byte kind, byte[] payload, byte @Nullable [] mark, int offset) {
    if (resident.touch()) touched.add(resident);
    long address = ++resident.nextTail;
    entries.add(
        new Entry(resident.key.stream(), address, offset, batchMicros, kind, payload, mark));
    bytes += payload.length;
    return address;
  }

  private void settle(Outcome outcome, Token token, @Nullable Request own) {
    switch (outcome) {
      case Outcome.Committed() -> {
        commit(own);
        progress.reach(sequencer.last());
      }
      case Outcome.Refused(RuntimeException cause) -> {
        touched.forEach(Resident::rollBack);
        sequencer.takeBack(token);
        fail(
            cause instanceof LimitExceeded
                ? cause
                : new Unavailable("nothing was logged: " + cause.getMessage(), cause));
      }
      case Outcome.Unknown(RuntimeException cause) -> {
        failed = cause;
        fail(new UnknownOutcome("the log failed: " + cause.getMessage(), cause));
      }
      case Outcome.Fenced(long epoch) -> {
        var cause = new IllegalStateException("the log was sealed by epoch " + epoch);
        failed = cause;
        fail(unavailable(cause));
      }
    }
  }

  private void commit(@Nullable Request own) {
    List<Request> committed = taken;
    for (Resident resident : touched) resident.publish();
    for (Request request : committed) {
      RuntimeException refusal = request.refusal;
      if (refusal != null) {
        request.fail(refusal);
      } else if (request.kind == Request.Kind.NOTE || request.kind == Request.Kind.APPEND) {
        request.complete(null);
      } else {
        request.nowMicros = nowMicros;
        Resident resident = request.resident;
        boolean mine = own != null && own.resident == resident;
        if (resident.enqueue(request) && !mine) {
          // A handler that waits for it runs it at once; all workers may be waiting so.
          if (request.depth > 0) request.wake();
          resident.dispatch();
        }
      }
    }
  }

  private void fail(RuntimeException cause) {
    taken.forEach(request -> request.fail(cause));
  }

  private static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
  }
}

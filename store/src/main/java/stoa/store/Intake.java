package stoa.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
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
   * (4) Of several stores with one order: the addresses of a batch are reserved after all that it
   *     holds was asked, and one batch is under way at a time. So whoever asks when none is under way
   *     any more that was when he came, sees all that has a lower address than anything that he knows
   *     of.
   * (5) Nothing gets an address at or below `wanted`, but what was under way when that was raised.
   */
  private static final int SPINS = 100;
  private static final int BATCH_ENTRIES_MAX = 8_192;
  private static final int BATCH_BYTES_MAX = 8 << 20;
  private static final int APPENDS_AVERAGED = 16;

  /// So many addresses are reserved at a time from an order of several stores; more than a batch
  /// takes. What is left serves batches that need no place in that order.
  private static final int RESERVED = 1 << 20;

  private static final int PAUSES_COUNTED = 1_024;

  /// So long is waited for a batch under way; it may wait for other stores.
  private static final long BATCH_MICROS_MAX = 30_000_000;

  /// So long a batch waits for the order to have somebody who gives addresses.
  private static final long ORDER_MICROS_MAX = 10_000_000;

  private static final long ASIDE_MICROS = 10_000;

  /// A pause of the whole process says nothing of the log.
  private static final long APPEND_MICROS_COUNTED_MAX = 4_000;

  private final Store store;
  private final @Nullable ShardLog log;
  private final @Nullable Addresses order;
  private final Clock clock;
  private final Threads threads;
  private final Unfinished unfinished;
  private final ConcurrentLinkedQueue<Request> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean leading = new AtomicBoolean();
  private final Progress progress;
  private final long term;

  /// The log counter with which the epoch began.
  private final long firstCounter;

  /* Odd while committed puts are on their way into the mailboxes; the holder of leading counts. */
  private volatile int publishing;
  /* The last log counter up to which all puts are in the mailboxes, when publishing is even. */
  private volatile long published;

  /// How many wait to hold up all batches: nobody begins another one.
  private final AtomicInteger holding = new AtomicInteger();

  /// Whether a batch waits to be given addresses: it may be held up meanwhile, and no other one is
  /// begun.
  private volatile boolean aside;

  /// How many batches were led; who leads counts.
  private final AtomicLong turns = new AtomicLong();

  /// Who leads the batch under way: whoever is told of it on that thread may ask. Null when nobody
  /// does.
  private volatile @Nullable Thread leader;

  /// The last log counter that others are known to have been given.
  private final AtomicLong given = new AtomicLong();

  /// The last log counter that somebody wants to read at: nothing is logged at or below it any
  /// more.
  private final AtomicLong wanted = new AtomicLong();

  /// The last log counter at which somebody may read: nothing at or below it is under way.
  private final AtomicLong settled = new AtomicLong();

  // Guarded by leading.
  private Sequencer sequencer;
  private long reservedTo;
  private final ArrayList<Request> taken = new ArrayList<>();
  private final ArrayList<Resident> touched = new ArrayList<>();
  private final ArrayList<Request> scheduled = new ArrayList<>();
  private final ArrayList<Resident> brief = new ArrayList<>();
  private @Nullable List<Resident> gathered;
  private ArrayList<Entry> entries = new ArrayList<>();
  private int addresses;
  private long batchMicros;
  private long sequence;

  /// How long a batch took lately, in microseconds.
  private volatile double appendMicros = APPEND_MICROS_COUNTED_MAX;

  private volatile long epoch;
  private volatile long nowMicros;
  private volatile @Nullable RuntimeException failed;

  /// @param log null when another store leads: then everything is refused
  /// @param order null when the store is alone: then it orders its log itself
  Intake(
      Store store,
      @Nullable ShardLog log,
      @Nullable Addresses order,
      Clock clock,
      Threads threads) {
    this.store = store;
    this.log = log;
    this.order = order;
    this.clock = clock;
    this.threads = threads;
    ShardLog.Tail tail = log == null ? ShardLog.Tail.EMPTY : log.tail();
    nowMicros = tail.nowMicros();
    unfinished = new Unfinished(tail.note());
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
    published = sealed.counter();
    firstCounter = sealed.counter();
  }

  /// The puts that are to be noted as unfinished.
  Unfinished unfinished() {
    return unfinished;
  }

  /// How far the log is committed.
  Progress progress() {
    return progress;
  }

  /// The log counter with which the epoch began.
  long firstCounter() {
    return firstCounter;
  }

  /// The epoch in which addresses are issued.
  long epoch() {
    return epoch;
  }

  /// The term under which the log is led from here.
  long term() {
    return term;
  }

  /// A number that nobody else who opened this log has.
  long owner() {
    return order == null ? epoch : term;
  }

  /// Whether who leads a batch waits for another process first.
  boolean asksElsewhere() {
    return order != null && !order.isBeside();
  }

  /// Whether this is one of several stores with one order.
  boolean isOrdered() {
    return order != null;
  }

  /// The time now, never before that of a logged put.
  long nowMicros() {
    return Math.max(nowMicros, clock.nowMicros());
  }

  /// The log counter up to which all puts are in the mailboxes: whoever asks a key now finds what
  /// was put up to there, and has found nothing behind it.
  long moment() {
    long least = settled.get();
    for (int spin = 0; ; spin++) {
      int before = publishing;
      long moment = published;
      if ((before & 1) == 0 && publishing == before) return Math.max(moment, least);
      pause(spin);
    }
  }

  /// The log counter at which whoever reads sees all that was answered before anywhere, also by
  /// stores with the same order.
  ///
  /// @throws Unavailable when nobody can say
  long present() {
    Addresses common = order;
    if (common == null) return moment();
    long present = common.moment();
    settle(present);
    return present;
  }

  /// The log counter at which, and behind which, somebody may read in any store with the same
  /// order; 0 when nobody can say.
  long horizon() {
    Addresses common = order;
    if (common == null) return Long.MAX_VALUE;
    try {
      return common.horizon();
    } catch (StoaException away) {
      return 0;
    }
  }

  /// Has everything at and below a log counter that somebody was given be in the mailboxes.
  private void settle(long counter) {
    if (counter <= moment()) return;
    raise(wanted, counter);
    confirm(); // another owner may have logged it
    awaitBatch();
    raise(settled, counter);
  }

  /// Has what is asked from now on get addresses above a log counter that another store was given.
  void above(long counter) {
    raise(wanted, counter);
  }

  private static void raise(AtomicLong bound, long to) {
    if (to > bound.get()) bound.accumulateAndGet(to, Math::max);
  }

  /// Waits, of several stores with one order, until the batch that is under way is in the
  /// mailboxes: it may have lower addresses than what was answered elsewhere.
  ///
  /// @throws Unavailable when it takes too long
  void awaitBatch() {
    if (order == null || !leading.get() || Thread.currentThread().equals(leader)) return;
    long turn = turns.get();
    long end = 0;
    for (int spin = 0; leading.get() && turns.get() == turn; spin++) {
      pause(spin);
      if (spin % PAUSES_COUNTED != 0) continue;
      long now = clock.nowMicros();
      if (end == 0) end = now + BATCH_MICROS_MAX;
      else if (now > end) throw new Unavailable("a batch of the log is under way for too long");
    }
    checkUsable();
  }

  /// Whether what is asked now has to wait for [#awaitBatch].
  boolean hasBatchUnderWay() {
    return order != null && leading.get();
  }

  /// Makes what stands at and below a log counter readable, and refuses a counter that nobody was
  /// given yet.
  void reach(long counter) {
    Addresses common = order;
    if (common != null && counter > moment() && counter > given.get()) {
      raise(given, common.moment());
    }
    long last = Math.max(moment(), given.get());
    if (counter < 0 || counter > last) {
      throw new IllegalArgumentException(
          "log counter " + counter + " is not between 0 and " + last + ", the last one so far");
    }
    settle(counter);
  }

  /// Waits until no batch is on its way into the mailboxes, which is a matter of memory only.
  void awaitPublished() {
    for (int spin = 0; (publishing & 1) == 1; spin++) pause(spin);
  }

  private void pause(int spin) {
    if (spin < SPINS) Thread.onSpinWait();
    else threads.pause();
  }

  void add(Request request) {
    if (refuses(request)) return;
    request.goesAhead();
    queue.add(request);
  }

  /// Fails a request if the log has failed. What the streams show since then need not be durable,
  /// so that questions are refused too. To be asked when the request has pinned its key: a key that
  /// was pinned before shows nothing that is not durable.
  boolean refuses(Request request) {
    if (log == null) {
      request.fail(new Unavailable("this replica follows; ask the server that leads"));
      return true;
    }
    RuntimeException cause = failed;
    if (cause != null) request.fail(unavailable(cause));
    return cause != null;
  }

  /// Returns when all that was acknowledged when this was called, by whoever led then, is in the
  /// mailboxes. Whoever asks without appending calls it first. A log that cannot say so has failed.
  ///
  /// @throws Unavailable when the log has failed
  void confirm() {
    try {
      if (log != null) log.confirm();
    } catch (RuntimeException elsewhere) {
      failed = elsewhere;
    }
    checkUsable();
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

  /// What the log failed with; null while it has not.
  @Nullable RuntimeException failure() {
    return failed;
  }

  /// Fails what has not been logged, when the store is closed.
  void end(RuntimeException cause) {
    for (Request request; (request = queue.poll()) != null; ) request.fail(cause);
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /// Whether batches take less than a time, as far as was seen lately.
  boolean takesLessThan(long micros) {
    return appendMicros < micros;
  }

  /// Leads one batch if nobody leads; answers whether it did.
  ///
  /// @param own the request of the calling thread: its key is left for that thread to run
  boolean tryLead(@Nullable Request own) {
    return tryLead(own, null);
  }

  /// As [#tryLead(Request)], for a thread that runs what is brief.
  ///
  /// @param mine the keys whose requests are brief are added; null leaves them to a worker
  boolean tryLead(@Nullable Request own, @Nullable List<Resident> mine) {
    if (leading.get() || holding.get() > 0 || !leading.compareAndSet(false, true)) return false;
    if (aside) {
      leading.set(false);
      return false;
    }
    gathered = mine;
    if (order != null) leader = Thread.currentThread();
    try {
      lead(own);
    } finally {
      leader = null;
      turns.incrementAndGet();
      leading.set(false);
    }
    if (failed != null) progress.wake();
    return true;
  }

  private void lead(@Nullable Request own) {
    begin();
    gather();
    admit();
    if (taken.isEmpty() || !reserve()) return;
    batchMicros = nowMicros();
    for (Request request : taken) {
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
    if (entries.isEmpty()) publish(own);
    else append(sequencer.grant(addresses), own);
  }

  // ---- transactions over several stores

  /// Begins no batch any more until [#letGo], and waits for the one under way.
  ///
  /// @throws Unavailable when that takes too long, or the log has failed
  void hold() {
    holding.incrementAndGet();
    long end = clock.nowMicros() + BATCH_MICROS_MAX;
    for (int spin = 0; !leading.compareAndSet(false, true); spin++) {
      pause(spin);
      if (spin % PAUSES_COUNTED == 0 && clock.nowMicros() > end) {
        holding.decrementAndGet();
        throw new Unavailable("a batch of the log is under way for too long");
      }
    }
    gathered = null;
    if (failed != null) {
      letGo();
      checkUsable();
    }
  }

  /// Ends what [#hold] began.
  void letGo() {
    turns.incrementAndGet();
    leading.set(false);
    holding.decrementAndGet();
    if (failed != null) progress.wake();
    if (!queue.isEmpty()) store.callWriter();
  }

  /// What a transaction would log now, while all is held up; nothing is kept of it.
  ///
  /// @throws RuntimeException when it cannot be committed
  List<Entry> sketch(CommitRequest commit) {
    begin();
    batchMicros = nowMicros();
    RuntimeException full = commit.isSparing() ? null : refusal(commit.keptBytes());
    if (full != null) throw full;
    try {
      RuntimeException refusal = commit(commit.transaction, commit);
      if (refusal != null) throw refusal;
      return entries;
    } finally {
      touched.forEach(Resident::rollBack);
      touched.clear();
    }
  }

  /// Commits transactions, while all is held up.
  ///
  /// @param token their addresses
  /// @param commits by the offset in the token; each was sketched since all is held up
  /// @param note what is logged with them at the first address; null for nothing
  void commit(
      Token token, SortedMap<Integer, CommitRequest> commits, @Nullable NoteRequest note) {
    begin();
    sequencer.skip(token.first().counter() - 1);
    batchMicros = nowMicros();
    try {
      if (note != null) take(note, 0);
      commits.forEach((offset, commit) -> take(commit, offset));
    } catch (RuntimeException broken) {
      failed = broken;
      throw broken;
    }
    Token own = sequencer.grant(token.count());
    Check.that(own.equals(token), "%s and %s are the same", own, token);
    if (entries.isEmpty()) publish(null);
    else append(token, null);
    // With a note it is decided by this; without, it was before: nothing may be logged in its
    // place.
    boolean lacks = note == null && commits.values().stream().anyMatch(Request::failed);
    if (lacks && failed == null) failed = new Unavailable("what was decided could not be logged");
  }

  private void take(Request request, int offset) {
    taken.add(request);
    addresses = offset;
    resolve(request);
    RuntimeException refusal = request.refusal;
    if (refusal != null) throw new IllegalStateException("what is held up has changed", refusal);
  }

  /// Logs what was decided and is not in the log, and the epoch in which addresses are given now,
  /// while all is held up. If something was missing, the log has failed: what is in memory is not
  /// what is logged, and the store is to be opened again.
  void adopt(Addresses.Adopted adopted) {
    ShardLog own = Objects.requireNonNull(log);
    boolean missing = false;
    try {
      for (Addresses.Decided decided : adopted.decided()) missing |= restore(decided, own);
      own.seal(adopted.epoch());
    } catch (RuntimeException unknown) {
      failed = unknown;
      throw unknown;
    }
    if (missing) failed = new Unavailable("it has logged what was decided while it was cut off");
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
    taken.clear();
    touched.clear();
    entries = new ArrayList<>();
    addresses = 0;
  }

  /// Takes what has arrived, as much as a batch may be.
  private void gather() {
    long bytes = 0;
    Request request;
    while (taken.size() < BATCH_ENTRIES_MAX
        && bytes < BATCH_BYTES_MAX
        && (request = queue.poll()) != null) {
      if (failed != null) {
        request.fail(unavailable(failed));
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
    if (!ordered && last >= wanted.get() && last + RESERVED / 2 < reservedTo) return true;
    long end = clock.nowMicros() + ORDER_MICROS_MAX;
    while (true) {
      try {
        skip(common.reserve(term, RESERVED));
        return true;
      } catch (RuntimeException refusal) {
        boolean later = refusal instanceof Unavailable && clock.nowMicros() < end;
        if (later && !store.isClosed() && stepAside()) continue;
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
    Thread self = leader;
    aside = true;
    leader = null;
    turns.incrementAndGet();
    leading.set(false);
    long end = clock.nowMicros() + ASIDE_MICROS;
    do {
      threads.pause();
    } while (clock.nowMicros() < end || !leading.compareAndSet(false, true));
    aside = false;
    leader = self;
    gathered = mine;
    begin();
    taken.addAll(waiting);
    return failed == null;
  }

  private void skip(long to) {
    sequencer.skip(to);
    reservedTo = to + RESERVED;
  }

  private void append(Token token, @Nullable Request own) {
    nowMicros = batchMicros;
    var batch = new Batch(token, term, ++sequence, nowMicros, entries, unfinished.note());
    Objects.requireNonNull(log)
        .append(
            batch,
            outcome -> {
              long took =
                  Math.clamp(clock.nowMicros() - batchMicros, 0L, APPEND_MICROS_COUNTED_MAX);
              double before = appendMicros;
              appendMicros = before + (took - before) / APPENDS_AVERAGED;
              settle(outcome, token, own);
            });
  }

  /// Gives a request its place in the batch under way, or refuses it. A refusal may reflect the
  /// batch itself, and so is told with its outcome.
  private void resolve(Request request) {
    Resident resident = request.resident;
    request.refusal =
        switch (request) {
          case PutRequest put -> {
            RuntimeException late = store.takingBack().late(put);
            RuntimeException refusal = late == null ? put(put, resident) : late;
            if (refusal != null && put.visits) refused(put, resident, refusal);
            yield refusal;
          }
          case DeleteRequest deletion -> delete(deletion, resident);
          case NoteRequest note -> note(note, resident);
          case AppendRequest append -> append(append.appending);
          case CommitRequest commit -> commit(commit.transaction, commit);
          // Not logged: it keeps its place behind the puts that were asked before.
          case GetRequest question -> store.takingBack().late(question);
          case GenerationRequest _, PositionRequest _, ForkRequest _, PartRequest _ ->
              throw new IllegalStateException(request + " goes to the mailbox");
        };
  }

  private @Nullable RuntimeException put(PutRequest request, Resident resident) {
    if (request.lacksAnswer()) {
      return new Unavailable("what the call reflects could not be logged");
    }
    RuntimeException diverged = store.quarantine().refusal(resident.key, resident.nextGeneration);
    if (diverged != null) return diverged;
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
      case Existence.Generation(long generation, _) -> {
        if (resident.nextGeneration != generation) return Store.gone(resident.key);
      }
    }
    if (!request.begins) {
      request.address =
          add(
              resident,
              Records.PUT,
              Records.put(request.origin, resident.behind(), request.value),
              null);
      changed(request, resident);
    }
    return null;
  }

  /// Logs that the put of another store's handler is not executed: asked again, it must not be
  /// either.
  private void refused(PutRequest request, Resident resident, RuntimeException refusal) {
    var origin = Objects.requireNonNull(request.origin);
    byte[] payload = Records.refused(new Records.Refused(origin, Refusal.of(refusal)));
    add(resident, Records.REFUSED, payload, null);
  }

  private void begin(PutRequest request, Resident resident, byte @Nullable [] opening) {
    Resident directory = store.directory(resident.key.space());
    long listed = add(directory, Records.LISTED, resident.key.name(), null);
    byte[] payload =
        Records.beginningPut(request.origin, resident.behind(), listed, opening, request.value);
    request.address = add(resident, Records.PUT, payload, Records.beginMark(listed));
    changed(request, resident);
    request.begins = true;
    request.opening = opening;
    resident.nextGeneration = request.address;
    resident.nextListed = listed;
  }

  private @Nullable RuntimeException delete(DeleteRequest request, Resident resident) {
    boolean alive =
        request.existence instanceof Existence.Generation(long generation, _)
            ? resident.nextGeneration == generation
            : resident.nextGeneration != 0;
    if (!alive) return Store.gone(resident.key);
    byte[] payload = Records.delete(request.origin, resident.nextListed);
    request.address = add(resident, Records.DELETE, payload, Records.endMark());
    changed(request, resident);
    end(resident);
    return null;
  }

  /// Gives a transaction one log address, if nothing that it read or wrote has changed since it
  /// began (vCorfu, section 4.3: conditional tokens). Nothing is logged of one that is refused.
  private @Nullable RuntimeException commit(Transaction transaction, CommitRequest request) {
    RuntimeException conflict = transaction.conflict();
    if (conflict == null) conflict = transaction.diverged();
    if (conflict != null) return conflict;
    int offset = addresses++;
    long micros = transaction.nowMicros();
    request.counter = sequencer.last() + 1 + offset;
    for (Deed deed : transaction.deeds()) {
      Resident resident = deed.resident;
      byte[] value = deed.value;
      if (value == null) {
        byte[] payload = Records.delete(deed.origin, resident.nextListed);
        deed.address = add(resident, Records.DELETE, payload, Records.endMark(), offset, micros);
        end(resident, offset, micros);
      } else if (deed.begins) {
        byte[] name = resident.key.name();
        long listed = add(directory(resident), Records.LISTED, name, null, offset, micros);
        byte[] payload =
            Records.beginningPut(deed.origin, resident.behind(), listed, deed.opening, value);
        deed.address =
            add(resident, Records.PUT, payload, Records.beginMark(listed), offset, micros);
        resident.nextGeneration = deed.address;
        resident.nextListed = listed;
      } else {
        deed.address =
            add(
                resident,
                Records.PUT,
                deed.copied
                    ? Records.copiedPut(deed.origin, resident.behind(), value)
                    : Records.put(deed.origin, resident.behind(), value),
                null,
                offset,
                micros);
      }
      int number = 0;
      for (Deed.Answered answered : deed.answers()) {
        var origin = new Records.Origin(resident.key.stream(), deed.address, ++number);
        byte[] payload = Records.answered(origin, answered.target(), answered.answer());
        add(resident, Records.ANSWERED, payload, null, offset, micros);
      }
      resident.nextChange = request.counter;
    }
    return null;
  }

  private @Nullable RuntimeException note(NoteRequest request, Resident resident) {
    if (request.lacksAnswer()) {
      return new Unavailable("an answer that was told before this one could not be logged");
    }
    Announcements.Reflected reflected = request.reflected;
    if (reflected != null && reflected.isLost()) {
      return new Unavailable("what is announced could not be logged");
    }
    byte[] mark = null;
    if (request.kind == Records.VERDICT) {
      long call = Records.verdict(request.payload).call();
      // The taken back put began the generation: it ends with it.
      if (resident.nextGeneration == call) mark = Records.endMark();
    }
    request.number = add(resident, request.kind, request.payload, mark);
    if (mark != null) end(resident);
    return null;
  }

  /// Appends to users' streams, at one log address.
  private @Nullable RuntimeException append(Appending appending) {
    int offset = addresses++;
    appending.given().log = new LogAddress(epoch, sequencer.last() + 1 + offset);
    Resident[] residents = appending.residents();
    for (int i = 0; i < residents.length; i++) {
      byte[] data = appending.data()[i];
      appending.addresses()[i] = add(residents[i], Records.DATA, data, null, offset, batchMicros);
    }
    return null;
  }

  private void end(Resident resident) {
    end(resident, addresses++, batchMicros);
  }

  private void end(Resident resident, int offset, long micros) {
    add(
        directory(resident),
        Records.UNLISTED,
        Records.unlisted(resident.nextListed),
        null,
        offset,
        micros);
    resident.nextGeneration = 0;
    resident.nextListed = 0;
    resident.everDeleted = true;
  }

  /// The entry that was added last changes the state.
  private void changed(ChangeRequest request, Resident resident) {
    request.counter = sequencer.last() + addresses;
    resident.nextChange = request.counter;
  }

  private Resident directory(Resident resident) {
    return store.directory(resident.key.space());
  }

  private long add(Resident resident, byte kind, byte[] payload, byte @Nullable [] mark) {
    return add(resident, kind, payload, mark, addresses++, batchMicros);
  }

  private long add(
      Resident resident,
      byte kind,
      byte[] payload,
      byte @Nullable [] mark,
      int offset,
      long micros) {
    if (resident.touch()) touched.add(resident);
    long address = ++resident.nextTail;
    resident.nextEntry = sequencer.last() + 1 + offset;
    entries.add(new Entry(resident.key.stream(), address, offset, micros, kind, payload, mark));
    return address;
  }

  private void settle(Outcome outcome, Token token, @Nullable Request own) {
    switch (outcome) {
      case Outcome.Committed() -> publish(own);
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

  /// The batch is durable: fills the mailboxes, and settles what nothing is executed for.
  private void publish(@Nullable Request own) {
    scheduled.clear();
    brief.clear();
    int turn = publishing;
    publishing = turn + 1;
    try {
      fillMailboxes(own);
    } catch (RuntimeException | Error broken) {
      // What is committed need not be in the mailboxes: reopening finds it.
      failed = new IllegalStateException("a batch could not be published: " + broken, broken);
      throw broken;
    } finally {
      published = sequencer.last();
      publishing = turn + 2;
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
    else if (!brief.isEmpty()) store.runBrief(List.copyOf(brief));
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
    for (Resident resident : touched) resident.publish();
    for (Request request : taken) {
      if (request.refusal != null || isNote(request)) continue;
      if (request instanceof CommitRequest commit) {
        boolean mine = commit.equals(own);
        for (PartRequest part : commit.transaction.parts(commit)) enqueue(part, mine);
      } else {
        if (request instanceof ChangeRequest change) change.nowMicros = nowMicros;
        enqueue(request, isWith(own, request));
      }
    }
    Watches watches = store.watches();
    if (watches.isEmpty()) return;
    for (Resident resident : touched) {
      if (resident.hasChanged()) watches.changed(resident.key, resident.nextChange);
    }
  }

  /// Whether the thread that leads the batch for a request of its own runs another one with it. Of
  /// a transaction it runs its parts alone, and none when it is refused.
  private static boolean isWith(@Nullable Request own, Request request) {
    return own != null
        && !(own instanceof CommitRequest)
        && own.resident.equals(request.resident);
  }

  private void enqueue(Request request, boolean mine) {
    if (!request.resident.enqueue(request) || mine) return;
    if (request.pace == Pace.BRIEF) brief.add(request.resident);
    else scheduled.add(request);
  }

  private void fail(RuntimeException cause) {
    taken.forEach(request -> request.fail(cause));
  }

  private static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
  }
}

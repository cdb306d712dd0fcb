package stoa.store.running;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.Check;
import stoa.store.records.Records;
import stoa.store.threads.Threads;

/// The puts of a key whose [changes of other keys][Sequel] are on their way into the log, and the
/// requests that wait for them. Thread-safe.
final class Sequels {
  /*
   * Invariants:
   * (1) They end in the order of the puts. A request that comes behind a put sees its changes, so
   *     no caller sees the put and misses them.
   * (2) A put is noted as followed when its changes, and those of the puts before it, are in the
   *     log. A run that resumes the key makes the changes of the others again, in the order of the
   *     puts: each is either an addition to a set or a removal, so the last one counts.
   * (3) No transaction on the key, and no call of it, is logged behind changes whose note was lost,
   *     until the key has loaded its state anew.
   * (4) When a change fails, those behind it fail until the key loads its state anew, which makes
   *     all of them again. So the last put whose changes are in the log says it of those before it.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Sequels.class);

  private final Resident resident;
  private final Runs runs;

  // Guarded by this.
  private final ArrayDeque<Sequel> open = new ArrayDeque<>();
  private boolean draining;
  private @Nullable Sequel latest;

  // Why a change has failed since the key began to load its state; null when none has.
  private @Nullable RuntimeException broken;

  // How many notes could not be logged, and how many had been lost when the state began to load,
  // which makes the changes of their puts again.
  private volatile int notesLost;
  private volatile int notesFound;

  // The last put whose changes are in the log, like those of all puts before it.
  private volatile long followed;

  // An address up to which no put has open changes.
  private volatile long settled = Long.MAX_VALUE;

  Sequels(Resident resident, Runs runs) {
    this.resident = resident;
    this.runs = runs;
  }

  Journal journal() {
    return runs.journal;
  }

  /// Returns an address up to which no put has open changes.
  long settled() {
    return settled;
  }

  /// Returns whether this process has logged the changes of a put and of those before it.
  boolean isFollowed(long address) {
    return address <= followed;
  }

  synchronized boolean isEmpty() {
    return open.isEmpty() && !draining;
  }

  /// Notes that the key begins to load its state: no earlier run begins changes any more.
  synchronized void loads() {
    broken = null;
    notesFound = notesLost;
    Sequel last = latest;
    // If the last one has failed, the store makes it again, or its object is gone.
    if (last != null && last.isOver()) latest = null;
  }

  /// Notes that the log could not take a note of the key.
  synchronized void noteLost() {
    notesLost++;
  }

  /// Returns whether the log may lack the note that it has the changes of earlier puts. Another
  /// replica would make them again, behind whatever is logged now.
  boolean lacksNote() {
    return notesLost != notesFound;
  }

  /// Begins to make the changes of a put.
  ///
  /// @param counter the log counter of the put
  void begin(long address, long counter, Consumer<Sequel> changes) {
    var sequel = Sequel.of(this, resident, address);
    Check.that(resident.pin(), "%s stays in memory while it is used", resident.key);
    if (runs.unfinished.hasRoom()) runs.unfinished.begins(resident.key, address, counter);
    RuntimeException failed;
    synchronized (this) {
      settled = Math.min(settled, address - 1);
      open.add(sequel);
      latest = sequel;
      failed = broken;
    }
    try {
      if (failed == null) changes.accept(sequel);
    } catch (RuntimeException failure) {
      failed = failure;
    } catch (Error error) {
      failed = new CallFailed("what follows from a call of " + resident.key + " failed", error);
    }
    sequel.ends(failed, 0);
  }

  /// Settles a request of the key with an answer, as soon as the changes are in the log that are on
  /// their way; fails it when changes have failed that the answer reflects.
  void settle(Request request, @Nullable Answer answer) {
    Sequel behind = null;
    synchronized (this) {
      if (!open.isEmpty() || draining || broken != null) behind = behind(request, answer);
      if (behind != null && (!open.isEmpty() || draining)) {
        open.add(behind);
        return;
      }
    }
    if (behind == null) request.complete(answer);
    else behind.settle(0);
  }

  private Sequel behind(Request request, @Nullable Answer answer) {
    long last = latest == null ? 0 : latest.address;
    var behind = Sequel.behind(this, resident, last, request, answer);
    RuntimeException why = broken;
    if (why != null) behind.failsWith(why);
    return behind;
  }

  /// Ends those whose changes are in the log, in their order.
  void drain() {
    var over = new ArrayList<Sequel>();
    while (takeEnded(over)) {
      try {
        end(over);
      } finally {
        over.clear();
        ended();
      }
    }
  }

  private synchronized boolean takeEnded(List<Sequel> over) {
    if (draining) return false;
    for (Sequel next; (next = open.peek()) != null && next.hasEnded(); ) {
      over.add(open.remove());
      RuntimeException why = next.failure();
      if (why == null) continue;
      broken = why;
      open.forEach(behind -> behind.failsWith(why));
    }
    draining = !over.isEmpty();
    return draining;
  }

  private synchronized void ended() {
    draining = false;
    noteSettled();
  }

  private synchronized void noteSettled() {
    Sequel first = open.peek();
    if (first == null) settled = Long.MAX_VALUE;
    // Behind one that has failed there may be earlier puts, whose changes are made again.
    else settled = first.failure() == null ? first.address - 1 : 0;
  }

  private void end(List<Sequel> over) {
    Sequel last = null;
    boolean failed = false;
    long reach = 0;
    for (Sequel one : over) {
      if (one.failure() != null) failed = true;
      else if (one.isPut()) last = one;
      reach = Math.max(reach, one.reach());
    }
    if (failed) resident.answerLost();
    resident.reflectsAll();
    NoteRequest note = null;
    if (last != null) {
      followed = last.address;
      byte[] entry = Records.followed(resident.key, last.address);
      note = runs.journal.note(resident, Records.ANSWERED, entry);
    }
    for (Sequel one : over) {
      if (one.isPut()) {
        if (one.failure() == null) runs.unfinished.ends(resident.key, one.address, note);
        else runs.unfinished.givenUp(resident.key, one.address);
        resident.unpin();
      }
      one.isOverNow();
    }
    noteSettled(); // the note is on its way
    for (Sequel one : over) settle(one, reach);
  }

  /// Settles a request that waits. An exception of its listener must not keep those behind it.
  private void settle(Sequel one, long reach) {
    try {
      one.settle(reach);
    } catch (RuntimeException ofTheListener) {
      LOG.error("a call of {} is settled, and its listener failed", resident.key, ofTheListener);
    }
  }

  /// Waits until the changes are in the log that are on their way now. Meanwhile the thread writes
  /// batches, and executes what the changes wait for.
  ///
  /// @throws Unavailable when they could not be logged
  void await(Journal journal, Threads threads) {
    Sequel last = latest();
    if (last == null) return;
    while (!last.isOver()) {
      if (!journal.writeBatch(null) && !help(threads)) threads.pause();
    }
    RuntimeException why = failureOf(last);
    if (why == null) return;
    throw new Unavailable(
        "what follows from a call of " + resident.key + " could not be logged", why);
  }

  private synchronized @Nullable Sequel latest() {
    return latest;
  }

  private synchronized @Nullable RuntimeException failureOf(Sequel one) {
    return one.failure();
  }

  /// Executes requests that the first put waits for; returns whether it executed any. All workers
  /// may be waiting like the calling thread.
  boolean help(Threads threads) {
    List<Supplier<@Nullable Request>> first;
    synchronized (this) {
      Sequel next = open.peek();
      if (next == null) return false;
      first = next.underWay();
    }
    if (!threads.mayRunQuick()) return false;
    boolean any = false;
    for (Supplier<@Nullable Request> next : first) {
      Request request = next.get();
      if (request == null || request.isDone()) continue;
      if (request.resident.runQuickUntil(request)) any = true;
      else if (request.resident.isScheduled() && threads.mayRunLong()) {
        request.resident.runUntil(request);
        any = true;
      }
    }
    return any;
  }
}

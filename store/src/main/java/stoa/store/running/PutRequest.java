package stoa.store.running;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.records.Records;
import stoa.store.threads.Threads;

/// A request to log a value for a key and to execute it with the key's handler.
@SuppressWarnings("exports") // see the package
public final class PutRequest extends ChangeRequest {
  public final byte[] value;
  public final Existence existence;

  /// The part of the state on which the put works.
  public final Footprint footprint;

  /// Further parts of the state on which the put works.
  public List<Footprint> others = List.of();

  /// The call or run that makes the put; null for a caller of this process.
  public final Records.@Nullable Origin origin;

  /// The decoded value, from before the put was logged. Null when the handler decodes the value,
  /// and once the handler has taken it.
  @Nullable Object read;

  /// Whether a handler of another store makes the put, so that the store logs its refusal, too.
  public boolean visits;

  /// The note of the last answer that the value reflects; the batch writer must not log the put
  /// without it. Null when the value reflects none, and once the request is settled.
  public @Nullable NoteRequest after;

  /// The puts that the log has right behind this one, with nothing in between.
  public List<PutRequest> behind = List.of();

  // The batch writer sets them with the address.

  /// Whether the put begins a generation.
  public boolean begins;

  /// The number of the code that executes the put; 0 when there is none.
  public int code;

  /// The argument that creates the handler of the generation that the put begins.
  public byte @Nullable [] opening;

  /// How many ticks the put may wait for a condition, counted from when its caller made it; 0 when
  /// nothing limits that.
  public int waitTicksMax;

  /// The place of the put among those that wait for a condition, see [Terms#arrived()].
  public long arrived = Terms.NEW;

  // Why the put must not wait any more; null while it may.
  private volatile @Nullable RuntimeException over;

  // Whether a waiting put makes this one, to run again.
  private boolean again;

  private volatile @Nullable NoteRequest verdict;

  public PutRequest(
      Resident resident, Put put, Terms terms, Records.@Nullable Origin origin, int depth) {
    super(resident, terms.pace(), depth);
    this.value = put.value();
    this.read = put.read();
    this.footprint = put.footprint();
    this.existence = terms.existence();
    this.origin = origin;
    if (!footprint.isAll()) resident.learnChange();
  }

  @Override
  public boolean hastensOthers() {
    return depth > 0 || resident.callsOthers;
  }

  @Override
  boolean keepsItsTurn() {
    return true;
  }

  @Override
  public boolean isOrdered() {
    return resident.ordered;
  }

  @Override
  public long bytes() {
    return value.length;
  }

  @Override
  public long keptBytes() {
    return value.length + ENTRY_BYTES;
  }

  @Override
  public boolean isSparing() {
    return (origin != null && origin.isHandler()) || resident.givesUp(value);
  }

  /// Returns whether the log lacks an answer that the value reflects. Only the batch writer calls
  /// this.
  public boolean lacksAnswer() {
    NoteRequest before = after;
    if (before != null && before.isRefused()) return true;
    Execution run = asker;
    return run != null && run.lacksSequelNote();
  }

  // ---- waiting for a condition

  /// Returns whether the store keeps the put when it waits. A waiting put keeps itself: it only
  /// learns that this run of it waits again.
  boolean mayWait() {
    return !again && (origin == null || !(origin.isHandler() || origin.isTransaction()));
  }

  /// Notes that the put must not wait any more.
  void endWaiting(RuntimeException why) {
    over = why;
  }

  /// Returns why the put must not wait any more; null while it may.
  @Nullable RuntimeException waitingOver() {
    return over;
  }

  /// Returns another request to log and to run the put.
  PutRequest again() {
    var terms = Terms.expecting(existence).at(pace);
    var attempt = new PutRequest(resident, Put.of(value), terms, origin, depth);
    attempt.again = true;
    attempt.hastenAs(this);
    attempt.isNamedAs(this);
    return attempt;
  }

  /// Settles the put as another request for it.
  void settleAs(PutRequest attempt) {
    address = attempt.address;
    counter = attempt.counter;
    nowMicros = attempt.nowMicros;
    generation = attempt.generation;
    reach = attempt.reach;
    reflects(attempt.reflects());
    RuntimeException failure = attempt.failure();
    if (failure == null) complete(attempt.answer());
    else fail(failure);
  }

  /// Returns whether the put has waited for longer than it may.
  boolean isLateWaiting(int now) {
    return waitTicksMax > 0 && now - since > waitTicksMax;
  }

  /// Returns how long the put may wait, in milliseconds.
  long waitMillis() {
    return (long) waitTicksMax * Threads.TICK_MILLIS;
  }

  // ---- the verdict that takes the put back before its run begins

  void verdict(NoteRequest note) {
    verdict = note;
  }

  /// Returns the verdict over the put; null when nothing takes it back, and while the verdict is
  /// being made.
  @Nullable NoteRequest verdict() {
    return verdict;
  }

  /// Begins the put although it was taken back, since the store could not log the verdict. Returns
  /// false when another verdict takes it back now.
  synchronized boolean beginAfterAll(NoteRequest failed) {
    return failed.equals(verdict) && beginAfterAll();
  }

  /// Makes the put wait as before, since the store could not log the verdict; returns false when
  /// the put has begun.
  synchronized boolean dropVerdict() {
    verdict = null;
    return waitsAgain();
  }

  @Override
  void release() {
    super.release();
    after = null;
  }
}

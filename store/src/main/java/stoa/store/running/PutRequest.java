package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.records.Records;

/// A request to log a value for a key and have the key's handler execute it.
@SuppressWarnings("exports") // see the package
public final class PutRequest extends ChangeRequest {
  public final byte[] value;
  public final Existence existence;

  /// The call or run that makes the put; null for a caller of this process.
  public final Records.@Nullable Origin origin;

  /// What the value was read as before it was logged; null when the handler reads the value, and
  /// once the handler has this.
  @Nullable Object read;

  /// Whether a handler of another store makes it, so that its refusal is logged, too.
  public boolean visits;

  /// The note without which it must not be logged: the last answer that the value reflects. Null
  /// when it reflects none, and once it is settled.
  public @Nullable NoteRequest after;

  // The leader sets them with the address.

  /// Whether it begins a generation.
  public boolean begins;

  /// The number of the code that executes it; 0 when there is none.
  public int code;

  /// What the handler of the generation that it begins is created from.
  public byte @Nullable [] opening;

  private volatile @Nullable NoteRequest verdict;

  public PutRequest(
      Resident resident, Put put, Terms terms, Records.@Nullable Origin origin, int depth) {
    super(resident, terms.pace(), depth);
    this.value = put.value();
    this.read = put.read();
    this.existence = terms.existence();
    this.origin = origin;
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

  /// Whether something that it reflects is not logged. Only the leader asks.
  public boolean lacksAnswer() {
    NoteRequest before = after;
    return before != null && before.isRefused();
  }

  // ---- the verdict over one that is taken back before its run begins

  void verdict(NoteRequest note) {
    verdict = note;
  }

  /// The verdict over it; null when it is not taken back, and while the verdict is being made.
  @Nullable NoteRequest verdict() {
    return verdict;
  }

  /// It is executed after all, since a verdict over it could not be logged; answers false when that
  /// verdict is not why it is taken back now.
  synchronized boolean beginAfterAll(NoteRequest failed) {
    return failed.equals(verdict) && beginAfterAll();
  }

  /// It waits as before, since the verdict over it could not be logged; answers false when it has
  /// begun.
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

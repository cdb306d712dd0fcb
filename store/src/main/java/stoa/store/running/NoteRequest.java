package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.store.calls.Pace;
import stoa.store.records.Records;

/// A request to append an entry to the stream of a key, for which nothing is executed. Its number
/// is the entry's stream address.
public final class NoteRequest extends Request {
  /// The kind of the entry, see [Records].
  public final byte kind;

  public final byte[] payload;

  /// The answer that was noted before this one, without which this one must not be logged. Null for
  /// none, and once it is settled.
  public @Nullable NoteRequest after;

  /// What must not have been lost when an announcement is logged.
  public @Nullable Reflected reflected;

  /// The nested answers that a state reflects: they are in the log, or on their way there, unless
  /// more were lost meanwhile.
  ///
  /// @param lost how many the key had lost before
  public record Reflected(Resident resident, int lost) {
    public boolean isLost() {
      return resident.answersLost() != lost;
    }
  }

  public NoteRequest(Resident resident, byte kind, byte[] payload) {
    super(resident, Pace.SHORT, 0);
    this.kind = kind;
    this.payload = payload;
    resident.noteBegins();
  }

  @Override
  public boolean isOrdered() {
    return resident.ordered;
  }

  @Override
  public long bytes() {
    return payload.length;
  }

  /// Whether the answer before it is not logged. Only the leader asks.
  public boolean lacksAnswer() {
    NoteRequest before = after;
    return before != null && before.isRefused();
  }

  @Override
  public void fail(RuntimeException cause) {
    if (kind == Records.ANSWERED) resident.answerLost();
    super.fail(cause);
  }

  @Override
  void release() {
    resident.noteEnds();
    super.release();
    after = null;
  }
}

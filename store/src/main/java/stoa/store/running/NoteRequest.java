package stoa.store.running;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.store.calls.Pace;
import stoa.store.records.Records;

/// A request to append an entry that no handler executes to the stream of a key. Its number is the
/// entry's stream address.
public final class NoteRequest extends Request {
  /// The kind of the entry, see [Records].
  public final byte kind;

  public final byte[] payload;

  /// The preceding answer; the batch writer must not log this note without it. Null for none, and
  /// once this note is settled.
  public @Nullable NoteRequest after;

  /// The nested answers that must not be lost when the batch writer logs an announcement.
  public @Nullable Reflected reflected;

  /// Gets the stream address when the note is durable, before any reader sees its batch. Null when
  /// no caller waits for that.
  public @Nullable LongConsumer durable;

  /// The nested answers that a state reflects. They are in the log or on their way there, unless
  /// the key has lost more of them since.
  ///
  /// @param lost how many answers the key had lost before
  public record Reflected(Resident resident, int lost) {
    /// Returns whether the key has lost an answer since.
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
  boolean isInside() {
    return true;
  }

  @Override
  public boolean hastensOthers() {
    return kind == Records.ANSWERED;
  }

  @Override
  public boolean isOrdered() {
    return resident.ordered;
  }

  @Override
  public long bytes() {
    return payload.length;
  }

  /// Returns whether the log lacks the preceding answer. Only the batch writer calls this.
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

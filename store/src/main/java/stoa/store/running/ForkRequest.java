package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.store.calls.Pace;

/// A request for a copy of a key's state.
public final class ForkRequest extends QuestionRequest {
  final @Nullable StoreTransaction transaction;

  /// The copy; valid once done. Null when the state has changed behind the moment at which the
  /// transaction reads.
  public @Nullable WorkingCopy copy;

  /// @param transaction the transaction that works on the copy; null for none
  public ForkRequest(Resident resident, Pace pace, @Nullable StoreTransaction transaction) {
    super(resident, pace, 0);
    this.transaction = transaction;
  }

  @Override
  public @Nullable StoreTransaction transaction() {
    return transaction;
  }

  @Override
  public boolean isMoved() {
    return isDone() && !failed() && copy == null;
  }
}

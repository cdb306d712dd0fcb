package stoa.store;

import org.jspecify.annotations.Nullable;

/// A request for a copy of a key's state.
final class ForkRequest extends QuestionRequest {
  final @Nullable Transaction transaction;

  /// The copy; valid once done. Null when the state has changed behind the moment at which the
  /// transaction reads.
  @Nullable Copy copy;

  /// @param transaction the transaction that goes on with the copy; null when none does
  ForkRequest(Resident resident, Pace pace, @Nullable Transaction transaction) {
    super(resident, pace, 0);
    this.transaction = transaction;
  }

  @Override
  @Nullable Transaction transaction() {
    return transaction;
  }

  @Override
  public boolean isMoved() {
    return isDone() && !failed() && copy == null;
  }
}

package stoa.store.running;

import stoa.store.calls.Pace;

/// A request to execute what a committed transaction does to one key.
public final class PartRequest extends ChangeRequest {
  final Transaction transaction;

  PartRequest(Resident resident, Transaction transaction, Pace pace) {
    super(resident, pace, 0);
    this.transaction = transaction;
  }

  @Override
  public Transaction transaction() {
    return transaction;
  }
}

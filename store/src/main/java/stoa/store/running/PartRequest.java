package stoa.store.running;

import stoa.store.calls.Pace;

/// A request to execute the changes that a committed transaction makes to one key.
public final class PartRequest extends ChangeRequest {
  final StoreTransaction transaction;

  PartRequest(Resident resident, StoreTransaction transaction, Pace pace) {
    super(resident, pace, 0);
    this.transaction = transaction;
  }

  @Override
  public StoreTransaction transaction() {
    return transaction;
  }

  @Override
  boolean isInside() {
    return true;
  }
}

package stoa.store;

/// A request to execute what a committed transaction does to one key.
final class PartRequest extends ChangeRequest {
  final Transaction transaction;

  PartRequest(Resident resident, Transaction transaction, Pace pace) {
    super(resident, pace, 0);
    this.transaction = transaction;
  }

  @Override
  Transaction transaction() {
    return transaction;
  }
}

package stoa.store;

/// A request to log what a transaction does. It is settled when all keys have executed their
/// [parts][PartRequest]; its number is the log counter.
final class CommitRequest extends Request {
  final Transaction transaction;

  /// The log counter; the leader sets it.
  long counter;

  /// @param resident one of the keys of the transaction
  CommitRequest(Resident resident, Transaction transaction) {
    super(resident, transaction.pace(), 0);
    this.transaction = transaction;
  }

  @Override
  Transaction transaction() {
    return transaction;
  }

  @Override
  boolean isOrdered() {
    return true;
  }

  @Override
  long bytes() {
    return transaction.bytes();
  }

  @Override
  long keptBytes() {
    return bytes() + ENTRY_BYTES;
  }

  @Override
  boolean isSparing() {
    return transaction.onlyDeletes();
  }

  @Override
  void release() {
    observe();
    super.release();
  }
}

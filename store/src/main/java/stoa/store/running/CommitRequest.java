package stoa.store.running;

/// A request to log the changes of a transaction. The store settles it when all keys have executed
/// their [parts][PartRequest]; its number is the log counter.
public final class CommitRequest extends Request {
  public final StoreTransaction transaction;

  /// Whether the store has voted for the transaction; the batch writer sets it.
  public boolean voted;

  /// The log counter; the batch writer sets it.
  public long counter;

  /// @param resident one of the keys of the transaction
  public CommitRequest(Resident resident, StoreTransaction transaction) {
    super(resident, transaction.pace(), 0);
    this.transaction = transaction;
  }

  @Override
  public StoreTransaction transaction() {
    return transaction;
  }

  @Override
  public boolean isOrdered() {
    return true;
  }

  @Override
  public long bytes() {
    return transaction.bytes();
  }

  @Override
  public long keptBytes() {
    return bytes() + ENTRY_BYTES;
  }

  @Override
  public boolean isSparing() {
    return transaction.onlyDeletes();
  }

  @Override
  void release() {
    observe();
    super.release();
  }
}

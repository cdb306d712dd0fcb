package stoa.node;

import org.jspecify.annotations.Nullable;
import stoa.objects.TransactionService;

/// An open transaction of a session. The tasks of its lane use it, one at a time.
final class SessionTransaction {
  private final Lane lane;
  private volatile TransactionService.@Nullable Transacting transacting;
  private @Nullable Throwable failure;

  SessionTransaction(Lane lane) {
    this.lane = lane;
  }

  Lane lane() {
    return lane;
  }

  void begun(TransactionService.Transacting begun) {
    transacting = begun;
  }

  void failed(Throwable cause) {
    failure = cause;
  }

  TransactionService.Transacting transacting() throws Throwable {
    Throwable cause = failure;
    if (cause != null) throw cause;
    TransactionService.Transacting current = transacting;
    if (current == null) throw new stoa.Unavailable("the transaction has ended; begin another");
    return current;
  }

  /// Returns the begun transaction, null when it has not begun, or has ended. For the end of the
  /// transaction: no other request of it is in progress.
  TransactionService.@Nullable Transacting now() {
    return transacting;
  }

  /// Abandons it, after the requests in progress.
  void abandon() {
    lane.slow(this::close);
  }

  /// Abandons it as [#abandon], as a task of the lane.
  void close() {
    TransactionService.Transacting current = transacting;
    transacting = null;
    if (current != null) current.close();
  }
}

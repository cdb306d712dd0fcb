package stoa.store;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.log.ShardLog;

/// Whether a store can be used: its log has not failed, and it is not closed. Thread-safe.
final class Health {
  /// Null when another store leads.
  private final @Nullable ShardLog log;

  private volatile @Nullable RuntimeException failed;
  private volatile boolean closed;

  /// @param log null when another store leads
  Health(@Nullable ShardLog log) {
    this.log = log;
  }

  /// Whether the store executes what another store leads.
  boolean follows() {
    return log == null;
  }

  /// Returns when all that was acknowledged before this call, by any leader, is in the mailboxes.
  /// Whoever asks without appending calls it first. A log that cannot say so has failed.
  ///
  /// @throws Unavailable when the log has failed
  void confirm() {
    try {
      if (log != null) log.confirm();
    } catch (RuntimeException elsewhere) {
      failed = elsewhere;
    }
    checkSound();
  }

  /// Refuses when the log has failed, whose streams then may show what is not durable. Asks nobody.
  ///
  /// @throws Unavailable when it has
  void checkSound() {
    RuntimeException cause = failed;
    if (cause != null) throw unavailable(cause);
  }

  /// Refuses when the store is closed.
  void checkOpen() {
    if (closed) throw new Closed("the store is closed");
  }

  /// Why nothing can be logged or asked here; null when it can.
  @Nullable Unavailable refusal() {
    if (log == null) return new Unavailable("this replica follows; ask the server that leads");
    RuntimeException cause = failed;
    return cause == null ? null : unavailable(cause);
  }

  /// The log has failed: the store must be opened again.
  void fail(RuntimeException cause) {
    failed = cause;
  }

  /// Whether the log has failed.
  boolean hasFailed() {
    return failed != null;
  }

  /// The failure of the log; null while there is none.
  @Nullable RuntimeException failure() {
    return failed;
  }

  /// The store is closed, or about to be; answers whether it was not before.
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /// Does something before the store is closed.
  ///
  /// @throws Closed when it is closed
  synchronized void whileOpen(Runnable action) {
    checkOpen();
    action.run();
  }

  /// Whether the store is closed, or about to be.
  boolean isClosed() {
    return closed;
  }

  /// The failure that a caller is told when the log has failed.
  static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
  }
}

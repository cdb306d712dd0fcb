package stoa.store.leading;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.log.ShardLog;

/// Whether a store can be used: its log has not failed, and it is not closed. Thread-safe.
public final class Health {
  /// Null when another store leads.
  private final @Nullable ShardLog log;

  private volatile @Nullable RuntimeException failed;
  private volatile boolean closed;

  /// @param log null when another store leads
  public Health(@Nullable ShardLog log) {
    this.log = log;
  }

  /// Whether the store executes what another store leads.
  public boolean follows() {
    return log == null;
  }

  /// Returns when all that was acknowledged before this call, by any leader, is in the mailboxes.
  /// Whoever asks without appending calls it first. A log that cannot say so has failed.
  ///
  /// @throws Unavailable when the log has failed
  public void confirm() {
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
  public void checkSound() {
    RuntimeException cause = failed;
    if (cause != null) throw unavailable(cause);
  }

  /// Refuses when the store is closed.
  public void checkOpen() {
    if (closed) throw new Closed("the store is closed");
  }

  /// Why nothing can be logged or asked here; null when it can.
  public @Nullable Unavailable refusal() {
    if (log == null) return new Unavailable("this replica follows; ask the server that leads");
    RuntimeException cause = failed;
    return cause == null ? null : unavailable(cause);
  }

  /// The log has failed: the store must be opened again.
  public void fail(RuntimeException cause) {
    failed = cause;
  }

  /// Whether the log has failed.
  public boolean hasFailed() {
    return failed != null;
  }

  /// The failure of the log; null while there is none.
  public @Nullable RuntimeException failure() {
    return failed;
  }

  /// The store is closed, or about to be; answers whether it was not before.
  public synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /// Does something before the store is closed.
  ///
  /// @throws Closed when it is closed
  public synchronized void whileOpen(Runnable action) {
    checkOpen();
    action.run();
  }

  /// Whether the store is closed, or about to be.
  public boolean isClosed() {
    return closed;
  }

  /// The failure that a caller is told when the log has failed.
  public static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
  }
}

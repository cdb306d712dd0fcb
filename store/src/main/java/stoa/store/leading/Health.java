package stoa.store.leading;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.log.BatchLog;

/// Knows whether a store can be used: its log has not failed, and the store is not closed.
/// Thread-safe.
public final class Health {
  // Null when another store leads.
  private final @Nullable BatchLog log;

  private volatile @Nullable RuntimeException failed;
  private volatile boolean closed;

  /// @param log null when another store leads
  public Health(@Nullable BatchLog log) {
    this.log = log;
  }

  /// Returns whether this store executes the log of a leader elsewhere.
  public boolean follows() {
    return log == null;
  }

  /// Returns when the mailboxes have everything that any leader acknowledged before this call. A
  /// caller that reads without appending calls it first. When the log cannot confirm this, it has
  /// failed.
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

  /// Checks that the log has not failed; the streams of a failed log may show entries that are not
  /// durable. This asks no other process.
  ///
  /// @throws Unavailable when the log has failed
  public void checkSound() {
    RuntimeException cause = failed;
    if (cause != null) throw unavailable(cause);
  }

  /// Throws when the store is closed.
  public void checkOpen() {
    if (closed) throw new Closed("the store is closed");
  }

  /// Returns the error for every request when this store cannot log or answer; null when it can.
  public @Nullable Unavailable refusal() {
    if (log == null) return new Unavailable("this replica follows; ask the server that leads");
    RuntimeException cause = failed;
    return cause == null ? null : unavailable(cause);
  }

  /// Notes that the log has failed: the store must be opened again.
  public void fail(RuntimeException cause) {
    failed = cause;
  }

  /// Returns whether the log has failed.
  public boolean hasFailed() {
    return failed != null;
  }

  /// Returns the failure of the log; null while there is none.
  public @Nullable RuntimeException failure() {
    return failed;
  }

  /// Marks the store as closed; returns whether it was not closed before.
  public synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /// Runs an action unless the store is closed; a close waits for the action.
  ///
  /// @throws Closed when the store is closed
  public synchronized void whileOpen(Runnable action) {
    checkOpen();
    action.run();
  }

  /// Returns whether the store is closed or closing.
  public boolean isClosed() {
    return closed;
  }

  /// Returns the error for callers when the log has failed.
  public static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
  }
}

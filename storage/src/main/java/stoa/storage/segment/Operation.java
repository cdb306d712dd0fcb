package stoa.storage.segment;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A record for the log, and the change of the index once the record has a place. Its caller
/// creates it; then the [GroupCommit] owns it until it is done.
public abstract class Operation {
  /// Completes when the operation is durable, or refused: whether it changed anything.
  public final CompletableFuture<Boolean> done = new CompletableFuture<>();

  /// The thread that waits for it, or null.
  volatile @Nullable Thread waiter;

  /// Whether the waiter must look for work.
  volatile boolean called;

  /// The result of [#apply]. Set by the appending thread.
  public boolean changed;

  /// Why it was refused or failed, or null. Set by the appending or syncing thread.
  public @Nullable Throwable failure;

  /// Creates an operation.
  protected Operation() {}

  /// Returns the record. Called once, by the appending thread, under the append lock, after
  /// [#admit] returned true.
  public abstract Commit record() throws IOException;

  /// Returns about how many bytes the record has.
  public abstract long bytes();

  /// Returns whether it must be appended alone: then [#admit] and [#record] see everything before
  /// applied.
  public boolean alone() {
    return false;
  }

  /// Returns the version by which it comes among others that were begun at the same time; -1 when
  /// it keeps its place.
  public long rank() {
    return -1;
  }

  /// Returns whether it only removes. Such an operation may use the reserved room.
  public boolean onlyTakes() {
    return alone();
  }

  /// Returns about how many bytes become unnecessary once it is done, including its own.
  public long givesUp() {
    return bytes();
  }

  /// Returns whether it must be written at all; if not, it is done and has changed nothing. Called
  /// under the append lock. A [RuntimeException] refuses it.
  public boolean admit() throws IOException {
    return true;
  }

  /// Applies the record to the index. Called under the append lock.
  ///
  /// @param record the log position of the record
  public abstract boolean apply(long record) throws IOException;
}

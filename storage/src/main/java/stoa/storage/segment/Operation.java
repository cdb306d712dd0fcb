package stoa.storage.segment;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Something to be written to the log and made durable: a record, and what is done with the index
/// once it has a place. Made by its caller; then the [GroupCommit] owns it until it is done.
public abstract class Operation {
  /// Completed when the operation is durable, or refused: whether it changed anything.
  public final CompletableFuture<Boolean> done = new CompletableFuture<>();

  /// The thread that waits for it, or null when nobody does.
  volatile @Nullable Thread waiter;

  /// Whether the waiter is to look for work.
  volatile boolean called;

  /// What [#apply] answered. Set by who appends it.
  public boolean changed;

  /// Why it was refused or failed, or null. Set by who appends or syncs it.
  public @Nullable Throwable failure;

  /// For subclasses.
  protected Operation() {}

  /// The record. Called once, by the thread that appends it, under the append lock, after [#admit]
  /// answered true.
  public abstract Commit record() throws IOException;

  /// About how many bytes the record has.
  public abstract long bytes();

  /// Whether it is to be appended alone: then [#admit] and [#record] see everything before applied.
  public boolean alone() {
    return false;
  }

  /// Whether it only takes away. Such an operation may use the room that is kept.
  public boolean onlyTakes() {
    return alone();
  }

  /// About how many bytes are not needed any more once it is done, its own included.
  public long givesUp() {
    return bytes();
  }

  /// Whether it is to be written at all; when not, it is done and has changed nothing. Called under
  /// the append lock. A [RuntimeException] refuses it.
  public boolean admit() throws IOException {
    return true;
  }

  /// Brings what was written into the index. Called under the append lock.
  ///
  /// @param record the log position of the record
  public abstract boolean apply(long record) throws IOException;
}

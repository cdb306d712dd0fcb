package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Replica;
import stoa.store.Backup;

/// The backup of a group at a server that does not lead it, which gets every batch that the replica
/// applies. Thread-safe; opened and closed by one owner.
final class Backed implements Replica.Listener {
  // All guarded by this.
  private final List<Batch> missed = new ArrayList<>();
  private boolean opening;
  private boolean executes;
  private @Nullable Backup backup;

  /// Begins, if it has not, or was of another kind. What is applied meanwhile is held back, and not
  /// missed.
  ///
  /// @param executing whether it executes what the leader executes
  void open(boolean executing, Supplier<Backup> opened) {
    synchronized (this) {
      if (backup != null && executes == executing) return;
    }
    close();
    synchronized (this) {
      opening = true;
      executes = executing;
    }
    Backup next = null;
    try {
      next = opened.get();
    } finally {
      synchronized (this) {
        opening = false;
        backup = next;
        if (next != null) missed.forEach(next::applied);
        missed.clear();
      }
    }
  }

  /// Ends, and waits until nothing is written any more.
  void close() {
    Backup before;
    synchronized (this) {
      before = backup;
      backup = null;
    }
    if (before != null) before.close();
  }

  /// How far it has come; null when there is none.
  synchronized Backup.@Nullable Progress progress() {
    Backup open = backup;
    return open == null ? null : open.progress();
  }

  @Override
  public synchronized void committed(Batch batch) {
    if (opening) missed.add(batch);
    Backup open = backup;
    if (open != null) open.applied(batch);
  }
}

package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Replica;
import stoa.store.replicas.Backup;

/// The backup of a group at a server that does not lead it, which gets every batch that the replica
/// applies. Thread-safe; one owner opens and closes it.
final class Backed implements Replica.Listener {
  // Guarded by this, as all fields are.
  private final List<Batch> missed = new ArrayList<>();
  private boolean opening;
  private boolean executes;
  private @Nullable Backup backup;

  /// Begins the backup, unless it has begun with the same kind. Holds back batches that are applied
  /// meanwhile, and misses none.
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

  /// Ends it, and waits until nothing is written any more.
  void close() {
    Backup before;
    synchronized (this) {
      before = backup;
      backup = null;
    }
    if (before != null) before.close();
  }

  /// Returns how far it has come; null when there is none.
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

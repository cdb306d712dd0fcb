package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Replica;
import stoa.store.replicas.FollowerWork;

/// The work of a group at a server that does not lead it. The work gets every batch that the
/// replica applies. Thread-safe; one owner opens and closes it.
final class FollowerSlot implements Replica.Listener {
  // Guarded by this, as all fields are.
  private final List<Batch> missed = new ArrayList<>();
  private boolean opening;
  private boolean executes;
  private @Nullable FollowerWork work;

  /// Begins the work, unless it has begun with the same kind. Holds back batches that are applied
  /// meanwhile, and misses none.
  ///
  /// @param executing whether it executes what the leader executes
  void open(boolean executing, Supplier<FollowerWork> opened) {
    synchronized (this) {
      if (work != null && executes == executing) return;
    }
    close();
    synchronized (this) {
      opening = true;
      executes = executing;
    }
    FollowerWork next = null;
    try {
      next = opened.get();
    } finally {
      synchronized (this) {
        opening = false;
        work = next;
        if (next != null) missed.forEach(next::applied);
        missed.clear();
      }
    }
  }

  /// Ends it, and waits until nothing is written any more.
  void close() {
    FollowerWork before;
    synchronized (this) {
      before = work;
      work = null;
    }
    if (before != null) before.close();
  }

  /// Returns how far it has come; null when there is none.
  synchronized FollowerWork.@Nullable Progress progress() {
    FollowerWork open = work;
    return open == null ? null : open.progress();
  }

  @Override
  public synchronized void committed(Batch batch) {
    if (opening) missed.add(batch);
    FollowerWork open = work;
    if (open != null) open.applied(batch);
  }
}

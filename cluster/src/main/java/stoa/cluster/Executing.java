package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Replica;
import stoa.objects.Standby;
import stoa.store.Following;

/// What executes at a server that does not lead, and gets every batch that its replica applies.
/// Thread-safe; opened and closed by one owner.
final class Executing implements Replica.Listener {
  // All guarded by this.
  private final List<Batch> missed = new ArrayList<>();
  private boolean opening;
  private @Nullable Standby standby;

  /// Begins. What is applied meanwhile is held back, and not missed.
  void open(Supplier<Standby> opened) {
    synchronized (this) {
      if (standby != null) return;
      opening = true;
    }
    Standby next = null;
    try {
      next = opened.get();
    } finally {
      synchronized (this) {
        opening = false;
        standby = next;
        if (next != null) missed.forEach(next::applied);
        missed.clear();
      }
    }
  }

  /// Ends, and waits until nothing is written any more.
  void close() {
    Standby before;
    synchronized (this) {
      before = standby;
      standby = null;
    }
    if (before != null) before.close();
  }

  /// How far it has come; null when nothing executes.
  synchronized Following.@Nullable Progress progress() {
    Standby following = standby;
    return following == null ? null : following.progress();
  }

  @Override
  public synchronized void committed(Batch batch) {
    if (opening) missed.add(batch);
    Standby following = standby;
    if (following != null) following.applied(batch);
  }
}

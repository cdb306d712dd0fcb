package stoa.store.changes;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.store.leading.Health;
import stoa.store.watching.Progress;

/// Reads changes a page at a time, and waits at their end. One thread reads; any thread closes.
@SuppressWarnings("exports") // see the package
public final class ChangeFollower {
  // A page has many entries of each key where it can, since it reads each key once.
  private static final int ENTRIES_MIN = 256;
  private static final int ENTRIES_MAX = 8_192;

  // About how many bytes of changes are in memory.
  private static final long BYTES_MAX = 1 << 20;

  private final LoggedChanges changes;
  private final Health health;
  private final Progress progress;
  private final LoggedChange.ChangeQuery asked;
  private final int pagesMax;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final ArrayDeque<LoggedChange.Slot> ahead = new ArrayDeque<>();
  private LogAddress next;
  private @Nullable LogAddress level;
  private int entriesMax = ENTRIES_MIN;

  ChangeFollower(
      LoggedChanges changes,
      Health health,
      Progress progress,
      LogAddress from,
      LoggedChange.ChangeQuery asked,
      int pagesMax) {
    this.changes = changes;
    this.health = health;
    this.progress = progress;
    this.next = from;
    this.asked = asked;
    this.pagesMax = pagesMax;
  }

  /// Returns the log address from which on this has read nothing.
  public LogAddress reached() {
    return next;
  }

  /// Returns a log address up to which this has returned all changes; null when it knows none.
  public @Nullable LogAddress level() {
    if (!ahead.isEmpty()) return null;
    long old = Math.min(changes.oldNotesEnd(), next.counter() - 1);
    if (old > 0 && (level == null || level.counter() < old)) {
      level = new LogAddress(next.epoch(), old);
    }
    return level;
  }

  /// Returns the changes of the next log address that has some, null when there is none yet, or
  /// when this has read as many pages in vain as it may.
  public LoggedChange.@Nullable Slot poll() {
    for (int pages = 0; ahead.isEmpty(); pages++) {
      if (closed.get() || pages == pagesMax) return null;
      health.checkOpen();
      long end = changes.committed();
      if (next.counter() > end) {
        health.confirm();
        return null;
      }
      LoggedChange.Page page = changes.read(next, end, asked, entriesMax);
      next = page.next();
      if (page.level() != null) level = page.level();
      ahead.addAll(page.slots());
      if (page.bytes() > BYTES_MAX) entriesMax = Math.max(1, entriesMax / 2);
      else if (page.bytes() < BYTES_MAX / 4) entriesMax = Math.min(ENTRIES_MAX, 2 * entriesMax);
    }
    return closed.get() ? null : ahead.poll();
  }

  /// Returns the same, null also when none was committed in time, or this was closed.
  public LoggedChange.@Nullable Slot next(long nanosMax) throws InterruptedException {
    long left = nanosMax;
    while (true) {
      long seen = progress.counter(); // a later commit ends the wait
      LoggedChange.Slot found = poll();
      if (found != null || left <= 0 || closed.get() || next.counter() <= seen) return found;
      left = progress.await(seen, left, this::mustLook);
    }
  }

  private boolean mustLook() {
    return closed.get() || health.isClosed() || health.hasFailed();
  }

  /// Closes this and ends a wait in progress.
  public void close() {
    closed.set(true);
    progress.wake();
  }
}

package stoa.storage.upkeep;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.disk.Allowance;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DiskFull;
import stoa.storage.index.Index;
import stoa.storage.object.ObjectChanges;
import stoa.storage.object.VersionedObjects;
import stoa.storage.segment.SegmentLog;

/// Maintains a device: reclaims segments with few live bytes, reorders scattered objects, in
/// bounded steps. Thread-safe; one step at a time.
public final class Maintenance {
  /*
   * Maintenance retires a segment once all its live bytes are durable elsewhere. Open transactions
   * have parts that no entry points to, so it leaves the segments from the first of these on alone.
   */
  private static final long REORDER_STEP_BYTES = 16 << 20;

  // The number of evacuated segments to retire together, with one new segment for all.
  private static final int RETIRED_TOGETHER = 8;

  // The same when the disk is full: segments without live bytes cost nothing but the index.
  private static final int FREED_TOGETHER = 64;

  private final SegmentLog log;
  private final Index index;
  private final ObjectChanges changes;
  private final VersionedObjects objects;
  private final ReentrantLock appending;
  private final ReentrantLock stepping = new ReentrantLock();

  // Guarded by stepping.
  private @Nullable MaintenancePlan plan;
  private final List<Integer> evacuated = new ArrayList<>();
  private final Map<Integer, Long> carried = new HashMap<>();
  private final Set<Integer> damaged = new HashSet<>();
  private @Nullable StreamId reordering;
  private long reorderedTo;

  /// @param appending the device's append lock
  public Maintenance(
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      VersionedObjects objects,
      ReentrantLock appending) {
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.objects = objects;
    this.appending = appending;
  }

  /// Does one step: a segment, or some MiB of an object. Returns false when there is nothing to do.
  ///
  /// @param pace runs after every write, with no lock held except the right to step
  public boolean step(Runnable pace) throws IOException {
    stepping.lock();
    try {
      var current = plan;
      if (current == null) {
        if (!retire()) return false; // an export reads them; later
        log.sync(); // otherwise the plan would take the latest writes for dead
        current = MaintenancePlan.of(log, index, untouched(), carried, damaged);
        if (current.isEmpty()) return false;
        plan = current;
      }
      if (reordering != null || !current.objects.isEmpty()) reorder(current, pace);
      else evacuate(current, pace);
      boolean more = reordering != null || !current.isEmpty();
      if (!more) plan = null;
      if (!more || evacuated.size() >= RETIRED_TOGETHER) retire();
      return true;
    } catch (UncheckedIOException e) {
      forget();
      throw e.getCause();
    } catch (IOException | RuntimeException | Error e) {
      forget();
      throw e;
    } finally {
      stepping.unlock();
    }
  }

  /// Makes room on a full disk: gives up segments until writers may have as many bytes, and a
  /// segment's more, so that not each of them must come here. Returns whether they may have them.
  ///
  /// @param bytes the wanted bytes
  public boolean free(long bytes, Allowance allowance) throws IOException {
    if (stepping.isHeldByCurrentThread()) return allowance.hasRoom(bytes);
    stepping.lock();
    try {
      if (allowance.hasRoom(bytes)) return true; // another thread was here
      forget();
      long wanted = bytes + log.segmentBytes();
      while (!allowance.hasRoom(wanted) && freeSome(wanted, allowance)) {
        // Each call gives up some.
      }
      return allowance.hasRoom(bytes);
    } catch (DiskFull e) {
      return allowance.hasRoom(bytes);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      forget();
      stepping.unlock();
    }
  }

  /// Gives up some segments. Returns whether there is more room than before.
  private boolean freeSome(long wanted, Allowance allowance) throws IOException {
    long before = allowance.room();
    if (!retire()) return false;
    log.sync();
    var current =
        MaintenancePlan.whenFull(
            log, index, untouched(), carried, damaged, allowance.roomToMove() / 2);
    long given = 0;
    while (!current.isEmpty() && evacuated.size() < FREED_TOGETHER) {
      if (given > 0 && current.nextLives()) {
        long sought = wanted + allowance.reserve() / 2 - given; // the index takes room, too
        boolean scarce = allowance.roomToMove() < allowance.reserve() / 4 * 3;
        if (scarce || allowance.hasRoom(sought)) break;
      }
      given += evacuate(current, () -> {});
    }
    return retire() && allowance.room() > before;
  }

  private void forget() {
    plan = null;
    reordering = null;
  }

  /// Returns the log position below which open transactions have no parts.
  private long untouched() {
    appending.lock();
    try {
      return Math.min(objects.oldestOpen(), log.end());
    } finally {
      appending.unlock();
    }
  }

  private void move(MoveWrite moves, Runnable pace) {
    objects.runDurably(moves);
    var segments = log.segments();
    carried.merge(segments.getLast().number(), moves.carriedBytes(), Long::sum);
    pace.run();
  }

  private void reorder(MaintenancePlan current, Runnable pace) throws IOException {
    var id = reordering;
    if (id == null) {
      id = current.objects.removeFirst();
      reorderedTo = 0;
    }
    long next =
        Reorder.run(
            id, reorderedTo, REORDER_STEP_BYTES, log, index, changes, moves -> move(moves, pace));
    reordering = next < 0 ? null : id;
    reorderedTo = next;
  }

  /// Evacuates a segment; returns its bytes, or 0 when it stays.
  private long evacuate(MaintenancePlan current, Runnable pace) throws IOException {
    int number = current.segments.removeFirst();
    if (!isBehind(number)) return 0;
    var segments = log.segments();
    for (var segment : segments) {
      if (segment.number() != number) continue;
      boolean oldest = segments.getFirst().number() == number;
      try {
        Reclaim.evacuate(segment, oldest, log, index, changes, moves -> move(moves, pace));
        evacuated.add(number);
        return segment.end() - segment.base();
      } catch (CorruptData e) {
        // The segment stays, so that its undamaged part stays readable. Readers of the damaged part
        // get the exception.
        damaged.add(number);
      }
    }
    return 0;
  }

  /// Ends appends to a segment. Returns false when an open transaction may have parts in it.
  private boolean isBehind(int number) throws IOException {
    appending.lock();
    try {
      if (log.segments().getLast().number() != number) return true;
      if (objects.oldestOpen() < log.end()) return false;
      log.turn();
      index.publish(log.end());
      return true;
    } finally {
      appending.unlock();
    }
  }

  /// Retires the evacuated segments. Returns false while a reader still needs one.
  private boolean retire() {
    if (evacuated.isEmpty()) return true;
    var held = objects.retiring();
    if (!held.tryLock()) return false;
    try {
      coverLog();
      appending.lock();
      try {
        log.retire(evacuated);
        index.publish(log.end());
      } finally {
        appending.unlock();
      }
    } finally {
      held.unlock();
    }
    evacuated.forEach(carried::remove);
    evacuated.clear();
    return true;
  }

  /// Makes the index on disk cover the log: the next opening must not read entries that point to
  /// retired segments.
  private void coverLog() {
    appending.lock();
    try {
      index.freezeAll();
    } finally {
      appending.unlock();
    }
    index.awaitCovered();
  }
}

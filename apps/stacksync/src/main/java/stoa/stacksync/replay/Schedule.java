package stoa.stacksync.replay;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Gives the batches of a trace to clients: those that have an item in common in the order of the
/// trace, the others as soon as a client is free.
///
/// Thread-safe.
final class Schedule {
  private record Place(int request, String from, String to) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final PriorityQueue<Batch> ready = new PriorityQueue<>();
  private final int rowCount;
  private int unfinished;
  private boolean stopped;

  /// @param stored the newest version that the store has of each item; these changes are left out
  Schedule(Trace trace, Map<Long, Integer> stored) {
    var batches = new LinkedHashMap<Place, Batch>();
    var places = new HashMap<Long, String>();
    var last = new HashMap<Long, Batch>();
    int rows = 0;
    for (var row : trace.rows()) {
      var before = places.put(row.item(), row.workspace());
      if (row.version() <= stored.getOrDefault(row.item(), 0)) continue;
      var from = before == null ? row.workspace() : before;
      var batch =
          batches.computeIfAbsent(
              new Place(row.request(), from, row.workspace()),
              place -> new Batch(batches.size(), place.from(), place.to()));
      batch.rows.add(row);
      var earlier = last.put(row.item(), batch);
      if (earlier != null) batch.follow(earlier);
      rows++;
    }
    rowCount = rows;
    unfinished = batches.size();
    batches.values().stream().filter(Batch::isReady).forEach(ready::add);
  }

  /// How many changes there are to commit.
  int rowCount() {
    return rowCount;
  }

  /// The next batch; waits until one may be sent. Empty when all are done, or this was stopped.
  Optional<Batch> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!stopped && unfinished > 0 && ready.isEmpty()) changed.await();
      return poll();
    } finally {
      lock.unlock();
    }
  }

  /// The next batch if there is one that may be sent now.
  Optional<Batch> poll() {
    lock.lock();
    try {
      return stopped ? Optional.empty() : Optional.ofNullable(ready.poll());
    } finally {
      lock.unlock();
    }
  }

  /// A batch that was taken is committed.
  void done(Batch batch) {
    lock.lock();
    try {
      ready.addAll(batch.release());
      unfinished--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// No batch is handed out any more.
  void stop() {
    lock.lock();
    try {
      stopped = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}

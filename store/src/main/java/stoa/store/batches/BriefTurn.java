package stoa.store.batches;

import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import stoa.store.running.Execution;
import stoa.store.running.Resident;
import stoa.store.threads.Gatherer;
import stoa.store.threads.Threads;

/// Brief requests of some keys, which one thread runs key after key, and the tasks that follow
/// them.
///
/// The thread begins and ends its turn; the watch calls [#pass].
final class BriefTurn {
  /*
   * Invariants:
   * (1) No run waits in a turn. When a handler asks another key, the turn stops it at its first
   *     call and a worker repeats it. A worker also runs the requests whose state is not in memory
   *     or that lead to a checkpoint.
   * (2) A key in rest is scheduled, and no worker was asked to run it: the thread that takes the
   *     key from rest runs it, or asks a worker.
   * (3) When one run lasts for more than a tick, or does not begin, the watch takes the rest, so
   *     that only the callers of a handler that does not return wait for it.
   */
  private final Thread thread = Thread.currentThread();
  private final ConcurrentLinkedQueue<Resident> rest = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Runnable> afterwards = new ConcurrentLinkedQueue<>();

  // The key that the thread runs now; null between two keys.
  private volatile @Nullable Resident current;

  // How many keys the thread has begun; only the thread changes it.
  private volatile int started;

  // Owned by the thread.
  private boolean under;
  private boolean writes;
  private @Nullable Runnable last;

  // Owned by the watch.
  private int seen;

  /// Begins the turn on its thread.
  void begin() {
    under = true;
  }

  /// Begins the turn on its thread, which afterwards writes what the runs have added to the queue.
  void beginWriting() {
    begin();
    writes = true;
  }

  /// Returns whether its thread writes what the runs add to the queue.
  boolean isWriting() {
    return writes;
  }

  /// Adds a key to run with the next ones.
  void add(Resident scheduled) {
    rest.add(scheduled);
  }

  /// Runs keys.
  void run(Collection<Resident> scheduled) {
    rest.addAll(scheduled);
    for (Resident next; (next = rest.poll()) != null; ) {
      int begun = started + 1;
      started = begun;
      current = next;
      next.runBrief();
      current = null;
    }
  }

  /// Runs a task when the turn ends, or before; returns false when the thread is not in the turn.
  boolean after(Runnable task) {
    if (!under) return false;
    if (task.equals(last)) return true;
    last = task;
    afterwards.add(task);
    return true;
  }

  /// Ends the turn and runs the tasks that follow it.
  void end() {
    under = false;
    writes = false;
    last = null;
    for (Runnable task; (task = afterwards.poll()) != null; ) task.run();
  }

  /// Returns whether its thread has ended.
  boolean isOver() {
    return !thread.isAlive();
  }

  /// Notes a tick. When one run has lasted since the preceding tick, or the thread has begun no
  /// run, workers take over the rest.
  void pass(Threads threads) {
    Resident running = current;
    int now = started;
    boolean stuck = now == seen && (running != null || !rest.isEmpty());
    seen = now;
    if (!stuck) return;
    for (Resident next; (next = rest.poll()) != null; ) next.dispatch();
    for (Runnable task : afterwards) threads.answer(task);
    Execution run = running == null ? null : running.running;
    if (thread instanceof Gatherer && run != null && thread.equals(run.thread())) run.preempt();
  }
}

package stoa.store.batches;

import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import stoa.store.running.Execution;
import stoa.store.running.Resident;
import stoa.store.threads.Gatherer;
import stoa.store.threads.Threads;

/// Brief requests of some keys, which one thread runs one key after the other, and what is to be
/// done after them.
///
/// Its thread begins and ends it; [#pass] is for the watch.
final class Round {
  /*
   * Invariants:
   * (1) Nothing waits in a round: a handler that asks another key is stopped at its first call, and
   *     done again by a worker, as are those whose state is not in memory or that lead to a
   *     checkpoint.
   * (2) A key in rest is scheduled, and no worker was asked to run it: who takes it from there runs
   *     it, or asks a worker.
   * (3) When one run lasts for more than a tick, or does not begin, the watch takes what is left, so that nobody waits
   *     for a handler that does not return but those who called it.
   */
  private final Thread thread = Thread.currentThread();
  private final ConcurrentLinkedQueue<Resident> rest = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Runnable> afterwards = new ConcurrentLinkedQueue<>();

  /// Where it is: the key that is run now, null between two.
  private volatile @Nullable Resident current;

  /// How many keys were begun; its thread counts.
  private volatile int turn;

  // Of its thread.
  private boolean under;
  private @Nullable Runnable last;

  // Of the watch.
  private int seen;

  /// From now on its thread is in it.
  void begin() {
    under = true;
  }

  /// A key is to be run with the next ones.
  void add(Resident scheduled) {
    rest.add(scheduled);
  }

  /// Runs keys.
  void run(Collection<Resident> scheduled) {
    rest.addAll(scheduled);
    for (Resident next; (next = rest.poll()) != null; ) {
      int begun = turn + 1;
      turn = begun;
      current = next;
      next.runBrief();
      current = null;
    }
  }

  /// Has something done when it ends, and maybe before; answers false when its thread is not in it.
  boolean after(Runnable task) {
    if (!under) return false;
    if (task.equals(last)) return true;
    last = task;
    afterwards.add(task);
    return true;
  }

  /// Ends it: does what is to be done afterwards.
  void end() {
    under = false;
    last = null;
    for (Runnable task; (task = afterwards.poll()) != null; ) task.run();
  }

  /// Whether its thread has ended.
  boolean isOver() {
    return !thread.isAlive();
  }

  /// A tick has passed: when one run lasts since the tick before, or its thread has not come to run
  /// anything, others take over.
  void pass(Threads threads) {
    Resident running = current;
    int now = turn;
    boolean stuck = now == seen && (running != null || !rest.isEmpty());
    seen = now;
    if (!stuck) return;
    for (Resident next; (next = rest.poll()) != null; ) next.dispatch();
    for (Runnable task : afterwards) threads.answer(task);
    Execution run = running == null ? null : running.running;
    if (thread instanceof Gatherer && run != null && thread.equals(run.thread())) run.preempt();
  }
}

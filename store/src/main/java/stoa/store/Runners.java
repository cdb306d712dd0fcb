package stoa.store;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Which handlers run now, on which threads, for how long. Thread-safe.
final class Runners {
  /// The runs on one thread; the thread itself changes it.
  private static final class Runner {
    private final Thread thread = Thread.currentThread();
    private volatile @Nullable Execution top;
  }

  private final Set<Runner> runners = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<Runner> mine =
      ThreadLocal.withInitial(() -> {
        var runner = new Runner();
        runners.add(runner);
        return runner;
      });
  private volatile int tick;

  /// The thread begins to run a handler.
  void enter(Execution execution) {
    Runner runner = mine.get();
    execution.thread = runner.thread;
    execution.below = runner.top;
    execution.startTick = tick;
    runner.top = execution;
  }

  /// The thread ends the run that it began last.
  void exit(Execution execution) {
    mine.get().top = execution.below;
    execution.exited();
  }

  /// The run that the current thread began last; null when it runs none.
  @Nullable Execution current() {
    return mine.get().top;
  }

  /// Visits the runs, on all threads.
  void visit(Consumer<Execution> visitor) {
    for (Runner runner : runners) {
      for (Execution run = runner.top; run != null; run = run.below) visitor.accept(run);
    }
  }

  /// How many units a run of the current thread has lasted, not counting those in which it waited.
  int lasted(Execution execution) {
    return tick - execution.startTick;
  }

  /// The time now, in units.
  int now() {
    return tick;
  }

  /// How many units a request has left, at least one; 0 when it has no limit of its own.
  int left(Request request) {
    int ticks = request.ticksMax;
    return ticks == 0 ? 0 : Math.max(1, ticks - (tick - request.since));
  }

  /// A unit of time has passed: reports the runs that have lasted for more than `ticksMax` units,
  /// not counting those in which they waited for others, and those whose request is late, unless
  /// they wait for others; the outermost of a thread first.
  void tick(int ticksMax, Consumer<Execution> overdue) {
    int now = tick + 1;
    tick = now;
    runners.removeIf(runner -> !runner.thread.isAlive());
    for (Runner runner : runners) report(runner.top, now, ticksMax, overdue);
  }

  private static void report(
      @Nullable Execution execution, int now, int ticksMax, Consumer<Execution> overdue) {
    if (execution == null) return;
    report(execution.below, now, ticksMax, overdue);
    if (!execution.isWaiting() && execution.isOverdue(now, ticksMax)) {
      overdue.accept(execution);
    }
  }
}

package stoa.store.running;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.storage.RunningCalls;

/// Knows which handlers run now, on which threads and for how long. Thread-safe.
public final class Runners {
  /// The runs on one thread. Only that thread changes it.
  static final class Runner {
    final Thread thread = Thread.currentThread();
    private final RunningCalls.@Nullable Slot slot;
    private volatile @Nullable Execution top;

    Runner(RunningCalls.@Nullable Slot slot) {
      this.slot = slot;
    }

    /// Notes the run that the thread executes now; none while this run waits for others, or when
    /// the run has no number.
    void note() {
      if (slot == null) return;
      Execution run = top;
      long number = run == null || run.rests() ? 0 : run.run();
      if (run == null || number == 0) slot.end();
      else slot.begin(run.key().stream(), number);
    }

    private void release() {
      if (slot != null) slot.release();
    }
  }

  private final Set<Runner> runners = ConcurrentHashMap.newKeySet();

  // Whether this notes no more runs.
  private volatile boolean closed;

  private final ThreadLocal<Runner> mine =
      ThreadLocal.withInitial(() -> {
        var runner = new Runner(slot());
        runners.add(runner);
        if (closed) runner.release();
        return runner;
      });
  private volatile int tick;

  // Where this notes the runs, so that the next process knows them; null when there is no such
  // place.
  private @Nullable RunningCalls running;

  /// Begins without a run.
  public Runners() {}

  /// Notes the runs in a place from now on.
  public void noteIn(RunningCalls place) {
    running = place;
  }

  private RunningCalls.@Nullable Slot slot() {
    RunningCalls place = running;
    return place == null ? null : place.slot();
  }

  /// Returns how often a process has died in a run like this one.
  public long failures(Execution execution) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return 0;
    return place.failures(execution.key().stream(), execution.run());
  }

  /// Returns whether a process has died in any run.
  public boolean hasFailures() {
    RunningCalls place = running;
    return place != null && place.hasFailures();
  }

  /// Returns the runs of a key in which a process has died.
  public List<RunningCalls.Failure> failures(Key key) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return List.of();
    StreamId stream = key.stream();
    return place.failures().stream().filter(failure -> failure.object().equals(stream)).toList();
  }

  /// Notes that a run ended without taking the process down.
  void passed(Execution execution) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return;
    place.passed(execution.key().stream(), execution.run());
  }

  /// Allows all runs of a key again.
  public void forget(Key key) {
    RunningCalls place = running;
    if (place != null) place.forget(key.stream());
  }

  private void end(Runner runner) {
    if (runners.remove(runner)) runner.release();
  }

  /// Notes no more runs: the store is about to be closed. When the process is killed meanwhile, no
  /// run is suspected.
  public void close() {
    closed = true;
    runners.forEach(Runner::release);
  }

  /// Notes that the current thread begins to run a handler.
  void enter(Execution execution) {
    Runner runner = mine.get();
    execution.enter(runner);
    execution.below = runner.top;
    execution.startTick = tick;
    runner.top = execution;
    runner.note();
  }

  /// Notes that the current thread ends the run that it began last.
  void exit(Execution execution) {
    Runner runner = Objects.requireNonNull(execution.runner());
    runner.top = execution.below;
    runner.note();
    execution.exited();
  }

  /// Returns the run that the current thread began last; null when it runs none.
  @Nullable Execution current() {
    return mine.get().top;
  }

  /// Returns whether the current thread executes a run.
  boolean isOfCurrentThread(Execution execution) {
    return Thread.currentThread().equals(execution.thread());
  }

  /// Wakes the thread that executes a run, so that it checks its condition again.
  void wake(Execution execution) {
    LockSupport.unpark(execution.thread());
  }

  /// Visits the runs, on all threads.
  void visit(Consumer<Execution> visitor) {
    for (Runner runner : runners) {
      for (Execution run = runner.top; run != null; run = run.below) visitor.accept(run);
    }
  }

  /// Returns how many ticks a run of the current thread has lasted, without the ticks in which it
  /// waited.
  int lasted(Execution execution) {
    return tick - execution.startTick;
  }

  /// Returns the present time in ticks.
  public int now() {
    return tick;
  }

  /// Returns how many ticks a request has left, at least one; 0 when it has no limit of its own.
  int left(Request request) {
    int ticks = request.ticksMax;
    return ticks == 0 ? 0 : Math.max(1, ticks - (tick - request.since));
  }

  /// Advances the time by one tick and reports overdue runs, the outermost run of a thread first. A
  /// run is overdue when it has lasted for more than `ticksMax` ticks, without those in which it
  /// waited for others, or when its request is late. A run that waits for others is not reported.
  void tick(int ticksMax, Consumer<Execution> overdue) {
    int now = tick + 1;
    tick = now;
    for (Runner runner : List.copyOf(runners)) {
      if (!runner.thread.isAlive()) end(runner);
    }
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

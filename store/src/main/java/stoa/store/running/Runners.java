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

/// Which handlers run now, on which threads, for how long. Thread-safe.
public final class Runners {
  /// The runs on one thread; the thread itself changes it.
  static final class Runner {
    final Thread thread = Thread.currentThread();
    private final RunningCalls.@Nullable Slot slot;
    private volatile @Nullable Execution top;

    Runner(RunningCalls.@Nullable Slot slot) {
      this.slot = slot;
    }

    /// Notes what runs on the thread now.
    void note(@Nullable Execution execution) {
      if (slot == null) return;
      if (execution == null) slot.end();
      else slot.begin(execution.key().stream(), execution.run());
    }
  }

  private final Set<Runner> runners = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<Runner> mine =
      ThreadLocal.withInitial(() -> {
        var runner = new Runner(slot());
        runners.add(runner);
        return runner;
      });
  private volatile int tick;

  /// Where it is noted what runs, so that the next process knows it; null where there is no such
  /// place. Set before anything runs.
  private @Nullable RunningCalls running;

  /// Nothing runs yet.
  public Runners() {}

  /// Notes from now on what runs.
  public void noteIn(RunningCalls place) {
    running = place;
  }

  private RunningCalls.@Nullable Slot slot() {
    RunningCalls place = running;
    return place == null ? null : place.slot();
  }

  /// How often a process has ended in a run like this one, without that it came to its end.
  public long failures(Execution execution) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return 0;
    return place.failures(execution.key().stream(), execution.run());
  }

  /// Whether a process has ended in any run.
  public boolean hasFailures() {
    RunningCalls place = running;
    return place != null && place.hasFailures();
  }

  /// The runs of a key in which a process has ended.
  public List<RunningCalls.Failure> failures(Key key) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return List.of();
    StreamId stream = key.stream();
    return place.failures().stream().filter(failure -> failure.object().equals(stream)).toList();
  }

  /// A run has come to an end of its own.
  void passed(Execution execution) {
    RunningCalls place = running;
    if (place == null || !place.hasFailures()) return;
    place.passed(execution.key().stream(), execution.run());
  }

  /// All runs of a key may be tried again.
  public void forget(Key key) {
    RunningCalls place = running;
    if (place != null) place.forget(key.stream());
  }

  private void end(Runner runner) {
    if (runners.remove(runner) && runner.slot != null) runner.slot.release();
  }

  /// Nothing runs here any more.
  public void close() {
    for (Runner runner : List.copyOf(runners)) end(runner);
  }

  /// The thread begins to run a handler.
  void enter(Execution execution) {
    Runner runner = mine.get();
    execution.enter(runner);
    execution.below = runner.top;
    execution.startTick = tick;
    runner.top = execution;
    runner.note(execution);
  }

  /// The thread ends the run that it began last.
  void exit(Execution execution) {
    Runner runner = Objects.requireNonNull(execution.runner());
    runner.top = execution.below;
    runner.note(execution.below);
    execution.exited();
  }

  /// The run that the current thread began last; null when it runs none.
  @Nullable Execution current() {
    return mine.get().top;
  }

  /// Whether the current thread runs it.
  boolean isOfCurrentThread(Execution execution) {
    return Thread.currentThread().equals(execution.thread());
  }

  /// Has the thread that runs it look again.
  void wake(Execution execution) {
    LockSupport.unpark(execution.thread());
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
  public int now() {
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

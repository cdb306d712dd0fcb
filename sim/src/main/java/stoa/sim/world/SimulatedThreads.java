package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import stoa.sim.Chance;
import stoa.store.threads.Threads;

/// The threads of a simulated store: none. Tasks that a store would run on another thread wait
/// here, until the simulation runs them, in an order that its seed determines, on its only thread.
///
/// One owner.
public final class SimulatedThreads implements Threads {
  /*
   * step() runs a task; or it runs at once after the present task when a caller waits for its
   * result (now): no other thread would run it.
   */
  private final Chance chance;
  private final List<Runnable> waiting = new ArrayList<>();
  private final List<Runnable> ticks = new ArrayList<>();
  private boolean now;
  private boolean running;
  private boolean closed;
  private int lost;

  /// Creates threads whose order of work the given chance determines.
  public SimulatedThreads(Chance chance) {
    this.chance = chance;
  }

  /// Runs one of the waiting tasks.
  ///
  /// @return false when none waits
  public boolean step() {
    if (waiting.isEmpty()) return false;
    run(waiting.remove(chance.below(waiting.size())));
    return true;
  }

  /// Runs tasks until none waits.
  public void settle() {
    boolean more = true;
    while (more) more = step();
  }

  /// Runs work that waits for the store, as a caller on a thread of its own would.
  public <T> T await(java.util.function.Supplier<T> call) {
    boolean before = now;
    now = true;
    try {
      settle();
      return call.get();
    } finally {
      now = before;
    }
  }

  /// Lets one unit of time pass, of [Threads#TICK_MILLIS].
  public void tick() {
    for (var tick : ticks) tick.run();
  }

  /// Returns how many runs are out of control: taken back, and not returned.
  public int lost() {
    return lost;
  }

  private void run(Runnable task) {
    boolean before = running;
    running = true;
    try {
      task.run();
    } finally {
      running = before;
    }
  }

  /// Runs work that may wait for the store, as a thread of its own would.
  private void asCaller(Runnable task) {
    boolean before = running;
    running = false;
    try {
      var _ =
          await(() -> {
            task.run();
            return true;
          });
    } finally {
      running = before;
    }
  }

  private void add(Runnable task) {
    if (closed) return;
    waiting.add(task);
    if (now && !running) settle();
  }

  @Override
  public Executor writer() {
    return this::add;
  }

  @Override
  public Executor workers() {
    return this::add;
  }

  @Override
  public Executor answers() {
    return task -> add(() -> asCaller(task));
  }

  @Override
  public Executor listeners() {
    return this::add;
  }

  @Override
  public void every(Runnable tick) {
    ticks.add(tick);
  }

  @Override
  public boolean mayRunLong() {
    return true;
  }

  @Override
  public boolean mayRunQuick() {
    // A waiting caller never runs its own call: the store takes a method for quick by measured
    // time. Elsewhere no other thread could run the awaited task.
    return running || !now;
  }

  @Override
  public long patienceNanos() {
    return 0;
  }

  @Override
  public void lost(Thread thread) {
    lost++;
  }

  @Override
  public void back(Thread thread) {
    lost--;
  }

  @Override
  public void close() {
    closed = true;
    waiting.clear();
  }
}

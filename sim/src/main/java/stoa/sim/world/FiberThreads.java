package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import stoa.sim.Chance;
import stoa.store.threads.Threads;

/// The threads, as [Fibers], of a store that is one of several processes of a simulation. One
/// owner.
public final class FiberThreads implements Threads {
  private static final int PAUSE_MICROS_MAX = 20_000;

  // Longer than in a real store: repairs that wait for a tick come late.
  private static final int TICK_MICROS = 500_000;

  private final Fibers fibers;
  private final Fibers.Life life;
  private final Chance chance;
  private final FiberTiming timing;
  private final Queue<Runnable> writing = new ArrayDeque<>();
  private boolean writes;

  // Set on the fibers that are workers.
  private final ThreadLocal<Boolean> works = new ThreadLocal<>();

  public FiberThreads(Fibers fibers, Fibers.Life life, Chance chance) {
    this.fibers = fibers;
    this.life = life;
    this.chance = chance;
    timing = new FiberTiming(fibers, life, 0);
  }

  @Override
  public Executor writer() {
    return task -> {
      writing.add(task);
      if (writes) return;
      writes = true;
      life.execute(() -> {
        try {
          for (Runnable next; (next = writing.poll()) != null; ) next.run();
        } finally {
          writes = false;
        }
      });
    };
  }

  @Override
  public Executor workers() {
    return task ->
        life.execute(() -> {
          works.set(true);
          task.run();
        });
  }

  @Override
  public Executor answers() {
    return life;
  }

  @Override
  public void every(Runnable tick) {
    life.execute(() -> {
      while (true) {
        fibers.pause(TICK_MICROS);
        tick.run();
      }
    });
  }

  @Override
  public boolean mayRunLong() {
    return Boolean.TRUE.equals(works.get()) && chance.percent(50);
  }

  @Override
  public boolean mayRunQuick() {
    return chance.percent(50);
  }

  @Override
  public long patienceNanos() {
    return 0;
  }

  @Override
  public void rest(Object blocker) {
    pause();
  }

  @Override
  public void pause(long nanos) {
    fibers.pause(nanos / 1_000);
  }

  @Override
  public void pause() {
    fibers.pause(chance.between(100, PAUSE_MICROS_MAX));
  }

  @Override
  public FiberTiming timing() {
    return timing;
  }

  @Override
  public void lost(Thread thread) {
    // Their number is not limited.
  }

  @Override
  public void back(Thread thread) {
    // As above.
  }

  @Override
  public void close() {
    life.end();
  }
}

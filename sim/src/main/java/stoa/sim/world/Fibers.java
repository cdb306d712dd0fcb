package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import stoa.sim.Chance;

/// Threads of a simulation that may wait for each other, as those of several processes do. One runs
/// at a time, until it waits; a seed determines the next thread, and the time.
///
/// One owner, on whose thread all of them run.
public final class Fibers {
  /*
   * They are virtual threads, and this is their scheduler, so that any wait, for a lock or a
   * future, brings the turn back here. The JDK has no public way to give virtual threads a
   * scheduler: the package java.lang must be open to this one. A fiber must not wait for real time.
   */
  /// Threads that end together, as those of a process do.
  public final class Life implements Executor {
    private final String name;
    private final Thread.Builder builder;
    private boolean over;

    // Until when its threads stand still.
    private long pausedUntilMicros;

    private Life(String name) {
      this.name = name;
      this.builder =
          builder(continuation -> {
            Thread by = Thread.currentThread();
            if (!by.isVirtual() && !by.equals(owner)) realTime = true;
            else if (!over) ready.add(new Ready(this, continuation));
          });
    }

    /// Begins a thread.
    @Override
    public void execute(Runnable task) {
      if (over) return;
      var _ =
          builder.start(() -> {
            try {
              task.run();
            } catch (stoa.StoaException expected) {
              // The failing thread has reported it.
            } catch (RuntimeException | Error broken) {
              if (failure == null) failure = broken;
            }
          });
    }

    /// Lets all its threads stand still for a while, as those of a paused process do.
    public void pause(long forMicros) {
      pausedUntilMicros = micros + forMicros;
    }

    /// Ends all its threads, wherever they are.
    public void end() {
      over = true;
    }

    public boolean isOver() {
      return over;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private record Ready(Life life, Runnable continuation) {}

  private record Timed(long micros, long number, Runnable task) {}

  private static final int STEP_MICROS = 10;

  private final Chance chance;
  private final Thread owner = Thread.currentThread();
  private final List<Ready> ready = new ArrayList<>();
  private final PriorityQueue<Timed> timed =
      new PriorityQueue<>((a, b) ->
          a.micros != b.micros
              ? Long.compare(a.micros, b.micros)
              : Long.compare(a.number, b.number));
  private long micros = 1_000_000;
  private long numbers;
  private @Nullable Throwable failure;

  // Whether a thread has waited for real time.
  private volatile boolean realTime;

  public Fibers(Chance chance) {
    this.chance = chance;
  }

  private static Thread.Builder builder(Executor scheduler) {
    try {
      var made =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      made.setAccessible(true);
      return (Thread.Builder) made.newInstance(scheduler);
    } catch (ReflectiveOperationException | RuntimeException closed) {
      throw new IllegalStateException(
          "this JDK gives no virtual threads with a scheduler; run it with --add-opens java.base/java.lang=ALL-UNNAMED",
          closed);
    }
  }

  public Life life(String name) {
    return new Life(name);
  }

  /// Returns the time.
  public long micros() {
    return micros;
  }

  /// Runs a task later. The task must not wait.
  public void after(long delayMicros, Runnable task) {
    timed.add(new Timed(micros + delayMicros, numbers++, task));
  }

  /// Pauses the calling thread.
  public void pause(long forMicros) {
    Thread me = Thread.currentThread();
    var over = new boolean[1];
    after(
        forMicros,
        () -> {
          over[0] = true;
          LockSupport.unpark(me);
        });
    while (!over[0]) LockSupport.park(this);
  }

  /// Runs one thread until it waits, or lets time pass if all wait.
  ///
  /// @return false when no thread can ever run again
  /// @throws AssertionError when a thread has ended with an error
  public boolean step() {
    micros += chance.below(STEP_MICROS);
    if (ready.isEmpty() && !timed.isEmpty()) micros = Math.max(micros, timed.element().micros);
    for (Timed next; (next = timed.peek()) != null && next.micros <= micros; ) {
      timed.remove().task.run();
    }
    if (ready.isEmpty()) return !timed.isEmpty();
    Ready next = ready.remove(chance.below(ready.size()));
    long pause = next.life.pausedUntilMicros - micros;
    if (pause > 0) after(pause, () -> ready.add(next));
    else if (!next.life.over) next.continuation.run();
    if (realTime) throw new AssertionError("a thread waits for real time");
    Throwable broken = failure;
    if (broken != null) throw new AssertionError("a thread ends with " + broken, broken);
    return true;
  }
}

package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.base.Timing;

/// The time of a process of a simulation, with a clock of its own. One owner.
public final class FiberTiming implements Timing {
  private static final int LOOK_MICROS = 1_000;

  private final Fibers fibers;
  private final Fibers.Life life;
  private final long skewMicros;
  private final Deque<Runnable> unreachable = new ArrayDeque<>();

  /// @param skewMicros how far its clock is ahead of the others
  public FiberTiming(Fibers fibers, Fibers.Life life, long skewMicros) {
    this.fibers = fibers;
    this.life = life;
    this.skewMicros = skewMicros;
  }

  @Override
  public long nanoTime() {
    return (fibers.micros() + skewMicros) * 1_000;
  }

  private static long micros(long nanos) {
    return nanos / 1_000 + 1;
  }

  @Override
  public void start(Runnable task) {
    life.execute(task);
  }

  @Override
  public FiberLine line(String name) {
    return new FiberLine();
  }

  public final class FiberLine implements Line {
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private boolean works;
    private boolean closed;

    private FiberLine() {}

    private void refuseClosed() {
      if (closed) throw new RejectedExecutionException("it is closed");
    }

    @Override
    public void execute(Runnable task) {
      refuseClosed();
      waiting.add(task);
      if (works) return;
      works = true;
      life.execute(this::work);
    }

    private void work() {
      for (Runnable next; (next = waiting.poll()) != null; ) {
        try {
          next.run();
        } catch (StoaException told) {
          // A real one would lose the exception.
        }
      }
      works = false;
    }

    @Override
    public void after(long nanos, Runnable task) {
      refuseClosed();
      fibers.after(
          micros(nanos),
          () -> {
            if (!closed) execute(task);
          });
    }

    @Override
    public void every(long pauseNanos, Runnable task) {
      after(
          pauseNanos,
          () -> {
            task.run();
            if (!closed) every(pauseNanos, task);
          });
    }

    @Override
    public void close() {
      closed = true;
      waiting.clear();
    }

    @Override
    public boolean await(long nanos) {
      long end = fibers.micros() + micros(nanos);
      while (works && fibers.micros() < end) fibers.pause(LOOK_MICROS);
      return !works;
    }
  }

  @Override
  public <T extends @Nullable Object> T await(CompletableFuture<T> answer, long nanos)
      throws InterruptedException, ExecutionException, TimeoutException {
    var over = new CompletableFuture<Boolean>();
    var _ = answer.whenComplete((_, _) -> over.complete(true));
    if (nanos > 0) fibers.after(micros(nanos), () -> over.complete(false));
    else over.complete(false);
    if (!over.join() && !answer.isDone()) throw new TimeoutException();
    return answer.get();
  }

  @Override
  public void whenUnreachable(Object object, Runnable task) {
    unreachable.add(task);
  }

  /// Returns the action for the time when the object named last is unreachable.
  public Runnable lastUnreachable() {
    return unreachable.removeLast();
  }
}

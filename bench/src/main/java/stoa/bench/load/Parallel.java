package stoa.bench.load;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/// Takes many steps, several at a time.
public final class Parallel {
  private Parallel() {}

  /// The work for each number.
  @FunctionalInterface
  public interface Step {
    void take(int i) throws Exception;
  }

  /// Takes the steps 0 to `steps - 1`, with a number of callers on virtual threads.
  public static void run(int callers, int steps, Step step) throws Exception {
    var done = new CountDownLatch(callers);
    var next = new AtomicInteger();
    var failure = new AtomicReference<Throwable>();
    for (int caller = 0; caller < callers; caller++) {
      Thread.ofVirtual()
          .start(() -> {
            try {
              for (int i; (i = next.getAndIncrement()) < steps && failure.get() == null; ) {
                step.take(i);
              }
            } catch (Throwable e) {
              failure.compareAndSet(null, e);
            } finally {
              done.countDown();
            }
          });
    }
    done.await();
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a caller failed: " + failed, failed);
  }
}

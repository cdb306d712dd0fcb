package stoa.bench.storage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import stoa.bench.load.Load;

/// A given number of operations, by several callers, each taking the next one.
///
/// @param callers the number of callers
/// @param threads the kind of their threads
public record Sweep(int callers, Load.Threads threads) {
  /// The completed operations.
  ///
  /// @param operations their number
  /// @param seconds until the end of the last one
  record Done(int operations, double seconds) {}

  /// Runs all operations; the body gets the caller's number and the operation's. Returns how many
  /// seconds they took.
  ///
  /// @throws Exception the failure of a caller
  double run(int operations, Load.Body body) throws Exception {
    return run(operations, Duration.ofDays(1), body).seconds;
  }

  /// Runs like [#run(int, Load.Body)], but begins no operation after some time, except for the
  /// first.
  Done run(int operations, Duration time, Load.Body body) throws Exception {
    var next = new AtomicInteger();
    var failures = new ConcurrentLinkedQueue<Throwable>();
    var running = new ArrayList<Thread>();
    var done = new AtomicInteger();
    long start = System.nanoTime();
    long until = start + time.toNanos();
    for (int i = 0; i < callers; i++) {
      int caller = i;
      Runnable task =
          () -> {
            try {
              for (int n = next.getAndIncrement();
                  n < operations && failures.isEmpty() && (n == 0 || System.nanoTime() - until < 0);
                  n = next.getAndIncrement()) {
                body.call(caller, n);
                done.incrementAndGet();
              }
            } catch (Throwable e) {
              failures.add(e);
            }
          };
      running.add(
          threads == Load.Threads.VIRTUAL
              ? Thread.ofVirtual().start(task)
              : Thread.ofPlatform().start(task));
    }
    for (Thread thread : running) thread.join();
    Throwable failure = failures.peek();
    if (failure != null) throw new IllegalStateException("a caller failed: " + failure, failure);
    return new Done(done.get(), (System.nanoTime() - start) / 1e9);
  }
}

package stoa.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/// Requests at given times, whether or not earlier ones are answered. A latency counts from the
/// time at which its request was due, so that a server which stalls does not hide the requests that
/// it delays.
public final class OpenLoop {
  private OpenLoop() {}

  /// Makes one request.
  @FunctionalInterface
  public interface Request {
    /// Makes it, and returns when it is answered.
    ///
    /// @param caller the number of the caller
    /// @param number the number of its request
    void make(int caller, int number) throws Exception;
  }

  /// Makes requests. Each caller makes its own ones, one after the other: one that is late delays
  /// its next, and the delay counts.
  ///
  /// @param due for each caller, when its requests are due, in nanoseconds from the begin, not
  ///   decreasing
  /// @return the latencies in nanoseconds, in ascending order
  /// @throws IllegalStateException when a request failed
  public static List<Long> run(List<List<Long>> due, Request request) throws InterruptedException {
    var latencies = new ConcurrentLinkedQueue<Long>();
    var failures = new ConcurrentLinkedQueue<Throwable>();
    long begin = System.nanoTime();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < due.size(); i++) {
      int caller = i;
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  var mine = due.get(caller);
                  for (int number = 0; number < mine.size() && failures.isEmpty(); number++) {
                    long at = begin + mine.get(number);
                    for (long wait; (wait = at - System.nanoTime()) > 0; ) {
                      LockSupport.parkNanos(wait);
                    }
                    request.make(caller, number);
                    latencies.add(System.nanoTime() - at);
                  }
                } catch (Throwable e) {
                  failures.add(e);
                }
              }));
    }
    for (var thread : threads) thread.join();
    var failure = failures.peek();
    if (failure != null) throw new IllegalStateException("a request failed: " + failure, failure);
    return latencies.stream().sorted().toList();
  }
}

package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Threads that work side by side until all are done.
final class Crew {
  private Crew() {}

  /// The work of one thread.
  interface Work {
    void run() throws InterruptedException;
  }

  /// Runs each piece of work on a thread of its own, and waits for all.
  ///
  /// @param name what the threads are called, before a number
  /// @throws IllegalStateException when one failed
  static void run(String name, List<? extends Work> works) throws InterruptedException {
    var failures = new ConcurrentLinkedQueue<Throwable>();
    var threads = new ArrayList<Thread>();
    for (var work : works) {
      threads.add(
          Thread.ofPlatform()
              .name(name + "-" + threads.size())
              .start(() -> {
                try {
                  work.run();
                } catch (Throwable e) {
                  failures.add(e);
                }
              }));
    }
    for (var thread : threads) thread.join();
    var failure = failures.peek();
    if (failure != null) {
      throw new IllegalStateException("the replay failed: " + failure.getMessage(), failure);
    }
  }
}

package stoa.bench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/// Waiting in place of computing, where a benchmark has fewer processors than what it simulates.
/// Stateless.
///
/// Methods of shared objects must not look at clocks, and what they call is checked. Waiting changes
/// nothing that they compute, so that they may do it through this interface.
final class Pause {
  /// Waits for some nanoseconds, as a client does that has a processor of its own.
  static final LongConsumer AT_CLIENT = Pause::await;

  /// Waits for some nanoseconds as a server does, which has as many processors as this machine: more
  /// calls wait until one of these is free.
  static final LongConsumer AT_SERVER = Pause::awaitTurn;

  private static final Semaphore PROCESSORS =
      new Semaphore(Runtime.getRuntime().availableProcessors(), true);

  private Pause() {}

  private static void awaitTurn(long nanos) {
    PROCESSORS.acquireUninterruptibly();
    try {
      await(nanos);
    } finally {
      PROCESSORS.release();
    }
  }

  private static void await(long nanos) {
    long until = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = until - System.nanoTime()) LockSupport.parkNanos(left);
  }
}

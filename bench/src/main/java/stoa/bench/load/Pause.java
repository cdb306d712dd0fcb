package stoa.bench.load;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/// Waiting in place of computing, where a benchmark has fewer processors than the simulated
/// machines. Stateless.
///
/// Methods of shared objects must not read clocks, and Stoa checks the code that they call. Waiting
/// does not change their results, so that they may wait through this interface.
public final class Pause {
  /// Waits for some nanoseconds, as a client does that has a processor of its own.
  public static final LongConsumer AT_CLIENT = Pause::await;

  /// Waits for some nanoseconds as a server does that has as many processors as this machine: more
  /// calls wait until one of these is free. A waiting thread that wakes late does not delay the
  /// next call on its processor.
  public static final LongConsumer AT_SERVER = Pause::awaitTurn;

  /// Waits in one of these ways: as a client when a client's thread runs it, see [#atNode], else as
  /// the server.
  public static final LongConsumer WHERE_IT_IS = Pause::awaitHere;

  private static final ScopedValue<Boolean> NODE = ScopedValue.newInstance();

  // The times at which the server's processors are free. Guarded by itself.
  private static final long[] FREE = new long[Runtime.getRuntime().availableProcessors()];

  static {
    java.util.Arrays.fill(FREE, System.nanoTime());
  }

  // The factor of all waiting times.
  private static volatile int stretch = 1;

  private Pause() {}

  /// Stretches all waiting, so that real computing takes a smaller part of the time: as on as many
  /// times the processors.
  public static void stretch(int times) {
    stretch = times;
  }

  /// Runs work on the thread of a client.
  public static long atNode(LongSupplier work) {
    return ScopedValue.where(NODE, true).call(work::getAsLong);
  }

  private static void awaitHere(long nanos) {
    if (NODE.isBound()) await(nanos);
    else awaitTurn(nanos);
  }

  private static void awaitTurn(long nanos) {
    awaitUntil(turn(nanos * stretch));
  }

  /// Returns the end of work of some duration, on the processor that is free first.
  private static long turn(long nanos) {
    synchronized (FREE) {
      int first = 0;
      for (int i = 1; i < FREE.length; i++) if (FREE[i] - FREE[first] < 0) first = i;
      long now = System.nanoTime();
      FREE[first] = (FREE[first] - now > 0 ? FREE[first] : now) + nanos;
      return FREE[first];
    }
  }

  private static void await(long nanos) {
    awaitUntil(System.nanoTime() + nanos * stretch);
  }

  private static void awaitUntil(long until) {
    for (long left; (left = until - System.nanoTime()) > 0; ) LockSupport.parkNanos(left);
  }
}

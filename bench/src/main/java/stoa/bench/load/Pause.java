package stoa.bench.load;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/// Waiting in place of computing, where a benchmark has fewer processors than what it simulates.
/// Stateless.
///
/// Methods of shared objects must not look at clocks, and what they call is checked. Waiting
/// changes nothing that they compute, so that they may do it through this interface.
public final class Pause {
  /// Waits for some nanoseconds, as a client does that has a processor of its own.
  public static final LongConsumer AT_CLIENT = Pause::await;

  /// Waits for some nanoseconds as a server does, which has as many processors as this machine:
  /// more calls wait until one of these is free. How late the waiting thread goes on after its time
  /// keeps no processor from the next.
  public static final LongConsumer AT_SERVER = Pause::awaitTurn;

  /// One of these: as a client when a client's thread runs it, see [#atNode], else as the server.
  public static final LongConsumer WHERE_IT_IS = Pause::awaitHere;

  private static final ScopedValue<Boolean> NODE = ScopedValue.newInstance();

  // When each of the server's processors is free. Guarded by itself.
  private static final long[] FREE = new long[Runtime.getRuntime().availableProcessors()];

  static {
    java.util.Arrays.fill(FREE, System.nanoTime());
  }

  // How much longer than asked for all waiting is.
  private static volatile int stretch = 1;

  private Pause() {}

  /// Has all waiting take longer, so that all that is computed for real takes a smaller part of the
  /// time: as on so many times the processors that there are.
  public static void stretch(int times) {
    stretch = times;
  }

  /// Runs something on the thread of a client.
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

  /// When what takes some time ends, on the processor that is free first.
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

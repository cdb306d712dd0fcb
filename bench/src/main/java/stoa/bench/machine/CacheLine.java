package stoa.bench.machine;

import java.util.concurrent.atomic.AtomicInteger;

/// The distance between processors: the time of a cache line from one to another and back. On
/// virtual machines it may change at any time, and with it the time of all work of several threads
/// on the same objects.
public final class CacheLine {
  private static final int HEAT = 50_000;
  private static final int TIMES = 50_000;

  private CacheLine() {}

  /// Returns the time of a round trip, in nanoseconds; not a number on one processor.
  public static double roundTripNanos() throws InterruptedException {
    if (Runtime.getRuntime().availableProcessors() < 2) return Double.NaN;
    var turn = new AtomicInteger();
    var other = new Thread(() -> answer(turn, HEAT + TIMES), "bench-cache-line");
    other.setDaemon(true);
    other.start();
    ask(turn, 0, HEAT);
    long began = System.nanoTime();
    ask(turn, HEAT, TIMES);
    double nanos = (System.nanoTime() - began) / (double) TIMES;
    other.join();
    return nanos;
  }

  private static void ask(AtomicInteger turn, int first, int times) {
    for (int i = first; i < first + times; i++) {
      turn.set(2 * i + 1);
      while (turn.get() != 2 * i + 2) Thread.onSpinWait();
    }
  }

  private static void answer(AtomicInteger turn, int times) {
    for (int i = 0; i < times; i++) {
      while (turn.get() != 2 * i + 1) Thread.onSpinWait();
      turn.set(2 * i + 2);
    }
  }
}

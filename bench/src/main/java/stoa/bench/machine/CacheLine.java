package stoa.bench.machine;

import java.util.concurrent.atomic.AtomicInteger;

/// How far processors are from each other: how long a cache line takes from one to another and
/// back. On virtual machines that may change at any time, and what threads do to the same objects
/// takes more or less by it.
public final class CacheLine {
  private static final int HEAT = 50_000;
  private static final int TIMES = 50_000;

  private CacheLine() {}

  /// How long it takes there and back, in nanoseconds; not a number on one processor.
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

package stoa.transport;

import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.Queue;

/// The time of a simulated network, which passes when nothing else is to be done. One thread uses
/// it.
final class Net implements SimulatedNetwork.Time {
  private record Due(long at, long number, Runnable task) {}

  private final Queue<Due> due =
      new PriorityQueue<>(
          java.util.Comparator.comparingLong(Due::at).thenComparingLong(Due::number));
  private long now = 1;
  private long number;

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public void after(long nanos, Runnable task) {
    due.add(new Due(now + nanos, number++, task));
  }

  /// Lets time pass.
  void run(long nanos) {
    long end = now + nanos;
    while (!due.isEmpty() && due.peek().at() <= end) {
      Due next = due.remove();
      now = next.at();
      next.task().run();
    }
    now = end;
  }

  /// Keeps what a stream has said.
  static final class Heard implements Receiver {
    final ArrayDeque<byte[]> messages = new ArrayDeque<>();
    int ready;
    boolean finished;
    @org.jspecify.annotations.Nullable Status over;

    @Override
    public void message(byte[] message) {
      messages.add(message);
    }

    @Override
    public void ready() {
      ready++;
    }

    @Override
    public void finished() {
      finished = true;
    }

    @Override
    public void over(Status status) {
      if (over != null) throw new AssertionError("over again: " + over + ", " + status);
      over = status;
    }
  }
}

package stoa.bench.coordination;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.remote.Meeting;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class CoordinationBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresEachLoadOfEachContender() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    var sizes =
        new CoordinationScale(1, Duration.ofMillis(5), Duration.ofMillis(1), Duration.ofMillis(10));
    List<RemoteContender> contenders = List.of(new InProcess("ours"), new InProcess("other"));
    Outcome outcome =
        CoordinationBenchmark.run(new Context<>(folder, tiny, sizes, _ -> {}), contenders);
    for (MeetingLoad load : MeetingLoad.values()) {
      assertTrue(outcome.table().contains(load + ", other"), outcome::table);
    }
    assertTrue(outcome.table().contains("Stoa ÷ other"), outcome::table);
  }

  /// The JDK's own objects, as if a server had them.
  private record InProcess(String name) implements RemoteContender {
    @Override
    public Set<Operation> operations(Persistence persistence) {
      return EnumSet.of(Operation.QUEUE);
    }

    @Override
    public boolean meets() {
      return true;
    }

    @Override
    public Connection start(Path place, Persistence persistence) {
      return new Client();
    }
  }

  private static final class Client implements RemoteContender.Connection, Meeting {
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedBlockingQueue<Long> queue = new LinkedBlockingQueue<>();
    private final CyclicBarrier barrier = new CyclicBarrier(24);
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final AtomicLong rung = new AtomicLong();

    @Override
    public Meeting meeting() {
      return this;
    }

    @Override
    public long lock() {
      lock.lock();
      return 0;
    }

    @Override
    public void unlock(long token) {
      lock.unlock();
    }

    @Override
    public void offer(long element) {
      queue.add(element);
    }

    @Override
    public long take() throws InterruptedException {
      return queue.take();
    }

    @Override
    public boolean hasBarrier() {
      return true;
    }

    @Override
    public void pass(int party, int parties, long round) throws Exception {
      var _ = barrier.await();
    }

    @Override
    public void setTimer(Duration after) {
      var _ = timers.schedule(rung::incrementAndGet, after.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public long rings() {
      return rung.get();
    }

    @Override
    public Duration serverProcessorTime() {
      return Duration.ZERO;
    }

    @Override
    public void put(byte[] value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public byte[] value() {
      throw new UnsupportedOperationException();
    }

    @Override
    public long increment(int counter) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long count(int counter) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void enqueue(long element) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long dequeue() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void publish(long number) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long cached() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
      timers.shutdownNow();
    }
  }
}

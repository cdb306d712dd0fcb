package stoa.bench.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;

class RemoteBenchmarkTest {
  @TempDir Path folder;

  private Outcome run(RemoteContender... contenders) throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    var sizes =
        new RemoteScale(1, Duration.ofMillis(10), Duration.ofMillis(1), Duration.ofMillis(10));
    return RemoteBenchmark.run(new Context<>(folder, tiny, sizes, _ -> {}), List.of(contenders));
  }

  @Test
  void measuresAllThatAContenderCanDoAndLeavesOutTheRest() throws Exception {
    Outcome outcome = run(new InMemory("ours", 1), new InMemory("other", 1));
    for (Result result : outcome.results()) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
    }
    for (RemoteLoad load : RemoteLoad.ALL) {
      assertTrue(
          outcome.results().stream()
              .anyMatch(r ->
                  r.measure().equals(load + ", not durable, ours")
                      && (load + ", not durable, other").equals(r.beside())),
          load::toString);
    }
    assertTrue(outcome.table().contains("ours, durable: it has no such persistence"));
    assertTrue(outcome.table().contains("\naims\n"), outcome::table);
    assertEquals(Set.of("remote-calls.svg", "remote-latency.svg"), outcome.figures().keySet());
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void refusesAContenderThatMiscounts() {
    var failure =
        assertThrows(IllegalStateException.class, () -> run(new InMemory("forgetful", 0)));
    assertTrue(String.valueOf(failure.getMessage()).contains("forgetful: counter 0 is at 0 after"));
  }

  /// State in this process, for which the benchmark's own work is all there is to measure.
  ///
  /// @param step what an increment adds
  private record InMemory(String name, int step) implements RemoteContender {
    @Override
    public Set<Operation> operations(Persistence persistence) {
      return persistence == Persistence.NONE ? EnumSet.allOf(Operation.class) : Set.of();
    }

    @Override
    public Connection start(Path place, Persistence persistence) {
      var counters = new AtomicLongArray(RemoteLoad.COUNTERS_MAX);
      Queue<Long> queue = new ConcurrentLinkedQueue<>();
      return new Connection() {
        private volatile byte[] value = {};
        private volatile long published;

        @Override
        public Duration serverProcessorTime() {
          return Duration.ZERO;
        }

        @Override
        public void put(byte[] bytes) {
          value = bytes;
        }

        @Override
        public byte[] value() {
          return value;
        }

        @Override
        public long increment(int counter) {
          return counters.addAndGet(counter, step);
        }

        @Override
        public long count(int counter) {
          return counters.get(counter);
        }

        @Override
        public void enqueue(long element) {
          queue.add(element);
        }

        @Override
        public long dequeue() {
          return queue.remove();
        }

        @Override
        public void publish(long number) {
          published = number;
        }

        @Override
        public long cached() {
          return published;
        }

        @Override
        public void close() {}
      };
    }
  }
}

package stoa.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.cluster.Records;

class ClustersTest {
  @TempDir Path folder;

  @Test
  void infinispanDoesWhatIsMeasured() throws Exception {
    try (var running = new InfinispanCluster().start(folder, 3)) {
      check(running);
      Records records = running.orderedRecords().orElseThrow();
      for (int i = 0; i < 10; i++) {
        records.insert("user00%d".formatted(i), Map.of("a", new byte[] {1}, "b", new byte[] {2}));
      }
      records.update("user003", Map.of("b", new byte[] {3}));
      assertEquals(Set.of("a", "b"), records.read("user003").keySet());
      assertArrayEquals(new byte[] {3}, records.read("user003").get("b"));
      assertEquals(4, records.scan("user002", 4));
      assertEquals(2, records.scan("user008", 4));
    }
  }

  @Test
  void ratisDoesWhatIsMeasured() throws Exception {
    try (var running = new RatisCluster().start(folder, 3)) {
      assertEquals(2, running.counters().size());
      check(running);
    }
  }

  /// Increments of callers at the same time are all made, and answered in an order.
  private static void check(ClusterContender.Running running) throws Exception {
    for (var counters : running.counters().values()) {
      Set<Long> seen = java.util.concurrent.ConcurrentHashMap.newKeySet();
      IntStream.range(0, 40)
          .parallel()
          .forEach(_ -> {
            try {
              seen.add(counters.increment(7));
            } catch (Exception failed) {
              throw new IllegalStateException(failed);
            }
          });
      assertEquals(40, seen.size());
      assertEquals(40, counters.value(7));
      assertEquals(0, counters.value(8));
    }
    assertFalse(running.processorTime().isZero());
  }

  /// Records in this process that count what is asked of them.
  private static final class Counted implements Records {
    private final ConcurrentSkipListMap<String, Map<String, byte[]>> all =
        new ConcurrentSkipListMap<>();
    private final LongAdder reads = new LongAdder();
    private final LongAdder updates = new LongAdder();
    private final LongAdder inserts = new LongAdder();
    private final LongAdder scans = new LongAdder();

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      inserts.increment();
      all.put(key, fields);
    }

    @Override
    public Map<String, byte[]> read(String key) {
      reads.increment();
      return all.getOrDefault(key, Map.of());
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      updates.increment();
      assertEquals(1, fields.size());
    }

    @Override
    public int scan(String from, int most) {
      scans.increment();
      assertTrue(most >= 1 && most <= 100);
      return (int) all.tailMap(from).values().stream().limit(most).count();
    }

    long[] mix() {
      return new long[] {reads.sum(), updates.sum(), inserts.sum(), scans.sum()};
    }
  }

  private static Counted ran(String workload) throws Exception {
    var records = new Counted();
    var prepared = new YcsbWorkloads().prepare(workload, 100, 1);
    for (int i = 0; i < 100; i++) prepared.load(records);
    assertEquals(100, records.all.size());
    assertEquals(10, records.all.firstEntry().getValue().size());
    records.inserts.reset();
    for (int i = 0; i < 2_000; i++) prepared.turn(0, records);
    return records;
  }

  @Test
  void ycsbMixesAsItsFilesSay() throws Exception {
    assertEquals(
        new TreeSet<>(Set.of("A", "B", "C", "D", "E", "F")),
        new TreeSet<>(new YcsbWorkloads().names()));
    assertEquals(0.5, ran("A").mix()[1] / 2_000.0, 0.06);
    assertEquals(0.05, ran("B").mix()[1] / 2_000.0, 0.03);
    assertArrayEquals(new long[] {2_000, 0, 0, 0}, ran("C").mix());
    assertEquals(0.05, ran("D").mix()[2] / 2_000.0, 0.03);
    assertEquals(0.95, ran("E").mix()[3] / 2_000.0, 0.03);
    assertEquals(0.5, ran("F").mix()[1] / 2_000.0, 0.06);
  }

  @Test
  void ycsbTellsOfATurnThatFailed() throws Exception {
    var prepared = new YcsbWorkloads().prepare("C", 100, 1);
    assertThrows(IllegalStateException.class, () -> prepared.turn(0, new Counted()));
  }
}

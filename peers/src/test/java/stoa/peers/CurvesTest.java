package stoa.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.curves.CurveContender;
import stoa.bench.curves.CurveContender.Target;

class CurvesTest {
  private static final int CALLS = 60;

  @TempDir Path folder;

  @Test
  void threeServersInMemoryDoWhatIsMeasured() throws Exception {
    check(new InfinispanCurves.InMemoryCluster());
  }

  @Test
  void threeServersOnDisksDoWhatIsMeasured() throws Exception {
    check(new InfinispanCurves.SyncedCluster());
  }

  @Test
  void theBenchmarkFindsThem() {
    var names =
        ServiceLoader.load(CurveContender.class).stream()
            .map(provider -> provider.get().name())
            .toList();
    assertEquals(
        List.of(
            "Infinispan, not durable",
            "Infinispan, durable",
            "Infinispan, 3 servers, not durable",
            "Infinispan, 3 servers, durable"),
        names);
  }

  /// Callers at the same time see counters and queues of which there is only one.
  private void check(CurveContender contender) throws Exception {
    try (Target target = contender.start(folder)) {
      target.put(7, new byte[100]);
      target.enqueue(2, 9);
      assertEquals(9, target.dequeue(2));
      assertThrows(IllegalStateException.class, () -> target.dequeue(2));
      Set<Long> counts = ConcurrentHashMap.newKeySet();
      Set<Long> taken = ConcurrentHashMap.newKeySet();
      IntStream.range(0, CALLS)
          .parallel()
          .forEach(i -> {
            try {
              counts.add(target.increment(5));
              target.enqueue(3, i);
              taken.add(target.dequeue(3));
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          });
      assertEquals(CALLS, counts.size(), "two callers were given the same number");
      assertEquals(CALLS, target.count(5));
      assertEquals(0, target.count(99));
      Set<Long> all = new HashSet<>();
      for (long i = 0; i < CALLS; i++) all.add(i);
      assertEquals(all, taken);
    }
  }
}

package stoa.bench.maps;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.cluster.Records;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class MapsBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresTheMapOfAStoreBesideOthers() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    var sizes = new MapsScale(1, 10, List.of(2), Duration.ofMillis(1), Duration.ofMillis(10));
    Outcome outcome =
        MapsBenchmark.run(
            new Context<>(folder, tiny, sizes, _ -> {}),
            List.of(new StoaMaps(), new InMemory()),
            new Updates("U"));
    assertTrue(outcome.table().contains("YCSB U, 2 callers, in memory"), outcome::table);
    assertTrue(outcome.table().contains("Stoa ÷ in memory"), outcome::table);
  }

  @Test
  void measuresTheKeysOfAStoreBesideOthers() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    var sizes = new MapsScale(1, 10, List.of(1, 2), Duration.ofMillis(1), Duration.ofMillis(10));
    var keys =
        new StoaKeys(
            "keys",
            "not at all",
            _ -> {
              var stoa = Stoa.open("memory:");
              return new StoaKeys.Keys(stoa.store(), stoa::close);
            });
    Outcome outcome =
        RecordsBenchmark.run(
            new Context<>(folder, tiny, sizes, _ -> {}),
            List.of(keys, new InMemory()),
            new Updates("A"));
    assertTrue(outcome.table().contains("YCSB A, 2 callers, in memory"), outcome::table);
    assertTrue(outcome.table().contains("YCSB A, 1 caller, keys, p99"), outcome::table);
  }

  /// Updates one field of a record, and reads it.
  private static final class Updates implements RecordWorkloads {
    private final String name;
    private final AtomicInteger loaded = new AtomicInteger();

    private Updates(String name) {
      this.name = name;
    }

    @Override
    public List<String> names() {
      return List.of(name, "S");
    }

    @Override
    public boolean scans(String name) {
      return name.equals("S");
    }

    @Override
    public Prepared prepare(
        String name, int records, int callers, RecordWorkloads.Updates updates) {
      return new Prepared() {
        @Override
        public void load(Records to) throws Exception {
          int number = loaded.getAndIncrement() % records;
          to.insert("record " + number, Map.of("one", new byte[] {1}, "two", new byte[] {2}));
        }

        @Override
        public void turn(int caller, Records of) throws Exception {
          of.update("record 1", Map.of("one", new byte[] {3}));
          Map<String, byte[]> fields = of.read("record 1");
          assertArrayEquals(new byte[] {3}, Objects.requireNonNull(fields.get("one")));
          assertArrayEquals(new byte[] {2}, Objects.requireNonNull(fields.get("two")));
        }
      };
    }
  }

  private static final class InMemory implements MapContender {
    @Override
    public String name() {
      return "in memory";
    }

    @Override
    public String how() {
      return "not at all";
    }

    @Override
    public OpenMap open(Path place) {
      var map = new ConcurrentHashMap<String, byte[]>();
      return new OpenMap() {
        @Override
        public byte @Nullable [] get(String key) {
          return map.get(key);
        }

        @Override
        public void put(String key, byte[] value) {
          map.put(key, value);
        }

        @Override
        public void close() {}
      };
    }
  }
}

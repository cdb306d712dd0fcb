package stoa.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import stoa.storage.DeviceConfig;

class ShardLogContractTest {
  private static final DeviceConfig SMALL = new DeviceConfig(128 << 10);

  private static Map<String, Supplier<ShardUnderTest>> shards(Path directory) {
    Map<String, Supplier<ShardUnderTest>> shards = new LinkedHashMap<>();
    shards.put("a local log in memory", () -> new LocalShard(PoweredDisk.memory(64 << 20), SMALL));
    shards.put(
        "a local log in files", () -> new LocalShard(PoweredDisk.files(fresh(directory)), SMALL));
    for (int seed = 0; seed < 3; seed++) {
      var chance = new Chance(seed);
      shards.put(
          "a replicated log in memory, seed " + seed,
          () ->
              new ReplicatedShard(
                  chance,
                  new SimulatedShard.Trouble(0, 30, 0),
                  Stream.generate(() -> PoweredDisk.memory(64 << 20)).limit(3).toList(),
                  SMALL));
    }
    return shards;
  }

  private static Path fresh(Path directory) {
    try {
      return Files.createTempDirectory(directory, "shard");
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @TestFactory
  Stream<DynamicTest> keepsTheContract(@TempDir Path directory) {
    var shards = shards(directory);
    return ShardLogContract.cases().stream()
        .flatMap(demand ->
            shards.entrySet().stream()
                .map(shard ->
                    DynamicTest.dynamicTest(
                        shard.getKey() + ": " + demand.name(),
                        () -> {
                          try (var opened = shard.getValue().get()) {
                            demand.body().run(opened);
                          }
                        })));
  }

  @TestFactory
  Stream<DynamicTest> keepsItOverManySeeds() {
    return Scenarios.ALL.stream()
        .filter(scenario -> scenario instanceof ShardLogScenario)
        .map(scenario ->
            DynamicTest.dynamicTest(
                scenario.name(),
                () -> {
                  for (int seed = 0; seed < 100; seed++) SimulatedRun.require(scenario, seed);
                  assertEquals(SimulatedRun.of(scenario, 1), SimulatedRun.of(scenario, 1));
                }));
  }
}

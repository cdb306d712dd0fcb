package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.log.Layout;
import stoa.sim.Chance;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.PoweredGlobalLog;
import stoa.sim.world.PoweredLocalLog;
import stoa.sim.world.PoweredLog;
import stoa.sim.world.PoweredReplicatedLog;
import stoa.sim.world.SimulatedGroup;
import stoa.storage.disk.DeviceConfig;

class BatchLogContractTest {
  private static final DeviceConfig SMALL = new DeviceConfig(128 << 10, 8 << 10, 8 << 10, 8 << 10);

  private static Map<String, Supplier<PoweredLog>> logs(Path directory) {
    Map<String, Supplier<PoweredLog>> logs = new LinkedHashMap<>();
    logs.put(
        "a local log in memory", () -> new PoweredLocalLog(PoweredDisk.memory(64 << 20), SMALL));
    logs.put(
        "a local log in files",
        () -> new PoweredLocalLog(PoweredDisk.files(fresh(directory)), SMALL));
    for (int seed = 0; seed < 3; seed++) {
      var chance = new Chance(seed);
      logs.put(
          "a local log on a simulated disk, seed " + seed,
          () -> new PoweredLocalLog(PoweredDisk.simulated(chance, 0), SMALL));
      for (Layout layout :
          List.of(
              new Layout(1, Layout.Copies.REFERENCE),
              new Layout(3, Layout.Copies.REFERENCE),
              new Layout(2, Layout.Copies.FULL),
              new Layout(3, Layout.Copies.FULL))) {
        logs.put(
            "a log of " + layout + " on a simulated disk, seed " + seed,
            () -> new PoweredGlobalLog(layout, PoweredDisk.simulated(chance, 0), SMALL));
      }
      logs.put(
          "a replicated log on simulated disks, seed " + seed,
          () ->
              new PoweredReplicatedLog(
                  chance,
                  new SimulatedGroup.Trouble(0, 30, 0),
                  Stream.generate(() -> PoweredDisk.simulated(chance, 0)).limit(3).toList(),
                  SMALL));
      logs.put(
          "a replicated log in memory, seed " + seed,
          () ->
              new PoweredReplicatedLog(
                  chance,
                  new SimulatedGroup.Trouble(0, 30, 0),
                  Stream.generate(() -> PoweredDisk.memory(64 << 20)).limit(3).toList(),
                  SMALL));
    }
    return logs;
  }

  private static Path fresh(Path directory) {
    try {
      return Files.createTempDirectory(directory, "log");
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @TestFactory
  Stream<DynamicTest> keepsTheContract(@TempDir Path directory) {
    var logs = logs(directory);
    return BatchLogContract.cases().stream()
        .flatMap(demand ->
            logs.entrySet().stream()
                .map(log ->
                    DynamicTest.dynamicTest(
                        log.getKey() + ": " + demand.name(),
                        () -> {
                          try (var opened = log.getValue().get()) {
                            demand.body().run(opened);
                          }
                        })));
  }

  private static final List<String> PLACES =
      List.of(
          "a batch is Committed",
          "a batch is Unknown",
          "a repeated batch is Fenced",
          "a checkpoint is found",
          "an unknown batch is found",
          "an unknown batch is lost",
          "the disk fails outside of a batch");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "log-local",
        "log-replicated",
        "log-global",
        "log-global-copies",
        "log-global-losses"
      })
  void keepsItOverManySeedsAndReachesTheRarePlaces(String name) {
    var scenario = Scenarios.named(name);
    Set<String> places = new TreeSet<>();
    for (int seed = 0; seed < 150; seed++) {
      places.addAll(SimulatedRun.require(scenario, seed).places().keySet());
    }
    assertTrue(places.containsAll(PLACES), places::toString);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "log-local",
        "log-replicated",
        "log-global",
        "log-global-copies",
        "log-global-losses"
      })
  void runsOfOneSeedAreTheSame(String name) {
    var scenario = Scenarios.named(name);
    assertEquals(SimulatedRun.require(scenario, 3), SimulatedRun.require(scenario, 3));
  }
}

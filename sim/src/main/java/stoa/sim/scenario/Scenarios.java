package stoa.sim.scenario;

import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import stoa.Keep;
import stoa.log.Layout;
import stoa.log.Layout.Copies;
import stoa.sim.world.MigrationWorld;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.PoweredGlobalLog;
import stoa.sim.world.PoweredLocalLog;
import stoa.sim.world.PoweredReplicatedLog;
import stoa.sim.world.SimulatedGroup;
import stoa.sim.world.VersionedNode;
import stoa.storage.disk.DeviceConfig;

/// The scenarios that come with the kit, by name.
public final class Scenarios {
  // So small that a short run fills segments and writes and merges indexes.
  private static final DeviceConfig SMALL = new DeviceConfig(8 << 10, 2 << 10, 4 << 10, 4 << 10);
  private static final long MEMORY = 64 << 20;
  private static final Layout ONE = new Layout(1, Copies.REFERENCE);

  static final List<Scenario> ALL =
      List.of(
          new EmbeddedScenario("embedded", ONE, chance -> PoweredDisk.simulated(chance, 60)),
          new EmbeddedScenario(
              "embedded-shards",
              new Layout(3, Copies.REFERENCE),
              chance -> PoweredDisk.simulated(chance, 120)),
          new EmbeddedScenario(
              "embedded-copies",
              new Layout(2, Copies.FULL),
              chance -> PoweredDisk.simulated(chance, 150)),
          new CodeScenario(),
          new TransactionScenario(chance -> PoweredDisk.simulated(chance, 60)),
          TimersScenario.embedded(),
          TimersScenario.replicated(),
          ChangesScenario.embedded(),
          ChangesScenario.replicated(),
          ExpiryScenario.embedded(),
          ExpiryScenario.replicated(),
          IndexesScenario.embedded(),
          IndexesScenario.replicated(),
          new GroupIndexesScenario(),
          new ListenableScenario("listenable", chance -> PoweredDisk.simulated(chance, 60)),
          new BlobScenario("blob", chance -> PoweredDisk.simulated(chance, 60), 12),
          new AppendScenario("streams", ONE),
          new AppendScenario("streams-shards", new Layout(3, Copies.REFERENCE)),
          new AppendScenario("streams-copies", new Layout(3, Copies.FULL)),
          new StoreScenario("store", ONE, Keep.all(), List.of(0, 100, 4_000)),
          new StoreScenario("store-releases", ONE, Keep.versions(0), List.of(0, 100, 66_000)),
          new StoreScenario(
              "store-shards", new Layout(3, Copies.REFERENCE), Keep.all(), List.of(0, 100, 4_000)),
          new StoreScenario(
              "store-releases-copies",
              new Layout(2, Copies.FULL),
              Keep.versions(0),
              List.of(0, 100, 66_000)),
          new StandbyScenario(),
          new GroupsScenario(),
          new VersionedScenario("versioned", 1, VersionedNode.Trouble.NONE),
          new VersionedScenario("versioned-replicas", 2, VersionedNode.Trouble.NONE),
          new VersionedScenario("versioned-crashes", 1, VersionedNode.Trouble.FAILURES),
          new VersionedScenario("versioned-replicas-crashes", 2, VersionedNode.Trouble.FAILURES),
          new AnyOrderScenario(),
          new MigrationScenario("migration", 0, new MigrationWorld.Trouble(6, 5, 8, 2, 0, 6)),
          new MigrationScenario(
              "migration-leaves", 0, new MigrationWorld.Trouble(10, 0, 0, 0, 0, 6)),
          new MigrationScenario(
              "migration-cuts", 0, new MigrationWorld.Trouble(5, 10, 20, 0, 0, 6)),
          new MigrationScenario(
              "migration-moves", 60, new MigrationWorld.Trouble(10, 0, 0, 0, 0, 6)),
          new MigrationScenario("migration-lone", 60, new MigrationWorld.Trouble(6, 5, 8, 2, 0, 6)),
          new MigrationScenario(
              "migration-returns", 30, new MigrationWorld.Trouble(6, 0, 0, 6, 10, 6)),
          new MigrationScenario(
              "migration-survives", 30, new MigrationWorld.Trouble(6, 5, 0, 6, 10, 6)),
          new MigrationScenario(
              "migration-lends", 30, new MigrationWorld.Trouble(6, 3, 5, 2, 30, 15)),
          new LendingScenario("lending"),
          new CoordinationScenario("coordination"),
          new BatchLogScenario(
              "log-local-memory", _ -> new PoweredLocalLog(PoweredDisk.memory(MEMORY), SMALL)),
          new BatchLogScenario(
              "log-local", chance -> new PoweredLocalLog(PoweredDisk.simulated(chance, 15), SMALL)),
          new BatchLogScenario(
              "log-global",
              chance ->
                  new PoweredGlobalLog(
                      new Layout(3, Copies.REFERENCE), PoweredDisk.simulated(chance, 25), SMALL)),
          new BatchLogScenario(
              "log-global-copies",
              chance ->
                  new PoweredGlobalLog(
                      new Layout(3, Copies.FULL), PoweredDisk.simulated(chance, 30), SMALL)),
          new BatchLogScenario(
              "log-global-losses",
              chance ->
                  new PoweredGlobalLog(
                      new Layout(3, Copies.FULL),
                      PoweredDisk.simulated(chance, 60),
                      SMALL,
                      chance.of("losses"))),
          new BatchLogScenario(
              "log-replicated",
              chance ->
                  new PoweredReplicatedLog(
                      chance,
                      SimulatedGroup.Trouble.STANDARD,
                      Stream.of("a", "b", "c")
                          .map(name -> PoweredDisk.simulated(chance.of(name), 40))
                          .toList(),
                      SMALL)),
          new BatchLogScenario(
              "log-replicated-memory",
              chance ->
                  new PoweredReplicatedLog(
                      chance,
                      SimulatedGroup.Trouble.STANDARD,
                      Stream.generate(() -> PoweredDisk.memory(MEMORY)).limit(3).toList(),
                      SMALL)));

  // Run only by name.
  static final List<Scenario> LONG = List.of(new StorageSoak());

  private Scenarios() {}

  /// Returns the scenarios that another module on the class path has, whose servers are processes.
  static List<Scenario> ofProcesses() {
    return ServiceLoader.load(Scenario.class).stream().map(ServiceLoader.Provider::get).toList();
  }

  /// Returns the scenario of a short name, which the kit or a module on the class path has, or of a
  /// class.
  static Scenario named(String name) {
    for (var scenario : Stream.concat(ALL.stream(), LONG.stream()).toList()) {
      if (scenario.name().equals(name)) return scenario;
    }
    for (var scenario : ofProcesses()) if (scenario.name().equals(name)) return scenario;
    try {
      return Class.forName(name).asSubclass(Scenario.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalArgumentException(
          "%s is no scenario: %s; there are %s, and any public class that implements Scenario"
              .formatted(name, e, ALL.stream().map(Scenario::name).toList()),
          e);
    }
  }
}

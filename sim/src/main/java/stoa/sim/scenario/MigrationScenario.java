package stoa.sim.scenario;

import stoa.migration.core.TreeNode.Retrieval;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.world.MigrationWorld;

/// Clients in a tree update and read objects that migrate among them, join, leave, crash and lose
/// their connections, and roots fail; then the durable operations must have one order.
final class MigrationScenario implements Scenario {
  private final String name;
  private final int leaves;
  private final MigrationWorld.Trouble trouble;
  private final MigrationWorld.Fault fault;

  /// @param leaves the share of clients that are leaves, in hundredths
  MigrationScenario(String name, int leaves, MigrationWorld.Trouble trouble) {
    this(name, leaves, trouble, MigrationWorld.Fault.NONE);
  }

  /// @param leaves the share of clients that are leaves, in hundredths
  /// @param fault what the judges must find
  MigrationScenario(
      String name, int leaves, MigrationWorld.Trouble trouble, MigrationWorld.Fault fault) {
    this.name = name;
    this.leaves = leaves;
    this.trouble = trouble;
    this.fault = fault;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    var noted = chance.of("noted");
    var size =
        new MigrationWorld.Size(
            chance.between(2, 9),
            chance.between(1, 5),
            chance.between(1, 3),
            chance.between(6, 24),
            chance.between(1, 6),
            leaves,
            chance.percent(50) ? Retrieval.AHEAD : Retrieval.ONE_BY_ONE,
            chance.percent(50) ? chance.below(40) : Integer.MAX_VALUE,
            chance.of("versions").below(4),
            noted.percent(50) ? noted.between(2, 8) : Integer.MAX_VALUE);
    new MigrationWorld(chance.of("world"), trace, size, trouble, fault).run();
  }
}

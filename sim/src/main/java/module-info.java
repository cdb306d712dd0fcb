/// The simulator: simulated logs, workloads, histories and their checkers.
@org.jspecify.annotations.NullMarked
module stoa.sim {
  requires java.compiler;
  requires static transitive org.jspecify;
  requires stoa.collections;
  requires transitive stoa.migration;
  requires transitive stoa.objects;

  exports stoa.sim;

  uses stoa.sim.scenario.Scenario;
}

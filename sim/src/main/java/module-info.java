/// The simulator: simulated logs, workloads, histories and their checkers.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // stoa.test is built later
module stoa.sim {
  requires java.compiler;
  requires static transitive org.jspecify;
  requires stoa.collections;
  requires transitive stoa.migration;
  requires transitive stoa.objects;

  exports stoa.sim;

  // For simulations of users' classes.
  exports stoa.sim.check to
      stoa.test;
  exports stoa.sim.scenario to
      stoa.test;
  exports stoa.sim.world to
      stoa.test;

  uses stoa.sim.scenario.Scenario;
}

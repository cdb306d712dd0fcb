package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import stoa.sim.scenario.Scenario;
import stoa.sim.scenario.SimulatedRun;

/// Runs scenarios by seeds, which a system property may name instead of the test.
///
/// @param property the name of the property, whose value is FROM-TO
record Seeds(String property) {
  /// Runs a scenario once.
  SimulatedRun.Passed run(Scenario scenario, long seed) {
    return switch (SimulatedRun.of(scenario, seed)) {
      case SimulatedRun.Passed passed -> passed;
      case SimulatedRun.Failed failed -> {
        failed.trace().last().forEach(System.out::println);
        throw new AssertionError(
            "-D%1$s=%2$d-%2$d: %3$s".formatted(property, seed, failed.cause()), failed.cause());
      }
    };
  }

  /// Fails unless a run of a scenario fails, for a reason that contains some words.
  static void requireNoticed(Scenario wrong, long seed, String words) {
    switch (SimulatedRun.of(wrong, seed)) {
      case SimulatedRun.Passed _ -> throw new AssertionError("the simulation does not notice it");
      case SimulatedRun.Failed failed -> {
        String why = String.valueOf(failed.cause());
        assertTrue(why.contains(words), why);
      }
    }
  }

  /// Runs a scenario over the seeds of the property, or otherwise of the test. Returns how many
  /// runs have reached each place.
  ///
  /// @param standard the seeds of the test, FROM-TO
  Map<String, Integer> reached(Scenario scenario, String standard) {
    String chosen = System.getProperty(property);
    String[] seeds = (chosen == null ? standard : chosen).split("-", -1);
    var reached = new TreeMap<String, Integer>();
    for (long seed = Long.parseLong(seeds[0]); seed <= Long.parseLong(seeds[1]); seed++) {
      for (String place : run(scenario, seed).places().keySet()) {
        reached.merge(place, 1, Integer::sum);
      }
    }
    if (chosen != null) System.out.println("runs that reached a place: " + reached);
    return reached;
  }
}

package stoa.sim.scenario;

import java.time.Duration;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// Work and failures, composed into a run that a seed determines.
///
/// Implementations have a public constructor without parameters and keep no state between runs.
public interface Scenario {
  /// Returns the name by which a [Campaign] finds it: a class name, or a short name of a scenario
  /// that comes with the kit.
  default String name() {
    return getClass().getName();
  }

  /// Returns the most time of a run. A longer run waits for an event that will not happen.
  default Duration timeMax() {
    return SimulatedRun.TIME_MAX;
  }

  /// Runs once. `chance` makes all choices, and `trace` receives everything that happens: no
  /// thread, clock or unordered collection may influence the run.
  ///
  /// @throws AssertionError when a checker finds a violation
  /// @throws Exception when the run cannot continue, which is a failure too
  void run(Chance chance, Trace trace) throws Exception;
}

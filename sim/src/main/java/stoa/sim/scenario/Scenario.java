package stoa.sim.scenario;

import java.time.Duration;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// Work and trouble, composed into a run that a seed determines.
///
/// Implementations have a public constructor without parameters and keep no state between runs.
public interface Scenario {
  /// The name by which a [Campaign] finds it: a class name, or a short name of a scenario that
  /// comes with the kit.
  default String name() {
    return getClass().getName();
  }

  /// How long a run may take. One that takes longer waits for something that nobody will do.
  default Duration timeMax() {
    return SimulatedRun.TIME_MAX;
  }

  /// Runs once. All choices are drawn from `chance`, and everything that happens is told to
  /// `trace`: no thread, clock or unordered collection may have a say in it.
  ///
  /// @throws AssertionError when a checker finds something wrong
  /// @throws Exception when the run cannot go on, which is a failure too
  void run(Chance chance, Trace trace) throws Exception;
}

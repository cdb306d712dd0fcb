package stoa.sim.scenario;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// One run of a [Scenario] by a seed.
public sealed interface SimulatedRun {
  /// The most time of a run, unless its scenario says otherwise.
  Duration TIME_MAX = Duration.ofSeconds(Long.getLong("stoa.sim.seconds", 20));

  /// The most time that an interrupted run may take to clean up.
  Duration CLEARING_MAX = Duration.ofMinutes(3);

  /// A run without a violation.
  ///
  /// @param digest the digest of the trace, a function of the scenario and the seed
  /// @param lines the length of the trace
  /// @param places how often the run reached each place worth reaching
  /// @param measures the measurements of the run
  record Passed(
      String digest,
      long lines,
      SortedMap<String, Long> places,
      SortedMap<String, List<Long>> measures)
      implements SimulatedRun {}

  /// A failed run.
  ///
  /// @param scenario the scenario's name
  /// @param seed the seed that replays it
  /// @param cause the failure
  /// @param trace the events before it
  record Failed(String scenario, long seed, Throwable cause, Trace trace) implements SimulatedRun {
    /// Returns one line: the command that replays the run, and the failure.
    public String line() {
      String text = String.valueOf(cause.getMessage()).replaceAll("\\s*\\n\\s*", "; ");
      return "%s --scenario %s --seeds %d-%d  # %s: %s"
          .formatted(
              Campaign.COMMAND, scenario, seed, seed, cause.getClass().getSimpleName(), text);
    }

    /// Returns the end of the trace and the whole explanation.
    String details() {
      var text = new StringWriter();
      var out = new PrintWriter(text);
      trace.last().forEach(out::println);
      trace
          .places()
          .forEach((place, count) -> out.println("reached " + count + " times: " + place));
      cause.printStackTrace(out);
      return text.toString();
    }
  }

  /// Runs a scenario once. It interrupts a run that does not end in time, so that the run's
  /// processes and directories are not in the way of the next one.
  static SimulatedRun of(Scenario scenario, long seed) {
    var trace = new Trace();
    var run = new FutureTask<>(() -> run(scenario, seed, trace));
    var thread = new Thread(run, "simulation");
    thread.setDaemon(true);
    thread.start();
    try {
      return run.get(scenario.timeMax().toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      var hang =
          new AssertionError("the run did not end within " + scenario.timeMax().toSeconds() + " s");
      hang.setStackTrace(thread.getStackTrace());
      return new Failed(scenario.name(), seed, hang, cleared(thread) ? trace : new Trace());
    } catch (InterruptedException | ExecutionException e) {
      return new Failed(scenario.name(), seed, e, new Trace());
    }
  }

  private static boolean cleared(Thread run) {
    run.interrupt();
    try {
      return run.join(CLEARING_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static SimulatedRun run(Scenario scenario, long seed, Trace trace) {
    try {
      scenario.run(new Chance(seed).of(scenario.name()), trace);
    } catch (Exception | AssertionError e) {
      return new Failed(scenario.name(), seed, e, trace);
    }
    return new Passed(trace.digest(), trace.count(), trace.places(), trace.measures());
  }

  /// Runs a scenario once, for tests.
  ///
  /// @throws AssertionError with the line that replays it when the run fails
  static Passed require(Scenario scenario, long seed) {
    return switch (of(scenario, seed)) {
      case Passed passed -> passed;
      case Failed failed -> throw new AssertionError(failed.line(), failed.cause());
    };
  }
}

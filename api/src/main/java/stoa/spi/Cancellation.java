package stoa.spi;

import java.util.ArrayList;
import java.util.List;

/// Stops runs of users' code that the store has taken back. The class loader of a server inserts a
/// call of [#check] at each entry of a method and each turn of a loop.
///
/// Thread-safe. Costs one read of a field while no run is to be stopped.
public final class Cancellation {
  /// A run of users' code.
  public interface Run {
    /// Returns whether the current thread executes it now, and not another run within it.
    boolean isCurrent();
  }

  /// Thrown through code whose run was taken back. Catching it gains nothing: the next [#check]
  /// throws it again, until the run has ended.
  public static final class Stopped extends Error {
    private static final long serialVersionUID = 1L;

    private Stopped() {
      super("the call was taken back", null, false, false);
    }
  }

  /// The most runs that are on the way to their end. Code without checks never ends so; beyond this
  /// number the oldest such runs are forgotten.
  static final int STOPPED_MAX = 1_024;

  private static volatile boolean any;
  private static volatile List<Run> stopped = List.of();

  private Cancellation() {}

  /// Called by woven code.
  ///
  /// @throws Stopped when the run that the current thread executes is to end
  public static void check() {
    if (any) look();
  }

  private static void look() {
    for (Run run : stopped) {
      if (run.isCurrent()) throw new Stopped();
    }
  }

  /// Makes the checks of a run throw from now on, until [#ended].
  public static synchronized void stop(Run run) {
    var runs = new ArrayList<Run>(stopped);
    if (runs.size() == STOPPED_MAX) runs.removeFirst();
    runs.add(run);
    stopped = List.copyOf(runs);
    any = true;
  }

  /// Records that a run has ended.
  public static synchronized void ended(Run run) {
    stopped = stopped.stream().filter(other -> !other.equals(run)).toList();
    any = !stopped.isEmpty();
  }
}

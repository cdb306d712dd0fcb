package stoa.store.running;

import stoa.store.leading.Admission;
import stoa.store.watching.Observed;

/// What is counted when a request begins and when it is settled. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Bookkeeping {
  private final Runners runners;
  private final TimeLimits limits;
  private final Admission admission;
  private final Observed observed;

  public Bookkeeping(Runners runners, TimeLimits limits, Admission admission, Observed observed) {
    this.runners = runners;
    this.limits = limits;
    this.admission = admission;
    this.observed = observed;
  }

  /// The time now, in ticks.
  int now() {
    return runners.now();
  }

  /// A request is settled.
  void settled(Request request) {
    if (request.ticksMax > 0) limits.settled(request);
    if (request.isAhead()) request.resident.isPassed();
    admission.settled();
  }

  /// A caller of this process sees what is at and below a log counter.
  void observe(long reach) {
    observed.advance(reach);
  }
}

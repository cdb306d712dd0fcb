package stoa.store.running;

import stoa.store.leading.Admission;
import stoa.store.leading.AnswerGate;
import stoa.store.watching.Observed;

/// Updates the counters when a request begins and when the store settles it. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Bookkeeping {
  private final Runners runners;
  private final TimeLimits limits;
  private final Admission admission;
  private final AnswerGate gate;
  private final Observed observed;

  public Bookkeeping(
      Runners runners, TimeLimits limits, Admission admission, AnswerGate gate, Observed observed) {
    this.runners = runners;
    this.limits = limits;
    this.admission = admission;
    this.gate = gate;
    this.observed = observed;
  }

  /// Returns the gate through which answers leave.
  AnswerGate gate() {
    return gate;
  }

  /// Returns the present time in ticks.
  int now() {
    return runners.now();
  }

  /// Notes a request of an operation in progress.
  void begun() {
    admission.begun();
  }

  /// Notes a settled request.
  void settled(Request request) {
    if (request.ticksMax > 0) limits.settled(request);
    if (request.isAhead()) request.resident.uncountAhead();
    admission.settled();
  }

  /// Notes that a caller of this process sees the log up to a counter.
  void observe(long reach) {
    observed.advance(reach);
  }
}

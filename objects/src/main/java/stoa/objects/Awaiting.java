package stoa.objects;

import java.util.function.BooleanSupplier;
import stoa.base.Unwinding;
import stoa.store.running.Execution;

/// The conditions of one run of a method with [stoa.Awaits].
///
/// The thread that runs the method uses it.
final class Awaiting {
  /// The purpose of the run.
  enum Purpose {
    /// The run executes the call, unless it must wait.
    CALL,
    /// The run only finds out whether the call would wait: it stops at the last condition, at the
    /// latest when the method ends.
    TRIAL
  }

  /// Stops the run at a condition that is false.
  static final class Stopped extends Error implements Unwinding {
    private static final long serialVersionUID = 1L;

    private Stopped() {
      super("the call waits for a condition", null, false, false);
    }
  }

  private final Purpose purpose;
  private final Execution execution;
  private boolean waits;
  private boolean looking;
  private boolean isTimed;
  private boolean holdsOthers;
  private boolean isPast;

  Awaiting(Purpose purpose, Execution execution) {
    this.purpose = purpose;
    this.execution = execution;
  }

  /// Returns whether the call waits, even if the method has caught the error that says so.
  boolean waits() {
    return waits;
  }

  /// Returns whether a trial ended where the method calls another object, so that what the method
  /// does to its own object is unknown.
  boolean isPast() {
    return isPast;
  }

  /// Notes that the method asks for the time.
  void sawTime() {
    isTimed = true;
  }

  /// Returns whether the method has asked for the time, on which its condition may depend.
  boolean isTimed() {
    return isTimed;
  }

  /// Notes that no call behind this one may go on before it.
  void holdOthers() {
    holdsOthers = true;
  }

  /// Returns whether no call behind this one may go on before it.
  boolean holdsOthers() {
    return holdsOthers;
  }

  /// Goes on when a condition is true.
  void await(BooleanSupplier condition) {
    checkRuns();
    if (execution.hasCalled()) {
      throw new IllegalStateException(
          "a method of "
              + execution.key()
              + " waits for a condition after it has called another object; it must wait before,"
              + " since the run begins again from its start");
    }
    looking = true;
    boolean goesOn;
    try {
      goesOn = condition.getAsBoolean();
    } finally {
      looking = false;
    }
    if (goesOn) return;
    waits = true;
    throw new Stopped();
  }

  /// Checks that the method may call another object now.
  void checkCalls() {
    checkRuns();
    if (looking) {
      throw new IllegalStateException(
          "a condition for which a call of "
              + execution.key()
              + " waits asks another object; it may look at its own object only, since nothing runs"
              + " the call again when another object changes");
    }
    if (purpose != Purpose.TRIAL) return;
    isPast = true; // of its conditions
    throw new Stopped();
  }

  private void checkRuns() {
    if (waits) throw new Stopped();
  }
}

package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Trace;

/// Records where a request is: it waits for a batch, is in a batch, waits for its object, or its
/// method runs. Thread-safe.
public final class Stages {
  private final Trace trace;

  // Guarded by this.
  private @Nullable Trace present;
  private boolean ended;

  Stages(Trace trace) {
    this.trace = trace;
    present = trace.child("stoa.queue");
  }

  /// Returns the trace of the request.
  public Trace trace() {
    return trace;
  }

  /// Notes that the request is in a batch, until [#logged].
  public synchronized void batch() {
    next("stoa.batch");
  }

  /// Notes that its batch is durable, or goes into the mailboxes ahead of that.
  ///
  /// @param entries how many entries share the batch
  /// @param address the log address of the request
  public synchronized void logged(int entries, String address) {
    Trace batch = present;
    if (batch == null) return;
    batch.tag("stoa.batch.entries", entries);
    trace.tag("stoa.address", address);
    next("stoa.wait");
  }

  /// Notes that its method begins to run, or runs again. Returns where that is recorded; null when
  /// the request has ended.
  synchronized @Nullable Trace run() {
    next("stoa.execute");
    return present;
  }

  /// Notes that the request is settled.
  ///
  /// @param failure null when it has an answer
  synchronized void end(@Nullable Throwable failure) {
    ended = true;
    if (present != null) present.end(failure);
    present = null;
  }

  private void next(String name) {
    if (present != null) present.end(null);
    present = ended ? null : trace.child(name);
  }
}

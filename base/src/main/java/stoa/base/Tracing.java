package stoa.base;

import org.jspecify.annotations.Nullable;

/// Knows the trace of the call that a thread makes. Thread-safe.
final class Tracing {
  private static final ScopedValue<Trace> CURRENT = ScopedValue.newInstance();

  // Whether this process has recorded a call. Before that, no call looks for a trace.
  private static volatile boolean used;

  private Tracing() {}

  static @Nullable Trace current() {
    return used && CURRENT.isBound() ? CURRENT.get() : null;
  }

  static <R extends @Nullable Object, X extends Throwable> R run(Trace trace, Trace.Work<R, X> work)
      throws X {
    used = true;
    return ScopedValue.where(CURRENT, trace).call(work::run);
  }
}

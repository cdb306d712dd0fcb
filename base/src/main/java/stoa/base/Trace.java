package stoa.base;

import org.jspecify.annotations.Nullable;

/// A part of a call that a tracer records: a span, with the spans below it. The parts of Stoa tell
/// where a call is; a [Tracer] makes spans of that. Thread-safe.
///
/// A call that is not recorded has no trace, and costs one look at a field.
public interface Trace {
  /// The work of a thread within a trace.
  ///
  /// @param <R> the result
  /// @param <X> what it throws
  @FunctionalInterface
  interface Work<R extends @Nullable Object, X extends Throwable> {
    /// Does it.
    R run() throws X;
  }

  /// Returns the trace of the call that the current thread makes or begins; null when it is not
  /// recorded.
  static @Nullable Trace current() {
    return Tracing.current();
  }

  /// Does work within this trace: calls that the thread makes or begins are below it.
  default <R extends @Nullable Object, X extends Throwable> R run(Work<R, X> work) throws X {
    return Tracing.run(this, work);
  }

  /// Returns its place, for another process.
  TraceParent parent();

  /// Begins a part of it.
  Trace child(String name);

  /// Adds what is known of it.
  void tag(String name, String value);

  /// Adds a number.
  void tag(String name, long value);

  /// Notes that something happened now.
  void event(String name);

  /// Notes that it failed.
  void fail(String why);

  /// Ends it. A second end has no effect.
  ///
  /// @param failure why it failed; null when it did not
  void end(@Nullable Throwable failure);
}

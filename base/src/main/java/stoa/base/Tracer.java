package stoa.base;

import org.jspecify.annotations.Nullable;

/// Records calls. Thread-safe.
///
/// It begins no trace by itself: it records a call that is part of something which the caller
/// records.
public interface Tracer {
  /// Returns whether the current thread does something that is recorded.
  boolean isRecording();

  /// Begins to record a call or transaction of this program, as part of what the current thread
  /// does.
  Trace program(String name);

  /// Begins to record a request of another process.
  ///
  /// @return null when the other process does not record it
  @Nullable Trace served(TraceParent parent, String name);

  /// Begins to record what this program does with an event.
  ///
  /// @param parent what has caused the event
  /// @return null when that is not recorded
  @Nullable Trace delivered(TraceParent parent, String name);

  /// Returns whether it records the keys of objects, which may be personal data.
  boolean showsKeys();
}

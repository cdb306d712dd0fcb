package stoa.store.calls;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// A put or a question in progress, for an operator.
///
/// @param id the id for [Store#cancel], in this process
/// @param key the key that executes the call
/// @param value the bytes of a put; null for a question, and for a put of an earlier process
/// @param query the question; null for a put
/// @param address the stream address of a put, or of the last put before a question; 0 while that
///   is unknown
/// @param progress how far the call is
/// @param callsKey the key that its handler has called and waits for; null when it waits for none
/// @param depth how many handlers wait for the call, directly and through others
/// @param session the session of the client that waits for it; 0 when no server's client does
/// @param age how long ago its caller made it, in units of [Threads#TICK_MILLIS]
public record OngoingCall(
    long id,
    Key key,
    byte @Nullable [] value,
    @Nullable Object query,
    long address,
    Progress progress,
    @Nullable Key callsKey,
    int depth,
    long session,
    Duration age) {
  /// The progress of a call.
  public enum Progress {
    /// The call waits for its turn on its key.
    WAITING,
    /// The call has found its condition false, and waits for a change of its key.
    AWAITING,
    /// Its handler runs.
    RUNNING,
    /// Its handler waits for another key.
    CALLING
  }
}

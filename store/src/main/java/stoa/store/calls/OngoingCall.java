package stoa.store.calls;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// A put or a question that is under way, as an operator sees it.
///
/// @param id by which [Store#cancel] knows it, in this process
/// @param key what is put to or asked
/// @param value what is put; null for a question, and for a put that goes on since an earlier
///   process
/// @param query what is asked; null for a put
/// @param address the stream address of a put, that of the last one before a question; 0 while that
///   is not known
/// @param progress how far it is
/// @param callsKey the key that its handler has called and waits for; null when it waits for none
/// @param depth how many handlers wait for it, directly and through others
/// @param session of the client who waits for it; 0 when it is none of a server's
/// @param age how long ago it was asked, in units of [Threads#TICK_MILLIS]
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
  /// How far a call is.
  public enum Progress {
    /// It waits for its turn on its key.
    WAITING,
    /// Its handler runs.
    RUNNING,
    /// Its handler waits for another key.
    CALLING
  }
}

package stoa;

import java.time.Instant;

/// One entry of a stream, as it is read back.
///
/// @param stream its stream
/// @param address its position there, from 1 and without gaps
/// @param log its position in the global log; entries that were appended together have the same
/// @param time when it was logged; never goes back within a stream
/// @param kind whose it is
/// @param data what was appended; for other kinds than [Kind#DATA], the store's own format, which
///   may change
@SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
public record StreamEntry(
    StreamKey stream, long address, LogAddress log, Instant time, Kind kind, byte[] data) {
  /// Whose an entry is.
  public enum Kind {
    /// Appended through [StreamStore].
    DATA,

    /// What a shared object logs: a call, a nested answer, a verdict, a deletion. [Stoa#history]
    /// tells what it says.
    OBJECT,

    /// What the store notes for itself.
    INTERNAL
  }
}

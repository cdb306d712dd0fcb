package stoa;

import java.time.Instant;

/// One entry of a stream.
///
/// @param stream its stream
/// @param address its position there, from 1 and without gaps
/// @param log its position in the global log; entries of one append have the same
/// @param time when the store logged it; never goes back within a stream
/// @param kind its kind
/// @param data its content; for kinds other than [Kind#DATA], the store's own format, which may
///   change
@SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
public record StreamEntry(
    StreamKey stream, long address, LogAddress log, Instant time, Kind kind, byte[] data) {
  /// The kind of an entry.
  public enum Kind {
    /// An append through [StreamStore].
    DATA,

    /// An entry of a shared object: a call, a nested answer, a verdict, a deletion. [Stoa#history]
    /// shows its meaning.
    OBJECT,

    /// A note of the store itself.
    INTERNAL
  }
}

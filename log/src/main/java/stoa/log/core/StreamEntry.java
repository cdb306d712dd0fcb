package stoa.log.core;

import stoa.LogAddress;
import stoa.base.StreamId;

/// An entry of a stream with both of its addresses.
///
/// @param stream the stream it belongs to
/// @param address its position there, from 1 and without gaps
/// @param log its position in the global log
/// @param sort what it is to the stream
/// @param payload its content; not to be changed any more
public record StreamEntry(
    StreamId stream, long address, LogAddress log, Sort sort, byte[] payload) {
  private static final byte[] NOTHING = {};

  /// What an entry is to its stream.
  public enum Sort {
    /// It changes the stream's state; transactions that read the stream before conflict with it.
    CHANGE,
    /// It says something about what is there.
    NOTE,
    /// A stored empty version, where an append was given up.
    VOID
  }

  /// An empty version.
  public static StreamEntry empty(StreamId stream, long address, LogAddress log) {
    return new StreamEntry(stream, address, log, Sort.VOID, NOTHING);
  }

  /// Whether it has the same place as another one.
  public boolean isAt(StreamId otherStream, long otherAddress) {
    return address == otherAddress && stream.equals(otherStream);
  }

  @Override
  public String toString() {
    return "%s of %s@%d at %s, %d bytes".formatted(sort, stream, address, log, payload.length);
  }
}

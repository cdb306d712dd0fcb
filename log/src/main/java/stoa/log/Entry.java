package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// One entry of a stream, as it is proposed to a [ShardLog].
///
/// Entries of a batch with the same offset are one append to several streams (vCorfu, section 3.3):
/// they have one log address, and each an address of its own in its stream.
///
/// @param stream the stream it belongs to
/// @param address its position there, from 1 and without gaps
/// @param offset which of the batch's log addresses it has, from 0
/// @param nowMicros its time, in microseconds since 1970; never goes back within a stream
/// @param kind what the payload is, for the layer above
/// @param payload its content; not to be changed any more
/// @param mark a note that [Streams#lastMark] finds without reading the entries between, or null
public record Entry(
    StreamId stream,
    long address,
    int offset,
    long nowMicros,
    byte kind,
    byte[] payload,
    byte @Nullable [] mark) {}

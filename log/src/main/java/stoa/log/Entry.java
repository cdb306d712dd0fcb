package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// One entry of a stream, as it is proposed to a [ShardLog].
///
/// @param stream the stream it belongs to
/// @param address its position there, from 1 and without gaps
/// @param kind what the payload is, for the layer above
/// @param payload its content; not to be changed any more
/// @param mark a note that [Streams#lastMark] finds without reading the entries between, or null
public record Entry(
    StreamId stream, long address, byte kind, byte[] payload, byte @Nullable [] mark) {}

package stoa.log;

import stoa.LogAddress;

/// One entry of a stream, as read back.
///
/// @param address its position in the stream
/// @param log its position in the global log
/// @param nowMicros its time, in microseconds since 1970
/// @param kind the kind of the payload, for the layer above
/// @param payload its content
public record StoredEntry(
    long address, LogAddress log, long nowMicros, byte kind, byte[] payload) {}

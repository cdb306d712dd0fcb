package stoa.store;

import java.time.Duration;

/// The bounds within which a store works.
///
/// @param callTimeMax how long a handler may run
/// @param queuedCallsMax requests accepted and not yet answered
/// @param residentBytesMax encoded size of the states kept in memory
/// @param nestingMax how deep calls of handlers on other keys may go
/// @param closeTimeMax how long closing waits for requests under way
public record StoreConfig(
    Duration callTimeMax,
    int queuedCallsMax,
    long residentBytesMax,
    int nestingMax,
    Duration closeTimeMax) {}

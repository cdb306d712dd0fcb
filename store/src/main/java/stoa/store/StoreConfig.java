package stoa.store;

import java.time.Duration;

/// The bounds within which a store works.
///
/// @param callTimeMax how long a handler may run
/// @param queuedCallsMax how many requests may be accepted and not yet answered
/// @param residentBytesMax the bound on the encoded size of the states in memory
/// @param nestingMax how deep calls of handlers on other keys may be nested
/// @param closeTimeMax how long a close waits for requests in progress
public record StoreConfig(
    Duration callTimeMax,
    int queuedCallsMax,
    long residentBytesMax,
    int nestingMax,
    Duration closeTimeMax) {}

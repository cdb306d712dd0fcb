package stoa.storage;

/// What a device has done since it was opened, and what it holds.
///
/// @param records commits appended
/// @param extents extents in them
/// @param bytes bytes appended to segments, headers and padding included
/// @param syncs how often a segment was made durable
/// @param segments segment files
/// @param recoveredBytes log that was read again to open the device
public record DeviceStats(
    long records, long extents, long bytes, long syncs, int segments, long recoveredBytes) {}

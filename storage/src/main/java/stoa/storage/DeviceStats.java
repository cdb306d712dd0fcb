package stoa.storage;

/// What a device has done since it was opened, and what it holds.
///
/// @param records commits appended
/// @param extents extents in them
/// @param bytes bytes of the records appended, headers and padding included
/// @param syncs how often a segment was made durable
/// @param segments segment files
/// @param logBytes the length of the log, segments that were retired included
/// @param durableBytes how much of it survives a power loss
/// @param runs index files
/// @param runEntries index entries in them, replaced ones that were not yet dropped included
/// @param runBytes the size of the index files
/// @param tableBytes heap taken by index entries that are not in a file yet, about
/// @param flushes index tables written to files
/// @param merges merges of index files
/// @param recoveredBytes log that was read again to open the device
public record DeviceStats(
    long records,
    long extents,
    long bytes,
    long syncs,
    int segments,
    long logBytes,
    long durableBytes,
    int runs,
    long runEntries,
    long runBytes,
    long tableBytes,
    long flushes,
    long merges,
    long recoveredBytes) {}

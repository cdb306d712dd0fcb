package stoa.storage;

/// The work of a device since it was opened, and its contents.
///
/// @param records commits appended
/// @param extents extents in them
/// @param bytes bytes of the appended records, with headers and padding
/// @param syncs the number of syncs of segments
/// @param segments segment files
/// @param logBytes the length of the log, with retired segments
/// @param durableBytes the part of it that survives a power loss
/// @param runs index files
/// @param runEntries index entries in them, with replaced ones that are not yet dropped
/// @param runBytes the size of the index files
/// @param tableBytes the approximate heap of index entries that are not in a file yet
/// @param flushes index tables written to files
/// @param merges merges of index files
/// @param recoveredBytes log that opening the device read again
/// @param openTransactions write transactions that have not ended
/// @param abortedTransactions write transactions that the device aborted because they kept too much
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
    long recoveredBytes,
    int openTransactions,
    long abortedTransactions) {}

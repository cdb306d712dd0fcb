package stoa.storage.object;

/// The size of a versioned object in several measures.
///
/// @param size the end of the last byte of data
/// @param bytes the number of bytes with data
/// @param extents the number of extents of data and holes
/// @param attributes the number of attributes
/// @param highestVersion the highest version
/// @param missingVersions the number of missing versions below it
/// @param snapshots the number of snapshots
public record ObjectStat(
    long size,
    long bytes,
    long extents,
    int attributes,
    long highestVersion,
    long missingVersions,
    int snapshots) {}

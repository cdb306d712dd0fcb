package stoa.storage.object;

/// What a versioned object amounts to.
///
/// @param size where the last byte of data ends
/// @param bytes how many bytes have data
/// @param extents in how many extents the data and holes lie
/// @param attributes how many attributes there are
/// @param highestVersion the highest version
/// @param missingVersions how many versions below it are missing
/// @param snapshots how many snapshots are kept
public record ObjectStat(
    long size,
    long bytes,
    long extents,
    int attributes,
    long highestVersion,
    long missingVersions,
    int snapshots) {}

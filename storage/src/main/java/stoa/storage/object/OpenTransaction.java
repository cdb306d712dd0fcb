package stoa.storage.object;

import stoa.base.StreamId;

/// A write transaction that has not ended, in a report.
///
/// @param object the object that it writes
/// @param version its version; 0 when the commit determines it
/// @param parts the number of its writes and truncations so far
/// @param bytes the bytes of its writes so far
/// @param keptBytes the bytes of the log that others wrote since its first part, and that the
///   device does not reclaim while it is open
public record OpenTransaction(
    StreamId object, long version, int parts, long bytes, long keptBytes) {
  @Override
  public String toString() {
    String which = version == VersionedObjects.NEXT ? "the next version" : "version " + version;
    return "%s of object %s, with %d bytes in %d parts, keeps %d bytes of others"
        .formatted(which, object, bytes, parts, keptBytes);
  }
}

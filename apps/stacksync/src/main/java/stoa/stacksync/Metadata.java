package stoa.stacksync;

import java.time.Instant;
import java.util.List;

/// A device's description of one version of a file. Two are equal when all parts are equal; so the
/// service tells a repeated commit from a conflicting one.
///
/// @param status the effect of this version
/// @param path name of the file, with its folders, inside the workspace
/// @param sizeBytes size of the contents
/// @param checksum of the contents
/// @param chunks the contents, in order
/// @param modifiedAt when the file was changed, by the device's clock
public record Metadata(
    Status status,
    String path,
    long sizeBytes,
    long checksum,
    List<Chunk> chunks,
    Instant modifiedAt) {

  public Metadata {
    if (path.isEmpty()) throw new IllegalArgumentException("the path is empty; name the file");
    if (sizeBytes < 0) {
      throw new IllegalArgumentException(path + " has the size " + sizeBytes + "; 0 is the least");
    }
    chunks = List.copyOf(chunks);
  }

  /// Returns the bytes of the version for a quota: its size, and nothing when it deletes the file.
  public long quotaBytes() {
    return status == Status.DELETED ? 0 : sizeBytes;
  }
}

package stoa.stacksync;

import java.time.Instant;
import java.util.List;

/// A device's description of one version of an item. Two are equal when all parts are equal; so the
/// service tells a repeated commit from a conflicting one.
///
/// @param status the effect of this version
/// @param parent the folder in which the item lies, by its id; [#ROOT] at the top of the workspace
/// @param name the name of the item in its folder
/// @param folder whether the item is a folder; the versions of an item agree in it
/// @param mimeType the type of the contents; empty for a folder
/// @param sizeBytes size of the contents; 0 for a folder
/// @param checksum of the contents
/// @param chunks the contents, in order; none for a folder
/// @param modifiedAt when the item was changed, by the device's clock
public record Metadata(
    Status status,
    long parent,
    String name,
    boolean folder,
    String mimeType,
    long sizeBytes,
    long checksum,
    List<Chunk> chunks,
    Instant modifiedAt) {
  /// The [#parent()] of an item that lies in no folder.
  public static final long ROOT = Long.MIN_VALUE;

  public Metadata {
    if (name.isEmpty()) throw new IllegalArgumentException("the name of an item is empty");
    if (sizeBytes < 0) {
      throw new IllegalArgumentException(name + " has the size " + sizeBytes + "; 0 is the least");
    }
    if (folder && (sizeBytes > 0 || !chunks.isEmpty())) {
      throw new IllegalArgumentException("the folder " + name + " has contents of its own");
    }
    chunks = List.copyOf(chunks);
  }

  /// Describes a folder.
  public static Metadata folder(Status status, long parent, String name, Instant modifiedAt) {
    return new Metadata(status, parent, name, true, "", 0, 0, List.of(), modifiedAt);
  }

  /// Returns the bytes of the version for a quota: its size, and nothing when it deletes the item.
  public long quotaBytes() {
    return deleted() ? 0 : sizeBytes;
  }

  /// Returns whether the item is deleted by this version.
  public boolean deleted() {
    return status == Status.DELETED;
  }

  /// Returns the same with other chunks.
  Metadata withChunks(List<Chunk> value) {
    return new Metadata(
        status, parent, name, folder, mimeType, sizeBytes, checksum, value, modifiedAt);
  }
}

package stoa;

/// Bytes of a blob that have one version.
///
/// @param offset the first byte
/// @param length the number of bytes; for bytes that a truncation removed, up to the end of all
///   offsets
/// @param version the version whose write or truncation is visible there
/// @param content whether the version wrote the bytes or removed them
public record BlobExtent(long offset, long length, long version, Content content) {
  /// The content that a version left at some bytes.
  public enum Content {
    /// The version wrote them.
    DATA,
    /// The version removed them; they read as zero.
    HOLE
  }
}

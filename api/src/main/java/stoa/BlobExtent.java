package stoa;

/// Bytes of a blob that one version covers.
///
/// @param offset the first byte
/// @param length how many; up to the end of all offsets for what a truncation took away
/// @param version the version whose write, or truncation, is seen there
/// @param content whether the version left bytes there, or took them away
public record BlobExtent(long offset, long length, long version, Content content) {
  /// What a version left at some bytes.
  public enum Content {
    /// It wrote them.
    DATA,
    /// It took them away; they read as zero.
    HOLE
  }
}

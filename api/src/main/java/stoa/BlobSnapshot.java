package stoa;

/// A blob as it was when [Blob#snapshot()] was called: the promise to keep that version until it is
/// released. Durable.
///
/// A snapshot costs what is overwritten later. It ends with the blob. It is not a shared object and
/// cannot be passed to one; pass the blob and the version, and ask for [Blob#at].
public interface BlobSnapshot extends BlobReader {
  /// Ends the promise. Reading the snapshot afterwards throws [TooOld]. Does nothing when it was
  /// released before.
  void release();
}

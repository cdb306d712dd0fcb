package stoa;

/// A blob as it was when [Blob#snapshot()] was called, until the snapshot is released. Durable.
///
/// A snapshot costs the bytes that later writes overwrite. It ends with the blob. It is not a
/// shared object and cannot travel; pass the blob and the version, and call [Blob#at].
public interface BlobSnapshot extends BlobReader {
  /// Releases the snapshot. Reading it afterwards throws [TooOld]. Has no effect on a released
  /// snapshot.
  void release();
}

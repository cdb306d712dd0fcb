package stoa.client;

import stoa.BlobSnapshot;
import stoa.base.Encoder;

/// A snapshot of a blob in a server. Thread-safe.
final class RemoteBlobSnapshot extends RemoteReader implements BlobSnapshot {
  private final RemoteBlob blob;
  private final long version;

  RemoteBlobSnapshot(RemoteBlob blob, long version) {
    this.blob = blob;
    this.version = version;
  }

  @Override
  RemoteBlob blob() {
    return blob;
  }

  @Override
  long moment() {
    return version + 1;
  }

  @Override
  public void release() {
    ensureOutside();
    var _ = blob.blobs().write(blob, RemoteBlobs.RELEASE, new Encoder(10).varint(version));
  }

  @Override
  public String toString() {
    return "snapshot at version " + version + " of " + blob;
  }
}

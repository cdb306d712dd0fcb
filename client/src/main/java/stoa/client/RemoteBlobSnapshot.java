package stoa.client;

import stoa.BlobSnapshot;
import stoa.base.Encoder;

/// A snapshot of a blob in a server. Thread-safe.
final class RemoteBlobSnapshot extends RemoteReader implements BlobSnapshot {
  private final RemoteBlob blob;
  private final long number;

  /// @param number by which the server knows it
  RemoteBlobSnapshot(RemoteBlob blob, long number) {
    this.blob = blob;
    this.number = number;
  }

  @Override
  RemoteBlob blob() {
    return blob;
  }

  @Override
  long moment() {
    return number;
  }

  @Override
  public void release() {
    ensureOutside();
    var _ = blob.blobs().ask(blob, RemoteBlobs.RELEASE, new Encoder(10).varint(number));
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of " + blob;
  }
}

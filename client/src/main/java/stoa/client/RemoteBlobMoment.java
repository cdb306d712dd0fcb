package stoa.client;

import stoa.base.Encoder;
import stoa.front.Service;
import stoa.wire.BlobOperation;

/// A snapshot of a blob in a server. Thread-safe.
final class RemoteBlobMoment extends RemoteBlobContents implements Service.BlobMoment {
  private final RemoteBlob blob;
  private final long number;

  /// @param number the server's number of it
  RemoteBlobMoment(RemoteBlob blob, long number) {
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
  public long number() {
    return number;
  }

  @Override
  public void release() {
    var _ = blob.blobs().ask(blob, BlobOperation.RELEASE, new Encoder(10).varint(number));
  }
}

package stoa.front;

import stoa.BlobSnapshot;

/// A snapshot of a blob. Thread-safe.
public final class SharedBlobSnapshot extends SharedBlobReader implements BlobSnapshot {
  private final SharedBlob blob;
  private final Service.BlobMoment moment;

  SharedBlobSnapshot(SharedBlob blob, Service.BlobMoment moment) {
    this.blob = blob;
    this.moment = moment;
  }

  /// Returns the number by which [SharedBlob#kept] finds it again.
  public long number() {
    return moment.number();
  }

  @Override
  SharedStoa stoa() {
    return blob.stoa();
  }

  @Override
  Service.BlobContents contents() {
    return moment;
  }

  @Override
  public void release() {
    ensureOutside();
    moment.release();
  }

  @Override
  public String toString() {
    return "snapshot " + number() + " of " + blob;
  }
}

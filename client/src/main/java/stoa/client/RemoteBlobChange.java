package stoa.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import stoa.UnknownOutcome;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.Service;
import stoa.wire.BlobOperation;

/// A write of several ranges of a blob in a server. Thread-safe.
final class RemoteBlobChange implements Service.BlobChange {
  private final RemoteBlob blob;
  private final long number;
  private final Scope scope = new Scope();

  // The number of ranges that the server must have before it commits, so that it notices a missing
  // one.
  private final AtomicLong ranges = new AtomicLong();

  private RemoteBlobChange(RemoteBlob blob) {
    this.blob = blob;
    this.number = blob.blobs().nextWrite();
  }

  /// Begins a change.
  ///
  /// @param version that the caller chooses; 0 for the next one
  static RemoteBlobChange begin(RemoteBlob blob, long version) {
    var begun = new RemoteBlobChange(blob);
    Encoder arguments = begun.numbered(10);
    var _ =
        version == 0
            ? begun.within(BlobOperation.BEGIN, arguments)
            : begun.within(BlobOperation.BEGIN_VERSION, arguments.varint(version));
    return begun;
  }

  /// Begins to write bytes that are too many for one request, as one version. On return all of them
  /// are on their way, so that the write keeps its place among the caller's other requests.
  static CompletableFuture<Long> whole(RemoteBlob blob, long offset, ByteBuffer bytes) {
    var whole = new RemoteBlobChange(blob);
    var begun = whole.begin(BlobOperation.BEGIN, whole.numbered(0), _ -> true);
    var written = whole.writeAsync(offset, bytes);
    var committed = whole.begin(BlobOperation.COMMIT, whole.commitment(), Decoder::varint);
    var answer = new CompletableFuture<Long>();
    var _ =
        CompletableFuture.allOf(begun, written, committed)
            .whenComplete((_, failed) -> {
              if (failed == null) answer.complete(committed.join());
              else answer.completeExceptionally(whole.refused(begun, written, committed));
            });
    return answer;
  }

  /// Returns why the whole write failed: the first failure, unless its outcome is unknown.
  private Throwable refused(
      CompletableFuture<?> begun, CompletableFuture<?> written, CompletableFuture<?> committed) {
    close();
    Throwable last = committed.isCompletedExceptionally() ? committed.exceptionNow() : null;
    if (last instanceof UnknownOutcome) return last;
    if (begun.isCompletedExceptionally()) return begun.exceptionNow();
    if (written.isCompletedExceptionally()) return written.exceptionNow();
    return Objects.requireNonNull(last);
  }

  private Decoder within(BlobOperation operation, Encoder arguments) {
    return blob.blobs().within(scope, blob, operation, arguments);
  }

  private <T> CompletableFuture<T> begin(
      BlobOperation operation, Encoder arguments, Function<Decoder, T> reading) {
    return blob.blobs().withinAsync(scope, blob, operation, arguments, reading);
  }

  private Encoder numbered(int capacity) {
    return new Encoder(capacity + 32).varint(number);
  }

  private Encoder commitment() {
    return numbered(10).varint(ranges.get());
  }

  @Override
  public void write(long offset, ByteBuffer bytes) {
    List<Encoder> parts = parts(offset, bytes);
    ranges.addAndGet(parts.size());
    int written = 0;
    try {
      for (Encoder part : parts) {
        var _ = within(BlobOperation.PART, part);
        written++;
      }
    } finally {
      // The server has none of these ranges: the others may be committed.
      if (written == 0) ranges.addAndGet(-parts.size());
    }
  }

  /// Returns the requests that write bytes.
  private List<Encoder> parts(long offset, ByteBuffer bytes) {
    var parts = new ArrayList<Encoder>();
    long at = offset;
    do {
      int count = Math.min(RemoteBlobs.PART_BYTES, bytes.remaining());
      var part = new byte[count];
      bytes.get(part);
      parts.add(numbered(count).varint(at).raw(part));
      at += count;
    } while (bytes.hasRemaining());
    return parts;
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    List<Encoder> parts = parts(offset, bytes.duplicate());
    ranges.addAndGet(parts.size());
    return CompletableFuture.allOf(
        parts.stream()
            .map(part -> begin(BlobOperation.PART, part, _ -> true))
            .toArray(CompletableFuture<?>[]::new));
  }

  @Override
  public void truncate(long size) {
    var _ = within(BlobOperation.PART_TRUNCATE, numbered(10).varint(size));
  }

  @Override
  public void attribute(String name, byte[] value) {
    var _ = within(BlobOperation.PART_ATTRIBUTE, numbered(value.length).text(name).raw(value));
  }

  @Override
  public void removeAttribute(String name) {
    var _ = within(BlobOperation.PART_REMOVE_ATTRIBUTE, numbered(64).text(name));
  }

  @Override
  public long commit() {
    return within(BlobOperation.COMMIT, commitment()).varint();
  }

  @Override
  public void close() {
    blob.blobs().end(scope, blob, number);
  }
}

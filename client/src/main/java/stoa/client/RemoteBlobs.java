package stoa.client;

import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.Service;
import stoa.front.SharedStoa;
import stoa.front.types.Keys;
import stoa.wire.BlobOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Request;

/// The blobs of a store in a server. Thread-safe.
final class RemoteBlobs implements Service.Blobs {
  /// The bytes of a blob in one request.
  static final int PART_BYTES = 1 << 20;

  private final RemotePart stoa;
  private final int bytesMax;
  private final AtomicLong writes = new AtomicLong();

  RemoteBlobs(RemotePart stoa, int bytesMax) {
    this.stoa = stoa;
    this.bytesMax = bytesMax;
  }

  @Override
  public int bytesMax() {
    return bytesMax;
  }

  /// Returns a number for a write of several parts.
  long nextWrite() {
    return writes.incrementAndGet();
  }

  @Override
  public RemoteBlob asked(Object key) {
    return reference(key, 0);
  }

  @Override
  public RemoteBlob reference(Object key, long generation) {
    stoa.types().blobs();
    var ref = new Ref<stoa.Blob>(SharedStoa.BLOBS, key);
    return new RemoteBlob(this, new Key(SharedStoa.BLOBS, Keys.encode(key), ref), generation);
  }

  @Override
  public Iterator<byte[]> names() {
    return stoa.names(SharedStoa.BLOBS);
  }

  // ---- requests

  private Request.Builder request(RemoteBlob blob, BlobOperation operation, Encoder arguments) {
    var bytes =
        com.google.protobuf.UnsafeByteOperations.unsafeWrap(arguments.array(), 0, arguments.size());
    var request =
        Request.newBuilder()
            .setBlob(
                Blob.newBuilder()
                    .setKey(com.google.protobuf.UnsafeByteOperations.unsafeWrap(blob.key().name()))
                    .setGeneration(blob.generation())
                    .setOperation(operation.number())
                    .setArguments(bytes));
    return stoa.requests().timed(request);
  }

  /// Makes a request that may execute twice.
  Decoder ask(RemoteBlob blob, BlobOperation operation, Encoder arguments) {
    return ask(
        blob,
        Outgoing.of(request(blob, operation, arguments), Outgoing.Recovery.READ, arguments.size()));
  }

  /// Makes a changing request of its own.
  Decoder write(RemoteBlob blob, BlobOperation operation, Encoder arguments) {
    return ask(
        blob,
        Outgoing.of(
            request(blob, operation, arguments), Outgoing.Recovery.UNKNOWN, arguments.size()));
  }

  /// Begins to write; the future returns the version.
  CompletableFuture<Long> writeAsync(RemoteBlob blob, Encoder arguments) {
    var outgoing =
        Outgoing.of(
            request(blob, BlobOperation.WRITE, arguments),
            Outgoing.Recovery.UNKNOWN,
            arguments.size());
    return begin(blob, outgoing, Decoder::varint);
  }

  private <T> CompletableFuture<T> begin(
      RemoteBlob blob, Outgoing outgoing, Function<Decoder, T> reading) {
    var answer = new CompletableFuture<T>();
    try {
      stoa.conversation()
          .begin(
              outgoing,
              settled ->
                  stoa.hand(
                      answer,
                      () -> reading.apply(said(blob, stoa.requests().sound(settled.answer())))));
    } catch (RuntimeException refused) {
      answer.completeExceptionally(refused);
    }
    return answer;
  }

  /// Makes a request within a write of several parts.
  Decoder within(Scope scope, RemoteBlob blob, BlobOperation operation, Encoder arguments) {
    return ask(blob, part(scope, blob, operation, arguments));
  }

  /// Begins a request within a write of several parts, after the earlier ones.
  <T> CompletableFuture<T> withinAsync(
      Scope scope,
      RemoteBlob blob,
      BlobOperation operation,
      Encoder arguments,
      Function<Decoder, T> reading) {
    return begin(blob, part(scope, blob, operation, arguments), reading);
  }

  private Outgoing part(Scope scope, RemoteBlob blob, BlobOperation operation, Encoder arguments) {
    var request = request(blob, operation, arguments);
    return operation == BlobOperation.BEGIN || operation == BlobOperation.BEGIN_VERSION
        ? Outgoing.beginning(scope, request, Outgoing.Recovery.UNKNOWN)
        : Outgoing.in(scope, null, request, arguments.size());
  }

  /// Ends a write that was not committed; does not wait.
  void end(Scope scope, RemoteBlob blob, long write) {
    var request = request(blob, BlobOperation.CLOSE, new Encoder(10).varint(write));
    stoa.conversation().tell(Outgoing.in(scope, null, request, 16));
  }

  private Decoder ask(RemoteBlob blob, Outgoing outgoing) {
    return said(blob, stoa.ask(outgoing));
  }

  private static Decoder said(RemoteBlob blob, Answer answer) {
    var in = new Decoder(answer.getData().toByteArray());
    blob.bind(in.varint());
    return in;
  }

  /// Runs work on a thread of its own.
  <T> CompletableFuture<T> async(Supplier<T> work) {
    var answer = new CompletableFuture<T>();
    stoa.hand(answer, work);
    return answer;
  }
}

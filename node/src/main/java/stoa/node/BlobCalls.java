package stoa.node;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import stoa.BlobExtent;
import stoa.BlobReader;
import stoa.BlobVersions;
import stoa.BlobWrite;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.SharedBlob;
import stoa.front.SharedBlobSnapshot;
import stoa.objects.ObjectService;
import stoa.wire.BlobOperation;

/// The operations on blobs of one session; `docs/wire.md` lists them. Thread-safe.
final class BlobCalls implements AutoCloseable {
  private static final int WRITES_MAX = 64;
  private static final int EXTENTS_MAX = 4_096;

  /// A write of several parts.
  ///
  /// @param ranges how many have begun
  private record Writing(BlobWrite write, AtomicLong ranges) {}

  private final ConcurrentHashMap<Long, Writing> writes = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /// Starts an operation, and returns its future answer. On return everything is done except the
  /// write of a range, which already has its place among the others.
  CompletableFuture<byte[]> start(
      ObjectService service,
      byte[] key,
      long generation,
      BlobOperation operation,
      byte[] arguments) {
    if (operation != BlobOperation.WRITE && operation != BlobOperation.PART) {
      return CompletableFuture.completedFuture(
          answer(service, key, generation, operation, arguments));
    }
    SharedBlob blob = service.blob(key, generation);
    var in = new Decoder(arguments);
    if (operation == BlobOperation.PART) {
      Writing writing = writing(in.varint());
      CompletableFuture<Void> written =
          writing.write.writeAsync(in.varint(), ByteBuffer.wrap(in.raw(in.remaining())));
      // A failure from here on fails the commit, too.
      if (!written.isCompletedExceptionally()) writing.ranges.incrementAndGet();
      return written.thenApply(_ -> new Encoder(10).varint(blob.generation()).toBytes());
    }
    return blob.writeAsync(in.varint(), ByteBuffer.wrap(in.raw(in.remaining())))
        .thenApply(version -> new Encoder(20).varint(blob.generation()).varint(version).toBytes());
  }

  /// Performs an operation, and returns its answer.
  private byte[] answer(
      ObjectService service,
      byte[] key,
      long generation,
      BlobOperation operation,
      byte[] arguments) {
    SharedBlob blob = service.blob(key, generation);
    var in = new Decoder(arguments);
    var result = new Encoder(64);
    switch (operation) {
      case CREATE -> blob.create();
      case GENERATION -> result.varint(blob.found());
      case DELETE -> result.u8(blob.delete() ? 1 : 0);
      case VERSION -> result.varint(at(blob, in).version());
      case SIZE -> result.varint(at(blob, in).size());
      case READ -> {
        BlobReader reader = at(blob, in);
        result.raw(reader.read(in.varint(), Math.toIntExact(in.varint())));
      }
      case ATTRIBUTE -> {
        Optional<byte[]> found = at(blob, in).attribute(in.text());
        result.u8(found.isPresent() ? 1 : 0);
        found.ifPresent(result::raw);
      }
      case ATTRIBUTES -> {
        Map<String, byte[]> all = at(blob, in).attributes();
        result.varint(all.size());
        all.forEach((name, value) -> result.text(name).sized(value));
      }
      case HISTORY -> history(at(blob, in), in, result);
      case VERSIONS -> versions(at(blob, in), in, result);
      case SKIP -> blob.skip(ranges(in));
      case TRUNCATE -> result.varint(blob.truncate(in.varint()));
      case SET_ATTRIBUTE -> result.varint(blob.attribute(in.text(), in.raw(in.remaining())));
      case REMOVE_ATTRIBUTE -> result.varint(blob.removeAttribute(in.text()));
      case SNAPSHOT -> result.varint(blob.snapshot().number());
      case SNAPSHOTS -> {
        List<SharedBlobSnapshot> all = blob.kept();
        result.varint(all.size());
        all.forEach(snapshot -> result.varint(snapshot.number()));
      }
      case RELEASE -> blob.kept(in.varint()).release();
      case AT -> result.varint(blob.at(in.varint()).number());
      case BEGIN,
          BEGIN_VERSION,
          PART_TRUNCATE,
          PART_ATTRIBUTE,
          PART_REMOVE_ATTRIBUTE,
          COMMIT,
          CLOSE ->
          part(blob, operation, in, result);
      case WRITE, PART -> throw new IllegalStateException(operation + " is asynchronous");
    }
    long found = operation == BlobOperation.GENERATION ? 0 : blob.generation();
    return new Encoder(result.size() + 10).varint(found).raw(result.toBytes()).toBytes();
  }

  private static BlobReader at(SharedBlob blob, Decoder in) {
    long snapshot = in.varint();
    return snapshot == 0 ? blob : blob.kept(snapshot);
  }

  private static void history(BlobReader reader, Decoder in, Encoder result) {
    long from = in.varint();
    long to = in.varint();
    int most = Math.clamp(in.varint(), 1, EXTENTS_MAX);
    var extents = new ArrayList<BlobExtent>();
    reader.history(from, to, extent -> extents.add(extent) && extents.size() < most);
    result.varint(extents.size());
    for (BlobExtent extent : extents) {
      result.varint(extent.offset()).varint(extent.length()).varint(extent.version());
      result.u8(extent.content() == BlobExtent.Content.DATA ? 0 : 1);
    }
  }

  private static void versions(BlobReader reader, Decoder in, Encoder result) {
    long from = in.varint();
    int most = Math.clamp(in.varint(), 1, EXTENTS_MAX);
    var ranges = new ArrayList<BlobVersions.Range>();
    for (BlobVersions.Range range : reader.versions().ranges()) {
      if (range.last() < from) continue;
      if (ranges.size() == most) break;
      ranges.add(new BlobVersions.Range(Math.max(from, range.first()), range.last()));
    }
    result.varint(ranges.size());
    for (BlobVersions.Range range : ranges) result.varint(range.first()).varint(range.last());
  }

  private static BlobVersions ranges(Decoder in) {
    var ranges = new ArrayList<BlobVersions.Range>();
    for (int left = in.count(); left > 0; left--) {
      ranges.add(new BlobVersions.Range(in.varint(), in.varint()));
    }
    return new BlobVersions(ranges);
  }

  private void part(SharedBlob blob, BlobOperation operation, Decoder in, Encoder result) {
    long number = in.varint();
    switch (operation) {
      case BEGIN -> begin(number, blob::begin);
      case BEGIN_VERSION -> {
        long version = in.varint();
        begin(number, () -> blob.begin(version));
      }
      case PART_TRUNCATE -> writing(number).write.truncate(in.varint());
      case PART_ATTRIBUTE -> writing(number).write.attribute(in.text(), in.raw(in.remaining()));
      case PART_REMOVE_ATTRIBUTE -> writing(number).write.removeAttribute(in.text());
      case COMMIT -> {
        result.varint(commit(number, in.varint()));
        end(number);
      }
      case CLOSE -> end(number);
      default -> throw new IllegalStateException(operation + " has no part of a write");
    }
  }

  private void begin(long number, Supplier<BlobWrite> beginning) {
    if (writes.size() >= WRITES_MAX) {
      throw new LimitExceeded(
          "the session has " + WRITES_MAX + " writes of blobs in progress; commit or close some");
    }
    Writing before = writes.put(number, new Writing(beginning.get(), new AtomicLong()));
    if (before != null) before.write.close();
    if (closed) end(number);
  }

  /// Commits a write.
  ///
  /// @param ranges how many ranges the client means to be in it
  private long commit(long number, long ranges) {
    Writing writing = writing(number);
    long begun = writing.ranges.get();
    if (begun < ranges) {
      throw new Unavailable(
          "only %d of the %d ranges of a write are there; nothing of it was written, begin again"
              .formatted(begun, ranges));
    }
    return writing.write.commit();
  }

  private Writing writing(long number) {
    Writing found = writes.get(number);
    if (found != null) return found;
    throw new Unavailable(
        "write " + number + " is not in progress, or a restart of the server has lost it");
  }

  private void end(long number) {
    Writing found = writes.remove(number);
    if (found != null) found.write.close();
  }

  /// Closes uncommitted writes.
  @Override
  public void close() {
    closed = true;
    writes.keySet().forEach(this::end);
  }
}

package stoa.objects;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.Service;
import stoa.front.types.Keys;
import stoa.store.streams.StoredFollower;
import stoa.store.streams.StoredStreams;

/// The port to the streams of a store in this process. Thread-safe.
///
/// @param stored the streams in the store
record LocalStreams(StoredStreams stored) implements Service.Streams {
  private static final int APPENDS_MAX = 4_096;

  @Override
  public int appendsMax() {
    return APPENDS_MAX;
  }

  @Override
  public Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data) {
    return stored.append(streams, data);
  }

  @Override
  public CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data) {
    return stored.appendAsync(streams, data, null);
  }

  @Override
  public void read(List<LogAddress> addresses, Consumer<LogSlot> reader) {
    stored.read(addresses, reader);
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    stored.scan(from, to, visitor);
  }

  @Override
  public LogAddress tail() {
    return stored.tail();
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    return stored.fillHole(address);
  }

  @Override
  public void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader) {
    stored.read(stream, addresses, reader);
  }

  @Override
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    stored.scan(stream, from, to, visitor);
  }

  @Override
  public long check(StreamKey stream) {
    return stored.check(stream);
  }

  @Override
  public long oldest(StreamKey stream) {
    return stored.oldest(stream);
  }

  @Override
  public void trim(StreamKey stream, long before) {
    stored.trim(stream, before);
  }

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    StreamId id = new Key(ref.type(), Keys.encode(ref.key()), ref).stream();
    return new StreamKey(id.high(), id.low());
  }

  @Override
  public Service.Tail<LogSlot.Written> follow(LogAddress from) {
    return new End<>(stored.follow(from));
  }

  @Override
  public Service.Tail<StreamEntry> follow(StreamKey stream, long from) {
    return new End<>(stored.follow(stream, from));
  }

  private record End<E>(StoredFollower<E> follower) implements Service.Tail<E> {
    @Override
    public @Nullable E poll() {
      return follower.poll();
    }

    @Override
    public @Nullable E next(long nanosMax) throws InterruptedException {
      return follower.next(nanosMax);
    }

    @Override
    public void close() {
      follower.close();
    }
  }
}

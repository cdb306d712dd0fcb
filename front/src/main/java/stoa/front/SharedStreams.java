package stoa.front;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import stoa.Appended;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;

/// The stream store (vCorfu, Table 1) as programs use it, wherever the store is. Thread-safe.
final class SharedStreams implements StreamStore {
  private final SharedStoa stoa;
  private final AtomicInteger followers = new AtomicInteger();

  SharedStreams(SharedStoa stoa) {
    this.stoa = stoa;
  }

  private Service.Streams port() {
    return stoa.service().streams();
  }

  // ---- append

  private void check(Map<StreamKey, byte[]> data) {
    if (data.isEmpty()) throw new IllegalArgumentException("an append names at least one stream");
    if (data.size() > APPEND_STREAMS_MAX) {
      throw new LimitExceeded(
          "an append to %,d streams; an append goes to %,d at most"
              .formatted(data.size(), APPEND_STREAMS_MAX));
    }
    long bytes = 0;
    for (byte[] one : data.values()) bytes += one.length;
    checkBytes(bytes);
  }

  private void checkBytes(long bytes) {
    int bytesMax = stoa.service().callBytesMax();
    if (bytes > bytesMax) {
      throw new LimitExceeded(
          "an append of %,d bytes; callBytesMax is %,d".formatted(bytes, bytesMax));
    }
  }

  private Supplier<Appended> begin(StreamKey stream, byte[] data) {
    checkBytes(data.length);
    return port().append(List.of(stream), List.of(data));
  }

  @Override
  public Appended append(StreamKey stream, byte[] data) {
    return begin(stream, data).get();
  }

  @Override
  public Appended append(Map<StreamKey, byte[]> data) {
    check(data);
    var sorted = new TreeMap<>(data);
    return port().append(List.copyOf(sorted.keySet()), List.copyOf(sorted.values())).get();
  }

  @Override
  public List<Appended> appendAll(StreamKey stream, List<byte[]> data) {
    int underWayMax = port().appendsMax();
    var appended = new ArrayList<Appended>(data.size());
    var underWay = new ArrayDeque<Supplier<Appended>>();
    for (byte[] one : data) {
      if (underWay.size() == underWayMax) appended.add(underWay.remove().get());
      try {
        underWay.add(begin(stream, one));
      } catch (RuntimeException refused) {
        // An append that is too large beside others waits until they are done.
        boolean alone = underWay.isEmpty();
        while (!underWay.isEmpty()) appended.add(underWay.remove().get());
        if (alone || !(refused instanceof LimitExceeded)) throw refused;
        underWay.add(begin(stream, one));
      }
    }
    while (!underWay.isEmpty()) appended.add(underWay.remove().get());
    return appended;
  }

  @Override
  public CompletableFuture<Appended> appendAsync(StreamKey stream, byte[] data) {
    return begun(() -> {
      checkBytes(data.length);
      return port().appendAsync(List.of(stream), List.of(data));
    });
  }

  @Override
  public CompletableFuture<Appended> appendAsync(Map<StreamKey, byte[]> data) {
    return begun(() -> {
      check(data);
      var sorted = new TreeMap<>(data);
      return port().appendAsync(List.copyOf(sorted.keySet()), List.copyOf(sorted.values()));
    });
  }

  private static CompletableFuture<Appended> begun(Supplier<CompletableFuture<Appended>> append) {
    try {
      return append.get();
    } catch (RuntimeException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  // ---- read by log address

  private static void requireAddress(long address) {
    if (address < 1) {
      throw new IllegalArgumentException("address " + address + "; addresses begin at 1");
    }
  }

  @Override
  public LogSlot read(LogAddress address) {
    return read(List.of(address)).getFirst();
  }

  @Override
  public List<LogSlot> read(List<LogAddress> addresses) {
    for (LogAddress address : addresses) requireAddress(address.counter());
    var budget = new Budget();
    var found = new ArrayList<LogSlot>(addresses.size());
    port()
        .read(
            addresses,
            slot -> {
              if (slot instanceof LogSlot.Written written) written.entries().forEach(budget::take);
              found.add(slot);
            });
    return found;
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    port().scan(from, to, visitor);
  }

  @Override
  public LogAddress tail() {
    return port().tail();
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    requireAddress(address.counter());
    return port().fillHole(address);
  }

  // ---- read by stream address

  @Override
  public Optional<StreamEntry> read(StreamKey stream, long address) {
    List<StreamEntry> found = read(stream, List.of(address));
    return found.isEmpty() ? Optional.empty() : Optional.of(found.getFirst());
  }

  @Override
  public List<StreamEntry> read(StreamKey stream, List<Long> addresses) {
    for (long address : addresses) requireAddress(address);
    var budget = new Budget();
    var found = new ArrayList<StreamEntry>(addresses.size());
    port().read(stream, addresses, entry -> found.add(budget.take(entry)));
    return found;
  }

  @Override
  public List<StreamEntry> read(StreamKey stream, long from, long to) {
    var budget = new Budget();
    var found = new ArrayList<StreamEntry>();
    scan(stream, from, to, entry -> found.add(budget.take(entry)));
    return found;
  }

  @Override
  public List<StreamEntry> readAll(StreamKey stream) {
    return read(stream, Math.max(1, oldest(stream)), Long.MAX_VALUE);
  }

  @Override
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    requireAddress(from);
    port().scan(stream, from, to, visitor);
  }

  @Override
  public long check(StreamKey stream) {
    return port().check(stream);
  }

  @Override
  public long oldest(StreamKey stream) {
    return port().oldest(stream);
  }

  @Override
  public void trim(StreamKey stream, long before) {
    port().trim(stream, before);
  }

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    return port().streamOf(ref);
  }

  // ---- follow

  @Override
  public Follower<LogSlot.Written> follow(LogAddress from) {
    return following(port -> port.follow(from));
  }

  @Override
  public Follower<StreamEntry> follow(StreamKey stream, long from) {
    requireAddress(from);
    return following(port -> port.follow(stream, from));
  }

  private <E> Follower<E> following(Function<Service.Streams, Service.Tail<E>> follow) {
    if (followers.incrementAndGet() > FOLLOWERS_MAX) {
      followers.decrementAndGet();
      throw new LimitExceeded(
          "there are %,d followers already; close some".formatted(FOLLOWERS_MAX));
    }
    try {
      return new SharedFollower<>(follow.apply(port()), followers::decrementAndGet);
    } catch (RuntimeException | Error refused) {
      followers.decrementAndGet();
      throw refused;
    }
  }

  /// The remaining bytes of a list.
  private static final class Budget {
    private long left = READ_BYTES_MAX;

    private StreamEntry take(StreamEntry entry) {
      left -= entry.data().length;
      if (left < 0) {
        throw new LimitExceeded(
            "more than %,d bytes (READ_BYTES_MAX) are read into one list; read a part, or scan"
                .formatted(READ_BYTES_MAX));
      }
      return entry;
    }
  }
}

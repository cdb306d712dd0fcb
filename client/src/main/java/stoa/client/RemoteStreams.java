package stoa.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import stoa.Appended;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.SharedStoa;
import stoa.front.types.Keys;
import stoa.wire.proto.Request;
import stoa.wire.proto.Stream;

/// The streams of a store in a server. Thread-safe.
final class RemoteStreams implements StreamStore {
  private static final int APPEND = 1;
  private static final int READ_LOG = 2;
  private static final int SCAN_LOG = 3;
  private static final int TAIL = 4;
  private static final int READ = 5;
  private static final int SCAN = 6;
  private static final int CHECK = 7;
  private static final int OLDEST = 8;
  private static final int TRIM = 9;
  private static final int FILL_HOLE = 10;
  private static final int FOLLOW = 11;
  private static final int FOLLOW_LOG = 12;

  /// How many bytes one answer has, about.
  private static final int PAGE_BYTES = 1 << 20;

  /// How many log addresses are asked for at once.
  private static final int ADDRESSES_MAX = 1_024;

  private static final int APPENDS_UNDER_WAY_MAX = 256;
  private static final int WAIT_MILLIS = 200;

  private final RemotePart stoa;
  private final int appendBytesMax;
  private final AtomicInteger followers = new AtomicInteger();

  RemoteStreams(RemotePart stoa, int appendBytesMax) {
    this.stoa = stoa;
    this.appendBytesMax = appendBytesMax;
  }

  private Outgoing request(int operation, Encoder arguments, Outgoing.Recovery recovery) {
    var bytes =
        com.google.protobuf.UnsafeByteOperations.unsafeWrap(arguments.array(), 0, arguments.size());
    var stream = Stream.newBuilder().setOperation(operation).setArguments(bytes);
    var request = stoa.requests().timed(Request.newBuilder().setStream(stream));
    return Outgoing.of(request, recovery, arguments.size());
  }

  private Decoder ask(int operation, Encoder arguments) {
    return decoder(stoa.ask(request(operation, arguments, Outgoing.Recovery.READ)));
  }

  private static Decoder decoder(stoa.wire.proto.Answer answer) {
    return new Decoder(answer.getData().toByteArray());
  }

  // ---- append

  private Outgoing appending(Map<StreamKey, byte[]> data) {
    if (data.isEmpty()) throw new IllegalArgumentException("an append names at least one stream");
    if (data.size() > APPEND_STREAMS_MAX) {
      throw new LimitExceeded(
          "an append to %,d streams; an append goes to %,d at most"
              .formatted(data.size(), APPEND_STREAMS_MAX));
    }
    long bytes = 0;
    for (byte[] one : data.values()) bytes += one.length;
    if (bytes > appendBytesMax) {
      throw new LimitExceeded(
          "an append of %,d bytes; callBytesMax is %,d".formatted(bytes, appendBytesMax));
    }
    var out = new Encoder((int) bytes + 32 * data.size()).varint(data.size());
    new TreeMap<>(data).forEach((key, value) -> StreamCodec.key(out, key).sized(value));
    return request(APPEND, out, Outgoing.Recovery.UNKNOWN);
  }

  @Override
  public Appended append(StreamKey stream, byte[] data) {
    return append(Map.of(stream, data));
  }

  @Override
  public Appended append(Map<StreamKey, byte[]> data) {
    return StreamCodec.appended(decoder(stoa.ask(appending(data))));
  }

  @Override
  public List<Appended> appendAll(StreamKey stream, List<byte[]> data) {
    var appended = new ArrayList<Appended>(data.size());
    var underWay = new java.util.ArrayDeque<CompletableFuture<Appended>>();
    for (byte[] one : data) {
      if (underWay.size() == APPENDS_UNDER_WAY_MAX) appended.add(join(underWay.remove()));
      underWay.add(appendAsync(stream, one));
    }
    for (var one : underWay) appended.add(join(one));
    return appended;
  }

  private static Appended join(CompletableFuture<Appended> one) {
    try {
      return one.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) throw cause;
      throw failed;
    }
  }

  @Override
  public CompletableFuture<Appended> appendAsync(StreamKey stream, byte[] data) {
    return appendAsync(Map.of(stream, data));
  }

  @Override
  public CompletableFuture<Appended> appendAsync(Map<StreamKey, byte[]> data) {
    var answer = new CompletableFuture<Appended>();
    try {
      stoa.conversation()
          .begin(
              appending(data),
              settled ->
                  stoa.hand(
                      answer,
                      () ->
                          StreamCodec.appended(decoder(stoa.requests().sound(settled.answer())))));
    } catch (RuntimeException refused) {
      answer.completeExceptionally(refused);
    }
    return answer;
  }

  // ---- read by log address

  @Override
  public LogSlot read(LogAddress address) {
    return read(List.of(address)).getFirst();
  }

  @Override
  public List<LogSlot> read(List<LogAddress> addresses) {
    var budget = new Budget();
    var all = new ArrayList<LogSlot>(addresses.size());
    for (int from = 0; from < addresses.size(); from += ADDRESSES_MAX) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + ADDRESSES_MAX));
      var out = new Encoder(16 * some.size()).varint(some.size());
      for (LogAddress address : some) StreamCodec.log(out, address);
      for (LogSlot slot : StreamCodec.slots(ask(READ_LOG, out))) {
        if (slot instanceof LogSlot.Written written) written.entries().forEach(budget::take);
        all.add(slot);
      }
    }
    return all;
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    LogAddress tail = tail();
    LogAddress end = to.compareTo(tail) < 0 ? to : tail;
    LogAddress next = from;
    while (next.compareTo(end) <= 0) {
      var out = new Encoder(64);
      StreamCodec.log(StreamCodec.log(out, next), end).varint(PAGE_BYTES);
      Decoder in = ask(SCAN_LOG, out);
      for (LogSlot slot : StreamCodec.slots(in)) {
        if (slot instanceof LogSlot.Written written && !visitor.test(written)) return;
      }
      if (in.u8() == 0) return;
      next = StreamCodec.log(in);
    }
  }

  @Override
  public Follower<LogSlot.Written> follow(LogAddress from) {
    return new RemoteFollower<>(
        stoa,
        begun(),
        new RemoteFollower.Source<>() {
          private LogAddress next = from;

          @Override
          public List<LogSlot.Written> read(int waitMillis) {
            var out = StreamCodec.log(new Encoder(48), next).varint(PAGE_BYTES).varint(waitMillis);
            Decoder in = ask(FOLLOW_LOG, out);
            var found = new ArrayList<LogSlot.Written>();
            for (LogSlot slot : StreamCodec.slots(in)) {
              if (slot instanceof LogSlot.Written written) found.add(written);
            }
            next = StreamCodec.log(in);
            return found;
          }
        },
        WAIT_MILLIS);
  }

  private Runnable begun() {
    stoa.conversation().check();
    if (followers.incrementAndGet() > FOLLOWERS_MAX) {
      followers.decrementAndGet();
      throw new LimitExceeded(
          "there are %,d followers already; close some".formatted(FOLLOWERS_MAX));
    }
    return followers::decrementAndGet;
  }

  @Override
  public LogAddress tail() {
    return StreamCodec.log(ask(TAIL, new Encoder(0)));
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    return StreamCodec.slot(ask(FILL_HOLE, StreamCodec.log(new Encoder(24), address)));
  }

  // ---- read by stream address

  private static Encoder of(StreamKey stream) {
    return StreamCodec.key(new Encoder(64), stream);
  }

  private static void requireAddress(long address) {
    if (address < 1) {
      throw new IllegalArgumentException("address " + address + "; addresses begin at 1");
    }
  }

  @Override
  public Optional<StreamEntry> read(StreamKey stream, long address) {
    List<StreamEntry> found = read(stream, List.of(address));
    return found.isEmpty() ? Optional.empty() : Optional.of(found.getFirst());
  }

  @Override
  public List<StreamEntry> read(StreamKey stream, List<Long> addresses) {
    var budget = new Budget();
    var all = new ArrayList<StreamEntry>(addresses.size());
    for (int from = 0; from < addresses.size(); from += ADDRESSES_MAX) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + ADDRESSES_MAX));
      var out = of(stream).varint(some.size());
      for (long address : some) {
        requireAddress(address);
        out.varint(address);
      }
      for (StreamEntry entry : StreamCodec.entries(ask(READ, out))) all.add(budget.take(entry));
    }
    return all;
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
    long end = Math.min(to, check(stream));
    long next = from;
    while (next != 0 && next <= end) {
      Decoder in = ask(SCAN, of(stream).varint(next).varint(end).varint(PAGE_BYTES));
      for (StreamEntry entry : StreamCodec.entries(in)) {
        if (!visitor.test(entry)) return;
      }
      next = in.varint();
    }
  }

  @Override
  public Follower<StreamEntry> follow(StreamKey stream, long from) {
    requireAddress(from);
    return new RemoteFollower<>(
        stoa,
        begun(),
        new RemoteFollower.Source<>() {
          private long next = from;

          @Override
          public List<StreamEntry> read(int waitMillis) {
            var out = of(stream).varint(next).varint(PAGE_BYTES).varint(waitMillis);
            List<StreamEntry> found = StreamCodec.entries(ask(FOLLOW, out));
            if (!found.isEmpty()) next = found.getLast().address() + 1;
            return found;
          }
        },
        WAIT_MILLIS);
  }

  @Override
  public long check(StreamKey stream) {
    return ask(CHECK, of(stream)).varint();
  }

  @Override
  public long oldest(StreamKey stream) {
    return ask(OLDEST, of(stream)).varint();
  }

  @Override
  public void trim(StreamKey stream, long before) {
    var _ = ask(TRIM, of(stream).varint(before));
  }

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    var id = new Key(ref.type(), Keys.encode(ref.key()), ref).stream();
    int group = stoa.service().group(id);
    if (group != stoa.group() && !isOfTheWhole(ref.type())) {
      throw new UnsupportedOperationException(
          ("group %d keeps %s, and streams() has the streams of group %d only; read the calls of the"
                  + " object with history(object).entries(from, to)")
              .formatted(group, ref, stoa.group()));
    }
    return new StreamKey(id.high(), id.low());
  }

  /// Whether the first group keeps all objects of a type.
  private boolean isOfTheWhole(String type) {
    if (type.equals(SharedStoa.BLOBS)) return true;
    try {
      return stoa.types().named(type).shared().isPlaced();
    } catch (NotShareable unknown) {
      return false;
    }
  }

  /// How much a list may still grow.
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

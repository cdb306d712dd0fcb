package stoa.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.wire.Frames;
import stoa.wire.StreamForms;
import stoa.wire.StreamOperation;

/// The operations on streams; `docs/wire.md` lists them. Stateless.
final class StreamCalls {
  private static final int PART_MAX = 16;
  private static final int PAGE_BYTES_MAX = 4 << 20;
  private static final int WAIT_MILLIS_MAX = 1_000;

  private StreamCalls() {}

  /// Performs an operation, and returns its answer.
  static byte[] answer(StreamStore streams, StreamOperation operation, byte[] arguments)
      throws InterruptedException {
    var in = new Decoder(arguments);
    var out = new Encoder(256);
    switch (operation) {
      case READ_LOG -> StreamForms.slots(out, parts(logs(in), streams::read, StreamCalls::bytes));
      case SCAN_LOG -> scanLog(streams, in, out);
      case TAIL -> StreamForms.log(out, streams.tail());
      case READ -> {
        StreamKey key = StreamForms.key(in);
        StreamForms.entries(
            out, parts(addresses(in), some -> streams.read(key, some), StreamCalls::bytes));
      }
      case SCAN -> scan(streams, in, out);
      case CHECK -> out.varint(streams.check(StreamForms.key(in)));
      case OLDEST -> out.varint(streams.oldest(StreamForms.key(in)));
      case TRIM -> {
        StreamKey key = changed(StreamForms.key(in));
        streams.trim(key, in.varint());
        out.varint(streams.oldest(key));
      }
      case FILL_HOLE -> StreamForms.slot(out, streams.fillHole(StreamForms.log(in)));
      case FOLLOW -> follow(streams, in, out);
      case FOLLOW_LOG -> followLog(streams, in, out);
      case APPEND -> throw new IllegalStateException(operation + " is asynchronous");
    }
    return out.toBytes();
  }

  /// Begins to append, and returns the future answer.
  static CompletableFuture<byte[]> append(StreamStore streams, byte[] arguments) {
    return streams
        .appendAsync(data(new Decoder(arguments)))
        .thenApply(appended -> {
          var out = new Encoder(64);
          StreamForms.appended(out, appended);
          return out.toBytes();
        });
  }

  // ---- operations

  private static Map<StreamKey, byte[]> data(Decoder in) {
    var data = new LinkedHashMap<StreamKey, byte[]>();
    for (int left = in.count(); left > 0; left--)
      data.put(changed(StreamForms.key(in)), in.sized());
    return data;
  }

  /// Returns a stream that clients may change.
  private static StreamKey changed(StreamKey stream) {
    if (!AuditEntry.isOne(stream)) return stream;
    throw new IllegalArgumentException(
        "stream " + stream + " is the audit log, which servers alone write; read it");
  }

  private static List<LogAddress> logs(Decoder in) {
    var logs = new ArrayList<LogAddress>();
    for (int left = in.count(); left > 0; left--) logs.add(StreamForms.log(in));
    return logs;
  }

  private static List<Long> addresses(Decoder in) {
    var addresses = new ArrayList<Long>();
    for (int left = in.count(); left > 0; left--) addresses.add(in.varint());
    return addresses;
  }

  private static int bytesMax(Decoder in) {
    return Math.clamp(in.varint(), 1, PAGE_BYTES_MAX);
  }

  private static Duration waitMax(Decoder in) {
    return Duration.ofMillis(Math.clamp(in.varint(), 0, WAIT_MILLIS_MAX));
  }

  private static int bytes(LogSlot slot) {
    int sum = 64;
    if (slot instanceof LogSlot.Written written) {
      for (StreamEntry entry : written.entries()) sum += bytes(entry);
    }
    return sum;
  }

  private static int bytes(StreamEntry entry) {
    return entry.data().length + 64;
  }

  /// Reads the contents of some addresses, a few at a time: an address that is named a million
  /// times is not in memory as often.
  private static <A, F> List<F> parts(
      List<A> addresses, Function<List<A>, List<F>> read, ToIntFunction<F> bytes) {
    var found = new ArrayList<F>();
    long sum = 0;
    for (int from = 0; from < addresses.size(); from += PART_MAX) {
      for (F one :
          read.apply(addresses.subList(from, Math.min(from + PART_MAX, addresses.size())))) {
        found.add(one);
        sum += bytes.applyAsInt(one);
      }
      if (sum > 2 * Frames.BYTES_MAX) {
        throw new LimitExceeded(
            "what is read takes more than a frame has, which is "
                + Frames.BYTES_MAX
                + " bytes; ask for less at once");
      }
    }
    return found;
  }

  private static void scanLog(StreamStore streams, Decoder in, Encoder out) {
    LogAddress from = StreamForms.log(in);
    LogAddress to = StreamForms.log(in);
    int most = bytesMax(in);
    var found = new ArrayList<LogSlot>();
    var bytes = new int[1];
    streams.scan(
        from,
        to,
        written -> {
          found.add(written);
          bytes[0] += bytes(written);
          return bytes[0] < most;
        });
    StreamForms.slots(out, found);
    boolean more = bytes[0] >= most;
    out.u8(more ? 1 : 0);
    StreamForms.log(
        out, found.isEmpty() ? from : after(((LogSlot.Written) found.getLast()).address()));
  }

  private static LogAddress after(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  private static void scan(StreamStore streams, Decoder in, Encoder out) {
    StreamKey key = StreamForms.key(in);
    long from = in.varint();
    long to = in.varint();
    int most = bytesMax(in);
    var found = new ArrayList<StreamEntry>();
    var bytes = new int[1];
    streams.scan(
        key,
        from,
        to,
        entry -> {
          found.add(entry);
          bytes[0] += bytes(entry);
          return bytes[0] < most;
        });
    StreamForms.entries(out, found);
    out.varint(bytes[0] < most ? 0 : found.getLast().address() + 1);
  }

  private static void follow(StreamStore streams, Decoder in, Encoder out)
      throws InterruptedException {
    StreamKey key = StreamForms.key(in);
    long from = in.varint();
    int most = bytesMax(in);
    Duration wait = waitMax(in);
    var found = new ArrayList<StreamEntry>();
    int bytes = 0;
    try (Follower<StreamEntry> follower = streams.follow(key, from)) {
      Optional<StreamEntry> next = follower.next(wait);
      while (next.isPresent()) {
        found.add(next.get());
        bytes += bytes(next.get());
        if (bytes >= most) break;
        next = follower.poll();
      }
    }
    StreamForms.entries(out, found);
  }

  private static void followLog(StreamStore streams, Decoder in, Encoder out)
      throws InterruptedException {
    LogAddress from = StreamForms.log(in);
    int most = bytesMax(in);
    Duration wait = waitMax(in);
    var found = new ArrayList<LogSlot>();
    LogAddress behind = from;
    int bytes = 0;
    try (Follower<LogSlot.Written> follower = streams.follow(from)) {
      Optional<LogSlot.Written> next = follower.next(wait);
      while (next.isPresent()) {
        found.add(next.get());
        behind = after(next.get().address());
        bytes += bytes(next.get());
        if (bytes >= most) break;
        next = follower.poll();
      }
    }
    StreamForms.slots(out, found);
    StreamForms.log(out, behind);
  }
}

package stoa.node;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import stoa.Appended;
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

/// The operations on streams; `docs/wire.md` lists them. Stateless.
final class StreamCalls {
  static final int APPEND = 1;
  private static final int TRIM = 9;
  private static final int FOLLOW = 11;
  private static final int FOLLOW_LOG = 12;
  private static final int PART_MAX = 16;
  private static final int PAGE_BYTES_MAX = 4 << 20;
  private static final int WAIT_MILLIS_MAX = 1_000;

  private StreamCalls() {}

  /// Returns whether an operation changes something.
  static boolean isChange(int operation) {
    return operation == APPEND || operation == TRIM;
  }

  /// Returns whether an operation waits for later entries.
  static boolean isFollow(int operation) {
    return operation == FOLLOW || operation == FOLLOW_LOG;
  }

  /// Performs an operation, and returns its answer.
  static byte[] answer(StreamStore streams, int operation, byte[] arguments)
      throws InterruptedException {
    var in = new Decoder(arguments);
    var out = new Encoder(256);
    switch (operation) {
      case 2 -> slots(out, parts(logs(in), streams::read, StreamCalls::bytes));
      case 3 -> scanLog(streams, in, out);
      case 4 -> log(out, streams.tail());
      case 5 -> {
        StreamKey key = key(in);
        entries(out, parts(addresses(in), some -> streams.read(key, some), StreamCalls::bytes));
      }
      case 6 -> scan(streams, in, out);
      case 7 -> out.varint(streams.check(key(in)));
      case 8 -> out.varint(streams.oldest(key(in)));
      case TRIM -> {
        StreamKey key = key(in);
        streams.trim(key, in.varint());
        out.varint(streams.oldest(key));
      }
      case 10 -> slot(out, streams.fillHole(log(in)));
      case FOLLOW -> follow(streams, in, out);
      case FOLLOW_LOG -> followLog(streams, in, out);
      default ->
          throw new IllegalArgumentException("operation " + operation + " on streams is not known");
    }
    return out.toBytes();
  }

  /// Begins to append, and returns the future answer.
  static CompletableFuture<byte[]> append(StreamStore streams, byte[] arguments) {
    return streams
        .appendAsync(data(new Decoder(arguments)))
        .thenApply(appended -> {
          var out = new Encoder(64);
          appended(out, appended);
          return out.toBytes();
        });
  }

  // ---- operations

  private static Map<StreamKey, byte[]> data(Decoder in) {
    var data = new LinkedHashMap<StreamKey, byte[]>();
    for (int left = in.count(); left > 0; left--) data.put(key(in), in.sized());
    return data;
  }

  private static List<LogAddress> logs(Decoder in) {
    var logs = new ArrayList<LogAddress>();
    for (int left = in.count(); left > 0; left--) logs.add(log(in));
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
    LogAddress from = log(in);
    LogAddress to = log(in);
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
    slots(out, found);
    boolean more = bytes[0] >= most;
    out.u8(more ? 1 : 0);
    log(out, found.isEmpty() ? from : after(((LogSlot.Written) found.getLast()).address()));
  }

  private static LogAddress after(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  private static void scan(StreamStore streams, Decoder in, Encoder out) {
    StreamKey key = key(in);
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
    entries(out, found);
    out.varint(bytes[0] < most ? 0 : found.getLast().address() + 1);
  }

  private static void follow(StreamStore streams, Decoder in, Encoder out)
      throws InterruptedException {
    StreamKey key = key(in);
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
    entries(out, found);
  }

  private static void followLog(StreamStore streams, Decoder in, Encoder out)
      throws InterruptedException {
    LogAddress from = log(in);
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
    slots(out, found);
    log(out, behind);
  }

  // ---- forms

  private static void key(Encoder out, StreamKey key) {
    out.i64(key.high()).i64(key.low());
  }

  private static StreamKey key(Decoder in) {
    return new StreamKey(in.i64(), in.i64());
  }

  private static void log(Encoder out, LogAddress address) {
    out.varint(address.epoch()).varint(address.counter());
  }

  private static LogAddress log(Decoder in) {
    return new LogAddress(in.varint(), in.varint());
  }

  private static void appended(Encoder out, Appended appended) {
    log(out, appended.log());
    out.varint(appended.places().size());
    for (Appended.Place place : appended.places()) {
      key(out, place.stream());
      out.varint(place.address());
    }
  }

  private static void entry(Encoder out, StreamEntry entry) {
    key(out, entry.stream());
    out.varint(entry.address());
    log(out, entry.log());
    out.varint(ChronoUnit.MICROS.between(Instant.EPOCH, entry.time()));
    out.u8(
        switch (entry.kind()) {
          case DATA -> 0;
          case OBJECT -> 1;
          case INTERNAL -> 2;
        });
    out.sized(entry.data());
  }

  private static void entries(Encoder out, List<StreamEntry> entries) {
    out.varint(entries.size());
    for (StreamEntry entry : entries) entry(out, entry);
  }

  private static void slots(Encoder out, List<LogSlot> slots) {
    out.varint(slots.size());
    for (LogSlot slot : slots) slot(out, slot);
  }

  private static void slot(Encoder out, LogSlot slot) {
    switch (slot) {
      case LogSlot.Written(LogAddress address, List<StreamEntry> entries) -> {
        log(out.u8(0), address, entries);
      }
      case LogSlot.Hole(LogAddress address) -> log(out.u8(1), address);
      case LogSlot.Trimmed(LogAddress address) -> log(out.u8(2), address);
      case LogSlot.NotYetWritten(LogAddress address) -> log(out.u8(3), address);
    }
  }

  private static void log(Encoder out, LogAddress address, List<StreamEntry> entries) {
    log(out, address);
    entries(out, entries);
  }
}

package stoa.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
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
import stoa.TooOld;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.ChangeQuery;
import stoa.objects.ObjectService;
import stoa.objects.StreamService;
import stoa.wire.FrameLimits;
import stoa.wire.StreamForms;
import stoa.wire.StreamOperation;

/// The operations on streams; `docs/wire.md` lists them. Stateless.
final class StreamCalls {
  private static final int PART_MAX = 16;
  private static final int PAGE_BYTES_MAX = 4 << 20;
  private static final int WAIT_MILLIS_MAX = 1_000;

  private StreamCalls() {}

  /// Performs an operation, and returns its answer.
  static byte[] answer(ObjectService objects, StreamOperation operation, byte[] arguments)
      throws InterruptedException {
    StreamService service = objects.streams();
    StreamStore streams = service.all();
    var in = new Decoder(arguments);
    var out = new Encoder(256);
    switch (operation) {
      case READ_LOG -> StreamForms.slots(out, parts(logs(in), streams::read, StreamCalls::bytes));
      case SCAN_LOG -> scanLog(streams, in, out);
      case TAIL -> StreamForms.log(out, streams.tail());
      case READ -> {
        StreamKey key = service.require(StreamForms.key(in));
        StreamForms.entries(
            out, parts(addresses(in), some -> streams.read(key, some), StreamCalls::bytes));
      }
      case SCAN -> scan(streams, service.require(StreamForms.key(in)), in, out);
      case CHECK -> out.varint(streams.check(service.require(StreamForms.key(in))));
      case OLDEST -> out.varint(streams.oldest(service.require(StreamForms.key(in))));
      case TRIM -> {
        StreamKey key = service.require(changed(StreamForms.key(in)));
        streams.trim(key, in.varint());
        out.varint(streams.oldest(key));
      }
      case FILL_HOLE -> StreamForms.slot(out, streams.fillHole(StreamForms.log(in)));
      case FOLLOW -> follow(streams, service.require(StreamForms.key(in)), in, out);
      case FOLLOW_LOG -> followLog(streams, in, out);
      case HAS -> {
        for (StreamKey key : keys(in)) out.u8(service.has(key) ? 1 : 0);
      }
      case PLACES -> {
        LogAddress log = StreamForms.log(in);
        StreamForms.places(out, service.appended(keys(in), log));
      }
      case CHANGES -> {
        LogAddress from = StreamForms.log(in);
        LogAddress to = StreamForms.log(in);
        int most = bytesMax(in);
        objects.changes().scan(ChangeQuery.read(in), from, to, most, out);
      }
      case FOLLOW_CHANGES -> {
        LogAddress from = StreamForms.log(in);
        int most = bytesMax(in);
        long wait = waitMax(in).toMillis();
        objects.changes().follow(ChangeQuery.read(in), from, most, wait, out);
      }
      case PRESENT -> {
        LogAddress at = StreamForms.log(in);
        String type = in.text();
        long from = in.varint();
        int most = bytesMax(in);
        objects.changes().present(ChangeQuery.read(in), at, type, from, most, out);
      }
      case SUBSCRIBE -> objects.changes().subscribe(in.text(), in.varint(), out);
      case ACKNOWLEDGE -> objects.changes().acknowledge(in.text(), StreamForms.log(in));
      case SUBSCRIPTIONS -> objects.changes().subscriptions(out);
      case UNSUBSCRIBE -> out.u8(objects.changes().unsubscribe(in.text()) ? 1 : 0);
      case APPEND -> throw new IllegalStateException(operation + " is asynchronous");
    }
    return out.toBytes();
  }

  /// Begins to append, and returns the future answer.
  static CompletableFuture<byte[]> append(StreamService streams, byte[] arguments, CallId id) {
    return streams.append(data(new Decoder(arguments)), id).thenApply(StreamCalls::answer);
  }

  /// Appends like [#append], unless an earlier server has done so.
  ///
  /// @param since a log counter in front of the append
  static CompletableFuture<byte[]> appendAgain(
      StreamService streams, byte[] arguments, CallId id, long since) {
    Appended earlier;
    try {
      earlier = streams.earlier(List.copyOf(data(new Decoder(arguments)).keySet()), id, since);
    } catch (TooOld old) {
      throw new UnknownOutcome("what became of the append is too long ago to be known", old);
    }
    return earlier == null
        ? append(streams, arguments, id)
        : CompletableFuture.completedFuture(answer(earlier));
  }

  private static byte[] answer(Appended appended) {
    var out = new Encoder(64);
    StreamForms.appended(out, appended);
    return out.toBytes();
  }

  /// Appends as part of a transaction.
  ///
  /// @param to receives each stream and its entry
  static void append(byte[] arguments, BiConsumer<StreamKey, byte[]> to) {
    data(new Decoder(arguments)).forEach(to);
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

  private static List<StreamKey> keys(Decoder in) {
    var keys = new ArrayList<StreamKey>();
    for (int left = in.count(); left > 0; left--) keys.add(StreamForms.key(in));
    return keys;
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
      if (sum > 2 * FrameLimits.BYTES_MAX) {
        throw new LimitExceeded(
            "what is read takes more than a frame has, which is "
                + FrameLimits.BYTES_MAX
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

  private static void scan(StreamStore streams, StreamKey key, Decoder in, Encoder out) {
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

  private static void follow(StreamStore streams, StreamKey key, Decoder in, Encoder out)
      throws InterruptedException {
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

package stoa.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.Service;
import stoa.front.SharedStoa;
import stoa.front.types.Keys;
import stoa.wire.StreamForms;
import stoa.wire.StreamOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Request;
import stoa.wire.proto.Stream;

/// The port to the streams of a store in a server. Thread-safe.
final class RemoteStreams implements Service.Streams {
  // The approximate bytes of one answer.
  private static final int PAGE_BYTES = 1 << 20;

  // The number of log addresses in one question.
  private static final int ADDRESSES_MAX = 1_024;

  private static final int APPENDS_MAX = 256;

  private final RemotePart stoa;

  RemoteStreams(RemotePart stoa) {
    this.stoa = stoa;
  }

  private Outgoing request(
      StreamOperation operation, Encoder arguments, Outgoing.Recovery recovery) {
    var bytes =
        com.google.protobuf.UnsafeByteOperations.unsafeWrap(arguments.array(), 0, arguments.size());
    var stream = Stream.newBuilder().setOperation(operation.number()).setArguments(bytes);
    var request = stoa.requests().timed(Request.newBuilder().setStream(stream));
    return Outgoing.of(request, recovery, arguments.size());
  }

  private Decoder ask(StreamOperation operation, Encoder arguments) {
    return decoder(stoa.ask(request(operation, arguments, Outgoing.Recovery.READ)));
  }

  private static Decoder decoder(Answer answer) {
    return new Decoder(answer.getData().toByteArray());
  }

  // ---- append

  @Override
  public int appendsMax() {
    return APPENDS_MAX;
  }

  private Outgoing appending(List<StreamKey> streams, List<byte[]> data) {
    int bytes = 0;
    for (byte[] one : data) bytes += one.length;
    var out = new Encoder(bytes + 32 * data.size()).varint(data.size());
    for (int i = 0; i < data.size(); i++) StreamForms.key(out, streams.get(i)).sized(data.get(i));
    return request(StreamOperation.APPEND, out, Outgoing.Recovery.UNKNOWN);
  }

  @Override
  public Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data) {
    Outgoing outgoing = appending(streams, data);
    stoa.conversation().begin(outgoing);
    return () -> appended(stoa.conversation().await(outgoing));
  }

  private Appended appended(Answer answer) {
    return StreamForms.appended(decoder(stoa.requests().sound(answer)));
  }

  @Override
  public CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data) {
    var answer = new CompletableFuture<Appended>();
    stoa.conversation()
        .begin(
            appending(streams, data),
            settled -> stoa.hand(answer, () -> appended(settled.answer())));
    return answer;
  }

  // ---- read by log address

  @Override
  public void read(List<LogAddress> addresses, Consumer<LogSlot> reader) {
    for (int from = 0; from < addresses.size(); from += ADDRESSES_MAX) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + ADDRESSES_MAX));
      var out = new Encoder(16 * some.size()).varint(some.size());
      for (LogAddress address : some) StreamForms.log(out, address);
      StreamForms.slots(ask(StreamOperation.READ_LOG, out)).forEach(reader);
    }
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    LogAddress tail = tail();
    LogAddress end = to.compareTo(tail) < 0 ? to : tail;
    LogAddress next = from;
    while (next.compareTo(end) <= 0) {
      var out = new Encoder(64);
      StreamForms.log(StreamForms.log(out, next), end).varint(PAGE_BYTES);
      Decoder in = ask(StreamOperation.SCAN_LOG, out);
      for (LogSlot slot : StreamForms.slots(in)) {
        if (slot instanceof LogSlot.Written written && !visitor.test(written)) return;
      }
      if (in.u8() == 0) return;
      next = StreamForms.log(in);
    }
  }

  @Override
  public RemoteTail<LogSlot.Written> follow(LogAddress from) {
    return new RemoteTail<>(
        stoa,
        new RemoteTail.Source<>() {
          private LogAddress next = from;

          @Override
          public List<LogSlot.Written> read(int waitMillis) {
            var out = StreamForms.log(new Encoder(48), next).varint(PAGE_BYTES).varint(waitMillis);
            Decoder in = ask(StreamOperation.FOLLOW_LOG, out);
            var found = new ArrayList<LogSlot.Written>();
            for (LogSlot slot : StreamForms.slots(in)) {
              if (slot instanceof LogSlot.Written written) found.add(written);
            }
            next = StreamForms.log(in);
            return found;
          }
        });
  }

  @Override
  public LogAddress tail() {
    return StreamForms.log(ask(StreamOperation.TAIL, new Encoder(0)));
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    return StreamForms.slot(
        ask(StreamOperation.FILL_HOLE, StreamForms.log(new Encoder(24), address)));
  }

  // ---- read by stream address

  private static Encoder of(StreamKey stream) {
    return StreamForms.key(new Encoder(64), stream);
  }

  @Override
  public void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader) {
    for (int from = 0; from < addresses.size(); from += ADDRESSES_MAX) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + ADDRESSES_MAX));
      var out = of(stream).varint(some.size());
      for (long address : some) out.varint(address);
      StreamForms.entries(ask(StreamOperation.READ, out)).forEach(reader);
    }
  }

  @Override
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    long end = Math.min(to, check(stream));
    long next = from;
    while (next != 0 && next <= end) {
      Decoder in =
          ask(StreamOperation.SCAN, of(stream).varint(next).varint(end).varint(PAGE_BYTES));
      for (StreamEntry entry : StreamForms.entries(in)) {
        if (!visitor.test(entry)) return;
      }
      next = in.varint();
    }
  }

  @Override
  public RemoteTail<StreamEntry> follow(StreamKey stream, long from) {
    return new RemoteTail<>(
        stoa,
        new RemoteTail.Source<>() {
          private long next = from;

          @Override
          public List<StreamEntry> read(int waitMillis) {
            var out = of(stream).varint(next).varint(PAGE_BYTES).varint(waitMillis);
            List<StreamEntry> found = StreamForms.entries(ask(StreamOperation.FOLLOW, out));
            if (!found.isEmpty()) next = found.getLast().address() + 1;
            return found;
          }
        });
  }

  @Override
  public long check(StreamKey stream) {
    return ask(StreamOperation.CHECK, of(stream)).varint();
  }

  @Override
  public long oldest(StreamKey stream) {
    return ask(StreamOperation.OLDEST, of(stream)).varint();
  }

  @Override
  public void trim(StreamKey stream, long before) {
    var _ = ask(StreamOperation.TRIM, of(stream).varint(before));
  }

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    var id = new Key(ref.type(), Keys.encode(ref.key()), ref).stream();
    int group = stoa.service().group(id);
    if (group != stoa.group() && !isOfTheWhole(ref.type())) {
      throw new UnsupportedOperationException(
          ("group %d keeps %s, and streams() has the streams of group %d only; read the calls of"
                  + " the object with history(object).entries(from, to)")
              .formatted(group, ref, stoa.group()));
    }
    return new StreamKey(id.high(), id.low());
  }

  /// Returns whether the first group keeps all objects of a type.
  private boolean isOfTheWhole(String type) {
    if (type.equals(SharedStoa.BLOBS)) return true;
    try {
      return stoa.types().named(type).shared().isPlaced();
    } catch (NotShareable unknown) {
      return false;
    }
  }
}

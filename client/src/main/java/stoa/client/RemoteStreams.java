package stoa.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.Service;
import stoa.front.types.Keys;
import stoa.wire.StreamForms;
import stoa.wire.StreamOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Request;
import stoa.wire.proto.Stream;

/// The port to the streams of a part of a store in a server: of all streams when one group keeps
/// the store. Thread-safe.
final class RemoteStreams implements Service.Streams {
  // The approximate bytes of one answer.
  static final int PAGE_BYTES = 1 << 20;

  // The number of log addresses in one question.
  static final int ADDRESSES_MAX = 1_024;

  private static final int APPENDS_MAX = 256;

  private final RemotePart stoa;

  RemoteStreams(RemotePart stoa) {
    this.stoa = stoa;
  }

  private Outgoing request(
      StreamOperation operation, Encoder arguments, Outgoing.Recovery recovery) {
    return Outgoing.of(request(operation, arguments), recovery, arguments.size());
  }

  private Request.Builder request(StreamOperation operation, Encoder arguments) {
    var bytes =
        com.google.protobuf.UnsafeByteOperations.unsafeWrap(arguments.array(), 0, arguments.size());
    var stream = Stream.newBuilder().setOperation(operation.number()).setArguments(bytes);
    return stoa.requests().timed(Request.newBuilder().setStream(stream));
  }

  private Decoder ask(StreamOperation operation, Encoder arguments) {
    return decoder(stoa.ask(request(operation, arguments, Outgoing.Recovery.READ)));
  }

  /// A question whose answer is on its way.
  ///
  /// @param answer completes with the answer, or with the reason why there is none
  record PendingAnswer(RemotePart stoa, CompletableFuture<Answer> answer) {
    /// Waits for the answer, and returns it.
    Decoder join() {
      try {
        return decoder(stoa.requests().sound(answer.join()));
      } catch (CompletionException failed) {
        if (failed.getCause() instanceof RuntimeException told) throw told;
        throw failed;
      }
    }
  }

  /// Asks without waiting.
  PendingAnswer begin(StreamOperation operation, Encoder arguments) {
    var answer = new CompletableFuture<Answer>();
    stoa.conversation()
        .begin(
            request(operation, arguments, Outgoing.Recovery.READ),
            settled -> {
              try {
                answer.complete(settled.answer());
              } catch (RuntimeException failed) {
                answer.completeExceptionally(failed);
              }
            });
    return new PendingAnswer(stoa, answer);
  }

  private static Decoder decoder(Answer answer) {
    return new Decoder(answer.getData().toByteArray());
  }

  // ---- append

  @Override
  public int appendsMax() {
    return APPENDS_MAX;
  }

  private static Encoder encoded(List<StreamKey> streams, List<byte[]> data) {
    int bytes = 0;
    for (byte[] one : data) bytes += one.length;
    var out = new Encoder(bytes + 32 * data.size()).varint(data.size());
    for (int i = 0; i < data.size(); i++) StreamForms.key(out, streams.get(i)).sized(data.get(i));
    return out;
  }

  /// Returns the request for an append. The log has its entries under the number of the request, so
  /// that a later server finds them.
  private Outgoing appending(List<StreamKey> streams, List<byte[]> data) {
    return request(StreamOperation.APPEND, encoded(streams, data), Outgoing.Recovery.LOOKED_UP);
  }

  @Override
  public Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data) {
    return append(streams, data, () -> {});
  }

  /// Begins to append like the other method.
  ///
  /// @param settled runs when the append is settled; it waits for nothing
  Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data, Runnable settled) {
    Outgoing outgoing = appending(streams, data);
    outgoing.whenSettled(_ -> settled.run());
    stoa.conversation().begin(outgoing);
    return () -> appended(stoa.conversation().await(outgoing));
  }

  /// Begins to append as part of a transaction.
  static Outgoing append(Branch branch, List<StreamKey> streams, List<byte[]> data) {
    Encoder out = encoded(streams, data);
    return branch.append(branch.stoa().streams().request(StreamOperation.APPEND, out), out.size());
  }

  /// Asks for the stream addresses of the entries that a transaction has appended at a log address.
  PendingAnswer places(List<StreamKey> streams, LogAddress log) {
    return begin(StreamOperation.PLACES, keys(StreamForms.log(new Encoder(64), log), streams));
  }

  private static Encoder keys(Encoder out, List<StreamKey> streams) {
    out.varint(streams.size());
    for (StreamKey stream : streams) StreamForms.key(out, stream);
    return out;
  }

  /// Returns which of some streams this part has.
  List<StreamKey> had(List<StreamKey> streams) {
    var had = new ArrayList<StreamKey>();
    for (int from = 0; from < streams.size(); from += ADDRESSES_MAX) {
      var some = streams.subList(from, Math.min(streams.size(), from + ADDRESSES_MAX));
      Decoder in = ask(StreamOperation.HAS, keys(new Encoder(16 * some.size() + 8), some));
      for (StreamKey stream : some) if (in.u8() == 1) had.add(stream);
    }
    return had;
  }

  private Appended appended(Answer answer) {
    return StreamForms.appended(decoder(stoa.requests().sound(answer)));
  }

  @Override
  public CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data) {
    return appendAsync(streams, data, () -> {});
  }

  /// Begins to append like the other method.
  ///
  /// @param over runs when the append is settled; it waits for nothing
  CompletableFuture<Appended> appendAsync(
      List<StreamKey> streams, List<byte[]> data, Runnable over) {
    var answer = new CompletableFuture<Appended>();
    stoa.conversation()
        .begin(
            appending(streams, data),
            settled -> {
              over.run();
              stoa.hand(answer, () -> appended(settled.answer()));
            });
    return answer;
  }

  // ---- read by log address

  @Override
  public void read(List<LogAddress> addresses, Consumer<LogSlot> reader) {
    for (int from = 0; from < addresses.size(); from += ADDRESSES_MAX) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + ADDRESSES_MAX));
      StreamForms.slots(slots(some).join()).forEach(reader);
    }
  }

  /// Asks for the contents of at most [#ADDRESSES_MAX] log addresses.
  PendingAnswer slots(List<LogAddress> addresses) {
    var out = new Encoder(16 * addresses.size()).varint(addresses.size());
    for (LogAddress address : addresses) StreamForms.log(out, address);
    return begin(StreamOperation.READ_LOG, out);
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    LogAddress tail = tail();
    LogAddress end = to.compareTo(tail) < 0 ? to : tail;
    LogAddress next = from;
    while (next.compareTo(end) <= 0) {
      Decoder in = page(next, end).join();
      for (LogSlot slot : StreamForms.slots(in)) {
        if (slot instanceof LogSlot.Written written && !visitor.test(written)) return;
      }
      if (in.u8() == 0) return;
      next = StreamForms.log(in);
    }
  }

  /// Asks for the first part of the log from one address to another, both inclusive.
  PendingAnswer page(LogAddress from, LogAddress to) {
    var out = new Encoder(64);
    StreamForms.log(StreamForms.log(out, from), to).varint(PAGE_BYTES);
    return begin(StreamOperation.SCAN_LOG, out);
  }

  /// Asks for later entries of the log, for which the server waits a little.
  PendingAnswer later(LogAddress from, int waitMillis) {
    var out = StreamForms.log(new Encoder(48), from).varint(PAGE_BYTES).varint(waitMillis);
    return begin(StreamOperation.FOLLOW_LOG, out);
  }

  /// Returns the questions about the log of this part, for a reader of the logs of all.
  MergedLog.Source<LogSlot.Written> log() {
    return new MergedLog.Source<>() {
      @Override
      public PendingAnswer later(LogAddress from, int waitMillis) {
        return RemoteStreams.this.later(from, waitMillis);
      }

      @Override
      public PendingAnswer page(LogAddress from, LogAddress to) {
        return RemoteStreams.this.page(from, to);
      }

      @Override
      public List<LogSlot.Written> contents(Decoder in) {
        var found = new ArrayList<LogSlot.Written>();
        for (LogSlot slot : StreamForms.slots(in)) {
          if (slot instanceof LogSlot.Written written) found.add(written);
        }
        return found;
      }

      @Override
      public LogAddress address(LogSlot.Written content) {
        return content.address();
      }

      @Override
      public LogSlot.Written joined(List<LogSlot.Written> parts) {
        return RemoteStreams.joined(parts);
      }
    };
  }

  /// Returns the whole content of an address of which several groups have parts.
  static LogSlot.Written joined(List<LogSlot.Written> slots) {
    if (slots.size() == 1) return slots.getFirst();
    var entries = new ArrayList<StreamEntry>();
    for (LogSlot.Written slot : slots) entries.addAll(slot.entries());
    // The entries of one append come in the order of the keys. The sort leaves other entries in the
    // order of their groups.
    if (entries.stream().allMatch(entry -> entry.kind() == StreamEntry.Kind.DATA)) {
      entries.sort(Comparator.comparing(StreamEntry::stream));
    }
    return new LogSlot.Written(slots.getFirst().address(), entries);
  }

  @Override
  public RemoteTail<LogSlot.Written> follow(LogAddress from) {
    return new RemoteTail<>(
        stoa,
        new RemoteTail.Source<>() {
          private LogAddress next = from;

          @Override
          public List<LogSlot.Written> read(int waitMillis) {
            Decoder in = later(next, waitMillis).join();
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
    return new StreamKey(id.high(), id.low());
  }
}

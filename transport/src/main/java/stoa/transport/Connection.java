package stoa.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// One end of a connection: its streams, and the bytes that stand for them. It decides and does no
/// input or output. Thread-safe, but one thread at a time calls [#received], [#tick] and [#lost].
public final class Connection {
  /*
   * Sending: what is queued leaves with the next fill, which the wire calls after it was told to
   * flush. Frames that concern the connection come first, then the streams in turn, a frame each.
   *
   * Receiving: the wire's thread reads the frames and calls the receivers. No receiver is called
   * under the lock.
   *
   * Credit counts the bytes of frames, heads included, so that empty messages count as well. A
   * receiver allows a window beyond what it has consumed; for a message that is larger than the
   * window it allows more as that comes, as long as no other message waits. So a stream holds at
   * most one message and one and a half windows.
   */

  /// The bytes of a connection, as a socket or a simulated network moves them.
  interface Wire {
    /// Has [#fill] called soon, on any thread, one at a time.
    void flush();

    /// Runs a task on the thread that reads.
    void execute(Runnable task);

    /// Ends the connection; [#lost] follows on the thread that reads.
    void cut(Status why);

    /// Returns the time, in nanoseconds.
    long nanoTime();

    /// Returns the two ends.
    Peer peer();
  }

  private static final long CREDIT_MAX = 1L << 40;

  // Beyond that the other end does not read.
  private static final int CONTROL_BYTES_MAX = 1 << 20;

  private final Wire wire;
  private final ConnectionLimits limits;

  // Of an end that takes streams; null at a client.
  private final @Nullable StreamAcceptor service;

  // Learns of the first stream.
  private final Runnable begun;

  private final CompletableFuture<Void> end = new CompletableFuture<>();

  // Guarded by this.
  private final Map<Integer, Stream> streams = new HashMap<>();
  private final ArrayDeque<byte[]> control = new ArrayDeque<>();
  private final ArrayDeque<Stream> turns = new ArrayDeque<>();
  private int controlBytes;
  private int lastNumber;
  private boolean connected;

  // Whether the other end is known to speak as this one. A server says nothing before, and streams
  // of a client are not ready.
  private boolean met;

  private boolean pongDue;
  private @Nullable Status goodbye;
  private boolean heardGoodbye;
  private boolean closing;
  private @Nullable Status lost;
  private @Nullable Status heardReason;
  private long closingNanos;
  private long emptySinceNanos;
  private boolean saidFirst;

  // Of the thread that reads.
  private boolean heardFirst;
  private boolean deaf;
  private volatile long heardNanos;
  private long askedNanos;

  private static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message);
    }
  }

  /// Creates an end.
  ///
  /// @param service takes the streams of the other end; null at a client
  /// @param begun learns when the other end begins its first stream
  Connection(Wire wire, ConnectionLimits limits, @Nullable StreamAcceptor service, Runnable begun) {
    this.wire = wire;
    this.limits = limits;
    this.service = service;
    this.begun = begun;
    heardNanos = wire.nanoTime();
    emptySinceNanos = heardNanos;
    connected = service != null;
  }

  /// Returns the ends of the connection.
  public Peer peer() {
    return wire.peer();
  }

  /// Begins a stream. Does not wait; on a connection that is over, the receiver learns so soon.
  public Stream open(String method, Map<String, String> headers, Receiver receiver) {
    if (service != null) throw new IllegalStateException("the other end begins streams");
    var head = new Encoder(64).text(method).varint(headers.size());
    headers.forEach((name, value) -> head.text(name).text(value));
    if (head.size() > Frames.HEADER_BYTES_MAX || headers.size() > Frames.HEADERS_MAX) {
      throw new IllegalArgumentException(
          "headers of "
              + head.size()
              + " bytes; "
              + Frames.HEADER_BYTES_MAX
              + " are the most, and "
              + Frames.HEADERS_MAX
              + " headers");
    }
    var stream = new Stream(this, 0, method, Map.copyOf(headers));
    Status refusal;
    synchronized (this) {
      stream.receiver = receiver;
      refusal = lost;
      if (refusal == null && (goodbye != null || heardGoodbye)) {
        refusal = Status.of(Status.Code.UNAVAILABLE, "the connection ends");
      }
      if (refusal == null) {
        stream.number = ++lastNumber;
        streams.put(stream.number, stream);
        control(Frames.OPEN, stream.number, head.toBytes());
        widen(stream);
      } else {
        stream.over = true;
      }
    }
    if (refusal == null) {
      wire.flush();
    } else {
      Status why = refusal;
      wire.execute(() -> receiver.over(why));
    }
    return stream;
  }

  /// Returns whether streams can begin.
  public synchronized boolean isOpen() {
    return lost == null && goodbye == null && !heardGoodbye;
  }

  /// Returns whether it has ended.
  public synchronized boolean isLost() {
    return lost != null;
  }

  /// Returns what is done when it has ended.
  CompletableFuture<Void> end() {
    return end;
  }

  /// Takes no more streams, and ends the connection when those under way are over. Does not wait.
  public void drain(Status why) {
    synchronized (this) {
      if (lost != null || goodbye != null) return;
      goodbye = why;
      control(Frames.GOODBYE, 0, said(why));
      closing |= streams.isEmpty();
    }
    wire.flush();
  }

  /// Ends the connection now. Does not wait.
  public void cut(Status why) {
    wire.cut(why);
  }

  // ---- the streams' side

  void send(Stream stream, byte[] message) {
    boolean tooMuch;
    Receiver whose;
    synchronized (this) {
      if (stream.over || stream.finishing || stream.ending != null) return;
      whose = stream.receiver;
      tooMuch = stream.queuedBytes + message.length > limits.queuedBytesMax();
      if (!tooMuch) {
        stream.outbox.add(message);
        stream.queuedBytes += message.length + Frames.HEAD;
        list(stream);
      }
    }
    if (tooMuch) {
      var why =
          Status.of(
              Status.Code.RESOURCE_EXHAUSTED,
              "more than "
                  + limits.queuedBytesMax()
                  + " bytes wait, as the other side does not take what it is sent");
      end(stream, why, true);
      if (whose != null) wire.execute(() -> whose.over(why));
      return;
    }
    wire.flush();
  }

  synchronized boolean isReady(Stream stream) {
    boolean ready =
        met && !stream.over && stream.ending == null && stream.queuedBytes < Stream.READY_BYTES;
    if (!ready) stream.wantsReady = true;
    return ready;
  }

  void request(Stream stream, int count) {
    boolean some;
    synchronized (this) {
      stream.requested += count;
      some = !stream.inbox.isEmpty() || stream.otherFinished || stream.otherEnded != null;
    }
    if (some) wire.execute(() -> deliver(stream));
  }

  void finish(Stream stream) {
    synchronized (this) {
      if (stream.over || stream.finishing || stream.ending != null) return;
      stream.finishing = true;
      list(stream);
    }
    wire.flush();
  }

  void end(Stream stream, Status status, boolean now) {
    synchronized (this) {
      if (stream.over || stream.ending != null) return;
      stream.ending = status;
      stream.over = true;
      stream.inbox.clear();
      stream.partial = null;
      if (now) {
        stream.outbox.clear();
        stream.outAt = 0;
        stream.queuedBytes = 0;
      }
      list(stream);
    }
    wire.flush();
  }

  /// Called with the lock held.
  private void list(Stream stream) {
    if (stream.listed || lost != null) return;
    if (!hasMore(stream)) return;
    stream.listed = true;
    turns.add(stream);
  }

  private static boolean hasMore(Stream stream) {
    byte[] next = stream.outbox.peek();
    if (next != null) {
      return stream.credit >= Frames.HEAD + (next.length > stream.outAt ? 1 : 0);
    }
    return stream.ending != null || (stream.finishing && !stream.saidFinish);
  }

  // ---- sending

  private static byte[] said(Status status) {
    String reason = status.description() == null ? "" : status.description();
    if (reason.length() > Frames.REASON_MAX) reason = reason.substring(0, Frames.REASON_MAX);
    return new Encoder(64).u8(status.code().number()).text(reason).toBytes();
  }

  /// Called with the lock held.
  private void control(int kind, int stream, byte[] payload) {
    if (lost != null) return;
    var frame = ByteBuffer.allocate(Frames.HEAD + payload.length);
    Frames.write(frame, kind, stream, payload, 0, payload.length);
    control.add(frame.array());
    controlBytes += frame.capacity();
  }

  /// Writes what is next into a buffer with room for a frame or more.
  ///
  /// @return whether it has written something
  boolean fill(ByteBuffer out) {
    int from = out.position();
    boolean tooMuch;
    List<Receiver> readied = new ArrayList<>();
    synchronized (this) {
      if (lost != null) return false;
      tooMuch = controlBytes > CONTROL_BYTES_MAX;
      if (!saidFirst) {
        if (service != null && !met && !closing) return false;
        saidFirst = true;
        out.put(Frames.first());
      }
      if (pongDue && out.remaining() >= Frames.HEAD) {
        pongDue = false;
        Frames.write(out, Frames.PONG, 0, new byte[0], 0, 0);
      }
      byte[] next;
      while ((next = control.peek()) != null && next.length <= out.remaining()) {
        out.put(next);
        controlBytes -= next.length;
        control.remove();
      }
      if (next == null) fillTurns(out, readied);
    }
    if (tooMuch) {
      wire.cut(Status.of(Status.Code.RESOURCE_EXHAUSTED, "the other end does not read"));
      return false;
    }
    if (!readied.isEmpty()) wire.execute(() -> readied.forEach(Receiver::ready));
    return out.position() > from;
  }

  /// Called with the lock held.
  private void fillTurns(ByteBuffer out, List<Receiver> readied) {
    while (out.remaining() > Frames.HEAD) {
      Stream stream = turns.poll();
      if (stream == null) return;
      stream.listed = false;
      byte[] message = stream.outbox.peek();
      if (message != null) {
        if (!hasMore(stream)) continue;
        int left = message.length - stream.outAt;
        int room = Math.min(Frames.PAYLOAD_BYTES_MAX, out.remaining() - Frames.HEAD);
        int length = (int) Math.min(Math.min(left, room), stream.credit - Frames.HEAD);
        boolean last = length == left;
        int kind = last ? Frames.LAST : Frames.PART;
        Frames.write(out, kind, stream.number, message, stream.outAt, length);
        stream.credit -= Frames.HEAD + length;
        stream.outAt += length;
        stream.queuedBytes -= length;
        if (last) {
          stream.outbox.remove();
          stream.outAt = 0;
          stream.queuedBytes -= Frames.HEAD;
        }
        boolean isReady = met && !stream.over && stream.queuedBytes < Stream.READY_BYTES;
        if (stream.wantsReady && isReady && stream.receiver != null) {
          stream.wantsReady = false;
          readied.add(stream.receiver);
        }
      } else if (stream.ending != null) {
        byte[] why = said(stream.ending);
        if (out.remaining() < Frames.HEAD + why.length) {
          stream.listed = true;
          turns.addFirst(stream);
          return;
        }
        Frames.write(out, Frames.END, stream.number, why, 0, why.length);
        forget(stream);
        continue;
      } else if (stream.finishing && !stream.saidFinish) {
        stream.saidFinish = true;
        Frames.write(out, Frames.FINISH, stream.number, new byte[0], 0, 0);
      }
      list(stream);
    }
  }

  /// Called with the lock held.
  private void forget(Stream stream) {
    streams.remove(stream.number);
    stream.over = true;
    if (!streams.isEmpty()) return;
    emptySinceNanos = wire.nanoTime();
    if (goodbye != null || heardGoodbye) closing = true;
  }

  /// Returns whether everything has been said, so that the connection can be closed when it is
  /// sent.
  synchronized boolean isDone() {
    return closing && control.isEmpty() && turns.isEmpty();
  }

  // ---- receiving

  /// Notes that the other end was refused before there was a connection.
  void refused(IOException cause) {
    if (service != null) service.refused(peer().remote(), cause);
  }

  /// Notes that there is a connection.
  void connected() {
    synchronized (this) {
      connected = true;
    }
    heardNanos = wire.nanoTime();
    wire.flush();
  }

  /// Notes that the other end speaks as this one, so that streams take messages.
  private void met() {
    List<Receiver> all = new ArrayList<>();
    synchronized (this) {
      if (met) return;
      met = true;
      for (Stream stream : streams.values()) {
        if (stream.receiver == null || stream.over) continue;
        if (stream.queuedBytes >= Stream.READY_BYTES) continue;
        stream.wantsReady = false;
        all.add(stream.receiver);
      }
    }
    all.forEach(Receiver::ready);
    wire.flush();
  }

  /// Takes the whole frames in a buffer; the rest stays.
  void received(ByteBuffer in) {
    heardNanos = wire.nanoTime();
    askedNanos = 0;
    try {
      if (!heardFirst && !deaf) {
        if (in.remaining() < Frames.FIRST_BYTES) return;
        byte[] first = new byte[Frames.FIRST_BYTES];
        in.get(first);
        first(first);
      }
      while (!deaf) {
        if (in.remaining() < Frames.HEAD) return;
        int at = in.position();
        int length = in.getInt(at);
        if (length < 0 || length > Frames.PAYLOAD_BYTES_MAX) {
          throw new Malformed("a frame of " + length + " bytes");
        }
        if (in.remaining() < Frames.HEAD + length) return;
        if (in.getInt(at + 4) != Frames.sum(in, at, length)) {
          throw new Malformed("a frame whose checksum is wrong");
        }
        byte[] payload = new byte[length];
        in.position(at + Frames.HEAD);
        in.get(payload);
        frame(in.get(at + 8), in.getInt(at + 9), payload);
      }
    } catch (Malformed | Decoder.MalformedException malformed) {
      refuse(Status.of(Status.Code.INVALID_ARGUMENT, malformed.getMessage()));
    }
    in.position(in.limit());
  }

  private void first(byte[] first) throws Malformed {
    if (Frames.isHttp2(first) && service != null) {
      deaf = true;
      synchronized (this) {
        saidFirst = true; // nothing else is said
        control.clear();
        control.add(
            Frames.http2Refusal(
                "this server does not speak gRPC; use a client of Stoa of the server's"
                    + " version"));
        closing = true;
      }
      wire.flush();
      return;
    }
    if (!Frames.isFirst(first)) {
      if (service != null) throw new Malformed("what comes is no connection of Stoa");
      refuse(Status.of(Status.Code.UNIMPLEMENTED, "it speaks otherwise"));
      return;
    }
    if (Frames.version(first) != Frames.VERSION) {
      refuse(
          Status.of(
              Status.Code.FAILED_PRECONDITION,
              "the other end speaks version "
                  + Frames.version(first)
                  + " of the frames, this one "
                  + Frames.VERSION
                  + "; use the same version of Stoa on both"));
      return;
    }
    heardFirst = true;
    met();
  }

  /// Ends the connection with a reason that the other end learns.
  private void refuse(Status why) {
    deaf = true;
    List<Stream> all;
    synchronized (this) {
      if (lost != null) return;
      all = over();
      control(Frames.GOODBYE, 0, said(why));
      goodbye = why;
      closing = true;
    }
    wire.flush();
    tell(all, why);
  }

  /// Forgets all streams; returns those whose receivers do not know yet. Called with the lock held.
  private List<Stream> over() {
    var all = new ArrayList<Stream>();
    for (Stream stream : streams.values()) {
      if (!stream.over) all.add(stream);
      stream.over = true;
      stream.outbox.clear();
      stream.inbox.clear();
      stream.partial = null;
      stream.listed = false;
    }
    streams.clear();
    turns.clear();
    return all;
  }

  private static void tell(List<Stream> all, Status why) {
    for (Stream stream : all) {
      Receiver receiver = stream.receiver;
      if (receiver != null) receiver.over(why);
    }
  }

  /// Notes that the connection has ended.
  void lost(Status why) {
    List<Stream> all;
    Status told = why;
    synchronized (this) {
      if (lost != null) return;
      lost = why;
      deaf = true;
      all = over();
      control.clear();
      if (heardReason != null) told = heardReason;
    }
    tell(all, told);
    end.complete(null);
  }

  private void frame(int kind, int number, byte[] payload) throws Malformed {
    switch (kind) {
      case Frames.OPEN -> opened(number, payload);
      case Frames.PART -> came(number, payload, false);
      case Frames.LAST -> came(number, payload, true);
      case Frames.FINISH -> finished(number);
      case Frames.END -> ended(number, status(payload));
      case Frames.CREDIT -> credited(number, new Decoder(payload).varint());
      case Frames.PING -> {
        synchronized (this) {
          pongDue = true;
        }
        wire.flush();
      }
      case Frames.PONG -> {
        // A sign of life, like any frame.
      }
      case Frames.GOODBYE -> goodbye(status(payload));
      default -> throw new Malformed("a frame of kind " + kind);
    }
  }

  private static Status status(byte[] payload) {
    var in = new Decoder(payload);
    var code = Status.Code.of(in.u8());
    String reason = in.text();
    return Status.of(code, reason.isEmpty() ? null : reason);
  }

  /// Returns a stream; null when it is over.
  private @Nullable Stream known(int number) throws Malformed {
    synchronized (this) {
      Stream stream = streams.get(number);
      if (stream != null || (number > 0 && number <= lastNumber)) return stream;
    }
    throw new Malformed("a frame of stream " + number + ", which has not begun");
  }

  private void opened(int number, byte[] payload) throws Malformed {
    StreamAcceptor taking = service;
    if (taking == null) throw new Malformed("a stream that a server begins");
    if (payload.length > Frames.HEADER_BYTES_MAX) {
      throw new Malformed("headers of " + payload.length + " bytes");
    }
    var in = new Decoder(payload);
    String method = in.text();
    long count = in.varint();
    if (count < 0 || count > Frames.HEADERS_MAX) throw new Malformed(count + " headers");
    var headers = new LinkedHashMap<String, String>();
    for (int i = 0; i < count; i++) headers.put(in.text(), in.text());
    Stream stream;
    Status refusal = null;
    boolean first;
    synchronized (this) {
      if (number <= lastNumber) throw new Malformed("stream " + number + " comes again");
      first = lastNumber == 0;
      lastNumber = number;
      if (goodbye != null) {
        refusal = Status.of(Status.Code.UNAVAILABLE, "the server takes no more: " + goodbye);
      } else if (streams.size() >= limits.streamsMax()) {
        refusal =
            Status.of(
                Status.Code.RESOURCE_EXHAUSTED,
                "the connection has "
                    + streams.size()
                    + " streams, which is the most; end some, or connect again");
      }
      if (refusal != null) {
        control(Frames.END, number, said(refusal));
        stream = null;
      } else {
        stream = new Stream(this, number, method, Map.copyOf(headers));
        streams.put(number, stream);
        widen(stream);
      }
    }
    wire.flush();
    if (stream == null) return;
    if (first) begun.run();
    Receiver receiver = taking.begin(stream);
    synchronized (this) {
      stream.receiver = receiver;
    }
    deliver(stream);
  }

  /// Allows the other side more than the least window. Called with the lock held.
  private void widen(Stream stream) {
    int more = limits.windowBytes() - Frames.WINDOW_BYTES;
    if (more <= 0) return;
    stream.granted += more;
    control(Frames.CREDIT, stream.number, new Encoder(16).varint(more).toBytes());
  }

  private void came(int number, byte[] payload, boolean last) throws Malformed {
    Stream stream = known(number);
    if (stream == null) return;
    Status tooLarge = null;
    boolean granted;
    synchronized (this) {
      int cost = Frames.HEAD + payload.length;
      stream.received += cost;
      if (stream.received > stream.granted) {
        throw new Malformed("more bytes of stream " + number + " than were allowed");
      }
      if (stream.otherFinished) throw new Malformed("a message after the last one");
      if (stream.over) return;
      long size = stream.partialSize + (long) payload.length;
      if (size > limits.messageBytesMax()) {
        tooLarge =
            Status.of(
                Status.Code.RESOURCE_EXHAUSTED,
                "a message of more than " + limits.messageBytesMax() + " bytes");
      } else if (last && stream.partial == null) {
        stream.inbox.add(new Stream.Came(payload, cost));
      } else {
        append(stream, payload);
        stream.partialCost += cost;
        if (last) {
          byte[] whole = stream.partial == null ? new byte[0] : stream.partial;
          if (whole.length > stream.partialSize) whole = Arrays.copyOf(whole, stream.partialSize);
          stream.inbox.add(new Stream.Came(whole, stream.partialCost));
          stream.partial = null;
          stream.partialSize = 0;
          stream.partialCost = 0;
        }
      }
      granted = grant(stream);
    }
    if (tooLarge != null) {
      fail(stream, tooLarge);
      return;
    }
    if (granted) wire.flush();
    if (last) deliver(stream);
  }

  private static void append(Stream stream, byte[] payload) {
    byte[] bytes = stream.partial;
    int size = stream.partialSize + payload.length;
    if (bytes == null) bytes = new byte[Math.max(16, size)];
    else if (bytes.length < size) bytes = Arrays.copyOf(bytes, Math.max(size, 2 * bytes.length));
    System.arraycopy(payload, 0, bytes, stream.partialSize, payload.length);
    stream.partial = bytes;
    stream.partialSize = size;
  }

  /// Allows the other side more bytes when that is worth a frame. Called with the lock held.
  private boolean grant(Stream stream) {
    if (stream.over) return false;
    int window = limits.windowBytes();
    long target = stream.consumed + window;
    if (stream.partial != null && stream.inbox.isEmpty()) {
      target = Math.max(target, stream.received + window / 2);
    }
    long more = target - stream.granted;
    if (more < window / 4) return false;
    stream.granted = target;
    control(Frames.CREDIT, stream.number, new Encoder(16).varint(more).toBytes());
    return true;
  }

  /// Ends a stream by a fault of the other side.
  private void fail(Stream stream, Status why) {
    Receiver receiver = stream.receiver;
    end(stream, why, true);
    if (receiver != null) receiver.over(why);
  }

  private void finished(int number) throws Malformed {
    Stream stream = known(number);
    if (stream == null) return;
    synchronized (this) {
      stream.otherFinished = true;
    }
    deliver(stream);
  }

  private void ended(int number, Status why) throws Malformed {
    Stream stream = known(number);
    if (stream == null) return;
    Receiver receiver = null;
    synchronized (this) {
      boolean told = stream.over;
      stream.outbox.clear();
      stream.queuedBytes = 0;
      stream.partial = null;
      if (stream.listed) turns.remove(stream);
      stream.listed = false;
      // Earlier messages are delivered first, unless a client gives up.
      if (!told && service == null && !stream.inbox.isEmpty()) {
        streams.remove(number);
        stream.otherEnded = why;
      } else {
        if (!told) receiver = stream.receiver;
        stream.inbox.clear();
      }
      boolean waits = stream.otherEnded != null;
      forget(stream);
      if (waits) stream.over = false;
    }
    wire.flush(); // it may have been the last one
    if (receiver != null) receiver.over(why);
    else deliver(stream);
  }

  private void credited(int number, long bytes) throws Malformed {
    Stream stream = known(number);
    if (stream == null) return;
    synchronized (this) {
      if (bytes < 0 || bytes > CREDIT_MAX) throw new Malformed("a credit of " + bytes + " bytes");
      stream.credit = Math.min(CREDIT_MAX, stream.credit + bytes);
      list(stream);
    }
    wire.flush();
  }

  private void goodbye(Status why) {
    synchronized (this) {
      heardGoodbye = true;
      heardReason = why;
      closing |= streams.isEmpty();
    }
    wire.flush();
  }

  /// Delivers what has come and was asked for. Called by the thread that reads.
  private void deliver(Stream stream) {
    synchronized (this) {
      if (stream.delivering) return;
      stream.delivering = true;
    }
    try {
      while (deliverNext(stream)) {}
    } finally {
      synchronized (this) {
        stream.delivering = false;
      }
    }
  }

  private boolean deliverNext(Stream stream) {
    Receiver receiver;
    byte[] message = null;
    Status end = null;
    boolean granted = false;
    synchronized (this) {
      receiver = stream.receiver;
      if (receiver == null || stream.over) return false;
      if (!stream.inbox.isEmpty()) {
        if (stream.requested <= 0) return false;
        stream.requested--;
        Stream.Came next = stream.inbox.remove();
        message = next.message();
        stream.consumed += next.cost();
        if (stream.otherEnded == null) granted = grant(stream);
      } else if (stream.otherEnded != null) {
        end = stream.otherEnded;
        stream.over = true;
      } else if (stream.otherFinished && !stream.toldFinished) {
        stream.toldFinished = true;
      } else {
        return false;
      }
    }
    if (granted) wire.flush();
    if (message != null) receiver.message(message);
    else if (end != null) receiver.over(end);
    else receiver.finished();
    return true;
  }

  // ---- time

  /// Looks after silence; to be called a few times in a second.
  void tick() {
    long now = wire.nanoTime();
    Status why = null;
    boolean ask = false;
    synchronized (this) {
      if (lost != null || !connected) return;
      if (closing && closingNanos == 0) closingNanos = now;
      long silent = now - heardNanos;
      if (askedNanos != 0 && now - askedNanos > limits.patience().toNanos()) {
        why =
            Status.of(
                Status.Code.UNAVAILABLE,
                "the other end was silent for " + silent / 1_000_000 + " ms");
      } else if (closing && now - closingNanos > limits.patience().toNanos()) {
        why = Status.of(Status.Code.UNAVAILABLE, "the other end does not read the goodbye");
      } else if (askedNanos == 0 && silent > limits.ping().toNanos()) {
        ask = service != null || !streams.isEmpty();
        if (ask) {
          askedNanos = now;
          control(Frames.PING, 0, new byte[0]);
        }
      }
      long idle = limits.idle().toNanos();
      if (idle > 0 && streams.isEmpty() && goodbye == null && now - emptySinceNanos > idle) {
        goodbye = Status.of(Status.Code.UNAVAILABLE, "nothing was asked here for a while");
        control(Frames.GOODBYE, 0, said(goodbye));
        closing = true;
        ask = true;
      }
    }
    if (why != null) wire.cut(why);
    else if (ask) wire.flush();
  }

  /// Returns how many streams are under way.
  synchronized int count() {
    return streams.size();
  }
}

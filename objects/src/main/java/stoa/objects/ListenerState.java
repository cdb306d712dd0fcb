package stoa.objects;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;
import stoa.ListenerLimits;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.TraceParent;

/// The state of one listener of a key: its handler (the session handler of CRESON, section III-D),
/// and the events that it has not handled.
///
/// ```
/// checkpoint:  listening, eventsMax varint, bytesMax varint, first varint,
///              count varint, { event sized },
///              0 u8, the handler sized                it is listening
///              1 u8, the throwable sized              it has ended
///              2 u8, code varint, the handler sized   it is listening, in code of the log
/// ```
///
/// One thread at a time uses it.
final class ListenerState {
  private final ListenerId listening;
  private final ListenerLimits limits;

  // The number of the code that executes the handler.
  private final int code;

  // The last encoding of the handler; null once the listener has ended.
  private byte @Nullable [] encoded;

  // The handler; null until a put asks it, so that the key stays usable when its class is missing.
  private @Nullable KeyHandler<Object, Object> handler;

  // The code of the handler: null until the handler is decoded. It stays loaded for that long.
  private @Nullable LoadedCode loaded;

  // The reason why the listener has ended, encoded; null while it is listening.
  private byte @Nullable [] ended;

  private final ArrayDeque<byte[]> events = new ArrayDeque<>();

  // Where the puts of these events are recorded, by the number of the event. It is no part of the
  // state: a replay has none.
  private final Map<Long, TraceParent> traces = new HashMap<>();

  // The number of the first of the events, or of the next one.
  private long first = 1;

  private int bytes;

  /// @param encoded the handler
  /// @param code the number of its code, see [HandlerCodes]
  ListenerState(ListenerId listening, ListenerLimits limits, byte @Nullable [] encoded, int code) {
    this.listening = listening;
    this.limits = limits;
    this.encoded = encoded;
    this.code = code;
  }

  ListenerId listening() {
    return listening;
  }

  /// Returns whether it has not ended.
  boolean isListening() {
    return ended == null;
  }

  /// Returns the code that executes the handler.
  LoadedCode code(HandlerCodes codes) {
    LoadedCode known = loaded;
    return known == null ? codes.at(code) : known;
  }

  /// Returns the handler. The listener must not have ended.
  ///
  /// @param in its code
  KeyHandler<Object, Object> handler(LoadedCode in) {
    KeyHandler<Object, Object> known = handler;
    if (known != null) return known;
    Object read = Objects.requireNonNull(in.marshaller().value(Objects.requireNonNull(encoded)));
    @SuppressWarnings("unchecked") // Justification: its arguments are the values put on its key
    var decoded = (KeyHandler<Object, Object>) (KeyHandler<?, ?>) read;
    handler = decoded;
    loaded = in;
    return decoded;
  }

  /// Returns the bytes of the waiting events.
  int bytes() {
    return bytes;
  }

  /// Returns whether one more event exceeds the limits.
  boolean isFull(byte[] event) {
    return events.size() >= limits.pendingEventsMax()
        || (long) bytes + event.length > limits.pendingBytesMax();
  }

  ListenerLimits limits() {
    return limits;
  }

  /// Appends an event. Its number is the next in the listener's own sequence: the number of the
  /// first event in memory, plus the count of the events before this one.
  ///
  /// @param trace where the put is recorded; null when no tracer records it
  void add(byte[] event, @Nullable TraceParent trace) {
    if (trace != null) traces.put(first + events.size(), trace);
    events.add(event);
    bytes += event.length;
  }

  /// Ends the listener. It still receives the waiting events.
  ///
  /// @param cause encoded
  void end(byte[] cause) {
    handler = null;
    loaded = null;
    encoded = null;
    ended = cause;
  }

  /// Ends the listener, and drops the waiting events.
  ///
  /// @param cause encoded
  void endBehind(byte[] cause) {
    end(cause);
    events.clear();
    traces.clear();
    bytes = 0;
  }

  /// Drops the events that the listener has handled.
  ///
  /// @return whether the listener has handled the end too, so that nothing is left
  boolean heard(long number) {
    while (first <= number && !events.isEmpty()) {
      bytes -= events.poll().length;
      traces.remove(first);
      first++;
    }
    return ended != null && events.isEmpty() && number >= first;
  }

  /// Returns the events after one of them.
  ///
  /// @param after the number of the event
  /// @param countMax the most events to return
  /// @param bytesMax the number of bytes after which to stop; the answer has at least one event of
  ///   any size
  KeyAnswer.Batch after(long after, int countMax, int bytesMax) {
    var batch = new ArrayList<byte[]>();
    var recorded = new HashMap<Long, TraceParent>();
    long begin = Math.max(first, after + 1);
    int size = 0;
    long number = first;
    Iterator<byte[]> all = events.iterator();
    while (all.hasNext() && batch.size() < countMax && size < bytesMax) {
      byte[] event = all.next();
      long mine = number++;
      if (mine < begin) continue;
      batch.add(event);
      TraceParent trace = traces.get(mine);
      if (trace != null) recorded.put(mine, trace);
      size += event.length;
    }
    boolean more = all.hasNext();
    return new KeyAnswer.Batch(listening, true, begin, batch, recorded, more, more ? null : ended);
  }

  void write(Encoder out, HandlerCodes codes) {
    listening
        .write(out)
        .varint(limits.pendingEventsMax())
        .varint(limits.pendingBytesMax())
        .varint(first)
        .varint(events.size());
    for (byte[] event : events) out.sized(event);
    byte[] cause = ended;
    KeyHandler<Object, Object> known = handler;
    if (cause != null) out.u8(1).sized(cause);
    else coded(out).sized(known == null ? encoded() : encoded(known, codes));
  }

  private Encoder coded(Encoder out) {
    return code == 0 ? out.u8(0) : out.u8(2).varint(code);
  }

  private byte[] encoded(Object known, HandlerCodes codes) {
    return code(codes).marshaller().value(known);
  }

  private byte[] encoded() {
    return Objects.requireNonNull(encoded);
  }

  static ListenerState read(Decoder in) {
    ListenerId listening = ListenerId.read(in);
    var limits = new ListenerLimits((int) in.varint(), (int) in.varint());
    long first = in.varint();
    var events = new ArrayList<byte[]>();
    for (int count = in.count(); count > 0; count--) events.add(in.sized());
    int kind = in.u8();
    int code = kind == 2 ? (int) in.varint() : 0;
    byte[] last = in.sized();
    var state = new ListenerState(listening, limits, kind == 1 ? null : last, code);
    state.first = first;
    events.forEach(event -> state.add(event, null));
    if (kind == 1) state.ended = last;
    return state;
  }
}

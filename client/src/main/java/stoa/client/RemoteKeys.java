package stoa.client;

import com.google.protobuf.ByteString;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.ListenerLimits;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.front.CallRecorder;
import stoa.front.Service;
import stoa.front.marshal.Marshaller;
import stoa.front.types.HandlerType;
import stoa.front.types.Platform;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Event;
import stoa.wire.proto.Heard;
import stoa.wire.proto.KeyGet;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.Listen;
import stoa.wire.proto.Request;
import stoa.wire.proto.Unlisten;

/// The keys of a server's key-value store, and their listeners. Thread-safe.
final class RemoteKeys {
  /*
   * All listeners of the client share its conversation (CRESON, section VI: listener
   * mutualization). The server sends a listener its unhandled events, and repeats them on every new
   * connection; the client skips the handled ones by their numbers. The client registers the
   * listeners again at a restarted server, which finds them registered. In another session there
   * are none, and they end.
   */
  private static final Logger LOG = LoggerFactory.getLogger(RemoteKeys.class);
  private static final int OVERHEAD_BYTES = 32;

  private final RemotePart part;
  private final AtomicLong numbers = new AtomicLong();
  private final ConcurrentHashMap<Long, RemoteFeed> feeds = new ConcurrentHashMap<>();

  RemoteKeys(RemotePart part) {
    this.part = part;
  }

  /// Returns the key of an encoding.
  Service.Cell cell(byte[] key) {
    return new RemoteCell(key);
  }

  private final class RemoteCell implements Service.Cell {
    private final byte[] key;

    private RemoteCell(byte[] key) {
      this.key = key;
    }

    @Override
    public Marshaller marshaller() {
      return part.marshaller();
    }

    @Override
    public void admit(Class<?> type) {
      part.types().admit(type);
    }

    @Override
    public void admit(HandlerType handler) {
      part.types().admit(handler);
      for (Class<?> named : handler.named()) {
        if (!Platform.has(named)) part.types().admit(named);
      }
    }

    @Override
    public byte[] encoded(Object value, String what) {
      return part.marshaller().value(value); // the server decodes it as a check
    }

    @Override
    public boolean put(byte @Nullable [] value, long micros) {
      return done(part.ask(putting(value, micros)));
    }

    @Override
    public void put(byte[] value, long micros, CallRecorder.Settled settled) {
      begin(putting(value, micros), settled, RemoteKeys::done);
    }

    @Override
    public byte @Nullable [] get() {
      return found(part.ask(getting()));
    }

    @Override
    public void get(CallRecorder.Settled settled) {
      begin(getting(), settled, RemoteKeys::found);
    }

    private Outgoing putting(byte @Nullable [] value, long micros) {
      var put = KeyPut.newBuilder().setKey(ByteString.copyFrom(key));
      if (micros != 0) put.setStayMicros(micros);
      if (value != null) put.setPresent(true).setValue(ByteString.copyFrom(value));
      int bytes = OVERHEAD_BYTES + key.length + (value == null ? 0 : value.length);
      var request = part.requests().timed(Request.newBuilder().setKeyPut(put));
      return Outgoing.of(request, Outgoing.Recovery.LOOKED_UP, bytes);
    }

    private Outgoing getting() {
      var get = KeyGet.newBuilder().setKey(ByteString.copyFrom(key));
      var request = part.requests().timed(Request.newBuilder().setKeyGet(get));
      return Outgoing.of(request, Outgoing.Recovery.READ, OVERHEAD_BYTES + key.length);
    }

    @Override
    public Service.Feed feed(byte[] handler, ListenerLimits limits) {
      var listen =
          Listen.newBuilder()
              .setListener(numbers.incrementAndGet())
              .setKey(ByteString.copyFrom(key))
              .setHandler(ByteString.copyFrom(handler))
              .setPendingEventsMax(limits.pendingEventsMax())
              .setPendingBytesMax(limits.pendingBytesMax())
              .build();
      return new RemoteFeed(RemoteKeys.this, listen, part.conversation().server().getSession());
    }
  }

  private void begin(
      Outgoing outgoing,
      CallRecorder.Settled settled,
      Function<Answer, ? extends @Nullable Object> reading) {
    part.conversation()
        .begin(outgoing, done -> settled.answer(() -> reading.apply(part.sound(done.answer()))));
  }

  private static boolean done(Answer answer) {
    return answer.getDone().getNumber() == 1;
  }

  private static byte @Nullable [] found(Answer answer) {
    ByteString found = answer.getData();
    return found.isEmpty() ? null : found.substring(1).toByteArray();
  }

  // ---- listeners

  /// Registers a listener, and sends its events from then on; waits.
  void listen(RemoteFeed feed) {
    feeds.put(feed.number(), feed);
    try {
      var _ = part.ask(listening(feed.listen()));
    } catch (RuntimeException refused) {
      feeds.remove(feed.number());
      throw refused;
    }
  }

  private static Outgoing listening(Listen listen) {
    // The server that has registered it already finds it.
    return Outgoing.of(
        Request.newBuilder().setListen(listen),
        Outgoing.Recovery.READ,
        OVERHEAD_BYTES + listen.getSerializedSize());
  }

  void heard(long listener, long number) {
    var heard = Heard.newBuilder().setListener(listener).setNumber(number);
    part.conversation()
        .tell(
            Outgoing.of(
                Request.newBuilder().setHeard(heard), Outgoing.Recovery.READ, OVERHEAD_BYTES));
  }

  /// Removes a listener at the server; waits.
  void unlisten(RemoteFeed feed) {
    if (feeds.remove(feed.number(), feed)) {
      var _ = part.ask(unlistening(feed.listen()));
    }
  }

  private static Outgoing unlistening(Listen listen) {
    var unlisten = Unlisten.newBuilder().setListener(listen.getListener()).setKey(listen.getKey());
    return Outgoing.of(
        Request.newBuilder().setUnlisten(unlisten), Outgoing.Recovery.READ, OVERHEAD_BYTES);
  }

  /// Notes the end of a listener.
  void over(RemoteFeed feed) {
    feeds.remove(feed.number(), feed);
  }

  /// Runs a task on a thread of its own.
  void execute(Runnable task) {
    part.service().answers().execute(task);
  }

  // ---- messages of the conversation

  void event(Event event) {
    RemoteFeed feed = feeds.get(event.getListener());
    if (feed != null) feed.event(event);
  }

  private void listenAgain(RemoteFeed feed) {
    Outgoing again = listening(feed.listen());
    again.whenSettled(settled -> refusedAgain(feed, settled));
    part.conversation().tell(again);
    // Another thread may have closed it meanwhile, and told the server before.
    if (!feeds.containsKey(feed.number())) part.conversation().tell(unlistening(feed.listen()));
  }

  /// Ends a listener that the server does not take again. One that is away is asked again when it
  /// is back, or another one is.
  private void refusedAgain(RemoteFeed feed, Outgoing settled) {
    try {
      var _ = part.sound(settled.answer());
    } catch (Unavailable | UnknownOutcome | Closed away) {
      LOG.debug("the listener {} is not registered again yet", feed.number(), away);
    } catch (RuntimeException refused) {
      feed.failed(refused);
      part.conversation().tell(unlistening(feed.listen()));
    }
  }

  /// Notes that the server has forgotten the state of the session, or that this is another session.
  void forgotten() {
    long session = part.conversation().server().getSession();
    for (RemoteFeed feed : feeds.values()) {
      if (feed.session() == session) listenAgain(feed);
      else feed.failed(new Closed("the session of the listener has ended; register again"));
    }
  }
}

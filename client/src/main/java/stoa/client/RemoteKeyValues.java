package stoa.client;

import com.google.protobuf.ByteString;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.ListenerLimits;
import stoa.Registration;
import stoa.front.marshal.Marshaller;
import stoa.front.proxy.Proxies;
import stoa.front.types.HandlerType;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.spi.Facade;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Event;
import stoa.wire.proto.Heard;
import stoa.wire.proto.KeyGet;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.Listen;
import stoa.wire.proto.Request;
import stoa.wire.proto.Unlisten;

/// The listenable key-value store of a server. Thread-safe.
final class RemoteKeyValues implements KeyValueStore {
  /*
   * All listeners of the client share its conversation (CRESON, section VI: listener mutualization).
   * The server sends a listener what it has not handled, again from there on every new connection;
   * what was handled is left out here by its number. A server that was started again is told of the
   * listeners again, which it finds registered; in another session there are none, and they end.
   */
  private static final int OVERHEAD_BYTES = 32;

  private final RemotePart stoa;
  private final Conversation conversation;
  private final Marshaller marshaller;
  private final Executor executor;
  private final int valueBytesMax;
  private final AtomicLong numbers = new AtomicLong();
  private final ConcurrentHashMap<Long, RemoteListener<?>> listeners = new ConcurrentHashMap<>();

  /// @param executor runs what listeners do
  RemoteKeyValues(
      RemotePart stoa,
      Conversation conversation,
      Marshaller marshaller,
      Executor executor,
      int valueBytesMax) {
    this.stoa = stoa;
    this.conversation = conversation;
    this.marshaller = marshaller;
    this.executor = executor;
    this.valueBytesMax = valueBytesMax;
  }

  // ---- put and get

  @Override
  public void put(Object key, Object value) {
    var _ = stoa.ask(put(key(key), encoded(value)));
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(Object key, Object value) {
    return future(put(key(key), encoded(value)), _ -> null);
  }

  @Override
  public @Nullable Object get(Object key) {
    return value(stoa.ask(get(key(key))));
  }

  @Override
  public CompletableFuture<@Nullable Object> getAsync(Object key) {
    return future(get(key(key)), this::value);
  }

  @Override
  public boolean remove(Object key) {
    return stoa.ask(put(key(key), null)).getDone().getNumber() == 1;
  }

  private byte[] key(Object key) {
    stoa.service().stoa().refuseInCall("use the key-value store");
    return Keys.encode(key);
  }

  private Outgoing put(byte[] key, byte @Nullable [] value) {
    var put = KeyPut.newBuilder().setKey(ByteString.copyFrom(key));
    if (value != null) put.setPresent(true).setValue(ByteString.copyFrom(value));
    int bytes = OVERHEAD_BYTES + key.length + (value == null ? 0 : value.length);
    var request = stoa.requests().timed(Request.newBuilder().setKeyPut(put));
    return Outgoing.of(request, Outgoing.Recovery.LOOKED_UP, bytes);
  }

  private Outgoing get(byte[] key) {
    var get = KeyGet.newBuilder().setKey(ByteString.copyFrom(key));
    var request = stoa.requests().timed(Request.newBuilder().setKeyGet(get));
    return Outgoing.of(request, Outgoing.Recovery.READ, OVERHEAD_BYTES + key.length);
  }

  private @Nullable Object value(Answer answer) {
    byte[] found = answer.getData().toByteArray();
    return found.length == 0 ? null : marshaller.value(found, 1, found.length);
  }

  private byte[] encoded(Object value) {
    Objects.requireNonNull(value, "value");
    Class<?> type =
        value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    boolean known =
        Platform.has(type)
            || value instanceof Facade
            || value instanceof RemoteBlob
            || Proxies.of(value) != null;
    if (!known) stoa.types().admit(type);
    return bounded(value, "the value");
  }

  private byte[] bounded(Object value, String what) {
    byte[] encoded = marshaller.value(value);
    if (encoded.length <= valueBytesMax) return encoded;
    throw new LimitExceeded(
        what + " takes " + encoded.length + " bytes; callBytesMax is " + valueBytesMax);
  }

  private <R extends @Nullable Object> CompletableFuture<R> future(
      Outgoing outgoing, Function<Answer, R> result) {
    var future = new CompletableFuture<R>();
    conversation.begin(
        outgoing,
        settled ->
            executor.execute(() -> {
              try {
                future.complete(result.apply(stoa.sound(settled.answer())));
              } catch (Throwable thrown) {
                future.completeExceptionally(thrown);
              }
            }));
    return future;
  }

  // ---- listeners

  @Override
  public <V, W> Registration register(
      Object key,
      KeyListener<? super W> listener,
      KeyHandler<V, W> handler,
      ListenerLimits limits) {
    Objects.requireNonNull(listener, "listener");
    byte[] name = key(key);
    HandlerType type = HandlerType.of(handler.getClass());
    stoa.types().admit(type.implementation());
    for (Class<?> named : type.named()) {
      if (!Platform.has(named)) stoa.types().admit(named);
    }
    long number = numbers.incrementAndGet();
    var listen =
        Listen.newBuilder()
            .setListener(number)
            .setKey(ByteString.copyFrom(name))
            .setHandler(ByteString.copyFrom(bounded(handler, "the handler")))
            .setPendingEventsMax(limits.pendingEventsMax())
            .setPendingBytesMax(limits.pendingBytesMax())
            .build();
    var made =
        new RemoteListener<W>(
            this, key, listen, conversation.server().getSession(), executor, listener);
    listeners.put(number, made);
    try {
      var _ = stoa.ask(listening(listen));
    } catch (RuntimeException refused) {
      listeners.remove(number);
      throw refused;
    }
    return made;
  }

  private static Outgoing listening(Listen listen) {
    // Found registered by a server that has done it before.
    return Outgoing.of(
        Request.newBuilder().setListen(listen),
        Outgoing.Recovery.READ,
        OVERHEAD_BYTES + listen.getSerializedSize());
  }

  Marshaller marshaller() {
    return marshaller;
  }

  void heard(long listener, long number) {
    var heard = Heard.newBuilder().setListener(listener).setNumber(number);
    conversation.tell(
        Outgoing.of(Request.newBuilder().setHeard(heard), Outgoing.Recovery.READ, OVERHEAD_BYTES));
  }

  /// Takes a listener out at the server; waits.
  void unlisten(RemoteListener<?> listener, Listen listen) {
    if (!listeners.remove(listen.getListener(), listener)) return;
    var _ = stoa.ask(unlistening(listen));
  }

  private static Outgoing unlistening(Listen listen) {
    var unlisten = Unlisten.newBuilder().setListener(listen.getListener()).setKey(listen.getKey());
    return Outgoing.of(
        Request.newBuilder().setUnlisten(unlisten), Outgoing.Recovery.READ, OVERHEAD_BYTES);
  }

  /// A listener has ended.
  void over(long listener) {
    listeners.remove(listener);
  }

  // ---- what the conversation tells

  void event(Event event) {
    RemoteListener<?> listener = listeners.get(event.getListener());
    if (listener != null) listener.event(event);
  }

  private void listenAgain(Listen listen) {
    conversation.tell(listening(listen));
    // It may have been closed meanwhile, which the server was told before.
    if (!listeners.containsKey(listen.getListener())) conversation.tell(unlistening(listen));
  }

  /// The server has forgotten what it held for the session, or this is another session.
  void forgotten() {
    long session = conversation.server().getSession();
    for (RemoteListener<?> listener : listeners.values()) {
      if (listener.session() == session) listenAgain(listener.listen());
      else listener.end(new Closed("the session of the listener has ended; register again"));
    }
  }
}

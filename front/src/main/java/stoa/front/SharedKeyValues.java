package stoa.front;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.ListenerLimits;
import stoa.ListenerRegistration;
import stoa.front.proxy.Proxies;
import stoa.front.types.HandlerType;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.spi.Facade;

/// The listenable key-value store as programs use it. Thread-safe.
final class SharedKeyValues implements KeyValueStore {
  private final SharedStoa stoa;

  SharedKeyValues(SharedStoa stoa) {
    this.stoa = stoa;
  }

  private Service.Cell cell(Object key) {
    stoa.refuseInCall("use the key-value store");
    return stoa.service().cell(Keys.encode(key), key);
  }

  // ---- put and get

  @Override
  public void put(Object key, Object value) {
    putFor(key, value, 0);
  }

  @Override
  public void put(Object key, Object value, Duration time) {
    putFor(key, value, micros(time));
  }

  private void putFor(Object key, Object value, long micros) {
    Service.Cell cell = cell(key);
    byte[] encoded = encoded(cell, value);
    var _ = stoa.recorded("put", () -> cell.put(encoded, micros));
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(Object key, Object value) {
    return putForAsync(key, value, 0);
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(Object key, Object value, Duration time) {
    return putForAsync(key, value, micros(time));
  }

  private CompletableFuture<@Nullable Void> putForAsync(Object key, Object value, long micros) {
    Service.Cell cell = cell(key);
    byte[] encoded = encoded(cell, value);
    return future(settled -> cell.put(encoded, micros, settled), _ -> null);
  }

  private static long micros(Duration time) {
    long micros = TimeUnit.MICROSECONDS.convert(time);
    if (micros > 0 && micros <= SharedKeys.STAY_MICROS_MAX) return micros;
    throw new IllegalArgumentException(
        "a value cannot stay for " + time + "; use a microsecond to 1,000 years");
  }

  @Override
  public @Nullable Object get(Object key) {
    Service.Cell cell = cell(key);
    var found = new @Nullable Object[1];
    stoa.recorded(
        "get",
        () -> {
          found[0] = decoded(cell, cell.get());
          return found;
        });
    return found[0];
  }

  @Override
  public CompletableFuture<@Nullable Object> getAsync(Object key) {
    Service.Cell cell = cell(key);
    return future(cell::get, found -> decoded(cell, (byte @Nullable []) found));
  }

  @Override
  public boolean remove(Object key) {
    Service.Cell cell = cell(key);
    return stoa.recorded("remove", () -> cell.put(null, 0));
  }

  private static @Nullable Object decoded(Service.Cell cell, byte @Nullable [] value) {
    return value == null ? null : cell.marshaller().value(value);
  }

  private byte[] encoded(Service.Cell cell, Object value) {
    Objects.requireNonNull(value, "value");
    admit(cell, value);
    return bounded(cell.encoded(value, "the value"), "the value");
  }

  private byte[] bounded(byte[] encoded, String what) {
    int bytesMax = stoa.callBytesMax();
    if (encoded.length <= bytesMax) return encoded;
    throw new LimitExceeded(
        what + " takes " + encoded.length + " bytes; callBytesMax is " + bytesMax);
  }

  /// Registers the class of a value: it is the program's own, since the program passes an instance
  /// of it.
  private static void admit(Service.Cell cell, Object value) {
    Class<?> type =
        value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    boolean known =
        Platform.has(type)
            || value instanceof Facade
            || value instanceof Blob
            || Proxies.of(value) != null;
    if (!known) cell.admit(type);
  }

  private <R extends @Nullable Object> CompletableFuture<R> future(
      Consumer<CallRecorder.Settled> begin, Function<@Nullable Object, R> result) {
    var future = new CompletableFuture<R>();
    begin.accept(reading ->
        CallRecorder.hand(stoa.service().answers(), () -> result.apply(reading.get()), future));
    return future;
  }

  // ---- listeners

  @Override
  public <V, W> ListenerRegistration register(
      Object key,
      KeyListener<? super W> listener,
      KeyHandler<V, W> handler,
      ListenerLimits limits) {
    Objects.requireNonNull(listener, "listener");
    Service.Cell cell = cell(key);
    cell.admit(HandlerType.of(handler.getClass()));
    byte[] encoded = bounded(cell.encoded(handler, "the handler"), "the handler");
    Service.Feed feed = cell.feed(encoded, limits);
    var made = new SharedListener<W>(stoa, key, feed, cell.marshaller(), listener);
    feed.begin(made);
    return made;
  }
}

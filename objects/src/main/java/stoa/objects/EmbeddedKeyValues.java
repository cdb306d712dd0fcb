package stoa.objects;

import stoa.front.SharedKeys;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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
import stoa.base.Answer;
import stoa.base.Key;
import stoa.front.proxy.Proxies;
import stoa.front.types.HandlerType;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.spi.Facade;
import stoa.store.Request;
import stoa.store.blobs.StoredBlob;

/// The listenable key-value store for the process that has the store open. Thread-safe.
final class EmbeddedKeyValues implements KeyValueStore {
  private final EmbeddedStoa stoa;
  private final KeyValues values;
  private final Executor answers;
  private final AtomicLong listeners = new AtomicLong();

  /// @param answers where futures are completed
  EmbeddedKeyValues(EmbeddedStoa stoa, KeyValues values, Executor answers) {
    this.stoa = stoa;
    this.values = values;
    this.answers = answers;
  }

  @Override
  public void put(Object key, Object value) {
    var _ = values.put(key(key), encoded(value));
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(Object key, Object value) {
    Request request = values.putAsync(key(key), encoded(value));
    return future(
        request,
        answer -> {
          var _ = values.done(answer);
          return null;
        });
  }

  @Override
  public @Nullable Object get(Object key) {
    return decoded(values.get(key(key)).answer());
  }

  @Override
  public CompletableFuture<@Nullable Object> getAsync(Object key) {
    return future(values.getAsync(key(key)), this::decoded);
  }

  @Override
  public boolean remove(Object key) {
    return values.put(key(key), null);
  }

  @Override
  public <V, W> Registration register(
      Object key,
      KeyListener<? super W> listener,
      KeyHandler<V, W> handler,
      ListenerLimits limits) {
    Objects.requireNonNull(listener, "listener");
    HandlerType.of(handler.getClass()).named().forEach(stoa::admit);
    Key target = key(key);
    var listening = new Listening(values.ownSession(), listeners.incrementAndGet());
    var local = new LocalListener<W>(values, stoa.marshaller(), listening, target, listener);
    values.register(listening, target, limits, bounded(handler, "the handler"));
    values.send(listening, target, local);
    return local;
  }

  private Key key(Object key) {
    stoa.refuseInCall("use the key-value store");
    byte[] name = Keys.encode(key);
    return new Key(SharedKeys.SPACE, name, new stoa.Ref<>(SharedKeys.SPACE, key));
  }

  private byte[] encoded(Object value) {
    Objects.requireNonNull(value, "value");
    admit(value);
    return bounded(value, "the value");
  }

  private byte[] bounded(Object value, String what) {
    byte[] encoded = stoa.marshaller().stored(value, what);
    if (encoded.length > stoa.callBytesMax()) {
      throw new LimitExceeded(
          what + " takes " + encoded.length + " bytes; callBytesMax is " + stoa.callBytesMax());
    }
    return encoded;
  }

  /// A program's own class may travel because the program passes an instance of it.
  private void admit(Object value) {
    Class<?> type =
        value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    if (Platform.has(type)
        || value instanceof Facade
        || value instanceof StoredBlob
        || Proxies.of(value) != null) return;
    stoa.admit(type);
  }

  private @Nullable Object decoded(Answer answer) {
    byte[] value = KeyValues.value(answer);
    return value == null ? null : stoa.marshaller().value(value);
  }

  private <R extends @Nullable Object> CompletableFuture<R> future(
      Request request, Function<Answer, R> result) {
    var future = new CompletableFuture<R>();
    request.whenDone(settled -> {
      try {
        answers.execute(() -> {
          try {
            future.complete(result.apply(settled.answer()));
          } catch (Throwable thrown) {
            future.completeExceptionally(thrown);
          }
        });
      } catch (RejectedExecutionException closed) {
        future.completeExceptionally(new Closed("the store was closed before the answer was read"));
      }
    });
    return future;
  }
}

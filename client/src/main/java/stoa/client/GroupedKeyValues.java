package stoa.client;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.KeyValueStore;
import stoa.ListenerLimits;
import stoa.Registration;
import stoa.front.SharedKeys;
import stoa.front.types.Keys;

/// The listenable key-value store of a store that several groups keep: each key, with its
/// listeners, is at one of them. Thread-safe.
final class GroupedKeyValues implements KeyValueStore {
  private final RemoteService parts;

  GroupedKeyValues(RemoteService parts) {
    this.parts = parts;
  }

  private KeyValueStore part(Object key) {
    return parts.part(parts.group(SharedKeys.key(Keys.encode(key)).stream())).keyValues();
  }

  @Override
  public void put(Object key, Object value) {
    part(key).put(key, value);
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(Object key, Object value) {
    return part(key).putAsync(key, value);
  }

  @Override
  public @Nullable Object get(Object key) {
    return part(key).get(key);
  }

  @Override
  public CompletableFuture<@Nullable Object> getAsync(Object key) {
    return part(key).getAsync(key);
  }

  @Override
  public boolean remove(Object key) {
    return part(key).remove(key);
  }

  @Override
  public <V, W> Registration register(
      Object key,
      KeyListener<? super W> listener,
      KeyHandler<V, W> handler,
      ListenerLimits limits) {
    return part(key).register(key, listener, handler, limits);
  }
}

package stoa;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The listenable key-value store: a map from keys to values that tells listeners of what is put,
/// by way of handlers that run inside the store (CRESON, section III-C; AOF, section 3.2).
///
/// `put(k, u)` puts the value `u` under the key `k`. When `v` was there before, every handler that
/// is registered at `k` is asked for `handle(u, v)`; if it answers `w`, other than null, the event
/// `⟨k, w⟩` is its listener's. `regListener(k, l, h)` of the papers is [#register], `unregListener`
/// is [Registration#close].
///
/// ```java
/// public record Alarm(double limit) implements KeyHandler<Double, String> {
///   public @Nullable String handle(Object key, @Nullable Double value, @Nullable Double before) {
///     return value != null && value > limit ? key + " is at " + value : null;
///   }
/// }
///
/// KeyValueStore store = stoa.store();
/// Registration alarm =
///     store.register("boiler", event -> System.out.println(event.value()), new Alarm(90));
/// store.put("boiler", 95.0);
/// ```
///
/// *Order.* Every entry of the map is an atomic register: puts and gets on a key are linearizable,
/// and what is put is durable when [#put] returns. From when [#register] returns until its
/// registration is closed, a listener is told all its events, in the order in which the puts are
/// linearized, at least once, numbered from 1 without gaps ([KeyEvent#number]): whoever keeps the
/// last number that it has handled, together with what it made of the event, handles each exactly
/// once. Events of different keys, and of different listeners, have no order among each other.
///
/// *Durability.* Events that a listener has not handled are part of the key's state: they survive
/// whatever the key does. A registration belongs to the session that makes it, which is the process
/// of an embedded store, and ends with it: when the store is opened again, the listeners of before
/// are gone, and so are their handlers and events.
///
/// *Bounds.* A listener that falls too far behind is ended and told so ([KeyListener#ended]); it
/// never keeps a put from being made. See [ListenerLimits], [#LISTENERS_MAX] and
/// [#PENDING_BYTES_MAX].
///
/// Keys are as those of shared objects ([Ref]); values are instances of any class that may travel,
/// copied on their way in and out, at most [Limits#callBytesMax()] bytes. Keys of this store are
/// apart from all objects. Its puts take no part in transactions, and are refused within one and
/// inside a method of a shared object. Thread-safe.
public interface KeyValueStore {
  /// How many listeners a key has at most.
  int LISTENERS_MAX = 1_000;

  /// How many bytes of events may wait for all listeners of one key together. Beyond it, the
  /// listener with the most is ended.
  int PENDING_BYTES_MAX = 64 << 20;

  /// Puts a value under a key, in place of what was there, and waits until that is durable.
  ///
  /// @throws NotShareable when key or value cannot travel
  /// @throws LimitExceeded when the value is too large, or too many calls are under way; nothing
  ///   was put
  /// @throws DeadlineExceeded when a handler did not come to an end in time; nothing was put
  /// @throws UnknownOutcome when the store failed meanwhile
  void put(Object key, Object value);

  /// As [#put], without waiting. What one thread puts under one key in this way is put in that
  /// order.
  CompletableFuture<@Nullable Void> putAsync(Object key, Object value);

  /// The value under a key, or null. Reads nothing but what is durable, and writes nothing.
  @Nullable Object get(Object key);

  /// As [#get(Object)], without waiting: after what this thread has put before.
  CompletableFuture<@Nullable Object> getAsync(Object key);

  /// The value under a key, when there is one.
  ///
  /// @throws ClassCastException when it is of another class
  default <V> Optional<V> get(Object key, Class<V> type) {
    return Optional.ofNullable(get(key)).map(type::cast);
  }

  /// Removes the value of a key: a put of nothing. Handlers are asked as for every put, with null
  /// in place of the new value.
  ///
  /// @return whether there was a value
  boolean remove(Object key);

  /// Registers a listener at a key, together with the handler that decides what it is told, within
  /// [ListenerLimits#STANDARD]. Durable when this returns; what is put from then on is told.
  ///
  /// The listener lives here, the handler in the store: it is copied there, and what it changes in
  /// its own fields stays there. Its class is checked like that of a shared object, see
  /// [KeyHandler]. To register the same listener again makes another registration.
  ///
  /// @param <V> the class of the values under this key
  /// @param <W> the class of what the listener is told
  /// @throws NotShareable when the handler's class cannot run in the store, with the reason and the
  ///   remedy
  /// @throws LimitExceeded when the key has [#LISTENERS_MAX] listeners
  default <V, W> Registration register(
      Object key, KeyListener<? super W> listener, KeyHandler<V, W> handler) {
    return register(key, listener, handler, ListenerLimits.STANDARD);
  }

  /// As [#register(Object, KeyListener, KeyHandler)], within other limits.
  <V, W> Registration register(
      Object key, KeyListener<? super W> listener, KeyHandler<V, W> handler, ListenerLimits limits);
}

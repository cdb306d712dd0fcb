package stoa;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The listenable key-value store: a map from keys to values with listeners, whose handlers run
/// inside the store (CRESON, section III-C; AOF, section 3.2).
///
/// `put(k, u)` puts the value `u` under the key `k`. If `v` was there before, the store calls
/// `handle(u, v)` of every handler that is registered at `k`. If a handler returns `w`, other than
/// null, its listener gets the event `⟨k, w⟩`. `regListener(k, l, h)` of the papers is [#register],
/// `unregListener` is [ListenerRegistration#close].
///
/// ```java
/// public record Alarm(double limit) implements KeyHandler<Double, String> {
///   public @Nullable String handle(Object key, @Nullable Double value, @Nullable Double before) {
///     return value != null && value > limit ? key + " is at " + value : null;
///   }
/// }
///
/// KeyValueStore store = stoa.store();
/// ListenerRegistration alarm =
///     store.register("boiler", event -> System.out.println(event.value()), new Alarm(90));
/// store.put("boiler", 95.0);
/// ```
///
/// *Order.* Every entry of the map is an atomic register: puts and gets on a key are linearizable,
/// and a value is durable when [#put(Object, Object)] returns. From the return of [#register] until
/// its registration is closed, a listener gets all its events, in the order in which the puts are
/// linearized, at least once, numbered from 1 without gaps ([KeyEvent#number]). A listener that
/// keeps the last number that it has handled, together with its own result, handles each event
/// exactly once. Events of different keys, and of different listeners, have no order among each
/// other.
///
/// *Durability.* Events that a listener has not handled are part of the key's state, and survive
/// what the key survives. A registration belongs to the session that makes it, which is the process
/// of an embedded store, and ends with it. When the store opens again, the earlier listeners are
/// gone, and so are their handlers and events.
///
/// *Bounds.* The store ends a listener that falls too far behind, and tells it
/// ([KeyListener#ended]). A listener never delays a put. See [ListenerLimits], [#LISTENERS_MAX] and
/// [#PENDING_BYTES_MAX].
///
/// Keys are as those of shared objects ([Ref]). Values are instances of any class that may travel,
/// copied on their way in and out, at most [Limits#callBytesMax()] bytes. Keys of this store are
/// separate from all objects. Its puts cannot take part in transactions: a put within a transaction
/// or inside a method of a shared object is refused. Thread-safe.
public interface KeyValueStore {
  /// The most listeners of a key.
  int LISTENERS_MAX = 1_000;

  /// The most bytes of events that may wait for all listeners of one key together. Beyond it, the
  /// store ends the listener with the most.
  int PENDING_BYTES_MAX = 64 << 20;

  /// Puts a value under a key, in place of the old value, and waits until it is durable.
  ///
  /// @throws NotShareable when key or value cannot travel
  /// @throws LimitExceeded when the value is too large, or too many calls are in progress; the
  ///   value is unchanged
  /// @throws DeadlineExceeded when a handler did not end in time; the value is unchanged
  /// @throws UnknownOutcome when the store failed meanwhile
  void put(Object key, Object value);

  /// Puts a value for a time, as [#put(Object, Object)]: the store removes it when the time is
  /// over, or some hundredths of a second later, unless a caller puts or removes before. Handlers
  /// then run as for [#remove]. The time counts from the put's place in the log.
  ///
  /// @param time at least a microsecond, at most 1,000 years
  /// @throws LimitExceeded also when too many keys have such values, see docs/guide/timers.md
  void put(Object key, Object value, Duration time);

  /// Puts a value for a time without waiting, as [#put(Object, Object, Duration)].
  CompletableFuture<@Nullable Void> putAsync(Object key, Object value, Duration time);

  /// Puts a value without waiting, as [#put(Object, Object)]. Puts of one thread under one key keep
  /// their order.
  CompletableFuture<@Nullable Void> putAsync(Object key, Object value);

  /// Returns the value under a key, or null. Reads durable values only, and writes nothing.
  @Nullable Object get(Object key);

  /// Gets a value without waiting, as [#get(Object)], after all earlier puts of this thread.
  CompletableFuture<@Nullable Object> getAsync(Object key);

  /// Returns the value under a key, if there is one.
  ///
  /// @throws ClassCastException when it is of another class
  default <V> Optional<V> get(Object key, Class<V> type) {
    return Optional.ofNullable(get(key)).map(type::cast);
  }

  /// Removes the value of a key: a put of nothing. Handlers run as for every put, with null in
  /// place of the new value.
  ///
  /// @return whether there was a value
  boolean remove(Object key);

  /// Registers a listener at a key, together with the handler that makes its events, within
  /// [ListenerLimits#STANDARD]. Durable on return; the listener gets the events of all later puts.
  ///
  /// The listener lives in this process, the handler in the store: the store copies it, and keeps
  /// the changes of its fields. The store checks its class like that of a shared object, see
  /// [KeyHandler]. Registering the same listener again makes another registration.
  ///
  /// @param <V> the class of the values under this key
  /// @param <W> the class of the events' values
  /// @throws NotShareable when the handler's class cannot run in the store, with the reason and the
  ///   remedy
  /// @throws LimitExceeded when the key has [#LISTENERS_MAX] listeners
  default <V, W> ListenerRegistration register(
      Object key, KeyListener<? super W> listener, KeyHandler<V, W> handler) {
    return register(key, listener, handler, ListenerLimits.STANDARD);
  }

  /// Registers a listener as [#register(Object, KeyListener, KeyHandler)], within other limits.
  <V, W> ListenerRegistration register(
      Object key, KeyListener<? super W> listener, KeyHandler<V, W> handler, ListenerLimits limits);
}

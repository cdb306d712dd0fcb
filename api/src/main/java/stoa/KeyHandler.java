package stoa;

import org.jspecify.annotations.Nullable;

/// The handler of a listener: code that runs in the store and turns a put into an event for the
/// listener (CRESON, section III-C; the filter-converter of AOF, section 3.2).
///
/// A handler is an instance of a named class and can travel. Its fields are values or shared
/// objects, and the store keeps changes of them between puts. It must be *deterministic*: the same
/// puts lead to the same answers and the same fields, wherever and whenever they are replayed.
/// [Call] provides time and randomness. The store checks its bytecode like that of a shared class
/// at the first registration. It runs for one put at a time.
///
/// The put waits for its handlers, within [Limits#callTimeMax()]. A handler that does not end makes
/// the store take the put back, as a method of a shared object would.
///
/// @param <V> the class of the values
/// @param <W> the class of the events' values
public interface KeyHandler<V, W> {
  /// Returns the value of the listener's event; null for no event.
  ///
  /// An exception ends the listener, which learns the cause from [KeyListener#ended]; the put
  /// stands.
  ///
  /// @param key the key of the put
  /// @param value the new value, a copy; null when the put removes the value
  /// @param before the old value, a copy; null when there was none
  @Nullable W handle(Object key, @Nullable V value, @Nullable V before);
}

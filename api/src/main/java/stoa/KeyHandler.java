package stoa;

import org.jspecify.annotations.Nullable;

/// The handler of a listener: code that runs in the store and decides what the listener is told of
/// a put (CRESON, section III-C; the filter-converter of AOF, section 3.2).
///
/// A class with a name, whose instances can travel: its fields are values or shared objects, and
/// may change, since a handler keeps what it changes in them between puts. It is *deterministic*:
/// from the same puts it comes to the same answers and the same fields wherever and whenever they
/// are replayed. For time and chance it uses [Call]. Its bytecode is checked like that of a shared
/// class when it is registered first. One put at a time runs it.
///
/// The put waits for its handlers, within [Limits#callTimeMax()]: one that does not come to an end
/// takes the put back, as a method of a shared object would.
///
/// @param <V> the class of the values
/// @param <W> the class of what the listener is told
public interface KeyHandler<V, W> {
  /// What the listener is told of a put; null when it is told nothing.
  ///
  /// What this throws ends its listener, which is told so by [KeyListener#ended]; the put stands.
  ///
  /// @param key under which something is put
  /// @param value what is put, a copy; null when the key's value is removed
  /// @param before what was there before, a copy; null when there was nothing
  @Nullable W handle(Object key, @Nullable V value, @Nullable V before);
}

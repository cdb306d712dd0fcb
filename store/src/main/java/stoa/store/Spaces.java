package stoa.store;

import java.util.concurrent.ConcurrentHashMap;
import stoa.base.Key;
import stoa.store.ordering.Decision;

/// The spaces of a store, and what makes the handlers of their keys. Thread-safe.
final class Spaces {
  private final ConcurrentHashMap<String, HandlerFactory> factories = new ConcurrentHashMap<>();

  /// Registers what makes the handlers of a space; the first registration counts.
  void register(String space, HandlerFactory factory) {
    factories.putIfAbsent(space, factory);
  }

  /// Whether puts on a key have a place in the order of several stores.
  boolean isOrdered(Key key) {
    if (key.isStream() || key.equals(Decision.KEY)) return true;
    HandlerFactory factory = factories.get(key.space());
    return factory != null && factory.isOrdered();
  }

  /// The number of the code that executes the puts on a key that are logged now; 0 when there is
  /// none.
  int code(Key key) {
    if (key.isStream()) return 0;
    HandlerFactory factory = factories.get(key.space());
    return factory == null ? 0 : factory.code();
  }

  /// What makes the handlers of a space.
  HandlerFactory factory(String space) {
    HandlerFactory factory = factories.get(space);
    if (factory == null) throw new IllegalStateException("nobody registered the space " + space);
    return factory;
  }
}

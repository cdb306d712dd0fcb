package stoa.store.running;

import java.util.concurrent.ConcurrentHashMap;
import stoa.base.Key;
import stoa.store.ordering.Decision;

/// The spaces of a store, with the factories of their handlers. Thread-safe.
public final class SpaceRegistry {
  /* The version of the rules that use logged checkpoints. */
  private static final int RULES = 1;

  private final ConcurrentHashMap<String, HandlerFactory> factories = new ConcurrentHashMap<>();

  /// Begins without a space.
  public SpaceRegistry() {}

  /// Registers the factory of a space's handlers; only the first registration counts.
  public void register(String space, HandlerFactory factory) {
    factories.putIfAbsent(space, factory);
  }

  /// Returns whether puts on a key have a place in the order of several stores.
  public boolean isOrdered(Key key) {
    if (key.isStream() || key.equals(Decision.KEY)) return true;
    HandlerFactory factory = factories.get(key.space());
    return factory != null && factory.isOrdered();
  }

  /// Returns the number of the code that executes puts on a key that the store logs now; 0 when
  /// there is none.
  public int code(Key key) {
    if (key.isStream()) return 0;
    HandlerFactory factory = factories.get(key.space());
    return factory == null ? 0 : factory.code();
  }

  /// Returns whether a put on a key puts to other keys, see [HandlerFactory#changesOthers].
  public boolean changesOthers(Key key, byte[] value) {
    if (key.isStream()) return false;
    HandlerFactory factory = factories.get(key.space());
    return factory != null && factory.changesOthers(value);
  }

  /// Returns a number that identifies the form in which a key's state becomes bytes here. It
  /// combines the form of the factory with the rules by which entries of a stream shape the state.
  /// Replicas with other rules run another release, and the store does not compare their states.
  public long form(Key key) {
    return 31 * factory(key.space()).form(key) + RULES;
  }

  /// Returns the factory of a space's handlers.
  public HandlerFactory factory(String space) {
    HandlerFactory factory = factories.get(space);
    if (factory == null) throw new IllegalStateException("nobody registered the space " + space);
    return factory;
  }
}

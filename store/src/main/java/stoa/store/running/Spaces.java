package stoa.store.running;

import java.util.concurrent.ConcurrentHashMap;
import stoa.base.Key;
import stoa.store.ordering.Decision;

/// The spaces of a store, and what makes the handlers of their keys. Thread-safe.
public final class Spaces {
  /* With logged checkpoints. */
  private static final int RULES = 1;

  private final ConcurrentHashMap<String, HandlerFactory> factories = new ConcurrentHashMap<>();

  /// No spaces yet.
  public Spaces() {}

  /// Registers what makes the handlers of a space; the first registration counts.
  public void register(String space, HandlerFactory factory) {
    factories.putIfAbsent(space, factory);
  }

  /// Whether puts on a key have a place in the order of several stores.
  public boolean isOrdered(Key key) {
    if (key.isStream() || key.equals(Decision.KEY)) return true;
    HandlerFactory factory = factories.get(key.space());
    return factory != null && factory.isOrdered();
  }

  /// The number of the code that executes the puts on a key that are logged now; 0 when there is
  /// none.
  public int code(Key key) {
    if (key.isStream()) return 0;
    HandlerFactory factory = factories.get(key.space());
    return factory == null ? 0 : factory.code();
  }

  /// A number for how a key's state becomes bytes here: that of its factory, with the rules by
  /// which entries of a stream give a state its shape. Replicas with other rules are of another
  /// release, and their states are not compared.
  public long form(Key key) {
    return 31 * factory(key.space()).form(key) + RULES;
  }

  /// What makes the handlers of a space.
  public HandlerFactory factory(String space) {
    HandlerFactory factory = factories.get(space);
    if (factory == null) throw new IllegalStateException("nobody registered the space " + space);
    return factory;
  }
}

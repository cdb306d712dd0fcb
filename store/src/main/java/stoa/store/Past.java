package stoa.store;

import org.jspecify.annotations.Nullable;

/// The state of a key at a past address. Thread-safe; questions are answered one at a time.
public final class Past {
  private final Store store;
  private final Key key;
  private final long address;
  private @Nullable Materialized state;

  Past(Store store, Key key, long address) {
    this.store = store;
    this.key = key;
    this.address = address;
  }

  /// Asks the handler as it was; a fresh one when the key was absent.
  public synchronized Answer get(Object query, byte @Nullable [] opening) {
    Materialized loaded = state;
    if (loaded == null) {
      loaded = new Materialized(store, key, store.factory(key.space()));
      loaded.load(address, store.streams().last(key.stream()), null);
      state = loaded;
    }
    var execution =
        new Execution(
            store,
            Execution.Mode.READING,
            key,
            null,
            loaded.position(),
            store.nowMicros(),
            0,
            null,
            null);
    return loaded.get(query, opening, execution);
  }
}

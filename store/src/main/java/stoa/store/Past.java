package stoa.store;

import org.jspecify.annotations.Nullable;

/// The state of a key at a past address. Thread-safe; questions are answered one at a time.
public final class Past {
  private final Store store;
  private final Key key;
  private final long address;

  /// The log counter up to which the other keys are seen that the handler asks; 0 for the moment
  /// right after the put at the address.
  private final long counter;

  private @Nullable Materialized state;

  Past(Store store, Key key, long address, long counter) {
    this.store = store;
    this.key = key;
    this.address = address;
    this.counter = counter;
  }

  /// Asks the handler as it was; a fresh one when the key was absent.
  public Answer get(Object query, byte @Nullable [] opening) {
    return get(query, opening, null);
  }

  /// As [#get(Object, byte[])], for a transaction.
  synchronized Answer get(
      Object query, byte @Nullable [] opening, @Nullable Transaction transaction) {
    Materialized loaded = loaded();
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
    execution.counter = counter == 0 ? loaded.moment() : counter;
    execution.transaction = transaction;
    try {
      return loaded.get(query, opening, execution);
    } catch (Execution.Suspended stopped) {
      throw stopped.reason();
    }
  }

  /// Whether the key was there, and in which generation: the stream address where that began, 0
  /// when the key was absent.
  synchronized long generation() {
    return loaded().generation();
  }

  /// The stream address of the last put or deletion that is seen.
  synchronized long position() {
    return loaded().position();
  }

  /// A copy of the state, to go on with elsewhere.
  synchronized Copy copy(long tail) {
    return loaded().copy(tail);
  }

  private Materialized loaded() {
    Materialized loaded = state;
    if (loaded == null) {
      loaded = new Materialized(store, key, store.factory(key.space()));
      try {
        loaded.load(address, store.streams().last(key.stream()), null);
      } catch (Execution.Suspended stopped) {
        throw stopped.reason();
      }
      state = loaded;
    }
    return loaded;
  }
}

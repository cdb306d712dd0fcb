package stoa.store;

import org.jspecify.annotations.Nullable;

/// A key as it was at a place in the log. Thread-safe; keeps nothing in memory by itself.
public final class Past {
  /// In place of a log counter: the moment right after the last put that is seen.
  static final long AFTERWARDS = -1;

  private final Store store;
  private final Key key;
  private final long counter;
  private final long others;

  /// @param counter the log counter up to which the key is seen
  /// @param others the log counter up to which other keys are seen that the handler asks, or
  ///   [#AFTERWARDS]
  Past(Store store, Key key, long counter, long others) {
    this.store = store;
    this.key = key;
    this.counter = counter;
    this.others = others;
  }

  /// The stream address at which the key's generation had begun, 0 when the key was absent.
  public long generation() {
    return version().generation();
  }

  /// The stream address of the last put or deletion that is seen, 0 when there was none.
  public long position() {
    return version().position();
  }

  private Version version() {
    return store.versions().at(key, counter);
  }

  /// Asks the handler as it was; a fresh one when the key was absent. The calling thread runs it.
  ///
  /// @param quick whether a thread may hold up the key while it asks: the code is known to be short
  /// @throws stoa.Gone when the key was not what is expected of it
  public Answer get(@Nullable Object query, Existence existence, boolean quick) {
    var found = store.versions().at(key, counter, live -> quick ? look(live, query, existence) : null);
    Version version = found.version();
    return version == null
        ? java.util.Objects.requireNonNull(found.found())
        : ask(version, query, existence);
  }

  private Answer ask(Version version, @Nullable Object query, Existence existence) {
    if (existence.isGone(version.generation(), version.position())) throw Store.gone(key);
    Execution execution = execution(version.position());
    execution.counter = others == AFTERWARDS ? version.moment() : others;
    if (version.isAbsent()) {
      var fresh = new Materialized(store, key, store.factory(key.space()));
      return told(() -> fresh.get(query, existence.opening(), execution));
    }
    Handler free = version.take();
    Handler handler = free == null ? store.versions().another(key, version) : free;
    execution.generation(version.generation());
    // One that an Error went through is not given back.
    Answer answer = told(() -> handler.get(query, execution));
    version.give(handler);
    return answer;
  }

  /// Asks the live state, while it is what is seen; answers null when that is not enough.
  private @Nullable Answer look(Materialized live, @Nullable Object query, Existence existence) {
    if (live.state().forksCheaply()) return null;
    if (existence.isGone(live.generation(), live.position())) throw Store.gone(key);
    Execution execution = execution(live.position());
    execution.looking = true;
    try {
      Answer answer = live.get(query, existence.opening(), execution);
      return execution.asked ? null : answer;
    } catch (Execution.Elsewhere elsewhere) {
      return null;
    }
  }

  private Execution execution(long address) {
    return new Execution(
        store,
        Execution.Mode.READING,
        key,
        null,
        address,
        store.nowMicros(),
        0,
        null,
        null);
  }

  private static Answer told(java.util.function.Supplier<Answer> asked) {
    try {
      return asked.get();
    } catch (Execution.Suspended stopped) {
      throw stopped.reason();
    }
  }
}

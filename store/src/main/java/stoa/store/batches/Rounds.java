package stoa.store.batches;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.store.threads.Threads;

/// The rounds of a store's threads, at most one for each thread. Thread-safe.
final class Rounds {
  private final Set<Round> rounds = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<@Nullable Round> mine = ThreadLocal.withInitial(() -> null);

  /// Returns the round of the current thread.
  Round mine() {
    Round known = mine.get();
    if (known != null) return known;
    var round = new Round();
    mine.set(round);
    rounds.add(round);
    return round;
  }

  /// Returns the round of the current thread, null when it was never in one.
  @Nullable Round current() {
    return mine.get();
  }

  /// Passes a tick to every round.
  void watch(Threads threads) {
    rounds.removeIf(Round::isOver);
    for (Round round : rounds) round.pass(threads);
  }
}

package stoa.store;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The rounds of a store's threads, one of each thread. Thread-safe.
final class Rounds {
  private final Set<Round> rounds = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<Round> mine =
      ThreadLocal.withInitial(() -> {
        var round = new Round();
        rounds.add(round);
        return round;
      });

  /// That of the current thread.
  Round mine() {
    return mine.get();
  }

  /// A tick has passed.
  void watch(Store store) {
    rounds.removeIf(Round::isOver);
    for (Round round : rounds) round.pass(store);
  }
}

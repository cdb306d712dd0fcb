package stoa.store.batches;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.store.threads.Threads;

/// The turns of a store's threads, at most one for each thread. Thread-safe.
final class BriefTurns {
  private final Set<BriefTurn> turns = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<@Nullable BriefTurn> mine = ThreadLocal.withInitial(() -> null);

  /// Returns the turn of the current thread.
  BriefTurn mine() {
    BriefTurn known = mine.get();
    if (known != null) return known;
    var turn = new BriefTurn();
    mine.set(turn);
    turns.add(turn);
    return turn;
  }

  /// Returns the turn of the current thread, null when it was never in one.
  @Nullable BriefTurn current() {
    return mine.get();
  }

  /// Passes a tick to every turn.
  void watch(Threads threads) {
    turns.removeIf(BriefTurn::isOver);
    for (BriefTurn turn : turns) turn.pass(threads);
  }
}

package stoa.client;

import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// The open objects of a session: a bounded number; the least recently used ones leave first.
/// Thread-safe.
final class Containers {
  /*
   * A container that is used between two passes of the clock hand gets a second chance. A container
   * in use never closes, so that there may be more than containersMax while so many calls are in
   * progress.
   */
  private final int containersMax;
  private final Consumer<Container> closed;
  private final ConcurrentHashMap<Key, Container> byKey = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Integer, Container> byNumber = new ConcurrentHashMap<>();
  private final ArrayDeque<Container> hand = new ArrayDeque<>(); // guarded by itself
  private int lastNumber; // guarded by hand

  /// @param closed receives each container that leaves
  Containers(int containersMax, Consumer<Container> closed) {
    this.containersMax = containersMax;
    this.closed = closed;
  }

  /// Returns the container of a key, in use.
  ///
  /// @param known the container at its last use
  Container use(Key key, @Nullable Container known) {
    if (known != null && known.use()) return known;
    while (true) {
      Container found = byKey.get(key);
      if (found == null) found = open(key);
      if (found.use()) return found;
      byKey.remove(key, found);
    }
  }

  private Container open(Key key) {
    Container found;
    Container leaving = null;
    synchronized (hand) {
      found = byKey.get(key);
      if (found != null) return found;
      found = new Container(key, ++lastNumber);
      byKey.put(key, found);
      byNumber.put(found.number(), found);
      hand.add(found);
      if (hand.size() > containersMax) leaving = evict();
    }
    if (leaving != null) closed.accept(leaving);
    return found;
  }

  private @Nullable Container evict() {
    for (int looks = Math.min(2 * hand.size(), 1_000); looks > 0; looks--) {
      Container next = hand.remove();
      if (next.wasUsed) {
        next.wasUsed = false;
      } else if (next.close()) {
        byKey.remove(next.key(), next);
        byNumber.remove(next.number());
        return next;
      }
      hand.add(next);
    }
    return null;
  }

  /// Returns the container of a number, or null when it is closed.
  @Nullable Container of(int number) {
    return byNumber.get(number);
  }

  /// Returns all open containers.
  Iterable<Container> all() {
    return byNumber.values();
  }
}

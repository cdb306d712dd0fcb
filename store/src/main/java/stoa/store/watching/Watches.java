package stoa.store.watching;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.Key;
import stoa.base.StreamId;

/// The watchers of keys. Thread-safe.
///
/// It keeps no key in memory: a key that changes is in memory anyway.
public final class Watches {
  /*
   * The lists are never changed, only replaced. The batch writer looks here after the batch is
   * in the mailboxes and before the moment of the store passes the batch. A thread that knows the
   * moment therefore knows that all watchers have heard of the batch. The leader may miss a watcher
   * that is added at the same time: the thread that adds it tells it of the last change after the
   * batch is published.
   */
  public static final int WATCHES_MAX = 100_000;

  private final int watchesMax;
  private final ConcurrentHashMap<StreamId, List<WatchRegistration>> watches =
      new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();

  public Watches(int watchesMax) {
    this.watchesMax = watchesMax;
  }

  /// Adds a registration.
  ///
  /// @throws LimitExceeded when there are too many
  public WatchRegistration add(Key key, Watcher watcher) {
    if (count.incrementAndGet() > watchesMax) {
      count.decrementAndGet();
      throw new LimitExceeded(
          "more than "
              + watchesMax
              + " watches (watchesMax); close some before "
              + key
              + " is watched");
    }
    var added = new WatchRegistration(this, key, watcher);
    watches.merge(key.stream(), List.of(added), Watches::with);
    return added;
  }

  /// Ends a registration.
  public void remove(WatchRegistration watch) {
    watches.computeIfPresent(watch.key().stream(), (_, list) -> without(list, watch));
    count.decrementAndGet();
  }

  /// Tells the watchers of a key that it has changed.
  public void changed(Key key, long counter) {
    List<WatchRegistration> list = watches.get(key.stream());
    if (list == null) return;
    for (WatchRegistration watch : list) watch.tell(counter);
  }

  /// Returns whether there is no watcher.
  public boolean isEmpty() {
    return count.get() == 0;
  }

  private static List<WatchRegistration> with(
      List<WatchRegistration> list, List<WatchRegistration> more) {
    var all = new ArrayList<>(list);
    all.addAll(more);
    return List.copyOf(all);
  }

  private static @Nullable List<WatchRegistration> without(
      List<WatchRegistration> list, WatchRegistration watch) {
    List<WatchRegistration> rest = list.stream().filter(other -> other != watch).toList();
    return rest.isEmpty() ? null : rest;
  }
}

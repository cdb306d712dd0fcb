package stoa.node;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/// A lane for each of many things, which is there while something is to be done in it. Thread-safe;
/// one thread brings tasks at a time.
///
/// @param <K> what names a thing
final class Lanes<K> {
  /// @param lane where its tasks run
  /// @param tasks how many are not done, at least 1
  private record Used(Lane lane, int tasks) {}

  private final Executor slow;
  private final ConcurrentHashMap<K, Used> used = new ConcurrentHashMap<>();

  /// @param slow runs the tasks
  Lanes(Executor slow) {
    this.slow = slow;
  }

  /// Brings a task, behind all that were brought for the same thing.
  void slow(K thing, Runnable task) {
    Used now =
        used.merge(
            thing, new Used(new Lane(slow), 1), (was, _) -> new Used(was.lane, was.tasks + 1));
    now.lane.slow(() -> {
      try {
        task.run();
      } finally {
        var _ =
            used.computeIfPresent(
                thing, (_, was) -> was.tasks == 1 ? null : new Used(was.lane, was.tasks - 1));
      }
    });
  }

  /// Brings a task that waits for nothing: done at once, unless something that was brought before
  /// for the same thing is not done.
  void quick(K thing, Runnable task) {
    if (used.containsKey(thing)) slow(thing, task);
    else task.run();
  }

  /// How many things have something to do.
  int size() {
    return used.size();
  }
}

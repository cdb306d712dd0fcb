package stoa.node;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/// A lane for each of many things, which exists while it has tasks. Thread-safe; one thread brings
/// tasks at a time.
///
/// @param <K> the name of a thing
final class Lanes<K> {
  /// @param lane where its tasks run
  /// @param tasks how many are unfinished, at least 1
  private record Used(Lane lane, int tasks) {}

  private final Executor slow;
  private final ConcurrentHashMap<K, Used> used = new ConcurrentHashMap<>();

  /// Creates the lanes.
  ///
  /// @param slow runs the tasks
  Lanes(Executor slow) {
    this.slow = slow;
  }

  /// Brings a task, after all earlier ones of the same thing.
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

  /// Brings a task that waits for nothing: runs it at once, unless an earlier task of the same
  /// thing is unfinished.
  void quick(K thing, Runnable task) {
    if (used.containsKey(thing)) slow(thing, task);
    else task.run();
  }

  /// Returns how many things have tasks.
  int size() {
    return used.size();
  }
}

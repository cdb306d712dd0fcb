package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Ref;

/// The puts that threads of this process make to the same leaf of a B-tree at the same time. Each
/// would make the others' transactions run again. Here one thread makes those that have gathered,
/// in one transaction. No put waits for others to come. Thread-safe.
final class GatheredPuts {
  // A leaf has room for so many entries beyond its maximum.
  private static final int TOGETHER_MAX = 8;

  /// A put of one thread.
  static final class Waiting {
    private final Object key;
    private final Object value;

    // Guarded by the lock of its line.
    private boolean isDone;
    private boolean isMade;
    private @Nullable Throwable failure;

    Waiting(Object key, Object value) {
      this.key = key;
      this.value = value;
    }

    Object key() {
      return key;
    }

    Object value() {
      return value;
    }
  }

  /// The puts to one leaf.
  private static final class Line {
    private final ReentrantLock turn = new ReentrantLock();
    private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();

    // How many threads use it; guarded by the map.
    private int users;

    private List<Waiting> next() {
      var next = new ArrayList<Waiting>();
      while (next.size() < TOGETHER_MAX) {
        Waiting put = waiting.poll();
        if (put == null) break;
        next.add(put);
      }
      return next;
    }
  }

  private final ConcurrentHashMap<Ref<?>, Line> lines = new ConcurrentHashMap<>();

  /// Makes a put, together with others to the same leaf.
  ///
  /// @param together makes some puts, and returns true; or makes none, and returns false
  /// @return what that has returned
  boolean put(Ref<?> leaf, Object key, Object value, Predicate<List<Waiting>> together) {
    Line line =
        lines.compute(
            leaf,
            (_, known) -> {
              Line used = known == null ? new Line() : known;
              used.users++;
              return used;
            });
    var mine = new Waiting(key, value);
    line.waiting.add(mine);
    line.turn.lock();
    try {
      while (!mine.isDone) make(line.next(), together);
    } finally {
      line.turn.unlock();
      var _ = lines.computeIfPresent(leaf, (_, used) -> --used.users == 0 ? null : used);
    }
    return switch (mine.failure) {
      case null -> mine.isMade;
      case RuntimeException failed -> throw failed;
      case Error failed -> throw failed;
      default -> throw new IllegalStateException(mine.failure);
    };
  }

  private static void make(List<Waiting> puts, Predicate<List<Waiting>> together) {
    boolean isMade = false;
    Throwable failure = null;
    try {
      isMade = together.test(puts);
    } catch (RuntimeException | Error failed) {
      failure = failed;
    }
    for (Waiting put : puts) {
      put.isMade = isMade;
      put.failure = failure;
      put.isDone = true;
    }
  }
}

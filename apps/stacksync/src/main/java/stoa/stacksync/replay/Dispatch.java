package stoa.stacksync.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The queue of requests before several [Instance]s: gives each batch to one of them when all that
/// come before it are answered, and again to the same one if that ended before its answer.
///
/// Thread-safe.
public final class Dispatch {
  /*
   * (1) A batch is in the schedule, or with exactly one instance, or answered.
   * (2) Batches that an instance has not answered wait for it to join again, and for no other.
   *     Before it does, it finishes the calls in progress in its facades; so a move that is sent
   *     twice never meets itself halfway.
   * (3) An instance has no more than windowMax batches: the next ones are on their way to it while
   *     its threads work, and none waits long behind others.
   */
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Schedule schedule;
  private final Observer observer;
  private final int windowMax;
  private final int changesBefore;
  private final List<Place> places = new ArrayList<>();
  private final List<Long> nanos = new ArrayList<>();
  private final Map<Long, Integer> answered;
  private boolean paused;
  private long start;
  private long end;
  private int changesDone;
  private int conflicts;
  private @Nullable Throwable failure;

  /// An instance, there or not.
  private static final class Place {
    final SequencedMap<Integer, Batch> waiting = new LinkedHashMap<>();
    @Nullable Consumer<String> orders;
  }

  /// @param stored the newest version that the store has of each item; these changes are left out
  /// @param instances how many instances may join
  /// @param windowMax how many batches one may have at once
  public Dispatch(
      Trace trace, Map<Long, Integer> stored, int instances, int windowMax, Observer observer) {
    this.schedule = new Schedule(trace, stored);
    this.answered = new HashMap<>(stored);
    this.changesBefore = trace.rows().size() - schedule.rowCount();
    this.windowMax = windowMax;
    this.observer = observer;
    for (int i = 0; i < instances; i++) places.add(new Place());
    observer.found(stored, schedule.rowCount());
  }

  /// An instance begins, or begins again.
  ///
  /// @param orders takes a line for it; what happens to lines that cannot reach it does not matter
  public void join(int instance, Consumer<String> orders) {
    lock.lock();
    try {
      var place = places.get(instance);
      place.orders = orders;
      for (var batch : place.waiting.values()) orders.accept(Orders.text(batch));
      handOut();
    } finally {
      lock.unlock();
    }
  }

  /// Notes the end of an instance. Its unanswered batches wait until it joins again.
  public void leave(int instance) {
    lock.lock();
    try {
      places.get(instance).orders = null;
    } finally {
      lock.unlock();
    }
  }

  /// An instance answered.
  ///
  /// @param line what it gave out
  /// @throws IllegalArgumentException when this is no answer to an order that it has
  public void answer(int instance, String line) {
    var done = Done.parse(line);
    List<TraceRow> rows;
    lock.lock();
    try {
      var batch = places.get(instance).waiting.remove(done.batch());
      if (batch == null) {
        throw new IllegalArgumentException(
            "\"" + line + "\" answers nothing that instance " + instance + " was asked");
      }
      schedule.done(batch);
      rows = batch.rows;
      for (var row : rows) answered.merge(row.item(), row.version(), Math::max);
      changesDone += rows.size();
      conflicts += done.conflicts();
      nanos.addAll(done.nanos());
      end = System.nanoTime();
      handOut();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    observer.acknowledged(rows);
  }

  /// Nothing is handed out any more; [#await] throws.
  public void fail(Throwable cause) {
    lock.lock();
    try {
      if (failure == null) failure = cause;
      schedule.stop();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until so many changes were answered since the beginning, or all.
  ///
  /// @return whether there are more to come
  /// @throws IllegalStateException after a failure
  public boolean await(int changes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (failure == null && changesDone < Math.min(changes, schedule.rowCount())) {
        changed.await();
      }
      checkFailure();
      return changesDone < schedule.rowCount();
    } finally {
      lock.unlock();
    }
  }

  /// Hands nothing out any more, and waits until all that was handed out is answered; [#resume]
  /// ends this. Meanwhile the service has nothing to do.
  ///
  /// @return the newest version of each item that was answered, or stored at the beginning
  /// @throws IllegalStateException after a failure
  public Map<Long, Integer> settle() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      paused = true;
      while (failure == null && places.stream().anyMatch(place -> !place.waiting.isEmpty())) {
        changed.await();
      }
      checkFailure();
      return Map.copyOf(answered);
    } finally {
      lock.unlock();
    }
  }

  /// Goes on after [#settle].
  public void resume() {
    lock.lock();
    try {
      paused = false;
      handOut();
    } finally {
      lock.unlock();
    }
  }

  /// How many changes there are to commit.
  public int changeCount() {
    return schedule.rowCount();
  }

  /// Returns a report of the replay so far.
  public ReplayReport report() {
    lock.lock();
    try {
      return new ReplayReport(
          changesBefore,
          changesDone,
          conflicts,
          Duration.ofNanos(end - start),
          new Latencies(nanos));
    } finally {
      lock.unlock();
    }
  }

  private void checkFailure() {
    if (failure != null) {
      throw new IllegalStateException("the replay failed: " + failure.getMessage(), failure);
    }
  }

  private void handOut() {
    if (paused) return;
    for (var place = roomiest(); place.isPresent(); place = roomiest()) {
      var batch = schedule.poll();
      if (batch.isEmpty()) return;
      if (start == 0) start = System.nanoTime();
      place.get().waiting.put(batch.get().number, batch.get());
      if (place.get().orders != null) place.get().orders.accept(Orders.text(batch.get()));
    }
  }

  /// The instance with the fewest batches, if there is one with room.
  private Optional<Place> roomiest() {
    Stream<Place> present = places.stream().filter(place -> place.orders != null);
    return present
        .filter(place -> place.waiting.size() < windowMax)
        .min((a, b) -> Integer.compare(a.waiting.size(), b.waiting.size()));
  }
}

package stoa.bench.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Callers that share the cost of one act, as of one sync: the next act serves all items that
/// arrive during the present one.
///
/// Thread-safe.
///
/// @param <E> the item of a caller
public final class Group<E> {
  /*
   * One of the callers leads: it takes the items that have arrived, acts, and wakes the others of
   * its batch.
   *
   * Invariant: when no caller leads and an item has arrived, the head of `arrived` is awake. For a
   * caller adds itself before it tries to lead, and a leader stops leading before it looks at the
   * head and wakes it.
   */
  private final Act<E> act;
  private final int batchMax;
  private final Queue<Waiting<E>> arrived = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean leading = new AtomicBoolean();

  /// The act for a batch.
  ///
  /// @param <E> the item of a caller
  @FunctionalInterface
  public interface Act<E> {
    /// Acts for one batch at a time.
    void on(List<E> batch) throws Exception;
  }

  private static final class Waiting<E> {
    final Thread thread = Thread.currentThread();
    final E item;
    @Nullable Exception failure; // published by done
    volatile boolean done;

    Waiting(E item) {
      this.item = item;
    }
  }

  /// Creates a group whose batches hold at most a number of items.
  public Group(int batchMax, Act<E> act) {
    this.batchMax = batchMax;
    this.act = act;
  }

  /// Returns when an act that began after this call has served a batch with the caller's item.
  ///
  /// @throws Exception what the act threw
  public void join(E item) throws Exception {
    var waiting = new Waiting<>(item);
    arrived.add(waiting);
    while (!waiting.done) {
      if (!leading.compareAndSet(false, true)) {
        LockSupport.park(this);
        continue;
      }
      if (!waiting.done) lead();
      leading.set(false);
      var next = arrived.peek();
      if (next != null) LockSupport.unpark(next.thread);
    }
    Exception failure = waiting.failure;
    if (failure != null) throw new IllegalStateException("the shared act failed", failure);
  }

  private void lead() {
    List<Waiting<E>> batch = new ArrayList<>();
    List<E> items = new ArrayList<>();
    while (batch.size() < batchMax) {
      var waiting = arrived.poll();
      if (waiting == null) break;
      batch.add(waiting);
      items.add(waiting.item);
    }
    Exception failure = null;
    try {
      act.on(items);
    } catch (Exception e) {
      failure = e;
    }
    for (var waiting : batch) {
      waiting.failure = failure;
      waiting.done = true;
      LockSupport.unpark(waiting.thread);
    }
  }
}

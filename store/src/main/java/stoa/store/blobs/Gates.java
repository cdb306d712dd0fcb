package stoa.store.blobs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import stoa.base.StreamId;

/// Separates the users of a thing from the one that ends it: a gate has any number of users inside,
/// or one thread that has closed it. Thread-safe; a user may leave on another thread than it
/// entered on.
final class Gates {
  /* A gate is in the map while a thread is inside, has closed it or waits at it. */
  private static final class Gate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by lock.
    private int inside;
    private boolean closed;

    // How many threads hold the gate in the map. Guarded by the map.
    private int holders;
  }

  private final ConcurrentHashMap<StreamId, Gate> gates = new ConcurrentHashMap<>();

  /// Enters the gate, once it is open.
  void enter(StreamId id) {
    Gate gate = hold(id);
    gate.lock.lock();
    try {
      while (gate.closed) gate.changed.awaitUninterruptibly();
      gate.inside++;
    } finally {
      gate.lock.unlock();
    }
  }

  /// Leaves the gate. Each user calls this once for each time it entered.
  void leave(StreamId id) {
    Gate gate = held(id);
    gate.lock.lock();
    try {
      if (--gate.inside == 0) gate.changed.signalAll();
    } finally {
      gate.lock.unlock();
    }
    release(id);
  }

  /// Closes the gate, once all users have left.
  void close(StreamId id) {
    Gate gate = hold(id);
    gate.lock.lock();
    try {
      while (gate.closed) gate.changed.awaitUninterruptibly();
      gate.closed = true;
      while (gate.inside > 0) gate.changed.awaitUninterruptibly();
    } finally {
      gate.lock.unlock();
    }
  }

  /// Opens the gate that this caller has closed.
  void open(StreamId id) {
    Gate gate = held(id);
    gate.lock.lock();
    try {
      gate.closed = false;
      gate.changed.signalAll();
    } finally {
      gate.lock.unlock();
    }
    release(id);
  }

  private Gate hold(StreamId id) {
    return gates.compute(
        id,
        (_, known) -> {
          Gate gate = known == null ? new Gate() : known;
          gate.holders++;
          return gate;
        });
  }

  private Gate held(StreamId id) {
    Gate gate = gates.get(id);
    if (gate == null) throw new IllegalStateException("nobody is at the gate of " + id);
    return gate;
  }

  private void release(StreamId id) {
    gates.computeIfPresent(id, (_, gate) -> --gate.holders == 0 ? null : gate);
  }
}

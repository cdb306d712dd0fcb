package stoa.store.blobs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import stoa.base.StreamId;

/// Keeps what ends a thing and what uses it apart: any number of users are inside its gate, or one
/// who has closed it. Thread-safe; users may leave on another thread than they entered on.
final class Gates {
  /* A gate is in the map while somebody is inside, has closed it or waits at it. */
  private static final class Gate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by lock.
    private int inside;
    private boolean closed;

    /// Who holds it in the map. Guarded by the map.
    private int holders;
  }

  private final ConcurrentHashMap<StreamId, Gate> gates = new ConcurrentHashMap<>();

  /// Enters, once the gate is open.
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

  /// Leaves. Once for each time of entering.
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

  /// Closes the gate, once everybody has left.
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

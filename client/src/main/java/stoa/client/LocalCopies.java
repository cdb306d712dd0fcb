package stoa.client;

import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.wire.proto.State;

/// The client's states for its local and cached views: one for each viewed object, of a bounded
/// size and number in all. Thread-safe.
final class LocalCopies {
  /*
   * A state goes with its last view; and when there are too many, the least recently read ones go
   * first. The next question to such a view fetches the state again.
   *
   * No thread waits for a local copy's lock, or sends, under the monitor of this: local copies call this
   * under theirs.
   */
  private static final Cleaner CLEANER = Cleaner.create();

  /// The entry of one local copy, which does not keep the local copy reachable.
  static final class Entry {
    private final Key key;
    private @Nullable WeakReference<LocalCopy> localCopy;

    // Guarded by the monitor of the local copies.
    private long bytes;
    private boolean counted;

    // Guarded by this.
    private @Nullable Followed followed;

    private boolean over;

    private Entry(Key key) {
      this.key = key;
    }

    /// Replaces the announced changes, or ends them.
    void follow(@Nullable Followed next) {
      Followed before;
      synchronized (this) {
        before = followed;
        followed = over ? null : next;
      }
      if (before != null) before.close();
    }

    private void end() {
      synchronized (this) {
        over = true;
      }
      follow(null);
    }
  }

  private final RemotePart stoa;
  private final long bytesMax;
  private final int statesMax;

  private final LongAdder states = new LongAdder();
  private final LongAdder changes = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder doubts = new LongAdder();

  // Guarded by this.
  private final Map<Key, Entry> byKey = new HashMap<>();
  private final ArrayDeque<Entry> hand = new ArrayDeque<>();
  private long bytes;

  /// @param bytesMax the encoded size of all states; the state in use stays in any case
  /// @param statesMax the most states
  LocalCopies(RemotePart stoa, long bytesMax, int statesMax) {
    this.stoa = stoa;
    this.bytesMax = bytesMax;
    this.statesMax = statesMax;
  }

  /// Returns the local copy of an object, the same as long as a view has it.
  synchronized LocalCopy of(Key key) {
    Entry held = byKey.get(key);
    LocalCopy known = held == null ? null : reached(held);
    if (known != null) return known;
    var made = new Entry(key);
    var localCopy = new LocalCopy(stoa, this, key, made);
    made.localCopy = new WeakReference<>(localCopy);
    byKey.put(key, made);
    var _ = CLEANER.register(localCopy, () -> forget(made));
    return localCopy;
  }

  private static @Nullable LocalCopy reached(Entry held) {
    WeakReference<LocalCopy> localCopy = held.localCopy;
    return localCopy == null ? null : localCopy.get();
  }

  private void forget(Entry held) {
    synchronized (this) {
      byKey.remove(held.key, held);
      bytes -= held.bytes;
      held.bytes = 0;
      if (held.counted) hand.remove(held);
      held.counted = false;
    }
    held.end();
  }

  /// Notes another state of a local copy. The caller holds the local copy's lock.
  ///
  /// @param size of the state, encoded
  void loaded(Entry held, long size) {
    List<LocalCopy> leaving = new ArrayList<>();
    synchronized (this) {
      bytes += size - held.bytes;
      held.bytes = size;
      if (!held.counted) hand.add(held);
      held.counted = true;
      for (int looks = 2 * hand.size(); looks > 0 && isOver(); looks--) {
        Entry next = hand.remove();
        LocalCopy localCopy = next == held ? null : reached(next);
        if (localCopy == null || localCopy.wasRead()) {
          hand.add(next);
        } else {
          next.counted = false;
          bytes -= next.bytes;
          next.bytes = 0;
          leaving.add(localCopy);
        }
      }
    }
    for (LocalCopy localCopy : leaving) localCopy.drop();
  }

  /// Notes a state that has arrived from the server.
  void arrived(State state) {
    (state.hasChanges() && state.getCheckpoint().isEmpty() ? changes : states).increment();
    received.add(state.getSerializedSize());
  }

  /// Notes a doubt about a state.
  void doubted() {
    doubts.increment();
  }

  /// Adds its measurements to a report.
  void measure(Measures out) {
    out.gauge(
        "stoa.client.copies",
        Measures.BYTES,
        "Memory that the client's copies of objects take, about.",
        (double) bytes());
    out.count(
        "stoa.client.copies.states",
        Measures.NO_UNIT,
        "Whole states that the client's copies of objects have taken.",
        states.sum());
    out.count(
        "stoa.client.copies.changes",
        Measures.NO_UNIT,
        "Updates of the client's copies of objects by the calls behind them.",
        changes.sum());
    out.count(
        "stoa.client.copies.received",
        Measures.BYTES,
        "Bytes that servers have sent for the client's copies of objects.",
        received.sum());
    out.count(
        "stoa.client.copies.doubts",
        Measures.NO_UNIT,
        "Copies that the client has dropped since its calls might have come to another state.",
        doubts.sum());
  }

  /// Returns the most bytes of all states.
  long bytesMax() {
    return bytesMax;
  }

  /// Returns the encoded size of the states.
  synchronized long bytes() {
    return bytes;
  }

  /// Returns the number of states.
  synchronized int states() {
    return hand.size();
  }

  private boolean isOver() {
    return hand.size() > 1 && (bytes > bytesMax || hand.size() > statesMax);
  }
}

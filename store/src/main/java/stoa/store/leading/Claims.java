package stoa.store.leading;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.store.threads.Threads;

/// The streams that transactions over several stores have claimed, from the vote of this store
/// until the store has logged them or gives them up. Thread-safe.
///
/// Nothing is logged to a claimed stream meanwhile, except by its transaction. Readers of a stream
/// that is claimed for a change wait: the transaction may be committed already.
public final class Claims {
  /*
   * Invariants:
   * (1) A stream has one claim for a change, or any number of claims for reading.
   * (2) A transaction gets all of its claims at once or none, so no claims wait for each other.
   */
  private static final int PAUSES_COUNTED = 1_024;

  // How long a reader waits for the outcome of a transaction.
  private static final long WAIT_MICROS_MAX = 30_000_000;

  private final Clock clock;
  private final Threads threads;

  // Guarded by this for writing.
  private final Map<StreamId, Claim> changed = new ConcurrentHashMap<>();

  // Guarded by this.
  private final Map<StreamId, Integer> read = new HashMap<>();

  private volatile boolean any;

  /// The claim of one transaction.
  ///
  /// @param read the streams that it reads
  /// @param changed the streams that it changes
  public record Claim(Set<StreamId> read, Set<StreamId> changed) {}

  public Claims(Clock clock, Threads threads) {
    this.clock = clock;
    this.threads = threads;
  }

  /// Claims the streams of a transaction; returns false, and claims none, when another transaction
  /// is in the way.
  public synchronized boolean take(Claim claim) {
    for (StreamId stream : claim.read) if (changed.containsKey(stream)) return false;
    for (StreamId stream : claim.changed) {
      if (changed.containsKey(stream) || read.containsKey(stream)) return false;
    }
    for (StreamId stream : claim.read) read.merge(stream, 1, Integer::sum);
    for (StreamId stream : claim.changed) changed.put(stream, claim);
    note();
    return true;
  }

  /// Ends the claim of a transaction that [#take] has granted.
  public synchronized void release(Claim claim) {
    for (StreamId stream : claim.read) {
      read.computeIfPresent(stream, (_, count) -> count == 1 ? null : count - 1);
    }
    for (StreamId stream : claim.changed) changed.remove(stream);
    note();
  }

  private void note() {
    any = !changed.isEmpty() || !read.isEmpty();
  }

  /// Returns whether no stream is claimed.
  public boolean isEmpty() {
    return !any;
  }

  /// Returns whether a stream is claimed.
  public boolean has(StreamId stream) {
    if (!any) return false;
    synchronized (this) {
      return changed.containsKey(stream) || read.containsKey(stream);
    }
  }

  /// Returns whether a stream is claimed for a change.
  public boolean changes(StreamId stream) {
    return any && changed.containsKey(stream);
  }

  /// Waits while the present claim for a change of a stream stands; returns whether it waited.
  ///
  /// @throws Unavailable when that takes too long
  @SuppressWarnings("ReferenceEquality") // a later claim may have the same streams
  public boolean await(StreamId stream) {
    Claim claim = any ? changed.get(stream) : null;
    if (claim == null) return false;
    long end = clock.nowMicros() + WAIT_MICROS_MAX;
    for (int spin = 0; claim == changed.get(stream); spin++) {
      threads.pause(spin);
      if (spin % PAUSES_COUNTED == 0 && clock.nowMicros() > end) {
        throw new Unavailable("the outcome of a transaction over several groups is not known yet");
      }
    }
    return true;
  }
}

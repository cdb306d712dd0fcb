package stoa.store.past;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Materialized;

/// The state of a key between two changes, for any number of readers. Thread-safe.
///
/// Every reader has an instance of the handler to itself while it asks: a fresh fork where that is
/// cheap, and else one of a few that are handed round.
final class Version {
  private static final int INSTANCES_MAX = 8;

  private final Key key;
  private final HandlerFactory factory;
  private final Materialized.State state;

  /// Whether every reader gets a fork of the one instance.
  private final boolean forks;

  /// The log counter of the change that made it; 0 before the first change.
  final long from;

  /// The last address of the stream at which it is known to be seen.
  private volatile long version;

  /// A log counter up to which there is no later change.
  private volatile long until;

  /// The last address of the stream when there was no later change in it; -1 when there was.
  private volatile long tail;

  // Guarded by this.
  private final ArrayDeque<Handler> idle = new ArrayDeque<>();

  /// What it is dropped with.
  volatile @Nullable Group group;

  /// Versions that share most of their state and are kept and dropped together.
  interface Group extends BoundedCache.Item {
    /// One of them was used.
    void use();

    /// Another instance of one of them is kept.
    void grow(long bytes);
  }

  Version(Key key, HandlerFactory factory, Materialized.State state, VersionFinder.Seen seen) {
    this.key = key;
    this.factory = factory;
    this.state = state;
    this.forks = state.handler() != null && factory.forksCheaply(state.handler());
    this.version = seen.version();
    this.from = seen.from();
    this.until = seen.until();
    this.tail = seen.tail();
    if (state.handler() != null) idle.add(state.handler());
  }

  /// Whether copies of it are forks, which have its very shape in memory.
  boolean forksCheaply() {
    return forks;
  }

  /// The address of the put or deletion that made it, 0 before the first.
  long position() {
    return state.position();
  }

  /// The address at which the generation began, 0 when the key is absent.
  long generation() {
    return state.generation();
  }

  Materialized.State state() {
    return state;
  }

  boolean isAbsent() {
    return state.handler() == null;
  }

  /// Whether it is what is seen at a log counter at or above [#from].
  boolean isSeenAt(long counter) {
    return counter <= until;
  }

  /// Whether it is the last version of a stream that ends at an address.
  boolean isLast(long streamTail) {
    return tail == streamTail;
  }

  /// The last address of the stream at which it is known to be seen.
  long version() {
    return version;
  }

  /// No later change was found up to a counter.
  ///
  /// @param address the last address of the stream up to there
  /// @param streamTail the end of the stream if there is no later change there, -1 if there is
  void extend(long address, long counter, long streamTail) {
    if (counter <= until && address <= version) return;
    synchronized (this) {
      if (address > version) version = address;
      if (counter <= until) return;
      tail = streamTail;
      until = counter;
    }
  }

  /// An instance for one reader; null when all are in use. Not for an absent key.
  @Nullable Handler take() {
    Group kept = group;
    if (kept != null) kept.use();
    synchronized (this) {
      if (forks) return factory.fork(key, idle.getFirst());
      return idle.poll();
    }
  }

  /// Gives back an instance that was taken, or made beside it; answers whether it is kept.
  boolean give(Handler handler) {
    if (forks) return true;
    synchronized (this) {
      if (idle.size() >= INSTANCES_MAX) return false;
      idle.push(handler);
      return true;
    }
  }

  /// A copy of the state to go on with; null when all instances are in use.
  Materialized.@Nullable State copy() {
    if (isAbsent()) return state;
    synchronized (this) {
      Handler instance = idle.peek();
      if (instance == null) return null;
      Handler copy = factory.fork(key, instance);
      return forks ? state.withFork(copy) : state.withOwn(copy);
    }
  }
}

package stoa.store.past;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Materialized;

/// The state of a key between two changes, for any number of readers. Thread-safe.
///
/// A reader has an instance of the handler to itself while it asks. The instance is a new fork
/// where forks are cheap, and otherwise one of a few instances that readers share in turn.
final class KeyVersion {
  private static final int INSTANCES_MAX = 8;

  private final Key key;
  private final HandlerFactory factory;
  private final Materialized.State state;

  // Whether every reader gets a fork of the one instance.
  private final boolean forks;

  /// The log counter of the change that made the version; 0 before the first change.
  final long from;

  // The last address of the stream at which readers are known to see the version.
  private volatile long version;

  // A log counter up to which the stream has no later change.
  private volatile long until;

  // The last address of the stream when it had no later change; -1 when it had one.
  private volatile long tail;

  // Guarded by this.
  private final ArrayDeque<Handler> idle = new ArrayDeque<>();

  /// The versions that are dropped together with this one; null for none.
  volatile @Nullable Group group;

  /// Versions that share most of their state. The cache keeps and drops them together.
  interface Group extends BoundedCache.Item {
    /// Notes that a reader used one of them.
    void use();

    /// Notes that one of them keeps another instance.
    void grow(long bytes);
  }

  KeyVersion(Key key, HandlerFactory factory, Materialized.State state, VersionFinder.Seen seen) {
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

  /// Returns whether copies of the version are forks, which have the same shape in memory.
  boolean forksCheaply() {
    return forks;
  }

  /// Returns the address of the put or deletion that made the version, 0 before the first.
  long position() {
    return state.position();
  }

  /// Returns the address at which the generation began, 0 when the key is absent.
  long generation() {
    return state.generation();
  }

  Materialized.State state() {
    return state;
  }

  boolean isAbsent() {
    return state.handler() == null;
  }

  /// Returns whether a reader sees the version at a log counter, which is at or above [#from].
  boolean isSeenAt(long counter) {
    return counter <= until;
  }

  /// Returns whether this is the last version of a stream that ends at an address.
  boolean isLast(long streamTail) {
    return tail == streamTail;
  }

  /// Returns the last address of the stream at which readers are known to see the version.
  long version() {
    return version;
  }

  /// Notes that the stream has no later change up to a counter.
  ///
  /// @param address the last address of the stream up to the counter
  /// @param streamTail the end of the stream if it has no later change at all, -1 if it has one
  void extend(long address, long counter, long streamTail) {
    if (counter <= until && address <= version) return;
    synchronized (this) {
      if (address > version) version = address;
      if (counter <= until) return;
      tail = streamTail;
      until = counter;
    }
  }

  /// Takes an instance for one reader; returns null when all are in use. The key must not be
  /// absent.
  @Nullable Handler take() {
    Group kept = group;
    if (kept != null) kept.use();
    synchronized (this) {
      if (forks) return factory.fork(key, idle.getFirst());
      return idle.poll();
    }
  }

  /// Gives back an instance, which may be a new one; returns whether the version keeps it.
  boolean give(Handler handler) {
    if (forks) return true;
    synchronized (this) {
      if (idle.size() >= INSTANCES_MAX) return false;
      idle.push(handler);
      return true;
    }
  }

  /// Returns a copy of the state for further changes; null when all instances are in use.
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

package stoa.store.threads;

/// A thread that begins requests for many callers without waiting, and must return soon to receive
/// more of them.
public interface Gatherer {
  /// Returns whether the thread calls `Store.writeGathered` soon, so that a request need not call
  /// the writer.
  boolean isGathering();
}

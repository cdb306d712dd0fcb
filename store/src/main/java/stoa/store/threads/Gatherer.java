package stoa.store.threads;

/// A thread that begins what many ask of a store without waiting, and must come back soon to hear
/// more of them.
public interface Gatherer {
  /// Whether `Store.leadGathered` is called on it soon, so that the writer need not be called.
  boolean isGathering();
}

package stoa.storage.index;

import java.io.IOException;

/// Says since when an object exists. Entries of its versioned spaces that point below that belonged
/// to an object of the same name that was deleted; the index drops them as it rewrites its runs.
///
/// Called by the index's threads, several at a time, for each object of a run once.
@FunctionalInterface
public interface Births {
  /// No object was ever deleted.
  Births NONE = (view, high, low) -> 0;

  /// The log position below which all entries of an object are dead; 0 when it was never deleted.
  ///
  /// @param view the index at a moment that is durable, so that no deletion counts that a power
  ///   loss could take back
  long deadBelow(IndexView view, long high, long low) throws IOException;
}

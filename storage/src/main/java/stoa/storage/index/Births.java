package stoa.storage.index;

import java.io.IOException;

/// Returns the log position at which an object's present life began. Entries of its versioned
/// spaces that point below it belonged to a deleted object of the same name; the index drops them
/// as it rewrites its runs.
///
/// The index's threads call it, several at a time, for each object of a run once.
@FunctionalInterface
public interface Births {
  /// No object was ever deleted.
  Births NONE = (view, high, low) -> 0;

  /// Returns the log position below which all entries of an object are dead; 0 when it was never
  /// deleted.
  ///
  /// @param view the index at a durable moment, so that no deletion counts that a power loss could
  ///   undo
  long deadBelow(IndexView view, long high, long low) throws IOException;
}

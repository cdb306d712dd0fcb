package stoa.stacksync.replay;

import java.util.List;
import java.util.Map;

/// Follows a replay while it runs.
public interface Observer {
  /// The service knows all users, devices and workspaces. Nothing was committed by this replay yet.
  ///
  /// @param stored the newest version that the store has of each item
  /// @param changesLeft how many changes the replay is going to commit
  void found(Map<Long, Integer> stored, int changesLeft);

  /// The service answered that it has these changes. Called by the client's thread, after the
  /// answer and before that client's next call.
  void acknowledged(List<TraceRow> changes);

  /// An observer that is not interested.
  static Observer none() {
    return new Observer() {
      @Override
      public void found(Map<Long, Integer> stored, int changesLeft) {}

      @Override
      public void acknowledged(List<TraceRow> changes) {}
    };
  }
}
